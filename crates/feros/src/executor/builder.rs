//! Executors with other options than the default.

use std::sync::Arc;
use std::time::Duration;

use feros_executor::{Policy, RealtimeConfig};
use feros_sync::Mutex;

use super::{Executor, shared_doorbell};

/// Builds an [`Executor`] with several threads, another policy, real-time scheduling and so on.
///
/// ```no_run
/// use feros::{Executor, RealtimeConfig, Scheduling, policy};
/// let planning = Executor::builder().threads(4).name("planning").build();
/// let control = Executor::builder()
///     .policy(policy::Priority::default())
///     .realtime(RealtimeConfig::default().scheduling(Scheduling::Fifo { priority: 80 }).cpus([3]).lock_memory())
///     .frozen()
///     .build();
/// ```
#[must_use = "`build` makes the executor"]
#[derive(Default)]
pub struct ExecutorBuilder {
    core: feros_executor::ExecutorOptions,
}

impl ExecutorBuilder {
    /// Sets the number of threads that run callbacks: the thread that spins, and worker threads
    /// that exist meanwhile. Zero means one for each processor, at least two. The
    /// [groups](crate::CallbackGroup) of callbacks determine which callbacks may overlap.
    ///
    /// `spin`, `spin_until` and `spin_until_complete` use all threads; the other methods use the
    /// calling thread alone.
    pub fn threads(self, threads: usize) -> Self {
        Self { core: self.core.threads(threads) }
    }

    /// Sets the policy that chooses the next ready callback, from [`policy`](crate::policy) or your
    /// own; without it, callbacks run in turn.
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Self { core: self.core.policy(policy) }
    }

    /// Sets the name of the worker threads; their number follows it. The kernel shows its first 15
    /// bytes.
    pub fn name(self, name: &str) -> Self {
        Self { core: self.core.name(name) }
    }

    /// Sets the scheduling and the memory of the threads that spin. The calling thread keeps these
    /// settings afterwards.
    pub fn realtime(self, realtime: RealtimeConfig) -> Self {
        Self { core: self.core.realtime(realtime) }
    }

    /// Sets how long a thread without work polls for work before it sleeps; of several threads, one
    /// polls. A message that arrives meanwhile costs no system call and no wake-up: no other wait
    /// is faster between threads and processes. Off by default.
    ///
    /// Polling occupies a processor as long as messages come within the duration; when they come
    /// seldom, polls become rare, at last one per 64 sleeps.
    /// [`Executor::busy_waited`](crate::Executor::busy_waited) returns the time spent.
    pub fn busy_wait(self, duration: Duration) -> Self {
        Self { core: self.core.busy_wait(duration) }
    }

    /// Makes the executor refuse additions after it has begun to spin: nodes, and endpoints and
    /// timers of its nodes. An attempt is an error. The set of its callbacks is fixed from then on,
    /// and its turns allocate nothing.
    pub fn frozen(self) -> Self {
        Self { core: self.core.frozen() }
    }

    /// Builds the executor. Publishers of other processes of this host can wake it, if the system
    /// gives the process shared memory.
    pub fn build(self) -> Executor {
        let core = feros_executor::Executor::with_options(self.with_doorbell());
        Executor {
            core,
            contexts: Mutex::default(),
            nodes: Mutex::default(),
            groups: Mutex::default(),
        }
    }

    fn with_doorbell(self) -> feros_executor::ExecutorOptions {
        match shared_doorbell() {
            Some(doorbell) => self.core.doorbell(Arc::new(doorbell)),
            None => self.core,
        }
    }
}
