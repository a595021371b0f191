//! The responses to one client, taken out of the engine as they come.
//!
//! A reader of replies hears the responses to all clients of its service, and keeps the last few of
//! them: those to others would displace the client's own wherever the client is slow to look.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_rmw::{FailureCounter, Gid, Notify, Sample};
use feros_sync::Mutex;

use crate::sample::Taken;

/// Responses that may wait until the client takes them ...
const MOST_WAITING: usize = 1024;
/// ... and their bytes together, unless it is one.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What waits for one client.
pub(crate) struct Responses {
    service: String,
    on_response: Notify,
    own: OnceLock<Own>,
    waiting: Mutex<Waiting>,
    refused: AtomicU64,
    lost: FailureCounter,
}

/// By what a client knows the responses to its own requests.
pub(crate) struct Own {
    /// Its reader of replies.
    pub(crate) replies: Gid,
    /// Its writer of requests.
    pub(crate) requests: Gid,
    /// What it puts into payload headers.
    pub(crate) header: [u8; 8],
}

#[derive(Default)]
struct Waiting {
    responses: VecDeque<Response>,
    bytes: usize,
}

struct Response {
    number: i64,
    sample: Taken,
    has_header: bool,
}

impl Responses {
    /// Nothing is a response to the client before it [is known](Self::begin).
    pub(crate) fn new(service: &str, on_response: Notify) -> Self {
        Self {
            service: service.to_owned(),
            on_response,
            own: OnceLock::new(),
            waiting: Mutex::default(),
            refused: AtomicU64::new(0),
            lost: FailureCounter::new(),
        }
    }

    /// To be called before the first request.
    pub(crate) fn begin(&self, own: Own) {
        self.own.get_or_init(|| own);
    }

    /// Keeps a sample if it is a response to the client, and says so. Called by the engine.
    pub(crate) fn accept(&self, sample: Taken) {
        let Some(response) = self.own.get().and_then(|own| self.response(own, sample)) else {
            return;
        };
        let displaced = self.waiting.lock().put(response);
        let count = self.lost.count_many(displaced.len() as u64);
        drop(displaced); // without the lock
        if let Some(count) = count {
            tracing::error!(
                "{}: {count} responses so far are lost, because nobody took them: await what is \
                 called, or call less at once",
                self.service
            );
        }
        (self.on_response)();
    }

    /// `None`: it belongs to another client, or is none.
    fn response(&self, own: &Own, sample: Taken) -> Option<Response> {
        if let Some((client, number)) = sample.related {
            let is_own = [own.replies.0, own.requests.0].contains(&client);
            return is_own.then_some(Response { number, sample, has_header: false });
        }
        let Some((guid, number)) = sample.service_header() else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let is_own = guid == own.header;
        is_own.then_some(Response { number, sample, has_header: true })
    }

    /// The oldest response that waits, and the number of its request.
    pub(crate) fn next(&self) -> Option<(i64, Sample)> {
        let Response { number, sample, has_header } = self.waiting.lock().take()?;
        let session = self.own.get()?.replies;
        if !has_header {
            return Some((number, sample.lend(session)));
        }
        Some((number, sample.without_service_header(session)?))
    }

    /// Responses that nobody took in time.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.total()
    }

    /// Samples that were neither responses to this client nor to another.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Waiting {
    /// Says which ones there is no room for any more.
    fn put(&mut self, response: Response) -> Vec<Response> {
        self.bytes += response.sample.buffer.bytes().len();
        self.responses.push_back(response);
        let mut displaced = Vec::new();
        while self.responses.len() > MOST_WAITING
            || self.bytes > MOST_BYTES && self.responses.len() > 1
        {
            displaced.extend(self.take());
        }
        displaced
    }

    fn take(&mut self) -> Option<Response> {
        let response = self.responses.pop_front()?;
        self.bytes -= response.sample.buffer.bytes().len();
        Some(response)
    }
}
