//! What an executor is made with.

use crate::busy_wait::BusyWait;
use crate::policies::Fair;
use crate::policy::Policy;
use crate::realtime::{RealtimeConfig, RealtimeError};
use feros_doorbell::{DoorbellMemory, ReadySet};
use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// Options of an [`Executor`](crate::Executor). By default one thread serves ready entities in
/// turn.
///
/// ```
/// use feros_executor::{Executor, ExecutorOptions, Ros};
///
/// let options = ExecutorOptions::default().threads(4).policy(Ros::default()).name("planning");
/// assert_eq!(Executor::with_options(options).threads(), 4);
/// ```
#[must_use = "`Executor::with_options` makes the executor"]
pub struct ExecutorOptions {
    policy: Box<dyn Policy>,
    doorbell: Option<Arc<dyn DoorbellMemory>>,
    settings: Settings,
}

/// What does not change after an executor is made.
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) is_frozen: bool,
    pub(crate) busy_wait: Option<BusyWait>,
    name: String,
    realtime: Option<RealtimeConfig>,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        let settings = Settings {
            threads: 1,
            is_frozen: false,
            busy_wait: None,
            name: "feros-spin".to_owned(),
            realtime: None,
        };
        Self { policy: Box::new(Fair::default()), doorbell: None, settings }
    }
}

impl ExecutorOptions {
    /// This many threads execute: the one that calls a spin function, and worker threads that exist
    /// meanwhile. Zero means one for each processor that the process may use, at least two. A
    /// [serial](Policy::is_serial) policy makes it one.
    pub fn threads(mut self, threads: usize) -> Self {
        let processors =
            || std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        self.settings.threads = if threads == 0 { processors() } else { threads };
        self
    }

    /// Which ready entity is next; [`Fair`] without this.
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// The name of the worker threads, which is followed by their number. The kernel shows the
    /// first 15 bytes of it.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.settings.name);
        self
    }

    /// What threads that spin are to the system's scheduler. Each is made so when it begins to
    /// spin, the calling one too, and stays so.
    pub fn realtime(mut self, realtime: RealtimeConfig) -> Self {
        self.settings.realtime = Some(realtime);
        self
    }

    /// Nothing is added after the executor has begun to spin for the first time
    /// ([`AddError::Frozen`]): whatever it will ever execute is known then.
    ///
    /// [`AddError::Frozen`]: crate::AddError::Frozen
    pub fn frozen(mut self) -> Self {
        self.settings.is_frozen = true;
        self
    }

    /// A thread that finds nothing to do looks for so long before it sleeps; of several threads one
    /// does. What becomes ready meanwhile costs no system call and is found within a microsecond or
    /// two. Off without this, and for a duration of zero.
    ///
    /// It takes a processor: as long as work comes within the duration, the thread never sleeps.
    /// When it comes seldom, looks become rare, one for 64 sleeps at last.
    /// [`Executor::busy_waited`](crate::Executor::busy_waited) says what it took.
    pub fn busy_wait(mut self, duration: Duration) -> Self {
        self.settings.busy_wait = (duration > Duration::ZERO).then(|| BusyWait::new(duration));
        self
    }

    /// Other processes can ring, too, at the doorbell in `memory`, which is emptied first. What
    /// they write there costs executions that find nothing at worst; rings from this process do not
    /// depend on it. They are heard while they are told an entity's place:
    /// [`Ringer::on_move`](crate::Ringer::on_move).
    pub fn doorbell(mut self, memory: Arc<dyn DoorbellMemory>) -> Self {
        self.doorbell = Some(memory);
        self
    }

    pub(crate) fn into_parts(self) -> (ReadySet, Box<dyn Policy>, Settings) {
        let Self { policy, doorbell, mut settings } = self;
        if policy.is_serial() {
            settings.threads = 1;
        }
        let ready_set = doorbell.map_or_else(ReadySet::private, ReadySet::shared_at);
        (ready_set, policy, settings)
    }
}

impl fmt::Debug for ExecutorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorOptions")
            .field("threads", &self.settings.threads)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Makes the calling thread what threads that spin are to be.
    pub(crate) fn prepare_thread(&self) -> Result<(), RealtimeError> {
        self.realtime.as_ref().map_or(Ok(()), RealtimeConfig::apply)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn thread_name(&self, number: usize) -> String {
        format!("{}-{number}", self.name)
    }
}
