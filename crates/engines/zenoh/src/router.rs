//! A Zenoh router, which lets nodes discover each other and connects hosts. It corresponds to
//! `rmw_zenohd` of `rmw_zenoh`.

use zenoh::Wait as _;

use crate::config::{self, ConfigError, Variables};

/// The reason why a router could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// Zenoh could not open the router.
    #[error(
        "the router could not start: {cause}. If another router runs on this host, use that; otherwise listen on \
         another port with ZENOH_CONFIG_OVERRIDE='listen/endpoints=[\"tcp/0.0.0.0:7448\"]'{advice}"
    )]
    Open {
        /// Zenoh's error.
        cause: String,
        /// Further possible reasons if the router has encrypted links. Otherwise, this is empty.
        advice: &'static str,
    },
}

/// A router in this process. Dropping this value stops the router.
pub struct Router {
    session: zenoh::Session,
    configuration: String,
}

impl Router {
    /// Starts a router with the configuration from `ZENOH_ROUTER_CONFIG_URI` and
    /// `ZENOH_CONFIG_OVERRIDE`.
    ///
    /// # Errors
    /// See [`RouterError`]. After an error, nothing keeps running.
    pub fn start() -> Result<Self, RouterError> {
        Self::start_with(&Variables::of_process(), None)
    }

    /// Starts a router like [`start`](Self::start), with these access rules, which
    /// [`access_of_fleet`](crate::access_of_fleet) returns.
    ///
    /// # Errors
    /// See [`RouterError`]. After an error, nothing keeps running.
    pub fn start_with_access(rules: &str) -> Result<Self, RouterError> {
        Self::start_with(&Variables::of_process(), Some(rules))
    }

    /// Starts a router with this value for `ZENOH_CONFIG_OVERRIDE`. Ignores the environment.
    ///
    /// # Errors
    /// See [`RouterError`]. After an error, nothing keeps running.
    pub fn start_overridden(config_override: &str) -> Result<Self, RouterError> {
        let config_override = Some(config_override.to_owned());
        Self::start_with(&Variables { config_override, ..Variables::default() }, None)
    }

    fn start_with(variables: &Variables, access: Option<&str>) -> Result<Self, RouterError> {
        let mut config = variables.router()?;
        if let Some(rules) = access {
            config::insert(&mut config, "access_control", rules, "the access rules")?;
        }
        let configuration = config::describe(&config);
        let advice = config::advice_to_listen(&config);
        let opened = zenoh::open(config).wait();
        let session =
            opened.map_err(|error| RouterError::Open { cause: error.to_string(), advice })?;
        Ok(Self { session, configuration })
    }

    /// The addresses at which the router can be reached.
    pub fn locators(&self) -> Vec<String> {
        self.session.info().locators().wait().iter().map(ToString::to_string).collect()
    }

    /// The router's identity.
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// The number of connected sessions and routers.
    pub fn connected(&self) -> usize {
        self.session.info().transports().wait().count()
    }

    /// The active configuration, as JSON.
    pub fn configuration(&self) -> &str {
        &self.configuration
    }
}
