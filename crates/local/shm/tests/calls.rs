//! Tests of a client's memory for calls: servers claim channels, channels are filled and freed, and
//! other processes overwrite the memory.
#![allow(clippy::unwrap_used)]

use std::fs::OpenOptions;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use feros_shm::{
    ARENA_BYTES, CallMemory, ChannelError, ClientChannel, MAX_SERVERS, MAX_WAITING, Peer,
    PeerError, ProcessSegment, SendToChannelError, ServerChannel,
};
use feros_test_support::until;

const CLIENT: [u8; 16] = [7; 16];

/// Returns this process in the form in which another process sees it.
fn this_process() -> Arc<Peer> {
    let segment = ProcessSegment::of_this_process().unwrap();
    let token: NonZeroU64 = segment.token();
    Peer::open(std::process::id(), segment.file_number(), token).unwrap()
}

fn open(memory: &CallMemory, server: u8) -> Result<ServerChannel, ChannelError> {
    ServerChannel::open(this_process(), memory.endpoint(), [server; 16])
}

fn client_of(memory: &CallMemory, server: u8) -> Option<Arc<ClientChannel>> {
    memory.channel([server; 16], &this_process())
}

fn made() -> CallMemory {
    let memory = CallMemory::create().unwrap();
    memory.begin(CLIENT, Arc::new(|| ()));
    memory
}

fn pair() -> (CallMemory, ServerChannel, Arc<ClientChannel>) {
    let memory = made();
    let server = open(&memory, 1).unwrap();
    let client = client_of(&memory, 1).unwrap();
    (memory, server, client)
}

fn write(bytes: &[u8]) -> impl FnOnce(&mut [u8]) -> bool {
    move |memory| {
        memory.copy_from_slice(bytes);
        true
    }
}

fn request(server: &ServerChannel) -> Option<(i64, Vec<u8>)> {
    let taken = server.take(|head, read| {
        let mut bytes = vec![0; head.size_bytes];
        read(&mut bytes);
        (head.number, bytes)
    });
    taken.unwrap()
}

fn response(memory: &CallMemory) -> Option<([u8; 16], i64, Vec<u8>)> {
    let taken = memory.take_response(|server, head, read| {
        let mut bytes = vec![0; head.size_bytes];
        read(&mut bytes);
        (server, head.number, bytes)
    });
    taken.unwrap()
}

#[test]
fn requests_and_responses_come_in_order_with_their_numbers_and_bytes() {
    let (memory, server, client) = pair();
    assert_eq!(server.replies(), CLIENT);
    assert_eq!((request(&server), response(&memory)), (None, None));
    for number in 0..1000_i64 {
        let bytes = vec![number as u8; number as usize * 100];
        client.send(number, 5, bytes.len(), write(&bytes)).unwrap();
        assert!(server.may_have_request());
        assert_eq!(request(&server), Some((number, bytes.clone())));
        server.send(number, 6, bytes.len(), write(&bytes)).unwrap();
        assert!(memory.may_have_response());
        assert_eq!(response(&memory), Some(([1; 16], number, bytes)));
    }
    assert!(!server.may_have_request() && !memory.may_have_response());
}

#[test]
fn a_full_channel_or_a_too_large_request_is_an_error_and_sends_nothing() {
    let (_memory, server, client) = pair();
    for number in 0..MAX_WAITING as i64 {
        client.send(number, 0, 1, write(b"x")).unwrap();
    }
    let busy = client.send(-1, 0, 1, write(b"x")).unwrap_err();
    assert_eq!(busy, SendToChannelError::Busy { waiting: MAX_WAITING, size_bytes: 1 });
    assert_eq!(request(&server).unwrap().0, 0);
    client.send(64, 0, 1, write(b"x")).unwrap();
    let numbers: Vec<i64> = std::iter::from_fn(|| request(&server)).map(|(one, _)| one).collect();
    assert_eq!(numbers, (1..=64).collect::<Vec<_>>());

    let size_bytes = ARENA_BYTES + 1;
    let large = client.send(1, 0, size_bytes, |_| true).unwrap_err();
    assert_eq!(large, SendToChannelError::TooLarge { size_bytes });
    assert_eq!(client.send(1, 0, 8, |_| false).unwrap_err(), SendToChannelError::Aborted);
    assert_eq!(request(&server), None);
    // These two messages do not fit at the same time.
    client.send(1, 0, ARENA_BYTES - 100, |memory| memory.len() == ARENA_BYTES - 100).unwrap();
    assert!(matches!(client.send(2, 0, 101, |_| true), Err(SendToChannelError::Busy { .. })));
    assert_eq!(request(&server).unwrap().1.len(), ARENA_BYTES - 100);
    client.send(2, 0, 101, |_| true).unwrap();
}

