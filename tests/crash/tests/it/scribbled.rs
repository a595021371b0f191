//! A process of the same user overwrites ("scribbles over") the files of iceoryx2 while messages
//! flow. If it hits message memory (`.data`) or the queues that pass messages (`.connection`), all
//! processes go on. If it hits the lists of participants (`.dynamic`), the processes that share the
//! file go on or are ended. Processes that do not share an overwritten file go on, and leftovers
//! are cleaned up.
//!
//! `FEROS_CRASH_SCRIBBLES` is the number of times that each class of files is scribbled over, and
//! `FEROS_CRASH_SEED` is the seed for the positions:
//!
//! ```text
//! FEROS_CRASH_SCRIBBLES=100000 cargo test -p feros-crash-tests --test it scribbled -- --nocapture
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{
    DevShm, Gone, Peer, Place, Random, count_of, heard, number, resources, scribble, skipped, until,
};

/// The number of scribbles over the files of a pair of processes before the pair is ended.
const SCRIBBLES_PER_PAIR: u32 = 60;
/// The limit on scribbles before the pair exchanges messages again.
const SCRIBBLES_AT_ONCE: u64 = 20;
/// A limit on the growth of a process. Exchanging a few messages makes a process grow less than
/// this.
const MOST_GROWTH_KB: u64 = 64 << 10;

/// The limit on messages that may wait for a listener in a queue in shared memory.
const DEPTH: u32 = 128;

/// A talker and a listener that share a topic with no other process.
struct Pair {
    talker: Peer,
    listener: Peer,
}

impl Pair {
    /// Starts a pair whose messages take shared memory.
    fn start(place: &Place, topic: &str) -> Self {
        let mut talker = Peer::start(place, "talker");
        // The queue is deep enough that a listener loses nothing while it gets no processor time.
        let publisher = json!({"name": "pub", "topic": topic, "id": 1, "depth": DEPTH});
        talker.ask("publisher", publisher);
        let mut listener = Peer::start(place, "listener");
        listener.ask("listen", json!({"name": "sub", "topic": topic, "depth": DEPTH}));
        let mut pair = Self { talker, listener };
        until("the pair shares memory", || {
            pair.talker.ask("publish", json!({"name": "pub", "count": 1, "size": 300}));
            (number(&pair.listener.of("counts", "sub"), "/host") > 3).then_some(())
        });
        pair
    }

    /// Sends some messages and asks for the listener's report. An error names the process that no
    /// longer works.
    fn exchange(&mut self) -> Result<(), (&'static str, Gone)> {
        let publish = json!({"name": "pub", "count": 20, "size": 300});
        self.talker.try_ask("publish", publish).map_err(|gone| ("talker", gone))?;
        let report = json!({"name": "sub"});
        self.listener.try_ask("report", report).map_err(|gone| ("listener", gone))?;
        Ok(())
    }

    fn memory_kb(&self, place: &Place) -> u64 {
        [&self.talker, &self.listener].map(|peer| resources(peer, place).memory_kb).iter().sum()
    }

    fn must_exchange(&mut self, what: &str) {
        let sent = self.talker.ask("publish", json!({"name": "pub", "count": 1, "size": 300}));
        let last = number(&sent, "/last");
        let report = until(what, || {
            let report = self.listener.of("report", "sub");
            (heard(&report, 1, "last") == last).then_some(report)
        });
        let bad = number(&report, "/broken") + heard(&report, 1, "doubled");
        assert_eq!((bad, heard(&report, 1, "missing")), (0, 0), "{report}");
    }
}

/// The parts of the file that are backed by memory.
fn written(file: &File) -> Vec<(u64, u64)> {
    let length = file.metadata().unwrap().len();
    let mut page = [0; 4096];
    if file.metadata().unwrap().blocks() * 512 >= length {
        return vec![(0, length)];
    }
    // The file is a pool, whose bookkeeping lies at both ends.
    let tail = (0..length / 4096).rev().take(64).find(|at| {
        file.read_at(&mut page, at * 4096).is_ok_and(|_| page.iter().all(|byte| *byte == 0))
    });
    vec![(0, 4096), (tail.map_or(0, |at| (at + 1) * 4096), length)]
}

fn scribble_over(path: &Path, random: &mut Random) {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    let parts = written(&file);
    scribble(&file, parts[random.below(parts.len() as u64) as usize], random);
}

