//! Real-time settings of threads: scheduling class, processors, and memory that is locked and
//! touched in advance.

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_name};
use std::ffi::CString;
use std::hint::black_box;
use std::time::Duration;
use thread_priority::unix::{DeadlineFlags, thread_native_id};
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy, set_thread_priority_and_policy,
};

/// The scheduling and memory settings of threads that spin an executor. Settings that are not given
/// stay unchanged.
///
/// ```
/// use feros_executor::{Executor, ExecutorOptions, RealtimeConfig, Scheduling};
///
/// let config = RealtimeConfig::default()
///     .scheduling(Scheduling::Fifo { priority: 80 })
///     .cpus([3])
///     .lock_memory()
///     .prefault_stack(256 * 1024);
/// let executor = Executor::with_options(ExecutorOptions::default().realtime(config));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RealtimeConfig {
    scheduling: Option<Scheduling>,
    cpus: Vec<usize>,
    locks_memory: bool,
    stack_bytes: usize,
    thread_name: Option<String>,
}

/// A class of the system's scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduling {
    /// `SCHED_OTHER`: time-sharing, with nice value 0.
    Other,
    /// `SCHED_FIFO`: the thread runs before all time-sharing threads, until it sleeps.
    Fifo {
        /// From 1 to 99. A higher number is more urgent.
        priority: u8,
    },
    /// `SCHED_RR`: like FIFO, but the thread takes turns with other threads of the same priority.
    RoundRobin {
        /// From 1 to 99. A higher number is more urgent.
        priority: u8,
    },
    /// `SCHED_DEADLINE`: the thread gets `runtime` of processor time within the first `deadline` of
    /// each `period`. This class cannot be combined with a choice of processors.
    Deadline {
        /// The processor time per period, at most `deadline`.
        runtime: Duration,
        /// The time from the start of a period by which the thread gets its `runtime`; at most
        /// `period`.
        deadline: Duration,
        /// The length of a period.
        period: Duration,
    },
}

/// The reason why the settings cannot be applied to a thread.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RealtimeError {
    /// The system refused a request.
    #[error("{call} for {what} was refused (errno {errno}: {reason}); {cure}")]
    Refused {
        /// The system call.
        call: &'static str,
        /// The refused request.
        what: String,
        /// The number of the error.
        errno: i32,
        /// The error message.
        reason: String,
        /// The remedy.
        cure: &'static str,
    },
    /// The request is invalid on every system.
    #[error("{what} is not possible; expected {expected}")]
    Invalid {
        /// The invalid request.
        what: String,
        /// The valid values.
        expected: &'static str,
    },
}

/// The limit on the part of a stack that is touched in advance; by default, stacks have 2 MiB.
const MAX_STACK_BYTES: usize = 1024 * 1024;

impl RealtimeConfig {
    /// Sets the class of the system's scheduler.
    #[must_use]
    pub fn scheduling(self, scheduling: Scheduling) -> Self {
        Self { scheduling: Some(scheduling), ..self }
    }

    /// Restricts threads to these processors, numbered from 0.
    #[must_use]
    pub fn cpus(self, cpus: impl IntoIterator<Item = usize>) -> Self {
        Self { cpus: cpus.into_iter().collect(), ..self }
    }

    /// Keeps all present and future memory of the process in RAM, each page from its first use on
    /// (`mlockall` with `MCL_ONFAULT`). Unused pages are not loaded, because a shared-memory pool
    /// reserves gigabytes of addresses, and messages use only a small part of them.
    #[must_use]
    pub fn lock_memory(self) -> Self {
        Self { locks_memory: true, ..self }
    }

    /// Touches this much of each thread's stack before it spins, so that no callback has to wait
    /// for these pages; at most 1 MiB.
    #[must_use]
    pub fn prefault_stack(self, bytes: usize) -> Self {
        Self { stack_bytes: bytes, ..self }
    }

    /// Sets the name that the kernel shows for the threads, including the calling thread. The
    /// kernel shows the first 15 bytes.
    #[must_use]
    pub fn thread_name(self, name: &str) -> Self {
        Self { thread_name: Some(name.to_owned()), ..self }
    }

    /// Applies the settings to the calling thread. An executor does this for its threads.
    ///
    /// # Errors
    ///
    /// If the system refuses; the error names the call and the remedy. The settings are applied in
    /// the order name, memory, stack, processors, scheduling. Settings before the refused one stay
    /// applied.
    pub fn apply(&self) -> Result<(), RealtimeError> {
        if let Some(name) = &self.thread_name {
            name_this_thread(name)?;
        }
        if self.locks_memory {
            let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
            mlockall(flags).map_err(|errno| {
                let cure = "raise `memlock` in /etc/security/limits.conf (`ulimit -l`), or give the program CAP_IPC_LOCK";
                refused("mlockall", "all memory of the process".into(), errno, cure)
            })?;
        }
        if self.stack_bytes > MAX_STACK_BYTES {
            let what = format!("a stack of {} bytes touched in advance", self.stack_bytes);
            return Err(RealtimeError::Invalid { what, expected: "at most 1048576 bytes" });
        }
        touch_stack(self.stack_bytes);
        self.bind()?;
        self.scheduling.map_or(Ok(()), schedule)
    }

