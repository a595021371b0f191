//! Calls of ROS 1 services. Several threads make the calls. Each thread waits for one response at a
//! time, on a connection that remains open.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use feros_engine::FailureCounter;
use feros_engine::Gid;
use feros_engine::engine::LOG_TARGET;
use feros_ros1::{CallConnection, CallError, ServicePlans};
use feros_sync::{Condvar, Mutex};

use crate::message::{Body, Message, Responses};

/// The limit on a client's concurrent calls. Further calls wait.
const MOST_CALLS: usize = 16;
/// The limit on waiting calls.
const MOST_WAITING: usize = 1024;
/// How long a thread must be idle before it ends and closes its connection.
const IDLE: Duration = Duration::from_secs(10);

/// A request that is to be sent.
struct Job {
    number: i64,
    server: Gid,
    /// The request in the ROS 1 format.
    body: Vec<u8>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    is_closed: bool,
    next_stream: u64,
    /// The open connections, which are shut down when the client is dropped.
    streams: BTreeMap<u64, TcpStream>,
}

/// The state that all threads of a client share.
pub(crate) struct Caller {
    node: feros_ros1::Node,
    service: String,
    ros1_type: String,
    md5sum: String,
    plans: Arc<ServicePlans>,
    responses: Arc<Responses>,
    state: Mutex<State>,
    changed: Condvar,
    failures: FailureCounter,
}

impl Caller {
    pub(crate) fn new(
        node: &feros_ros1::Node,
        service: &str,
        (ros1_type, md5sum): (String, String),
        plans: Arc<ServicePlans>,
        responses: &Arc<Responses>,
    ) -> Arc<Self> {
        Arc::new(Self {
            node: node.clone(),
            service: service.to_owned(),
            ros1_type,
            md5sum,
            plans,
            responses: responses.clone(),
            state: Mutex::default(),
            changed: Condvar::new(),
            failures: FailureCounter::new(),
        })
    }

    /// Starts a call. The response will be added to the client's responses.
    ///
    /// # Errors
    /// Returns the reason why the call could not be started.
    pub(crate) fn call(
        self: &Arc<Self>,
        number: i64,
        server: Gid,
        cdr: &[u8],
    ) -> Result<(), String> {
        let mut body = Vec::with_capacity(cdr.len());
        let converted = self.plans.request.to_ros1.convert(cdr, &mut body);
        converted.map_err(|error| error.to_string())?;
        let mut state = self.state.lock();
        if state.jobs.len() >= MOST_WAITING {
            return Err(format!("{MOST_WAITING} calls already wait for the server"));
        }
        state.jobs.push_back(Job { number, server, body });
        if state.idle < state.jobs.len() && state.threads < MOST_CALLS {
            let caller = self.clone();
            let thread = std::thread::Builder::new().name("feros-ros1-call".into());
            match thread.spawn(move || caller.run()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    state.jobs.pop_back();
                    return Err(format!("no thread can be started for the call: {error}"));
                }
                Err(_) => {}
            }
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Ends all calls.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.jobs.clear();
        for stream in state.streams.values() {
            let _ = stream.shutdown(Shutdown::Both); // the connection may already have ended
        }
        drop(state);
        self.changed.notify_all();
    }

    fn run(&self) {
        let mut connection = None;
        while let Some(job) = self.next() {
            if let Err(error) = self.answer(&mut connection, &job) {
                self.say(&error);
            }
        }
        self.forget(&mut connection);
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                break;
            }
            state.idle += 1;
            let woken = self.changed.wait_timeout(state, IDLE);
            state = woken;
            state.idle -= 1;
            // There is no job: either the thread has been idle for too long, or another thread has
            // taken the job. In both cases, this thread ends.
            if state.jobs.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }

    /// Makes one call, on the existing connection or on a new connection.
    fn answer(
        &self,
        connection: &mut Option<(u64, CallConnection)>,
        job: &Job,
    ) -> Result<(), String> {
        if connection.as_ref().is_some_and(|(_, known)| !known.is_there()) {
            self.forget(connection);
        }
        let (_, open) = match connection {
            Some(known) => known,
            None => connection.insert(self.connect()?),
        };
        let response = match open.call(&job.body) {
            Ok(response) => response,
            Err(error) => {
                if !matches!(error, CallError::Failed { .. }) {
                    self.forget(connection);
                }
                return Err(error.to_string());
            }
        };
        let body = Body::converted(&self.plans.response.to_ros2, &response);
        let body = body.map_err(|error| error.to_string())?;
        self.responses.push(Message::response(job.number, body, job.server));
        Ok(())
    }

    fn connect(&self) -> Result<(u64, CallConnection), String> {
        let ty = (self.ros1_type.as_str(), self.md5sum.as_str());
        let opened = CallConnection::open(self.node.master(), self.node.name(), &self.service, ty);
        let opened = opened.map_err(|error| error.to_string())?;
        let stream = opened.stream().map_err(|error| error.to_string())?;
        let mut state = self.state.lock();
        if state.is_closed {
            return Err("the client has gone".into());
        }
        let number = state.next_stream;
        state.next_stream += 1;
        state.streams.insert(number, stream);
        Ok((number, opened))
    }

    fn forget(&self, connection: &mut Option<(u64, CallConnection)>) {
        if let Some((number, _)) = connection.take() {
            self.state.lock().streams.remove(&number);
        }
    }

    /// Logs the reason why a call failed. ROS 2 has no response for a failed call, so the client
    /// continues to wait, as if the server had left.
    fn say(&self, error: &str) {
        if self.state.lock().is_closed {
            return;
        }
        if let Some(count) = self.failures.count() {
            tracing::warn!(
                target: LOG_TARGET,
                "a call of {} got no response ({count} so far): {error}",
                self.service
            );
        }
    }
}
