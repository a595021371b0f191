//! Definitions of types that this process does not know. Separate threads ask other nodes for them,
//! since an answer takes seconds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use feros::engine::TypeHash;
use feros_message::Schema;
use feros_sync::{Condvar, Mutex};

use super::SchemaSource;
use super::reception::Job;
use crate::queue::Queue;

/// The limit on questions that wait for an answer at once.
const MOST_ASKED: usize = 8;
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The type of a recorded topic, and the topic's number.
pub(super) struct Question {
    pub(super) number: usize,
    pub(super) topic: String,
    pub(super) type_name: String,
    pub(super) hash: Option<TypeHash>,
}

/// Questions and their answers. Clones share one state.
#[derive(Clone)]
pub(super) struct Definitions(Arc<Shared>);

struct Shared {
    source: SchemaSource,
    queue: Arc<Queue<Job>>,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    questions: VecDeque<Question>,
    answers: BTreeMap<usize, Schema>,
    threads: Vec<JoinHandle<()>>,
    asking: usize,
    is_ending: bool,
}

impl Definitions {
    /// Creates the state; `source` answers the questions, and each answer is put into `queue` as a
    /// job.
    pub(super) fn new(source: SchemaSource, queue: Arc<Queue<Job>>) -> Self {
        let (state, answered) = (Mutex::new(State::default()), Condvar::new());
        Self(Arc::new(Shared { source, queue, state, answered }))
    }

    /// Asks without waiting. An answer always comes; its definition is empty if no node knows the
    /// type.
    pub(super) fn ask(&self, question: Question) {
        let mut state = self.0.state.lock();
        state.threads.retain(|thread| !thread.is_finished());
        state.questions.push_back(question);
        if state.asking >= MOST_ASKED {
            return;
        }
        let shared = self.0.clone();
        let thread = std::thread::Builder::new().name("feros-bag-types".into());
        match thread.spawn(move || shared.ask_all()) {
            Ok(thread) => {
                state.threads.push(thread);
                state.asking += 1;
            }
            Err(_) if state.asking > 0 => {} // a running thread will take the question
            Err(_) => {
                let unasked: Vec<_> = state.questions.drain(..).collect();
                state.answers.extend(unasked.iter().map(|q| (q.number, Schema::default())));
                drop(state);
                self.0.answered.notify_all();
            }
        }
    }

    /// The answer, if it has come.
    pub(super) fn answer(&self, number: usize) -> Option<Schema> {
        self.0.state.lock().answers.remove(&number)
    }

    /// Waits for the answer.
    pub(super) fn wait(&self, number: usize) -> Schema {
        let unanswered = |state: &mut State| !state.answers.contains_key(&number);
        let state = self.0.state.lock();
        let mut state = self.0.answered.wait_timeout_while(state, PATIENCE, unanswered);
        state.answers.remove(&number).unwrap_or_default()
    }

    /// Waits for the answers to questions that other nodes were already asked, and drops the other
    /// questions.
    pub(super) fn end(&self) {
        let threads = {
            let mut state = self.0.state.lock();
            state.is_ending = true;
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            // If the thread ended with a panic of the source, the panic was logged.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn ask_all(&self) {
        loop {
            let (question, is_ending) = {
                let mut state = self.state.lock();
                let Some(question) = state.questions.pop_front() else {
                    state.asking -= 1;
                    return;
                };
                (question, state.is_ending)
            };
            let Question { number, topic, type_name, hash } = question;
            let schema = match is_ending {
                true => Schema::default(),
                false => (self.source)(&topic, &type_name, hash),
            };
            self.state.lock().answers.insert(number, schema);
            self.answered.notify_all();
            // A closed queue belongs to a bag that has ended.
            drop(self.queue.push(Job::Defined(number), 0));
        }
    }
}
