//! The checks that every engine makes before it creates an endpoint: [`Front`] checks names,
//! policies and the announcement, resolves policies, and warns about policies that the engine does
//! not support. Each engine has a [`Front`] that describes the engine. So the engine's own code
//! gets only checked options.

use super::{
    ClientOptions, CreateEndpointError, LOG_TARGET, PublisherOptions, ServiceOptions,
    SubscriptionOptions,
};
use crate::failure_counter::FailureCounters;
use crate::qos::{Liveliness, QosProfile};

/// The policies that an engine supports. The engine also announces the policies that it does not
/// support, because remote nodes may want to know them. It logs a warning that they have no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Whether a publisher matches a subscription only if it offers the policies that the
    /// subscription requests. If false, policies do not affect matching.
    pub compatibility: bool,
    /// Whether missed deadlines are reported.
    pub deadline: bool,
    /// Whether a publisher's liveliness can be manual and have a lease. If false, a publisher is
    /// alive while its session exists.
    pub liveliness: bool,
    /// Whether a service is a pair of DDS topics, in both
    /// [`ServiceMapping`](crate::ServiceMapping)s.
    pub dds_services: bool,
}

impl Kept {
    /// All policies, which every engine on DDS supports.
    pub const ALL: Self =
        Self { compatibility: true, deadline: true, liveliness: true, dds_services: true };
    /// No policies, for engines that do not know the policies of DDS.
    pub const NOTHING: Self =
        Self { compatibility: false, deadline: false, liveliness: false, dds_services: false };
}

/// The properties of an engine that the checks need.
#[derive(Debug)]
pub struct Front {
    /// The policies that the engine supports.
    pub kept: Kept,
    /// Checks the name of a topic or service. The flag is true for names that do not follow the ROS
    /// conventions (`avoid_ros_namespace_conventions`).
    pub check_name: fn(&str, bool) -> Result<(), CreateEndpointError>,
    /// The beginning of the warning about deadlines and liveliness that the engine does not
    /// support. It tells what the engine does instead.
    pub instead_of_times: &'static str,
    /// The reason why the engine cannot restrict a service to requests from its own host, and how
    /// to solve the problem. It is `None` if the engine can do this. Users who rely on the
    /// restriction must not get a service that is open to all hosts.
    pub no_local_requests_only: Option<&'static str>,
}

impl Front {
    /// Checks the options of a publisher and resolves its policies. `subscriptions` are the
    /// policies of the topic's subscriptions.
    ///
    /// # Errors
    /// See [`CreateEndpointError`].
    pub fn publisher(
        &self,
        options: &mut PublisherOptions<'_>,
        subscriptions: impl FnOnce() -> Vec<QosProfile>,
    ) -> Result<(), CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        self.check_names(options.topic, as_it_is, options.announcement)?;
        let resolved = options.qos.resolved_for_publisher(subscriptions().iter());
        options.qos = resolved.with_system_defaults_resolved();
        self.check_qos(options.topic, &options.qos)
    }

    /// Checks the options of a subscription and resolves its policies. `publishers` are the
    /// policies of the topic's publishers.
    ///
    /// # Errors
    /// See [`CreateEndpointError`].
    pub fn subscription(
        &self,
        options: &mut SubscriptionOptions<'_>,
        publishers: impl FnOnce() -> Vec<QosProfile>,
    ) -> Result<(), CreateEndpointError> {
        let as_it_is = options.qos.avoid_ros_namespace_conventions;
        self.check_names(options.topic, as_it_is, options.announcement)?;
        let resolved = options.qos.resolved_for_subscription(publishers().iter());
        options.qos = resolved.with_system_defaults_resolved();
        self.check_qos(options.topic, &options.qos)
    }

    /// Checks the options of a service and resolves its policies.
    ///
    /// # Errors
    /// See [`CreateEndpointError`].
    pub fn service(&self, options: &mut ServiceOptions<'_>) -> Result<(), CreateEndpointError> {
        self.check_names(options.service, false, options.announcement)?;
        if let (true, Some(cure)) = (options.local_requests_only, self.no_local_requests_only) {
            return Err(CreateEndpointError::Engine {
                name: options.service.to_owned(),
                operation: "ignoring the requests of other hosts",
                code: cure.to_owned(),
            });
        }
        options.qos = options.qos.resolved_for_service();
        self.check_qos(options.service, &options.qos)
    }

    /// Checks the options of a client and resolves its policies.
    ///
    /// # Errors
    /// See [`CreateEndpointError`].
    pub fn client(&self, options: &mut ClientOptions<'_>) -> Result<(), CreateEndpointError> {
        self.check_names(options.service, false, options.announcement)?;
        options.qos = options.qos.resolved_for_service();
        self.check_qos(options.service, &options.qos)
    }

    fn check_names(
        &self,
        name: &str,
        as_it_is: bool,
        announcement: &str,
    ) -> Result<(), CreateEndpointError> {
        (self.check_name)(name, as_it_is)?;
        crate::announcement::check_announcement(announcement)
            .map_err(|reason| CreateEndpointError::Announcement { name: name.to_owned(), reason })
    }

    fn check_qos(&self, name: &str, profile: &QosProfile) -> Result<(), CreateEndpointError> {
        if i32::try_from(profile.depth).is_err() {
            let reason = format!("depth {} is more than {}; use keep_all", profile.depth, i32::MAX);
            return Err(CreateEndpointError::Qos { name: name.to_owned(), reason });
        }
        self.warn_of_unkept_times(name, profile);
        Ok(())
    }

    fn warn_of_unkept_times(&self, name: &str, profile: &QosProfile) {
        // All endpoints of the process with the name count together.
        static UNKEPT: FailureCounters = FailureCounters::new();
        let mut unkept = Vec::new();
        if !self.kept.deadline && profile.deadline.finite().is_some() {
            unkept.push("missed deadlines are not reported");
        }
        let has_liveliness = profile.liveliness == Liveliness::ManualByTopic
            || profile.liveliness_lease_duration.finite().is_some();
        if !self.kept.liveliness && has_liveliness {
            unkept.push("a publisher counts as alive as long as it is connected");
        }
        if !unkept.is_empty()
            && let Some(so_far) = UNKEPT.so_far(name)
        {
            tracing::warn!(
                target: LOG_TARGET,
                "{name}: {}: {}{so_far}; leave the deadline and the liveliness out, or use a DDS \
                 engine (FEROS_ENGINE)",
                self.instead_of_times,
                unkept.join("; ")
            );
        }
    }
}

/// Checks a name by the rules of ROS 2.
///
/// # Errors
/// Fails with [`CreateEndpointError::Name`].
pub fn check_ros_name(name: &str) -> Result<(), CreateEndpointError> {
    crate::name::validate_full_topic_name(name).map_err(|error| refused(name, error.reason))
}

/// Refuses a name that does not follow the ROS conventions if `fits` is false, which means that the
/// engine cannot send the name. The error contains the `expected` form.
///
/// # Errors
/// Fails with [`CreateEndpointError::Name`].
pub fn check_wire_name(name: &str, fits: bool, expected: &str) -> Result<(), CreateEndpointError> {
    fits.then_some(()).ok_or_else(|| refused(name, expected.to_owned()))
}

fn refused(name: &str, reason: String) -> CreateEndpointError {
    CreateEndpointError::Name { name: name.chars().take(300).collect(), reason }
}
