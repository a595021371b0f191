//! The responses to one client, which are taken from the library as soon as they arrive.
//!
//! A DDS reader of replies receives the responses to all clients of its service, and keeps only the
//! newest responses. If the responses remained in the reader, responses to other clients would
//! replace the responses to a slow client.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::{FailureCounters, Gid, Notify, Sample};
use feros_sync::Mutex;

use crate::library::Taken;
use crate::service_header;

/// The limit on responses that wait for the client to take them.
const MOST_WAITING: usize = 1024;
/// The limit on the total size of the waiting responses, in bytes. A single response may be larger.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The responses that one client has not taken yet.
pub(crate) struct Responses<T> {
    service: String,
    on_response: Notify,
    own: OnceLock<Own>,
    waiting: Mutex<Waiting<T>>,
    refused: AtomicU64,
    lost: AtomicU64,
}

/// The identities by which a client recognizes the responses to its own requests.
pub(crate) struct Own {
    /// The gid of the client's reader of replies.
    pub(crate) replies: Gid,
    /// The gid of the client's writer of requests.
    pub(crate) requests: Gid,
    /// The client's number in payload headers.
    pub(crate) header: [u8; 8],
}

struct Waiting<T> {
    responses: VecDeque<Response<T>>,
    bytes: usize,
}

struct Response<T> {
    number: i64,
    sample: T,
    has_header: bool,
}

impl<T: Taken> Responses<T> {
    /// Creates the queue. Before [`begin`](Self::begin) is called, no sample counts as a response
    /// to the client.
    pub(crate) fn new(service: &str, on_response: Notify) -> Self {
        Self {
            service: service.to_owned(),
            on_response,
            own: OnceLock::new(),
            waiting: Mutex::new(Waiting { responses: VecDeque::new(), bytes: 0 }),
            refused: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Sets the identities of the client. This must be called before the first request is sent.
    pub(crate) fn begin(&self, own: Own) {
        self.own.get_or_init(|| own);
    }

    /// Stores a sample if it is a response to the client, and notifies the client. The library
    /// calls this function.
    pub(crate) fn accept(&self, sample: T) {
        let Some(response) = self.own.get().and_then(|own| self.response(own, sample)) else {
            return;
        };
        // All clients of the process that call the service count together in the log.
        static LOST: FailureCounters = FailureCounters::new();
        let displaced = self.waiting.lock().put(response);
        let lost = displaced.len() as u64;
        drop(displaced); // after the lock has been released
        self.lost.fetch_add(lost, Ordering::Relaxed);
        if let Some(count) = LOST.count_many(&self.service, lost) {
            tracing::error!(
                "{}: {count} responses have been lost so far, because nobody took them: await the \
                 responses, or make fewer calls at once",
                self.service
            );
        }
        (self.on_response)();
    }

    /// Returns the response in a sample, or `None` if the sample is a response to another client or
    /// is not a response.
    fn response(&self, own: &Own, sample: T) -> Option<Response<T>> {
        if let Some((client, number)) = sample.related() {
            let is_own = [own.replies.0, own.requests.0].contains(&client);
            return is_own.then_some(Response { number, sample, has_header: false });
        }
        let Some((client, number)) = service_header::read(sample.bytes()) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        (client == own.header).then_some(Response { number, sample, has_header: true })
    }

    /// Takes the oldest waiting response, and returns it with the number of its request.
    pub(crate) fn next(&self) -> Option<(i64, Sample)> {
        let Response { number, sample, has_header } = self.waiting.lock().take()?;
        let reader = self.own.get()?.replies;
        let sample =
            if has_header { sample.without_service_header(reader)? } else { sample.lend(reader) };
        Some((number, sample))
    }

    /// Returns the number of responses that were lost because the client did not take them in time.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns the number of samples that were not responses.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl<T: Taken> Waiting<T> {
    /// Adds a response and returns the responses that it displaces.
    fn put(&mut self, response: Response<T>) -> Vec<Response<T>> {
        self.bytes += response.sample.bytes().len();
        self.responses.push_back(response);
        let mut displaced = Vec::new();
        while self.responses.len() > MOST_WAITING
            || self.bytes > MOST_BYTES && self.responses.len() > 1
        {
            displaced.extend(self.take());
        }
        displaced
    }

    fn take(&mut self) -> Option<Response<T>> {
        let response = self.responses.pop_front()?;
        self.bytes -= response.sample.bytes().len();
        Some(response)
    }
}
