//! A process of the same user overwrites ("scribbles over") the memory of other processes while
//! messages flow: no process panics, hangs or crashes, and malformed data is refused and counted.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Peer, Place, Random, heard, number, rounds, scribble, segment, until};

/// The offset of the doorbells and entries in a process segment; the data that identifies the file
/// comes before them.
const SEGMENT_HEADER_BYTES: u64 = 4096;

/// The offset of the entries: before them, there are 512 doorbells of 576 bytes.
const ENTRIES_BYTES: u64 = SEGMENT_HEADER_BYTES + 512 * 576;

fn open(file: PathBuf) -> File {
    fs::OpenOptions::new().read(true).write(true).open(file).unwrap()
}

#[test]
fn scribbling_over_process_segments_stops_nobody_else() {
    let place = Place::own_if_possible();
    let mut random = Random::new();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    talker.ask(
        "publisher",
        json!({"name": "lossless", "topic": "lossless", "id": 2, "keep_all": true}),
    );
    let mut bystander = Peer::start(&place, "bystander");
    bystander.ask("listen", json!({"name": "sub", "topic": "image"}));
    let mut victim = Peer::start(&place, "victim");
    victim.ask("listen", json!({"name": "sub", "topic": "image"}));
    victim.ask("listen", json!({"name": "view", "topic": "image", "form": "view", "hold": 3}));
    victim.ask("listen", json!({"name": "lossless", "topic": "lossless", "keep_all": true}));
    talker.until_transport("pub", 3, "shared_memory");
    talker.until_transport("lossless", 1, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 500, "size": 2000}));
    talker.ask("start", json!({"name": "lossless", "period_us": 500, "size": 2000}));
    let segments = [open(segment(&victim)), open(segment(&talker))];
    let mut written = 0;
    for _ in 0..rounds(40) {
        for segment in &segments {
            let length = segment.metadata().unwrap().len();
            // The whole file, and the parts where the first doorbells and entries are in use.
            for _ in 0..200 {
                scribble(segment, (SEGMENT_HEADER_BYTES, length), &mut random);
                for begin in [SEGMENT_HEADER_BYTES, ENTRIES_BYTES] {
                    scribble(segment, (begin, begin + 16_384), &mut random);
                }
                written += 3;
            }
        }
        // The victim answers requests, and listeners in other processes keep receiving messages.
        let before = number(&talker.of("progress", "pub"), "/last");
        until("the bystander hears on", || {
            (heard(&bystander.of("report", "sub"), 1, "last") > before).then_some(())
        });
        victim.of("report", "sub");
        victim.must_run();
        std::thread::sleep(Duration::from_millis(5));
    }
    let report = bystander.of("report", "sub");
    assert_eq!((number(&report, "/broken"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    println!(
        "{written} times scribbled: bystander {report}, victim {}",
        victim.of("report", "sub")
    );
    // The victim can be ended, and its successor receives messages as before.
    victim.end();
    let mut successor = Peer::start(&place, "victim");
    successor.ask("listen", json!({"name": "sub", "topic": "image"}));
    until("the successor hears through shared memory", || {
        (number(&successor.of("counts", "sub"), "/host") > 100).then_some(())
    });
    assert_eq!(number(&talker.of("stop", "pub"), "/errors"), 0);
    // A lossless publisher may time out while it waits for room in a queue, and report this; but it
    // must not hang.
    println!("lossless: {}", talker.of("stop", "lossless"));
    [successor, bystander, talker].into_iter().for_each(Peer::end);
    place.must_be_swept();
}

const MARKER: &[u8] = b"crash-test-marker";
/// The range to scribble over, around the marker in a message: from the header before the message
/// (60 bytes, then 16 bytes of CDR before the marker) to the end of the lengths after the marker.
const BEFORE_MARKER: u64 = 76;
const AFTER_MARKER: u64 = 40;

/// The positions of messages in a publisher's memory.
fn messages_in(file: &File) -> Vec<u64> {
    let mut content = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut content, 0).unwrap();
    let found = content.windows(MARKER.len()).enumerate().filter(|(_, window)| *window == MARKER);
    found.map(|(at, _)| at as u64).collect()
}

fn refused(peer: &mut Peer, name: &str) -> u64 {
    let counts = peer.of("counts", name);
    number(&counts, "/refused_in_shared_memory") + number(&counts, "/refused_messages")
}

#[test]
fn scribbling_over_messages_is_refused_and_counted() {
    let place = match Place::own(&crate::support::DevShm::OfBytes(256 << 20)) {
        Ok(place) => place,
        Err(why) => return crate::support::skipped("scribbling over messages", &why),
    };
    let mut random = Random::new();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut listener = Peer::start(&place, "listener");
    for (name, form) in [("owned", "owned"), ("raw", "raw")] {
        // A slow callback leaves messages in the queue for a while.
        let listen = json!({"name": name, "topic": "image", "form": form, "stall_ms": 1});
        listener.ask("listen", listen);
    }
    talker.until_transport("pub", 2, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 300, "size": 1500}));
    until("messages come", || {
        (heard(&listener.of("report", "raw"), 1, "count") > 100).then_some(())
    });
    let data: Vec<_> = place
        .files()
        .into_iter()
        .filter(|file| file.extension().is_some_and(|ext| ext == "data"))
        .collect();
    let data: Vec<(File, Vec<u64>)> = data
        .into_iter()
        .map(|file| {
            let file = open(file);
            let messages = messages_in(&file);
            (file, messages)
        })
        .collect();
    let places: usize = data.iter().map(|(_, messages)| messages.len()).sum();
    assert!(places > 10, "messages were found in shared memory");
    let mut scribbled = 0_u64;
    until("enough was refused", || {
        for (file, messages) in &data {
            for at in messages {
                scribble(file, (at - BEFORE_MARKER, at + AFTER_MARKER), &mut random);
                scribbled += 1;
            }
        }
        listener.must_run();
        talker.must_run();
        let enough = u64::from(rounds(40)) * 5;
        (refused(&mut listener, "owned") >= enough && refused(&mut listener, "raw") >= enough / 8)
            .then_some(())
    });
    let counts: Vec<Value> = ["owned", "raw"].map(|name| listener.of("counts", name)).into();
    println!(
        "{scribbled} times scribbled over {places} places: {counts:?}, {}",
        listener.of("report", "raw")
    );
    // Whole messages arrive again, at existing and at new listeners.
    let mut successor = Peer::start(&place, "successor");
    successor.ask("listen", json!({"name": "sub", "topic": "image"}));
    until("the successor hears through shared memory", || {
        (number(&successor.of("counts", "sub"), "/host") > 100).then_some(())
    });
    let report = successor.of("report", "sub");
    assert_eq!((number(&report, "/broken"), refused(&mut successor, "sub")), (0, 0), "{report}");
    assert_eq!(number(&talker.of("stop", "pub"), "/errors"), 0);
    [successor, listener, talker].into_iter().for_each(Peer::end);
    place.must_be_swept();
}
