//! The options with which an executor is made.

use crate::busy_wait::BusyWait;
use crate::policies::Fair;
use crate::policy::Policy;
use crate::realtime::{RealtimeConfig, RealtimeError};
use feros_doorbell::{DoorbellMemory, ReadySet};
use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// The options of an [`Executor`](crate::Executor). By default, one thread serves ready entities in
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

/// The settings that do not change after the executor is made.
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
    /// Sets the number of threads: the thread that calls a spin function, and worker threads that
    /// exist while it spins. Zero means one thread for each processor that the process may use, but
    /// at least two. With a [serial](Policy::is_serial) policy, there is only one thread.
    pub fn threads(mut self, threads: usize) -> Self {
        let processors =
            || std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        self.settings.threads = if threads == 0 { processors() } else { threads };
        self
    }

    /// Sets the policy, which selects the next ready entity; the default is [`Fair`].
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// Sets the name of the worker threads. The number of each thread is appended to the name, and
    /// the kernel shows the first 15 bytes of the result.
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.settings.name);
        self
    }

    /// Sets the scheduling and memory of the threads that spin. The settings are applied to each
    /// thread when it begins to spin. This includes the calling thread, which keeps the settings
    /// afterwards.
    pub fn realtime(mut self, realtime: RealtimeConfig) -> Self {
        self.settings.realtime = Some(realtime);
        self
    }

    /// Makes the executor refuse new entities with [`AddError::Frozen`] once it has begun to spin
    /// for the first time.
    ///
    /// [`AddError::Frozen`]: crate::AddError::Frozen
    pub fn frozen(mut self) -> Self {
        self.settings.is_frozen = true;
        self
    }

    /// Makes a thread that finds no work poll for this long before it sleeps; of several threads,
    /// only one polls. Work that comes during a poll costs no system call and is found within a
    /// microsecond or two. Polling is off by default, and for a duration of zero.
    ///
    /// Polling occupies a processor: as long as work comes within the duration, the thread never
    /// sleeps. When work comes rarely, polls become rare too, down to one poll per 64 sleeps.
    /// [`Executor::busy_waited`](crate::Executor::busy_waited) returns the time spent polling.
    pub fn busy_wait(mut self, duration: Duration) -> Self {
        self.settings.busy_wait = (duration > Duration::ZERO).then(|| BusyWait::new(duration));
        self
    }

    /// Lets other processes ring too, at the doorbell in `memory`, which this function clears
    /// first. At worst, the writes of other processes cause executions that find no work; rings
    /// from this process do not depend on that memory. To ring an entity, another process has to
    /// know the entity's present [`Place`](crate::Place), which
    /// [`Ringer::on_move`](crate::Ringer::on_move) reports.
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
    /// Applies the settings of spinning threads to the calling thread.
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
