//! Tests with two sites on the loopback interface, each with a router, and with a connection
//! between the sites. The tests check the traffic over the connection, also after it has been
//! interrupted for some time. In `hosts.rs`, the sites are separate hosts.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use feros_conformance::{TestNode, text_in, text_message};
use feros_engine::QosProfile;
use feros_test_support::spawn;

use ends::{SET_BOOL, STRING, lost_before, response, wire_node};
use network::{Network, WATCHFUL};

/// The connection between two sites, over loopback. While the connection is interrupted, it passes
/// no data and reports no error.
struct Way {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    is_cut: Mutex<bool>,
    changed: Condvar,
    has_ended: AtomicBool,
}

impl State {
    /// Waits while the connection is interrupted. Returns false if the connection has ended.
    fn wait_open(&self) -> bool {
        let cut = self.is_cut.lock().unwrap();
        let closed = |cut: &mut bool| *cut && !self.has_ended.load(Ordering::Acquire);
        drop(self.changed.wait_while(cut, closed).unwrap());
        !self.has_ended.load(Ordering::Acquire)
    }
}

impl Way {
    /// Starts a connection to a router.
    fn to(endpoint: &str) -> Self {
        let target = endpoint.trim_start_matches("tcp/").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let passing = state.clone();
        spawn("way", move || {
            for from in listener.incoming().flatten() {
                if !passing.wait_open() {
                    return;
                }
                let Ok(to) = TcpStream::connect(&target) else { continue };
                forward(&from, &to, &passing);
                forward(&to, &from, &passing);
            }
        });
        Self { port, state }
    }

    fn cut(&self, is_cut: bool) {
        *self.state.is_cut.lock().unwrap() = is_cut;
        self.state.changed.notify_all();
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::Release);
        self.cut(false);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the accepting thread
    }
}

/// Forwards the bytes of one TCP connection, on a thread that ends with that connection.
fn forward(from: &TcpStream, to: &TcpStream, state: &Arc<State>) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let state = state.clone();
    spawn("forward", move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if !state.wait_open() || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)); // may already be shut
    });
}

struct Sites {
    here: Network,
    way: Way,
    there: Network,
}

impl Sites {
    fn new() -> Self {
        let here = Network::configured("tcp", WATCHFUL);
        let way = Way::to(&here.endpoint);
        let joined = format!("connect/endpoints=[\"tcp/127.0.0.1:{}\"];{WATCHFUL}", way.port);
        let there = Network::configured("tcp", &joined);
        Self { here, way, there }
    }

    /// Opens a session at each site, which knows only the router of its site.
    fn ends(&self) -> (TestNode, TestNode) {
        (wire_node(self.here.client(), "here"), wire_node(self.there.client(), "there"))
    }
}

#[test]
fn two_sites_are_joined_by_their_routers() {
    let sites = Sites::new();
    let (here, there) = sites.ends();
    let qos = QosProfile::default().transient_local();
    let publisher = here.publisher_of("/wire/sites", STRING, qos);
    publisher.publish(&text_message("before"));
    let subscription = there.subscription_of("/wire/sites", STRING, qos);
    let (server, client) =
        (there.service_of("/wire/far", SET_BOOL), here.client_of("/wire/far", SET_BOOL));
    assert_eq!(text_in(&subscription.next().payload), "before", "history crosses as well");
    publisher.wait_for_matches(1);
    client.wait_for_server();
    client.send(&[0, 1, 0, 0, 1]);
    server.respond_once(&server.next().0, &response(true, "from afar")).unwrap();
    assert_eq!(text_in(&client.next().1.payload[4..]), "from afar");
}

/// While the connection is interrupted, publishing and calling do not block. When the connection
/// works again, the matches return, and messages that were published in the meantime are counted as
/// lost.
#[test]
fn a_partition_heals() {
    let sites = Sites::new();
    let (here, there) = sites.ends();
    let publisher = here.publisher_of("/wire/parted", STRING, QosProfile::default());
    let subscription = there.subscription_of("/wire/parted", STRING, QosProfile::default());
    let (server, client) =
        (there.service_of("/wire/far", SET_BOOL), here.client_of("/wire/far", SET_BOOL));
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    client.wait_for_server();
    publisher.publish(&text_message("joined"));
    assert_eq!(lost_before("joined", &subscription), 0);
    sites.way.cut(true);
    publisher.wait_for_matches(0);
    client.wait_for_end_of_server();
    (0..10).for_each(|_| publisher.send(&text_message("into the void")));
    client.send(&[0, 1, 0, 0, 0]);
    sites.way.cut(false);
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    client.wait_for_server();
    publisher.publish(&text_message("joined again"));
    assert_eq!(lost_before("joined again", &subscription), 10);
    client.send(&[0, 1, 0, 0, 1]);
    server.respond_once(&server.next().0, &response(true, "there again")).unwrap();
    assert_eq!(text_in(&client.next().1.payload[4..]), "there again");
}

/// The router of one site is killed. The site is connected again when a new router replaces it.
#[test]
fn a_site_comes_back_with_its_router() {
    let mut sites = Sites::new();
    let (here, there) = sites.ends();
    let publisher = here.publisher_of("/wire/killed", STRING, QosProfile::default());
    let subscription = there.subscription_of("/wire/killed", STRING, QosProfile::default());
    publisher.wait_for_matches(1);
    sites.there.kill();
    publisher.wait_for_matches(0);
    publisher.publish(&text_message("to nobody"));
    sites.there.restart();
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
    publisher.publish(&text_message("again"));
    assert_eq!(text_in(&subscription.next().payload), "again");
}
