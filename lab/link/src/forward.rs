//! The thread that carries packets: it reads the packets that hosts send, asks the schedulers when
//! each packet arrives, and writes the packets when they are due.

use feros_sync::{Mutex, MutexGuard, WakeDescriptor};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

use crate::counters::DirectionCounters;
use crate::error::LinkError;
use crate::options::LinkOptions;
use crate::scheduler::Scheduler;
use crate::tap::{HEADER_BYTES, Tap};

/// The limit on packets to read from one host before the other hosts are read and due packets are
/// written.
const PACKETS_PER_TURN: usize = 64;
/// A priority in the middle of the FIFO class, like that of the kernel's interrupt threads, whose
/// role the link plays.
const PRIORITY: u8 = 50;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// If the next packet is due sooner than this, a separate sleep for it is not worthwhile: a sleep
/// costs as much processor time as carrying ten packets.
const NEAR_NANOS: u64 = 50_000;
/// The thread may spend one part in `ACTIVE_PART` of its time on active waiting, and at most
/// `MOST_ACTIVE_NANOS` at a time. So single packets are on time, and a stream of close packets does
/// not take a whole processor.
const ACTIVE_PART: u64 = 8;
const MOST_ACTIVE_NANOS: u64 = 1_000_000;

/// A frame on its way.
type Frame = Vec<u8>;

/// The lines from the two hosts of a link.
type Lines = [HostLine; 2];

/// The lines of a link, and the thread that runs them. Dropping this value ends the thread and
/// removes the devices.
#[derive(Debug)]
pub(crate) struct Forwarder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    taps: [Tap; 2],
    lines: Mutex<Lines>,
    wake: WakeDescriptor,
    stop: AtomicBool,
    begin: Instant,
}

/// The line from one host, and its counters.
#[derive(Debug)]
struct HostLine {
    line: Scheduler<Frame>,
    dropped_size: u64,
    /// Packets for this host that its device refused.
    refused: u64,
    /// Whether the device has disappeared or is broken. If so, the link does not read from it
    /// again.
    gone: bool,
}

impl Forwarder {
    /// Starts carrying packets between `taps`, with these options for the packets of each.
    pub(crate) fn start(taps: [Tap; 2], options: [LinkOptions; 2]) -> std::io::Result<Forwarder> {
        let shared = Arc::new(Shared {
            taps,
            lines: Mutex::new(options.map(HostLine::new)),
            wake: WakeDescriptor::new()?,
            stop: AtomicBool::new(false),
            begin: Instant::now(),
        });
        let run = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("feros-link".into()).spawn(move || run.carry())?;
        Ok(Forwarder { shared, thread: Some(thread) })
    }

    /// Changes the line from a host while it runs.
    pub(crate) fn set(&self, host: usize, options: LinkOptions) -> Result<(), LinkError> {
        let before = self.shared.lines()[host].line.options().clone();
        self.shared.taps[host].set(&before, &options)?;
        self.shared.lines()[host].line.set(self.shared.now(), options);
        self.shared.wake.wake();
        Ok(())
    }

    /// The counters of the packets that `host` sent.
    pub(crate) fn counters(&self, host: usize) -> DirectionCounters {
        let mut counters = {
            let lines = self.shared.lines();
            DirectionCounters {
                dropped_size: lines[host].dropped_size,
                dropped_device: lines[1 - host].refused,
                ..lines[host].line.counters()
            }
        };
        counters.dropped_device += self.shared.taps[host].dropped_before_reading();
        counters
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake.wake();
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked, the panic hook has reported it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock()
    }

    fn carry(&self) {
        prefer_this_thread();
        let mut buffer = vec![0; usize::from(u16::MAX) + HEADER_BYTES];
        let mut patience = Patience { nanos: MOST_ACTIVE_NANOS, at: self.now() };
        while !self.stop.load(Ordering::Acquire) {
            let (more, next) = {
                let mut lines = self.lines();
                let more = self.read(&mut lines, &mut buffer);
                self.deliver(&mut lines);
                (more, next_arrival(&lines))
            };
            if !more {
                self.wait(next, &mut patience);
            }
        }
    }

    /// Takes the packets that the hosts have sent; returns whether there may be more.
    fn read(&self, lines: &mut Lines, buffer: &mut [u8]) -> bool {
        let mut more = false;
        for (tap, host) in self.taps.iter().zip(lines.iter_mut()) {
            for turn in 0.. {
                if host.gone {
                    break;
                }
                if turn == PACKETS_PER_TURN {
                    more = true;
                    break;
                }
                match tap.read(buffer) {
                    Ok(Some(length)) => host.sent(self.now(), &buffer[..length]),
                    Ok(None) => break,
                    Err(_) => host.gone = true,
                }
            }
        }
        more
    }

