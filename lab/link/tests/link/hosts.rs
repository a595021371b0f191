//! Namespaces with UDP sockets, and links between them: which packets pass, and which hosts receive
//! them.

use feros_sync::{Mutex, MutexGuard};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use feros_link::{Link, LinkError, LinkOptions, Namespace, NamespaceError, host_address};
pub(crate) use feros_test_support::WATCHDOG;
use feros_test_support::skip;

const PORT: u16 = 7777;

/// Only one test runs at a time, since the tests measure times.
static ALONE: Mutex<()> = Mutex::new(());

/// Creates `N` namespaces, and excludes other tests until the namespaces have been dropped (hence
/// the order of the pair). If namespaces are not permitted, reports this and returns `None`.
pub(crate) fn namespaces<const N: usize>() -> Option<(MutexGuard<'static, ()>, [Namespace; N])> {
    let alone = ALONE.lock();
    let made = (0..N).map(|_| Namespace::new()).collect::<Result<Vec<_>, _>>();
    match made {
        Ok(made) => Some((alone, made.try_into().unwrap())),
        Err(error @ NamespaceError::NotPermitted { .. }) => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The time that a socket waits for a packet that may not come.
pub(crate) const SHORT: Duration = Duration::from_millis(20);

/// A socket of the namespace with buffers that hold everything that a test sends without waiting.
pub(crate) fn socket(namespace: &Namespace) -> UdpSocket {
    let socket = namespace.run(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT))).unwrap().unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, 64 << 20).unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size_force(&socket, 64 << 20).unwrap();
    socket.set_read_timeout(Some(SHORT)).unwrap();
    socket
}

pub(crate) fn to(host: usize) -> SocketAddr {
    (host_address(host), PORT).into()
}

/// Waits for a packet and returns its size and sender; a late greeting is skipped.
pub(crate) fn receive(at: &UdpSocket, buffer: &mut [u8]) -> (usize, SocketAddr) {
    at.set_read_timeout(Some(WATCHDOG)).unwrap();
    loop {
        let (size, from) = at.recv_from(buffer).unwrap();
        if size == 0 || !GREETING.starts_with(&buffer[..size]) {
            at.set_read_timeout(Some(SHORT)).unwrap();
            return (size, from);
        }
    }
}

const GREETING: &[u8] = b"greeting";

/// Lets the hosts learn each other's hardware addresses, so that the test sends all later packets
/// itself.
pub(crate) fn greet(sockets: &[&UdpSocket]) {
    for (from, socket) in sockets.iter().enumerate() {
        for (host, other) in sockets.iter().enumerate().filter(|(host, _)| *host != from) {
            let begin = Instant::now();
            loop {
                assert!(begin.elapsed() < WATCHDOG, "{from} does not reach {host}");
                socket.send_to(GREETING, to(host)).unwrap();
                if other.recv(&mut [0; 16]).is_ok() {
                    break;
                }
            }
        }
    }
    for socket in sockets {
        while socket.recv(&mut [0; 16]).is_ok() {}
    }
}

#[test]
fn packets_pass_both_ways_and_are_counted() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    let before = link.counters();
    for _ in 0..100 {
        a.send_to(&[7; 1000], to(1)).unwrap();
        b.send_to(&[8; 100], to(0)).unwrap();
    }
    let mut buffer = [0; 2000];
    for _ in 0..100 {
        assert_eq!(receive(&b, &mut buffer), (1000, to(0)));
        assert_eq!(receive(&a, &mut buffer), (100, to(1)));
    }
    let after = link.counters();
    // The check is "at least", since the kernel may ask for hardware addresses again at any time.
    assert!(after.forward.packets - before.forward.packets >= 100);
    assert!(after.forward.bytes - before.forward.bytes >= 100 * (1000 + 8 + 20 + 14));
    assert!(after.backward.bytes - before.backward.bytes >= 100 * (100 + 8 + 20 + 14));
    assert!(after.backward.bytes - before.backward.bytes < 100 * 1000);
    assert_eq!(
        (after.forward.dropped_loss, after.forward.dropped_queue, after.forward.dropped_device),
        (0, 0, 0)
    );
}

#[test]
fn large_datagrams_pass_in_fragments_and_the_mtu_can_change() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    let mut buffer = vec![0; 65_536];
    for (mtu, at_least, at_most) in [(1500, 43, 60), (576, 115, 140), (9000, 7, 20)] {
        link.set(LinkOptions { mtu, ..LinkOptions::default() }).unwrap();
        let before = link.counters().forward.packets;
        a.send_to(&[1; 63_000], to(1)).unwrap();
        assert_eq!(receive(&b, &mut buffer).0, 63_000);
        let packets = link.counters().forward.packets - before;
        assert!((at_least..at_most).contains(&packets), "{packets} packets of {mtu} bytes");
    }
    assert_eq!(link.counters().forward.dropped_size, 0);
}

