//! Changed datagrams: real datagrams of another process are changed (bits flipped, lengths and
//! counts replaced), cut short, doubled and mixed. The process that gets these datagrams goes on,
//! and messages from other processes reach it complete.
//!
//! `FEROS_CRASH_DATAGRAMS` is the number of datagrams. `scripts/capture_datagrams.py` captures the
//! real datagrams.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::support::{Peer, Place, Random, count_of, heard, number, resources, until};

/// The memory that an engine may keep for announced processes until their leases end.
const LEEWAY_KB: u64 = 64 * 1024;
/// The sender whose messages must arrive complete; changed datagrams have other senders.
const FRIEND: u32 = 77_777;
/// The number of datagrams between two pauses. The process reads them during a pause.
const BURST: u32 = 20;

/// A captured datagram.
struct Seed {
    is_of_discovery: bool,
    bytes: Vec<u8>,
}

/// The domain in which the datagrams were captured. Participants announce it as a parameter.
const CAPTURED_IN: u32 = 219;

fn domain_parameter(domain: u32) -> Vec<u8> {
    [&[0x0f, 0, 4, 0][..], &domain.to_le_bytes()].concat()
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
}

/// The captured datagrams, changed as if they had been sent in this domain to the process with this
/// GUID prefix.
fn seeds(domain: u32, prefix: &[u8]) -> Vec<Seed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let captured = fs::read(folder.join("target")).unwrap();
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rtps"));
    files.sort();
    assert!(files.len() > 20, "the captured datagrams are there");
    let seed = |file: &std::path::PathBuf| {
        let mut bytes = fs::read(file).unwrap();
        replace(&mut bytes, &captured, prefix);
        replace(&mut bytes, &domain_parameter(CAPTURED_IN), &domain_parameter(domain));
        Seed { is_of_discovery: file.to_string_lossy().contains("-meta-"), bytes }
    };
    files.iter().map(seed).collect()
}

/// Whether a datagram ends an endpoint or a participant: discovery then sends only its key (RTPS,
/// flag K of DATA).
fn is_farewell(seed: &Seed) -> bool {
    const HEADER: usize = 20;
    const DATA: u8 = 0x15;
    const KEY: u8 = 0x08;
    let Seed { is_of_discovery, bytes } = seed;
    let mut at = HEADER;
    while *is_of_discovery && at + 4 <= bytes.len() {
        let (kind, flags, size) = (bytes[at], bytes[at + 1], [bytes[at + 2], bytes[at + 3]]);
        if kind == DATA && flags & KEY != 0 {
            return true;
        }
        let is_little_endian = flags & 1 != 0;
        let from_bytes = if is_little_endian { u16::from_le_bytes } else { u16::from_be_bytes };
        at += 4 + usize::from(from_bytes(size));
    }
    false
}

/// The datagrams of the captured process before it removed its endpoints and ended.
fn before_farewells(seeds: &[Seed]) -> &[Seed] {
    &seeds[..seeds.iter().position(is_farewell).expect("the captured process has ended")]
}