#[test]
fn channels_are_for_four_servers_and_come_back_when_those_leave() {
    let memory = made();
    let servers: Vec<_> = (1..=MAX_SERVERS as u8).map(|one| open(&memory, one).unwrap()).collect();
    let clients: Vec<_> =
        (1..=MAX_SERVERS as u8).map(|one| client_of(&memory, one).unwrap()).collect();
    assert!(matches!(open(&memory, 9), Err(ChannelError::AllTaken)));
    assert!(client_of(&memory, 9).is_none());
    for (index, client) in clients.iter().enumerate() {
        client.send(index as i64, 0, 1, write(&[index as u8])).unwrap();
    }
    for (index, server) in servers.iter().enumerate() {
        assert_eq!(request(server), Some((index as i64, vec![index as u8])));
    }
    drop(servers);
    assert!(clients.iter().all(|client| !client.is_open()));
    assert_eq!(clients[0].send(1, 0, 1, |_| true), Err(SendToChannelError::Gone));
    memory.free_channels(|_| false);
    assert!(open(&memory, 9).is_err(), "as long as somebody may send there");
    drop(clients);
    memory.free_channels(|_| false);
    let server = open(&memory, 9).unwrap();
    let client = client_of(&memory, 9).unwrap();
    client.send(1, 0, 2, write(b"hi")).unwrap();
    assert_eq!(request(&server), Some((1, b"hi".to_vec())));
    memory.free_channels(|_| false);
    assert!(client.is_open(), "its process is alive");
}

#[test]
fn responses_sent_before_a_server_left_are_still_taken() {
    let (memory, server, client) = pair();
    for number in [1, 2] {
        client.send(number, 0, 1, write(b"x")).unwrap();
        request(&server).unwrap();
        server.send(number, 0, 2, write(b"hi")).unwrap();
    }
    drop(server);
    assert!(client.has_left() && memory.has_lost_server());
    drop(client);
    for number in [1, 2] {
        memory.free_channels(|_| false);
        assert_eq!(response(&memory), Some(([1; 16], number, b"hi".to_vec())));
    }
    memory.free_channels(|_| false);
    assert!(!memory.has_lost_server());
    let servers: Vec<_> = (1..=MAX_SERVERS as u8).map(|one| open(&memory, one)).collect();
    assert!(servers.iter().all(Result::is_ok), "all channels are free again");
}

#[test]
fn a_channel_comes_back_whose_server_was_killed_while_it_claimed() {
    let memory = made();
    let _others: Vec<_> = (1..MAX_SERVERS as u8).map(|one| open(&memory, one).unwrap()).collect();
    let mut killed = std::process::Command::new("true").spawn().unwrap();
    killed.wait().unwrap();
    let claimed = (u64::from(killed.id()) << 32) | 1;
    let at = 64 * MAX_SERVERS as u64; // the last claim; each claim has 64 bytes, after the first 64 bytes
    let path = format!("/proc/self/fd/{}", memory.endpoint() - 1);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&claimed.to_le_bytes(), at).unwrap();
    assert!(matches!(open(&memory, 9), Err(ChannelError::AllTaken)));
    assert!(client_of(&memory, 9).is_none());
    memory.free_channels(|_| false);
    open(&memory, 9).unwrap();
}