#[test]
fn multicast_reaches_the_other_host() {
    let Some((_alone, namespaces)) = namespaces::<2>() else { return };
    let [first, second] = &namespaces;
    let _link = Link::between(first, second, LinkOptions::default()).unwrap();
    let group = Ipv4Addr::new(239, 255, 0, 1); // the group of DDS discovery
    let sockets: Vec<UdpSocket> = namespaces.iter().map(socket).collect();
    for (host, (socket, namespace)) in sockets.iter().zip(&namespaces).enumerate() {
        namespace.run(|| socket.join_multicast_v4(&group, &host_address(host))).unwrap().unwrap();
        socket.set_multicast_loop_v4(false).unwrap();
    }
    sockets[1].send_to(b"here I am", (group, PORT)).unwrap();
    assert_eq!(receive(&sockets[0], &mut [0; 32]), (9, to(1)));
    assert!(sockets[1].recv(&mut [0; 32]).is_err(), "its own multicast came back");
}

#[test]
fn a_namespace_has_one_link_and_a_host_once_gone_can_have_another() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let refused = Link::between(&first, &second, LinkOptions::default()).unwrap_err();
    assert!(matches!(refused, LinkError::Device { .. }), "{refused}");
    drop(link);
    let link = Link::between(&second, &first, LinkOptions::default()).unwrap();
    let (a, b) = (socket(&second), socket(&first));
    greet(&[&a, &b]);
    assert!(link.counters().forward.packets > 0);
}

#[test]
fn programs_run_inside_with_their_own_process_id() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let _link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    let mut program = second.command("sh");
    program
        .args(["-c", "echo $$; ip -o -4 address show dev feros0"])
        .stdout(std::process::Stdio::piped());
    let child = program.spawn().unwrap();
    let id = child.id();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.starts_with(&format!("{id}\n")), "{said} of {id}");
    assert!(said.contains("10.77.0.2/24"), "{said}");
    assert_eq!(second.command("sh").args(["-c", "exit 7"]).status().unwrap().code(), Some(7));
}

#[test]
fn a_host_has_shared_memory_and_an_identity_of_its_own() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let said = |namespace: &Namespace, script: &str| {
        let output =
            namespace.command("sh").args(["-c", script]).current_dir("/usr").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    said(&first, "echo mine >/dev/shm/feros_link_test");
    assert_eq!(said(&first, "cat /dev/shm/*; pwd"), "mine\n/usr\n");
    assert_eq!(said(&second, "ls -A /dev/shm"), "");
    assert!(!std::fs::exists("/dev/shm/feros_link_test").unwrap());
    for script in [
        "hostname",
        "cat /proc/sys/kernel/random/boot_id",
        "cat /etc/machine-id 2>/dev/null || hostname",
    ] {
        assert_ne!(said(&first, script), said(&second, script), "{script}");
    }
    // The arguments of the command reach the program unchanged.
    let words = ["a b", "$HOME", "'", "\"", ";", ""];
    let output = first.command("printf").arg("%s|").args(words).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a b|$HOME|'|\"|;||");
    assert_eq!(first.command("/no/such/program").output().unwrap().status.code(), Some(127));
}

#[test]
fn options_that_cannot_be_are_refused_and_change_nothing() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    let wrong = LinkOptions { loss: 2.0, ..LinkOptions::default() };
    assert!(matches!(Link::between(&first, &second, wrong.clone()), Err(LinkError::Options(_))));
    let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
    assert!(matches!(link.set(wrong), Err(LinkError::Options(_))));
    let (a, b) = (socket(&first), socket(&second));
    greet(&[&a, &b]);
    assert_eq!(link.counters().forward.dropped_loss, 0);
}

#[test]
fn a_new_link_has_carried_and_dropped_nothing() {
    let Some((_alone, [first, second])) = namespaces() else { return };
    for _ in 0..20 {
        let link = Link::between(&first, &second, LinkOptions::default()).unwrap();
        let counters = link.counters();
        for direction in [counters.forward, counters.backward] {
            assert_eq!(
                (direction.offered_packets, direction.dropped_device),
                (0, 0),
                "{direction:?}"
            );
        }
    }
}
