//! Tests that the system either grants the settings, or that an error reports the refusal
//! helpfully. The outcome depends on the user who runs the tests, so the tests accept both
//! outcomes.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use rustix::thread::sched_getaffinity;
use std::thread;
use std::time::Duration;

fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().name("realtime".into()).spawn(work).unwrap().join().unwrap()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn status(field: &str) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
}

#[test]
fn name_processor_and_stack_are_given_to_every_thread_that_spins() {
    let cpu = on_a_thread(|| {
        (0..1024).rfind(|&cpu| sched_getaffinity(None).unwrap().is_set(cpu)).unwrap()
    });
    on_a_thread(move || {
        let config = RealtimeConfig::default()
            .cpus([cpu])
            .prefault_stack(512 * 1024)
            .thread_name("a long name of control");
        let executor =
            Executor::with_options(ExecutorOptions::default().threads(2).realtime(config));
        let meeting = std::sync::Arc::new(std::sync::Barrier::new(2));
        let stopper = executor.stopper();
        for _ in 0..2 {
            let (meeting, stopper) = (meeting.clone(), stopper.clone());
            let (condition, entity) = GuardCondition::new(move || {
                assert_eq!(status("Name:"), "a long name of");
                assert_eq!(status("Cpus_allowed_list:"), cpu.to_string());
                meeting.wait();
                stopper.stop();
            });
            executor.add(entity).unwrap().keep();
            condition.trigger();
        }
        executor.spin().unwrap();
    });
}

#[test]
fn scheduling_classes_are_set_or_refused_with_a_cure() {
    let classes = [
        (Scheduling::Fifo { priority: 10 }, "1"),
        (Scheduling::RoundRobin { priority: 20 }, "2"),
        (Scheduling::Other, "0"),
        (Scheduling::Deadline { runtime: ms(1), deadline: ms(10), period: ms(20) }, "6"),
    ];
    for (scheduling, number) in classes {
        on_a_thread(move || {
            let executor = Executor::with_options(
                ExecutorOptions::default()
                    .realtime(RealtimeConfig::default().scheduling(scheduling)),
            );
            match executor.spin_some(Duration::ZERO) {
                Ok(_) => {
                    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
                    let policy = stat
                        .rsplit(')')
                        .next()
                        .unwrap()
                        .split_whitespace()
                        .nth(38)
                        .unwrap()
                        .to_owned();
                    assert_eq!(policy, number, "{scheduling:?}");
                }
                Err(SpinError::Realtime(RealtimeError::Refused { call, errno, cure, .. })) => {
                    let is_deadline = matches!(scheduling, Scheduling::Deadline { .. });
                    assert_eq!(
                        call,
                        if is_deadline { "sched_setattr" } else { "pthread_setschedparam" }
                    );
                    // The capability is missing (EPERM), or a security module refuses (EACCES). For
                    // a deadline, the processors of the process may also be restricted (EBUSY).
                    assert!(matches!(errno, 1 | 13) || is_deadline && errno == 16, "{errno}");
                    assert!(
                        cure.contains("CAP_SYS_NICE")
                            && (is_deadline || cure.contains("limits.conf"))
                    );
                }
                Err(other) => panic!("{other}"),
            }
            assert!(!executor.is_spinning());
        });
    }
}

#[test]
fn a_refused_deadline_says_the_reason_of_the_system() {
    on_a_thread(|| {
        // No system grants a runtime of one nanosecond, to any user.
        let deadline = Scheduling::Deadline {
            runtime: Duration::from_nanos(1),
            deadline: ms(10),
            period: ms(20),
        };
        let executor = Executor::with_options(
            ExecutorOptions::default().realtime(RealtimeConfig::default().scheduling(deadline)),
        );
        match executor.spin_some(Duration::ZERO) {
            Err(SpinError::Realtime(RealtimeError::Refused {
                call: "sched_setattr",
                errno,
                reason,
                ..
            })) => {
                assert_eq!(errno, 22, "{reason}");
                assert_eq!(reason, "invalid input parameter");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn errors_name_the_setting_that_the_system_refuses() {
    let cases = [
        (
            RealtimeConfig::default().scheduling(Scheduling::Fifo { priority: 0 }),
            "a number from 1 (low) to 99 (high)",
        ),
        (
            RealtimeConfig::default().scheduling(Scheduling::RoundRobin { priority: 100 }),
            "a number from 1 (low) to 99 (high)",
        ),
        (RealtimeConfig::default().prefault_stack(1 << 30), "at most 1048576 bytes"),
        (RealtimeConfig::default().cpus([1_000_000]), "below 1024"),
        (RealtimeConfig::default().cpus([1_023]), "sched_setaffinity"),
        (RealtimeConfig::default().thread_name("a\0b"), "without zero bytes"),
        (
            RealtimeConfig::default().scheduling(Scheduling::Deadline {
                runtime: ms(2),
                deadline: ms(1),
                period: ms(1),
            }),
            "runtime <= deadline <= period",
        ),
    ];
    for (config, expected) in cases {
        let text = on_a_thread(move || config.apply().unwrap_err().to_string());
        assert!(text.contains(expected), "{text}");
    }
}

/// The kernel leaves out processors that do not exist, as long as one of them exists.
#[test]
fn an_absent_processor_beside_one_that_exists_is_an_error() {
    let text = on_a_thread(|| {
        let allowed = sched_getaffinity(None).unwrap();
        let exists = (0..1023).find(|&cpu| allowed.is_set(cpu)).unwrap();
        RealtimeConfig::default().cpus([exists, 1_023]).apply().unwrap_err().to_string()
    });
    assert!(text.contains("processors [1023] was refused (errno 22"), "{text}");
}

#[test]
fn locked_memory_is_locked_or_refused_with_a_cure() {
    // The lock lasts until the process ends, which is acceptable because the process runs only a
    // few small tests.
    match on_a_thread(|| RealtimeConfig::default().lock_memory().apply()) {
        Ok(()) => {
            assert_ne!(status("VmLck:"), "0 kB");
            let resident_kb = || status("VmRSS:").trim_end_matches(" kB").parse::<u64>().unwrap();
            let before = resident_kb();
            let reserved = std::hint::black_box(Vec::<u8>::with_capacity(256 << 20));
            assert!(resident_kb() < before + 64 * 1024, "untouched memory is not filled");
            drop(reserved);
        }
        Err(error) => assert!(error.to_string().contains("CAP_IPC_LOCK"), "{error}"),
    }
}