    /// Writes the packets that are due.
    fn deliver(&self, lines: &mut Lines) {
        for from in 0..2 {
            let to = 1 - from;
            while let Some((_, frame)) = lines[from].line.arrived(self.now()) {
                if self.taps[to].write(&frame).is_err() {
                    lines[to].refused += 1;
                }
            }
        }
    }

    /// Waits until a host sends, the lines change, or the time `next` comes. If `next` is near,
    /// packets that hosts send before that time are read only at that time, since the line is busy
    /// until then anyway.
    fn wait(&self, next: Option<u64>, patience: &mut Patience) {
        let pause = next.map(|next| next.saturating_sub(self.now()));
        if let (Some(next), Some(pause)) = (next, pause)
            && pause < NEAR_NANOS
        {
            if patience.take(self.now(), pause) {
                while self.now() < next {
                    std::hint::spin_loop();
                }
            } else {
                std::thread::sleep(Duration::from_nanos(NEAR_NANOS));
            }
            return;
        }
        let timeout = pause.map(|nanos| Timespec {
            tv_sec: i64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(i64::MAX),
            tv_nsec: (nanos % NANOS_PER_SECOND) as _,
        });
        let lines = self.lines();
        let present = self.taps.iter().zip(lines.iter()).filter(|(_, host)| !host.gone);
        let mut events: Vec<PollFd<'_>> =
            present.map(|(tap, _)| PollFd::from_borrowed_fd(tap.as_fd(), PollFlags::IN)).collect();
        drop(lines);
        events.push(PollFd::new(&self.wake, PollFlags::IN));
        // After a signal or an error, the thread looks for work again, as after a packet.
        let _ = poll(&mut events, timeout.as_ref());
        if events.last().is_some_and(|wake| !wake.revents().is_empty()) {
            self.wake.reset();
        }
    }
}

/// The time that the thread may still spend on active waiting.
#[derive(Debug)]
struct Patience {
    nanos: u64,
    at: u64,
}

impl Patience {
    /// Takes `nanos` from the remaining time at the time `now`. Returns false if less than that
    /// remains.
    fn take(&mut self, now: u64, nanos: u64) -> bool {
        let grown = self.nanos.saturating_add(now.saturating_sub(self.at) / ACTIVE_PART);
        self.nanos = grown.min(MOST_ACTIVE_NANOS);
        self.at = now;
        let enough = self.nanos >= nanos;
        if enough {
            self.nanos -= nanos;
        }
        enough
    }
}

impl HostLine {
    fn new(options: LinkOptions) -> Self {
        HostLine { line: Scheduler::new(options), dropped_size: 0, refused: 0, gone: false }
    }

    fn sent(&mut self, now: u64, frame: &[u8]) {
        let most = usize::from(self.line.options().mtu) + HEADER_BYTES + 4; // and a VLAN tag
        if (HEADER_BYTES..=most).contains(&frame.len()) {
            self.line.offer(now, frame.len(), frame.to_vec());
        } else {
            self.dropped_size += 1;
        }
    }
}

fn next_arrival(lines: &Lines) -> Option<u64> {
    lines.iter().filter_map(|host| host.line.next_arrival()).min()
}

/// Gives this thread real-time priority and exact timers, since the link stands for hardware, which
/// does not wait for programs. Without the permission, packets are late when the machine is busy,
/// and the counters show this.
fn prefer_this_thread() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if let Ok(priority) = PRIORITY.try_into() {
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let thread = thread_priority::thread_native_id();
        let _ = thread_priority::set_thread_priority_and_policy(
            thread,
            ThreadPriority::Crossplatform(priority),
            policy,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_no_possible_size_are_counted_and_go_no_further() {
        let mut host = HostLine::new(LinkOptions { mtu: 1500, ..LinkOptions::default() });
        let most = 1500 + HEADER_BYTES + 4;
        for size in [0, 1, HEADER_BYTES - 1, most + 1, 65_549] {
            host.sent(0, &vec![0; size]);
        }
        assert_eq!((host.dropped_size, host.line.counters().offered_packets), (5, 0));
        host.sent(0, &[0; HEADER_BYTES]);
        host.sent(0, &vec![0; most]);
        assert_eq!((host.dropped_size, host.line.counters().offered_packets), (5, 2));
    }
}