/// Numbers for which arithmetic on lengths, counts and sequence numbers may go wrong.
const ABSURD: [u32; 10] =
    [0, 1, 2, 7, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

fn mutate(random: &mut Random, seeds: &[Seed]) -> Seed {
    let below = |random: &mut Random, limit: usize| random.below(limit.max(1) as u64) as usize;
    let Seed { is_of_discovery, bytes } = &seeds[below(random, seeds.len())];
    let mut bytes = bytes.clone();
    for _ in 0..=random.below(4) {
        // Most datagrams keep the header, since nothing else is read without it.
        let from = if random.below(16) == 0 { 0 } else { 20.min(bytes.len()) };
        let at = from + below(random, bytes.len() - from);
        match random.below(9) {
            _ if at + 4 > bytes.len() => bytes.push(random.next() as u8),
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 | 3 => {
                let absurd = ABSURD[below(random, ABSURD.len())];
                let value =
                    if random.below(2) == 0 { absurd.to_le_bytes() } else { absurd.to_be_bytes() };
                let width = [1, 2, 4][below(random, 3)];
                bytes[at..at + width].copy_from_slice(&value[..width]);
            }
            4 => bytes.truncate(at),
            5 => {
                let other = &seeds[below(random, seeds.len())].bytes;
                let other = &other[below(random, other.len())..];
                bytes.extend_from_slice(&other[..other.len().min(2000)]);
            }
            6 => {
                let piece = bytes[at..bytes.len().min(at + 64)].to_vec();
                bytes.splice(at..at, piece);
            }
            7 => drop(bytes.drain(at..at + 4)),
            // The datagram seems to come from another participant.
            _ => {
                let last = 19.min(bytes.len() - 1);
                bytes[last] ^= random.next() as u8;
            }
        }
    }
    Seed { is_of_discovery: *is_of_discovery, bytes }
}

/// The number of datagrams that the system has dropped at these ports, because no process read them
/// in time.
fn dropped_at(ports: [u16; 2]) -> u64 {
    let sockets = fs::read_to_string("/proc/net/udp").unwrap();
    let of = |line: &str| {
        let mut columns = line.split_whitespace();
        let (_, port) = columns.nth(1)?.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        ports.contains(&port).then(|| columns.last()?.parse::<u64>().ok()).flatten()
    };
    let found: Vec<u64> = sockets.lines().filter_map(of).collect();
    assert!(found.len() >= ports.len(), "the target has the first ports of its domain");
    found.into_iter().sum()
}

#[test]
fn changed_datagrams_harm_nobody() {
    let count = count_of("FEROS_CRASH_DATAGRAMS", 4000);
    let place = Place::own_if_possible();
    // The first process of its domain has the first ports of the domain.
    let mut target = Peer::start(&place, "target");
    let mut friend = Peer::start(&place, "friend");
    for (peer, own, other) in [(&mut target, "a", "b"), (&mut friend, "b", "a")] {
        peer.ask("publisher", json!({"name": "pub", "topic": own, "id": FRIEND, "keep_all": true}));
        let listen = json!({"name": "sub", "topic": other, "by_network": true, "keep_all": true});
        peer.ask("listen", listen);
    }
    friend.until_transport("pub", 1, "network");
    target.until_transport("pub", 1, "network");
    let gid = friend.of("transports", "pub")[0]["gid"].as_str().unwrap().to_owned();
    let bytes = gid.split('.').map(|byte| u8::from_str_radix(byte, 16).unwrap());
    let domain = u32::from(place.domain().id());
    let seeds = seeds(domain, &bytes.take(12).collect::<Vec<_>>());
    friend.ask("start", json!({"name": "pub", "period_us": 2000, "size": 3000}));
    target.ask("start", json!({"name": "pub", "period_us": 2000, "size": 3000}));

    let first = 7400 + 250 * place.domain().id() + 10;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |seed: &Seed| {
        let to = if seed.is_of_discovery { first } else { first + 1 };
        let _ = socket.send_to(&seed.bytes, ("127.0.0.1", to)); // fails if it is too long
    };
    until("the target takes the real datagrams for those of a process", || {
        before_farewells(&seeds).iter().for_each(send);
        (target.transports("pub").len() == 2).then_some(())
    });
    let mut random = Random::new();
    let mut warm = resources(&target, &place);
    for number in 0..count {
        send(&mutate(&mut random, &seeds));
        if number % BURST == 0 {
            std::thread::sleep(Duration::from_millis(1));
            target.must_run();
        }
        if number == count / 5 {
            warm = resources(&target, &place);
        }
    }
    let last = number(&friend.of("stop", "pub"), "/last");
    let report = until("all messages of the friend come", || {
        let report = target.of("report", "sub");
        (heard(&report, FRIEND, "last") == last).then_some(report)
    });
    let found = (heard(&report, FRIEND, "missing"), heard(&report, FRIEND, "doubled"));
    assert_eq!(found, (0, 0), "{report}");
    let sent = number(&target.of("stop", "pub"), "/last");
    until("all messages of the target come", || {
        (heard(&friend.of("report", "sub"), FRIEND, "last") == sent).then_some(())
    });
    let dropped = dropped_at([first, first + 1]);
    assert!(
        dropped < u64::from(count) / 10,
        "most datagrams are read: {dropped} of {count} were not"
    );
    let settled = until("the memory for unknown senders is freed", || {
        let now = resources(&target, &place);
        (now.memory_kb < warm.memory_kb + LEEWAY_KB).then_some(now)
    });
    println!(
        "{count} changed datagrams of {} real ones; {last} and {sent} messages came, {dropped} were dropped\ntarget {warm:?} -> {settled:?}",
        seeds.len()
    );
    friend.end();
    target.end();
    place.must_be_swept();
}
