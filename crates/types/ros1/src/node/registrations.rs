//! The registrations of a node with its master: makes them, repeats those that the master has lost,
//! and removes them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_sync::Ordering;

use super::Inner;
use crate::master::{MasterError, SystemState, texts};
use crate::publication::Publication;
use crate::subscription::Subscription;
use crate::xmlrpc::Value;

/// In one pass, a node registers at most this many subscriptions again, to get from the master the
/// publishers for which it had no free connection.
const MOST_ASKED_AGAIN: usize = 16;

impl Inner {
    pub(super) fn leave_within(&self, longest: Duration) {
        let until = Instant::now() + longest;
        let mut farewell = self.farewell.lock();
        *farewell = Some(farewell.map_or(until, |known| known.min(until)));
    }

    fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Acquire)
    }

    pub(super) fn api_uri(&self) -> Value {
        Value::Text(self.api.to_string())
    }

    fn service_uri(&self) -> String {
        format!("rosrpc://{}:{}", self.tcpros.host, self.tcpros.port)
    }

    pub(super) fn register_publication(
        &self,
        publication: &Publication,
    ) -> Result<(), MasterError> {
        let parameters = [
            publication.topic().into(),
            publication.options.type_name.as_str().into(),
            self.api_uri(),
        ];
        self.register("registerPublisher", &parameters).map(drop)
    }

    pub(super) fn register_subscription(
        &self,
        subscription: &Arc<Subscription>,
    ) -> Result<(), MasterError> {
        let parameters = [
            subscription.topic().into(),
            subscription.options.type_name.as_str().into(),
            self.api_uri(),
        ];
        if let Some(publishers) = self.register("registerSubscriber", &parameters)? {
            subscription.update(&texts(&publishers), &self.siblings);
        }
        Ok(())
    }

    pub(super) fn register_service(&self, service: &str) -> Result<(), MasterError> {
        let parameters = [service.into(), self.service_uri().as_str().into(), self.api_uri()];
        self.register("registerService", &parameters).map(drop)
    }

    /// Registers something with the master. Returns `None` if the master is absent and the
    /// registration will be made later.
    fn register(
        &self,
        method: &'static str,
        parameters: &[Value],
    ) -> Result<Option<Value>, MasterError> {
        if self.is_patient && self.is_alone() {
            return Ok(None);
        }
        match self.master.call(method, parameters) {
            Err(MasterError::Unreachable { .. }) if self.is_patient => {
                self.is_alone.store(true, Ordering::Release);
                Ok(None)
            }
            answer => {
                let answer = answer?;
                self.is_alone.store(false, Ordering::Release);
                Ok(Some(answer))
            }
        }
    }

    pub(super) fn register_missing(
        &self,
        state: &SystemState,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), MasterError> {
        let known = |all: &'_ [(String, Vec<String>)]| -> BTreeSet<String> {
            let own = all.iter().filter(|(_, nodes)| nodes.contains(&self.name));
            own.map(|(name, _)| name.clone()).collect()
        };
        let publications: Vec<_> = self.publications.lock().values().cloned().collect();
        let registered = known(&state.publishers);
        for publication in publications {
            if !registered.contains(publication.topic()) && !is_over() {
                self.register_publication(&publication)?;
            }
        }
        let subscriptions: Vec<_> = self.subscriptions.lock().values().cloned().collect();
        let (registered, mut asked_again) = (known(&state.subscribers), 0);
        for subscription in subscriptions {
            let is_again = asked_again < MOST_ASKED_AGAIN && subscription.may_go_on();
            if (is_again || !registered.contains(subscription.topic())) && !is_over() {
                self.register_subscription(&subscription)?;
                asked_again += usize::from(is_again);
            }
        }
        let services: Vec<String> = self.services.lock().keys().cloned().collect();
        let registered = known(&state.services);
        for service in services {
            if !registered.contains(&service) && !is_over() {
                self.register_service(&service)?;
            }
        }
        Ok(())
    }

    /// Makes a call and ignores a failure, because the master may have ended or may be slow.
    pub(super) fn say(&self, method: &'static str, parameters: &[Value]) {
        let is_late = self.farewell.lock().is_some_and(|until| Instant::now() >= until);
        if is_late || self.is_alone() {
            return;
        }
        if let Err(MasterError::Unreachable { .. }) = self.master.call(method, parameters) {
            self.is_alone.store(true, Ordering::Release);
        }
    }

    pub(super) fn tell(&self, method: &'static str, topic: &str) {
        self.say(method, &[topic.into(), self.api_uri()]);
    }

    pub(super) fn tell_of_service(&self, service: &str) {
        let uri = self.service_uri();
        self.say("unregisterService", &[service.into(), uri.as_str().into()]);
    }
}
