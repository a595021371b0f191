//! What this machine can do at best, and what the laboratory itself costs: measured at the begin of
//! each run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::program::{Placeholders, Program, Start, scratch};
use crate::contract::Line;
use crate::peer::Peer;
use crate::record::{Distribution, Floor};

/// What recording a message costs: the stamp of the publisher, the stamp of the subscription, a
/// place in a buffer that was reserved before. Peers in other languages do the same two readings of
/// the same clock.
pub(super) const RECORDING: &str = "recording";

/// The longest that floors may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The laboratory's own cost per message.
pub(super) fn recording(seed: u64) -> Option<Floor> {
    const SAMPLES: usize = 2000;
    const EACH: usize = 50;
    let mut buffer: Vec<(u64, u64)> = Vec::with_capacity(EACH);
    let mut nanos = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        buffer.clear();
        let began = Instant::now();
        for _ in 0..EACH {
            let stamp = monotonic_nanos();
            buffer.push((stamp, monotonic_nanos().saturating_sub(stamp)));
        }
        std::hint::black_box(&buffer);
        nanos.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX) / EACH as u64);
    }
    let nanos = Distribution::of(&nanos, seed)?;
    Some(Floor { name: RECORDING.into(), size_bytes: 0, nanos })
}

fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// The limits of the machine, as the peer that has the role `floors` measures them.
pub(super) fn floors(
    peer: &Peer,
    out: &Path,
    count: u64,
    seed: u64,
    interrupted: &AtomicBool,
) -> Result<Vec<Floor>, String> {
    let folder = scratch().map_err(|error| error.to_string())?;
    let placeholders = Placeholders {
        all: vec![
            ("out", out.to_string_lossy().into_owned()),
            ("peer", peer.folder.to_string_lossy().into_owned()),
        ],
    };
    let mut command: Vec<String> =
        peer.manifest.program.iter().map(|word| placeholders.fill(word)).collect();
    let timeout = LIMIT.as_secs().to_string();
    let count = count.to_string();
    let arguments = [
        ("role", "floors"),
        ("placement", "local"),
        ("topic", "floors"),
        ("type", "bytes"),
        ("size", "0"),
        ("rate", "1000"),
        ("count", &count),
        ("warm-up", "0"),
        ("timeout", &timeout),
    ];
    command.extend(
        arguments.iter().flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]),
    );
    let start = Start {
        name: "floors".into(),
        words: command,
        environment: &BTreeMap::new(),
        folder: folder.path(),
        namespace: None,
        realtime: false,
        first_subscription: 0,
    };
    let (sender, events) = mpsc::sync_channel(64);
    let mut program = Program::start(&start, 0, &sender).map_err(|error| error.to_string())?;
    drop(sender);
    let began = Instant::now();
    loop {
        match events.recv_timeout(Duration::from_millis(50)) {
            Ok(event) => program.hear(event.said),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => break,
            Err(RecvTimeoutError::Timeout) if began.elapsed() > LIMIT + Duration::from_secs(5) => {
                break;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    let patience = Instant::now();
    while !program.has_ended() && patience.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    program.kill();
    let floors: Vec<Floor> = program
        .bulk
        .iter()
        .filter_map(|line| match serde_json::from_str(line) {
            Ok(Line::Floor(floor)) => Some(floor),
            _ => None,
        })
        .filter_map(|floor| {
            let nanos = Distribution::of(&floor.nanos, seed)?;
            Some(Floor { name: floor.name, size_bytes: floor.size_bytes, nanos })
        })
        .collect();
    if floors.is_empty() {
        Err(program.failure().unwrap_or_else(|| "it said none".into()))
    } else {
        Ok(floors)
    }
}
