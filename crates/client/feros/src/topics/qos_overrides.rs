//! QoS policies that parameters may override, for publishers and subscriptions that opt in.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use feros_engine::{EndpointKind, QosDuration, QosPolicy, QosProfile};
use feros_parameter::{DeclareParameterError, ParameterBuilder, ParameterValue};

use crate::create_error::CreateError;
use crate::node::Node;

/// Reads a policy from the profile as the value of a parameter: a boolean, a word, a number, or
/// nanoseconds.
fn read(policy: QosPolicy, qos: &QosProfile) -> ParameterValue {
    let word = |policy: &dyn fmt::Display| policy.to_string().to_lowercase().into();
    match policy {
        QosPolicy::AvoidRosNamespaceConventions => qos.avoid_ros_namespace_conventions.into(),
        QosPolicy::Deadline => nanos(qos.deadline).into(),
        QosPolicy::Depth => i64::try_from(qos.depth).unwrap_or(i64::MAX).into(),
        QosPolicy::Durability => word(&qos.durability),
        QosPolicy::History => word(&qos.history),
        QosPolicy::Lifespan => nanos(qos.lifespan).into(),
        QosPolicy::Liveliness => word(&qos.liveliness),
        QosPolicy::LivelinessLeaseDuration => nanos(qos.liveliness_lease_duration).into(),
        QosPolicy::Reliability => word(&qos.reliability),
    }
}

/// Writes the value of a parameter into the profile; the reverse of [`read`]. The error is the
/// reason for refusing the value.
fn write(policy: QosPolicy, qos: &mut QosProfile, value: &ParameterValue) -> Result<(), String> {
    match (policy, value) {
        (QosPolicy::AvoidRosNamespaceConventions, ParameterValue::Bool(value)) => {
            qos.avoid_ros_namespace_conventions = *value;
        }
        (QosPolicy::Deadline, ParameterValue::Integer(value)) => qos.deadline = duration(*value)?,
        (QosPolicy::Depth, ParameterValue::Integer(value)) => {
            qos.depth =
                usize::try_from(*value).map_err(|_| "a depth cannot be negative".to_owned())?;
        }
        (QosPolicy::Durability, ParameterValue::String(value)) => qos.durability = parse(value)?,
        (QosPolicy::History, ParameterValue::String(value)) => qos.history = parse(value)?,
        (QosPolicy::Lifespan, ParameterValue::Integer(value)) => qos.lifespan = duration(*value)?,
        (QosPolicy::Liveliness, ParameterValue::String(value)) => qos.liveliness = parse(value)?,
        (QosPolicy::LivelinessLeaseDuration, ParameterValue::Integer(value)) => {
            qos.liveliness_lease_duration = duration(*value)?;
        }
        (QosPolicy::Reliability, ParameterValue::String(value)) => qos.reliability = parse(value)?,
        (_, other) => {
            return Err(format!(
                "a value of type {} does not fit this policy",
                other.parameter_type()
            ));
        }
    }
    Ok(())
}

/// The values that stock ROS 2 reads as "no limit" and as "best available".
const INFINITE_NANOS: i64 = i64::MAX;
const BEST_AVAILABLE_NANOS: i64 = i64::MAX - 1;

fn nanos(duration: QosDuration) -> i64 {
    match duration {
        QosDuration::Infinite => INFINITE_NANOS,
        QosDuration::BestAvailable => BEST_AVAILABLE_NANOS,
        QosDuration::Finite(duration) => {
            i64::try_from(duration.as_nanos()).unwrap_or(INFINITE_NANOS)
        }
    }
}

fn duration(nanos: i64) -> Result<QosDuration, String> {
    match nanos {
        INFINITE_NANOS => Ok(QosDuration::Infinite),
        BEST_AVAILABLE_NANOS => Ok(QosDuration::BestAvailable),
        _ => u64::try_from(nanos)
            .map(|nanos| Duration::from_nanos(nanos).into())
            .map_err(|_| "a duration in nanoseconds cannot be negative".to_owned()),
    }
}

fn parse<P: FromStr<Err: fmt::Display>>(text: &str) -> Result<P, String> {
    text.parse().map_err(|error: P::Err| error.to_string())
}

