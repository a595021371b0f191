//! The builder for executors with options.

use std::sync::Arc;
use std::time::Duration;

use feros_executor::{Policy, RealtimeConfig};
use feros_sync::Mutex;

use super::{Executor, shared_doorbell};

/// Builds an [`Executor`] with options, such as several threads, another policy or real-time
/// scheduling.
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
    /// Sets the number of threads that run callbacks: the thread that calls `spin`, and worker
    /// threads that exist while it spins. Zero means one thread for each processor, but at least
    /// two. The [groups](crate::CallbackGroup) of callbacks determine which callbacks may overlap.
    ///
    /// `spin`, `spin_until` and `spin_until_complete` use all threads; the other methods use only
    /// the calling thread.
    pub fn threads(self, threads: usize) -> Self {
        Self { core: self.core.threads(threads) }
    }

    /// Sets the policy that chooses the next ready callback. Take a policy of the module
    /// [`policy`](crate::policy), or write your own. By default, callbacks run in turn.
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Self { core: self.core.policy(policy) }
    }

    /// Sets the name of the worker threads. The number of each thread is appended to the name, and
    /// the kernel shows the first 15 bytes of the result.
    pub fn name(self, name: &str) -> Self {
        Self { core: self.core.name(name) }
    }

    /// Sets the scheduling and the memory locking of the threads that spin. The calling thread
    /// keeps these settings after it has spun.
    pub fn realtime(self, realtime: RealtimeConfig) -> Self {
        Self { core: self.core.realtime(realtime) }
    }

    /// Sets how long a thread without work polls for work before it sleeps; if there are several
    /// threads, one of them polls. A message that arrives during the polling costs no system call
    /// and no wake-up, which makes this the fastest way to wait for other threads and processes.
    /// Off by default.
    ///
    /// While messages arrive within `duration` of each other, polling occupies a processor. If
    /// messages arrive less often, the thread polls before fewer of its sleeps: at the least,
    /// before one sleep in 64. [`Executor::busy_waited`](crate::Executor::busy_waited) returns the
    /// time spent polling.
    pub fn busy_wait(self, duration: Duration) -> Self {
        Self { core: self.core.busy_wait(duration) }
    }

    /// Fixes the set of callbacks when the executor begins to spin: from then on, adding a node
    /// fails, and so does adding an endpoint or a timer to one of its nodes. In return, the
    /// executor itself allocates nothing while it spins.
    pub fn frozen(self) -> Self {
        Self { core: self.core.frozen() }
    }

    /// Builds the executor. Publishers in other processes of this host can wake it, if the process
    /// has shared memory.
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