/// A thread that looks for a server must not take the server's channel after another thread has
/// freed it, because the client would then never use the channel of the next server.
#[test]
fn a_channel_that_is_freed_while_it_is_looked_for_is_for_the_next_server() {
    let (memory, peer) = (made(), this_process());
    let (memory, peer) = (&memory, &peer);
    std::mem::forget(open(memory, 1).unwrap()); // a killed server does not leave
    let mut killed = std::process::Command::new("true").spawn().unwrap();
    killed.wait().unwrap();
    let path = format!("/proc/self/fd/{}", memory.endpoint() - 1);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    // The upper half of the first word of a claim is the process.
    file.write_all_at(&killed.id().to_le_bytes(), 64 + 4).unwrap();
    std::thread::scope(|scope| {
        // The client asks this while it frees channels.
        let is_known = |server: [u8; 16]| {
            assert_eq!(server, [1; 16]);
            let (told, thread) = sync_channel(1);
            scope.spawn(move || {
                told.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
                assert!(memory.channel([1; 16], peer).is_none(), "it was freed");
            });
            let status = Path::new("/proc").join(thread.recv().unwrap()).join("stat");
            until("the other thread waits until the channel is freed", || {
                std::fs::read_to_string(&status).unwrap().contains(") S ")
            });
            false
        };
        memory.free_channels(is_known);
    });
    let _server = open(memory, 2).unwrap();
    assert!(client_of(memory, 2).is_some());
}

#[test]
fn a_client_that_left_is_reported() {
    let (memory, server, client) = pair();
    drop((memory, client));
    assert_eq!(server.send(1, 0, 1, |_| true), Err(SendToChannelError::Gone));
}

#[test]
fn memory_that_is_not_for_calls_is_not_opened() {
    let segment = ProcessSegment::of_this_process().unwrap();
    let wrong = u64::from(segment.file_number()) + 1;
    for endpoint in [wrong, 0, 1 << 20, u64::MAX] {
        let opened = ServerChannel::open(this_process(), endpoint, [1; 16]);
        let error = opened.unwrap_err();
        assert!(matches!(error, ChannelError::Peer(PeerError::NotASegment { .. })), "{error}");
    }
}

/// Many kinds of impossible values are written over every word that either side reads.
#[test]
fn words_that_cannot_be_true_end_the_channel_and_nothing_else() {
    let mut random = 7_u64;
    for round in 0..300 {
        let (memory, server, client) = pair();
        client.send(1, 0, 100, write(&[1; 100])).unwrap();
        server.send(1, 0, 100, write(&[2; 100])).unwrap();
        let path = format!("/proc/self/fd/{}", memory.endpoint() - 1);
        let file = OpenOptions::new().write(true).open(path).unwrap();
        for _ in 0..1 + round % 7 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = ((random >> 40) % (36 << 10)) & !7;
            let value = match random >> 62 {
                0 => u64::MAX,
                1 => (random >> 20) & 0xff,
                2 => 1 << ((random >> 20) % 64),
                _ => random,
            };
            file.write_all_at(&value.to_le_bytes(), at).unwrap();
        }
        for number in 2..80 {
            let _ = client.send(number, 0, 100, write(&[3; 100]));
            let _ = server.take(|head, read| read(&mut vec![0; head.size_bytes]));
            let _ = server.send(number, 0, 100, write(&[4; 100]));
            let _ = memory.take_response(|_, head, read| read(&mut vec![0; head.size_bytes]));
        }
        memory.free_channels(|_| false);
    }
}

#[test]
fn a_client_without_servers_takes_no_memory() {
    use std::os::unix::fs::MetadataExt as _;
    let memory = made();
    let blocks = || {
        let path = format!("/proc/self/fd/{}", memory.endpoint() - 1);
        std::fs::metadata(path).unwrap().blocks() * 512
    };
    assert_eq!(blocks(), 0);
    let server = open(&memory, 1).unwrap();
    let client = client_of(&memory, 1).unwrap();
    let page = rustix::param::page_size() as u64;
    assert!(blocks() <= 3 * page, "{}", blocks());
    for number in 0..1000 {
        client.send(number, 0, 1000, |_| true).unwrap();
        request(&server).unwrap();
    }
    assert!(blocks() <= 4 * page, "messages taken in turn share their room: {}", blocks());
}