type Validate = Box<dyn Fn(&QosProfile) -> Result<(), String> + Send>;

/// The policies of an endpoint that parameters may override. The parameters are declared read-only,
/// with names of the form `qos_overrides.<topic>.<publisher|subscription>[_<id>].<policy>`.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::{PublisherOptions, QosOverrides, QosProfile, msgs::std_msgs::msg::String as Text};
/// // -p qos_overrides./chatter.publisher.reliability:=best_effort
/// let options = PublisherOptions::from(QosProfile::keep_last(5)).qos_overrides(QosOverrides::default());
/// let chatter = node.create_publisher::<Text>("chatter", options)?;
/// # Ok::<(), feros::Error>(())
/// ```
pub struct QosOverrides {
    policies: Vec<QosPolicy>,
    id: Option<String>,
    validate: Option<Validate>,
}

impl Default for QosOverrides {
    /// Allows overrides of the history, the depth and the reliability.
    fn default() -> Self {
        Self::of([QosPolicy::History, QosPolicy::Depth, QosPolicy::Reliability])
    }
}

impl QosOverrides {
    /// Allows overrides of these policies.
    pub fn of(policies: impl IntoIterator<Item = QosPolicy>) -> Self {
        Self { policies: policies.into_iter().collect(), id: None, validate: None }
    }

    /// Sets the id of the endpoint in the names of its parameters, to distinguish several endpoints
    /// of one topic.
    pub fn id(self, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..self }
    }

    /// Sets a closure that checks the resulting policies; an error from the closure refuses the
    /// policies and gives the reason.
    pub fn validate(
        self,
        validate: impl Fn(&QosProfile) -> Result<(), String> + Send + 'static,
    ) -> Self {
        Self { validate: Some(Box::new(validate)), ..self }
    }

    /// Declares the parameters for an endpoint of this fully qualified topic, and applies their
    /// values to `qos`.
    pub(crate) fn apply(
        &self,
        node: &Node,
        topic: &str,
        kind: EndpointKind,
        qos: &mut QosProfile,
    ) -> Result<(), CreateError> {
        let refuse = |reason| CreateError::QosOverrides {
            node: node.name().clone(),
            topic: topic.to_owned(),
            reason,
        };
        let entity = if kind == EndpointKind::Publisher { "publisher" } else { "subscription" };
        let id = self.id.as_ref().map(|id| format!("_{id}")).unwrap_or_default();
        let policies = self.policies.iter();
        for policy in
            policies.filter(|policy| **policy != QosPolicy::Lifespan || entity == "publisher")
        {
            let name = format!("qos_overrides.{topic}.{entity}{id}.{}", policy.name());
            let description = format!("{} of the {entity} of {topic}", policy.name());
            let value =
                declare_or_get(node, &name, &description, read(*policy, qos)).map_err(refuse)?;
            write(*policy, qos, &value).map_err(|reason| {
                refuse(format!("the value of parameter '{name}' is not valid: {reason}"))
            })?;
        }
        match &self.validate {
            Some(validate) => validate(qos).map_err(|reason| {
                refuse(format!("the validation callback refuses the policies: {reason}"))
            }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for QosOverrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QosOverrides")
            .field("policies", &self.policies)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Returns the value of a parameter; declares the parameter first, unless an earlier endpoint of
/// the topic has done so.
fn declare_or_get(
    node: &Node,
    name: &str,
    description: &str,
    default: ParameterValue,
) -> Result<ParameterValue, String> {
    let builder = ParameterBuilder::with_type(node.parameters().store(), name, default);
    match builder.description(description).read_only().declare() {
        Ok(parameter) => Ok(parameter.get()),
        Err(DeclareParameterError::AlreadyDeclared { .. }) => {
            node.get_parameter(name).map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_every_policy() {
        let lost = QosPolicy::lost_in(|given| {
            let mut qos = QosProfile::default();
            for policy in QosPolicy::ALL {
                write(policy, &mut qos, &read(policy, given))
                    .expect("each value that is read can be written");
            }
            qos
        });
        assert_eq!(lost, []);
    }
}
