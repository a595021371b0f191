//! Counts and logs problems with the requests of a service. Each kind of problem is logged the
//! first time and then each time its count doubles, so that a client that calls forever does not
//! fill the disk.

use std::sync::Arc;

use feros_engine::{FailureCounter, TakeError};

use crate::publish_error::PublishError;

/// Counts and logs the problems of one service.
pub(crate) struct Troubles {
    service: Arc<str>,
    logger: Arc<str>,
    untaken: FailureCounter,
    unsent: FailureCounter,
    dropped: FailureCounter,
}

impl Troubles {
    pub(crate) fn new(service: &str, logger: &Arc<str>) -> Self {
        Self {
            service: service.into(),
            logger: logger.clone(),
            untaken: FailureCounter::new(),
            unsent: FailureCounter::new(),
            dropped: FailureCounter::new(),
        }
    }

    /// The fully qualified name of the service.
    pub(crate) fn service(&self) -> &str {
        &self.service
    }

    /// Counts and logs a request that could not be taken.
    #[cold]
    pub(crate) fn untaken(&self, error: &TakeError) {
        if let Some(so_far) = self.untaken.so_far() {
            tracing::error!(ros_logger = &*self.logger, "{error}{so_far}");
        }
    }

    /// Counts and logs a response that could not be sent.
    #[cold]
    pub(crate) fn unsent(&self, error: &PublishError) {
        if let Some(so_far) = self.unsent.so_far() {
            tracing::warn!(ros_logger = &*self.logger, "{error}{so_far}");
        }
    }

    /// Counts and logs a request that was dropped without a response.
    #[cold]
    pub(crate) fn dropped(&self) {
        if let Some(so_far) = self.dropped.so_far() {
            tracing::warn!(
                ros_logger = &*self.logger,
                "a request of {} was dropped without a response, so its client waits until it \
                 gives up{so_far}",
                self.service
            );
        }
    }
}
