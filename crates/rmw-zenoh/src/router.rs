//! A Zenoh router, by which nodes find each other and hosts are joined: what `rmw_zenohd` is to
//! `rmw_zenoh`.

use zenoh::Wait as _;

use crate::config::{self, ConfigError, Variables};

/// Why a router could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// Zenoh could not open it.
    #[error(
        "the router could not start: {cause}. Another one may run here, which serves as well; or listen elsewhere by \
         ZENOH_CONFIG_OVERRIDE='listen/endpoints=[\"tcp/0.0.0.0:7448\"]'{advice}"
    )]
    Open {
        /// What Zenoh says.
        cause: String,
        /// What else may be the reason, where links are encrypted.
        advice: &'static str,
    },
}

/// A router of this process; dropping it ends it.
pub struct Router {
    session: zenoh::Session,
    configuration: String,
}

impl Router {
    /// Starts a router as `ZENOH_ROUTER_CONFIG_URI` and `ZENOH_CONFIG_OVERRIDE` say.
    ///
    /// # Errors
    /// See [`RouterError`]; nothing is left running then.
    pub fn start() -> Result<Self, RouterError> {
        Self::start_with(&Variables::of_process())
    }

    /// Starts a router with this in place of `ZENOH_CONFIG_OVERRIDE`, whatever the variables say.
    ///
    /// # Errors
    /// See [`RouterError`]; nothing is left running then.
    pub fn start_overridden(config_override: &str) -> Result<Self, RouterError> {
        let config_override = Some(config_override.to_owned());
        Self::start_with(&Variables { config_override, ..Variables::default() })
    }

    fn start_with(variables: &Variables) -> Result<Self, RouterError> {
        let config = variables.router()?;
        let configuration = config::describe(&config);
        let advice = config::advice_to_listen(&config);
        let opened = zenoh::open(config).wait();
        let session =
            opened.map_err(|error| RouterError::Open { cause: error.to_string(), advice })?;
        Ok(Self { session, configuration })
    }

    /// Where it can be reached.
    pub fn locators(&self) -> Vec<String> {
        self.session.info().locators().wait().iter().map(ToString::to_string).collect()
    }

    /// Its identity.
    pub fn id(&self) -> String {
        self.session.zid().to_string()
    }

    /// How many sessions and routers are connected to it.
    pub fn connected(&self) -> usize {
        self.session.info().transports().wait().count()
    }

    /// The configuration that it runs with, as JSON.
    pub fn configuration(&self) -> &str {
        &self.configuration
    }
}