fn of_class(place: &Place, class: &str, spared: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let is_wanted = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == class) && !spared.contains(path)
    };
    place.files().into_iter().filter(is_wanted).collect()
}

/// The outcomes of processes, with their counts.
#[derive(Default)]
struct Outcomes(BTreeMap<(&'static str, String), u32>);

impl Outcomes {
    fn note(&mut self, class: &'static str, who: &str, gone: &Gone) {
        let what = match gone {
            Gone::Silent => "neither answers nor ends".to_owned(),
            Gone::Ended(status) => match status.signal() {
                Some(signal) => format!("signal {signal}"),
                None if status.success() => "went on".to_owned(),
                None => format!("exit code {}", status.code().unwrap()),
            },
        };
        *self.0.entry((class, format!("{who}: {what}"))).or_default() += 1;
    }
}

/// Starts a pair, scribbles over its files of a class while the pair exchanges messages, and ends
/// the pair. Returns the number of scribbles.
fn scribble_over_a_pair(
    place: &Place,
    class: &'static str,
    spared: &BTreeSet<PathBuf>,
    random: &mut Random,
    outcomes: &mut Outcomes,
) -> u32 {
    let mut pair = Pair::start(place, "image");
    let memory_before = pair.memory_kb(place);
    let mut done = 0;
    let mut result = Ok(());
    while result.is_ok() && done < SCRIBBLES_PER_PAIR {
        let files = of_class(place, class, spared);
        assert!(!files.is_empty(), "the pair has files .{class}");
        let at_once = 1 + random.below(SCRIBBLES_AT_ONCE) as u32;
        for _ in 0..at_once {
            scribble_over(&files[random.below(files.len() as u64) as usize], random);
        }
        done += at_once;
        result = pair.exchange();
    }
    if result.is_ok() {
        let memory = pair.memory_kb(place);
        assert!(memory < memory_before + MOST_GROWTH_KB, "{memory_before} kB, then {memory} kB");
    }
    if let Err((who, how)) = &result {
        outcomes.note(class, who, how);
    }
    let ended = result.err().map_or("", |(who, _)| who);
    for (who, peer) in [("talker", pair.talker), ("listener", pair.listener)] {
        if who != ended {
            outcomes.note(class, who, &peer.try_end());
        }
    }
    done
}

#[test]
fn scribbling_over_files_of_iceoryx2_ends_their_processes_at_worst() {
    let scribbles = count_of("FEROS_CRASH_SCRIBBLES", 100);
    let place = match Place::own(&DevShm::OfBytes(256 << 20)) {
        Ok(place) => place,
        Err(why) => return skipped("scribbling over files of iceoryx2", &why),
    };
    let mut random = Random::new();
    let mut bystanders = Pair::start(&place, "apart");
    bystanders.must_exchange("the bystanders hear");
    let spared: BTreeSet<PathBuf> = place.files().into_iter().collect();
    let mut outcomes = Outcomes::default();
    let memory_before = bystanders.memory_kb(&place);
    for class in ["data", "connection", "dynamic"] {
        let mut done = 0;
        while done < scribbles {
            done += scribble_over_a_pair(&place, class, &spared, &mut random, &mut outcomes);
            bystanders.must_exchange("the bystanders hear on");
        }
    }
    println!("{scribbles} times scribbled over each class of files:");
    for ((class, what), count) in &outcomes.0 {
        println!("  .{class:<10} {count:>6} {what}");
    }
    let memory = bystanders.memory_kb(&place);
    println!("memory of the bystanders: {memory_before} kB, then {memory} kB");
    assert!(memory < memory_before + MOST_GROWTH_KB);
    let is_ended =
        |(class, what): &&(&str, String)| *class != "dynamic" && !what.ends_with("went on");
    let ended: Vec<_> = outcomes.0.keys().filter(is_ended).collect();
    assert!(ended.is_empty(), "processes were ended by messages or rings: {ended:?}");
    let hangs: Vec<_> = outcomes.0.keys().filter(|(_, what)| what.ends_with("ends")).collect();
    assert!(hangs.is_empty(), "a process hung: {hangs:?}");
    let Pair { talker, listener } = bystanders;
    talker.end();
    listener.end();
    place.must_be_swept();
}