    fn bind(&self) -> Result<(), RealtimeError> {
        if self.cpus.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        for &cpu in &self.cpus {
            if cpu >= CpuSet::MAX_CPU {
                let what = format!("processor {cpu}");
                return Err(RealtimeError::Invalid { what, expected: "a number below 1024" });
            }
            set.set(cpu);
        }
        let refusal = |cpus: &[usize], errno| {
            let cure = "choose processors that exist and that the process may use (`nproc`, `taskset -p $$`)";
            refused("sched_setaffinity", format!("processors {cpus:?}"), errno, cure)
        };
        sched_setaffinity(None, &set).map_err(|errno| refusal(&self.cpus, errno))?;
        // The kernel leaves out processors that it cannot give, as long as one remains.
        let given = sched_getaffinity(None).map_err(|errno| refusal(&self.cpus, errno))?;
        let absent: Vec<usize> =
            self.cpus.iter().copied().filter(|&cpu| !given.is_set(cpu)).collect();
        if absent.is_empty() { Ok(()) } else { Err(refusal(&absent, Errno::INVAL)) }
    }
}

fn name_this_thread(name: &str) -> Result<(), RealtimeError> {
    let mut end = name.len().min(15);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let invalid = |_| RealtimeError::Invalid {
        what: format!("the thread name {name:?}"),
        expected: "a name without zero bytes",
    };
    let short = CString::new(&name[..end]).map_err(invalid)?;
    let cure = "leave the name out";
    set_name(&short)
        .map_err(|errno| refused("prctl", format!("the thread name {name:?}"), errno, cure))
}

fn schedule(scheduling: Scheduling) -> Result<(), RealtimeError> {
    let fixed = |priority: u8| match ThreadPriorityValue::try_from(priority) {
        Ok(value) if priority > 0 => Ok(ThreadPriority::Crossplatform(value)),
        _ => Err(RealtimeError::Invalid {
            what: format!("real-time priority {priority}"),
            expected: "a number from 1 (low) to 99 (high)",
        }),
    };
    let (policy, priority) = match scheduling {
        Scheduling::Other => {
            // 49 is nice value 0 on the library's scale of 0 to 99.
            let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
            (
                policy,
                ThreadPriority::Crossplatform(
                    ThreadPriorityValue::try_from(49).unwrap_or_default(),
                ),
            )
        }
        Scheduling::Fifo { priority } => {
            (ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo), fixed(priority)?)
        }
        Scheduling::RoundRobin { priority } => (
            ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin),
            fixed(priority)?,
        ),
        Scheduling::Deadline { runtime, deadline, period } => {
            if runtime > deadline || deadline > period {
                return Err(RealtimeError::Invalid {
                    what: format!("{scheduling:?}"),
                    expected: "runtime <= deadline <= period",
                });
            }
            let flags = DeadlineFlags::default();
            let priority = ThreadPriority::Deadline { runtime, deadline, period, flags };
            (ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Deadline), priority)
        }
    };
    let (call, cure) = match scheduling {
        Scheduling::Deadline { .. } => (
            "sched_setattr",
            "give the program CAP_SYS_NICE (`setcap cap_sys_nice+ep`), let it use all processors, and request no more \
             time than they have left",
        ),
        _ => (
            "pthread_setschedparam",
            "raise `rtprio` in /etc/security/limits.conf (`ulimit -r`), or give the program CAP_SYS_NICE (`setcap \
             cap_sys_nice+ep`)",
        ),
    };
    // The deadline class needs the kernel's thread id, for which zero means the calling thread.
    let thread =
        if matches!(scheduling, Scheduling::Deadline { .. }) { 0 } else { thread_native_id() };
    set_thread_priority_and_policy(thread, priority, policy).map_err(|error| match error {
        thread_priority::Error::OS(code) => {
            // The library returns the result of the call: for a system call that is -1, and the
            // reason is in errno.
            let errno =
                if code > 0 { Some(code) } else { std::io::Error::last_os_error().raw_os_error() };
            let errno =
                errno.filter(|errno| *errno > 0).map_or(Errno::INVAL, Errno::from_raw_os_error);
            refused(call, format!("{scheduling:?}"), errno, cure)
        }
        _ => RealtimeError::Invalid {
            what: format!("{scheduling:?}"),
            expected: "a priority that its scheduling class allows",
        },
    })
}

fn refused(call: &'static str, what: String, errno: Errno, cure: &'static str) -> RealtimeError {
    let (errno, reason) = (errno.raw_os_error(), std::io::Error::from(errno).kind().to_string());
    RealtimeError::Refused { call, what, errno, reason, cure }
}

/// Writes to this many bytes of the stack, so that the pages are present.
#[inline(never)]
fn touch_stack(bytes: usize) {
    const PIECE: usize = 16 * 1024;
    if bytes > 0 {
        let mut piece = [0_u8; PIECE];
        black_box(&mut piece);
        touch_stack(bytes.saturating_sub(PIECE));
        black_box(&mut piece); // prevents the call above from being a tail call
    }
}
