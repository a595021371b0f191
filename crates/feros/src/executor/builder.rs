//! Executors of other kinds than the default one.

use std::sync::Arc;
use std::time::Duration;

use feros_executor::{Policy, RealtimeConfig};
use feros_sync::Mutex;

use super::{Executor, shared_doorbell};

/// Makes an [`Executor`] with several threads, another policy, real-time scheduling, ...
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
    /// This many threads run callbacks: the one that spins, and worker threads that exist
    /// meanwhile. Zero means one for each processor, at least two. Which callbacks may overlap then
    /// is said by their [groups](crate::CallbackGroup).
    ///
    /// `spin`, `spin_until` and `spin_until_complete` use all threads; the others use the calling
    /// one alone.
    pub fn threads(self, threads: usize) -> Self {
        Self { core: self.core.threads(threads) }
    }

    /// Which ready callback is next, of [`policy`](crate::policy) or your own; without this, all in
    /// turn.
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Self { core: self.core.policy(policy) }
    }

    /// The name of the worker threads, which is followed by their number. The kernel shows the
    /// first 15 bytes of it.
    pub fn name(self, name: &str) -> Self {
        Self { core: self.core.name(name) }
    }

    /// What threads that spin are to the system's scheduler, and which memory is theirs. The
    /// calling thread stays so.
    pub fn realtime(self, realtime: RealtimeConfig) -> Self {
        Self { core: self.core.realtime(realtime) }
    }

    /// A thread that finds nothing to do looks for so long before it sleeps; of several threads one
    /// does. A message that comes meanwhile costs no system call and no wake-up: nothing is faster
    /// between threads and processes. Off without this.
    ///
    /// It takes a processor as long as messages come within the duration; when they come seldom,
    /// looks become rare, one for 64 sleeps at last.
    /// [`Executor::busy_waited`](crate::Executor::busy_waited) says what it took.
    pub fn busy_wait(self, duration: Duration) -> Self {
        Self { core: self.core.busy_wait(duration) }
    }

    /// Nothing is added after it has begun to spin: no node, and no endpoint or timer to its nodes.
    /// Trying to is an error. What the executor runs is known from then on, and its turns allocate
    /// nothing.
    pub fn frozen(self) -> Self {
        Self { core: self.core.frozen() }
    }

    /// The executor. Publishers of other processes of this host can wake it, if the system gives
    /// the process shared memory.
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
