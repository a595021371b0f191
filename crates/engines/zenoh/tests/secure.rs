//! Tests of encrypted links and of access control for key expressions, which are configured with
//! Zenoh's own settings.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;
#[path = "../../ros1-master/tests/said/mod.rs"]
mod said;

use std::path::{Path, PathBuf};

use feros_conformance::{text_in, text_message};
use feros_engine::{Engine as _, QosProfile, SessionOptions};
use feros_test_support::until;
use feros_zenoh::{ConfiguredZenohEngine, Router};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use ends::{SET_BOOL, STRING, response, wire_node};
use network::{DOMAIN_ID, Network};

/// A certificate authority, and its files for a router at 127.0.0.1. The files are removed when
/// this value is dropped.
struct Authority {
    folder: PathBuf,
}

impl Authority {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(folder.join("ca.pem"), issuer.pem()).unwrap();
        let hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        for (files, names) in
            [(["router.pem", "key.pem"], hosts), (["session.pem", "session_key.pem"], Vec::new())]
        {
            let key = KeyPair::generate().unwrap();
            let signed = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
            for (file, text) in files.into_iter().zip([signed.pem(), key.serialize_pem()]) {
                std::fs::write(folder.join(file), text).unwrap();
            }
        }
        Self { folder }
    }

    fn path(&self, file: &str) -> String {
        self.folder.join(file).to_string_lossy().into_owned()
    }

    /// The configuration of a router.
    fn of_router(&self) -> String {
        format!(
            "transport/link/tls/listen_private_key=\"{}\";transport/link/tls/listen_certificate=\"{}\"",
            self.path("key.pem"),
            self.path("router.pem")
        )
    }

    /// The configuration of a session that has a certificate of this authority and trusts
    /// `trusted`.
    fn of_known_session(&self, trusted: &Self) -> String {
        format!(
            "{};transport/link/tls/connect_private_key=\"{}\";transport/link/tls/connect_certificate=\"{}\"",
            trusted.of_session(),
            self.path("session_key.pem"),
            self.path("session.pem")
        )
    }

    /// The configuration of a session that trusts this authority.
    fn of_session(&self) -> String {
        format!("transport/link/tls/root_ca_certificate=\"{}\"", self.path("ca.pem"))
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder); // files left in the target folder do no harm
    }
}

#[test]
fn topics_and_services_pass_by_tls() {
    let authority = Authority::new("tls");
    let network = Network::configured("tls", &authority.of_router());
    let open = || network.open("client", &authority.of_session()).unwrap();
    let (near, far) = (wire_node(open(), "near"), wire_node(open(), "far"));
    let publisher = near.publisher_of("/wire/tls", STRING, QosProfile::default());
    let subscription = far.subscription_of("/wire/tls", STRING, QosProfile::default());
    let (server, client) =
        (far.service_of("/wire/asked", SET_BOOL), near.client_of("/wire/asked", SET_BOOL));
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("encrypted"));
    assert_eq!(text_in(&subscription.next().payload), "encrypted");
    client.wait_for_server();
    client.send(&[0, 1, 0, 0, 1]);
    server.respond_once(&server.next().0, &response(true, "answered")).unwrap();
    assert_eq!(text_in(&client.next().1.payload[4..]), "answered");
}

/// A session that trusts another authority, or that does not use TLS, is refused. The error tells
/// what to check.
#[test]
fn a_link_that_is_not_trusted_is_refused_in_words() {
    let (authority, other) = (Authority::new("trusted"), Authority::new("another"));
    let network = Network::configured("tls", &authority.of_router());
    let refused = |more: &str| match network.open("client", more) {
        Ok(_) => panic!("{more} was let in"),
        Err(error) => error.to_string(),
    };
    let text = refused(&other.of_session());
    assert!(text.contains(&network.endpoint) && text.contains("root_ca_certificate"), "{text}");
    let plain = network.endpoint.replace("tls/", "tcp/");
    let text = refused(&format!("connect/endpoints=[\"{plain}\"]"));
    assert!(text.contains(&plain), "{text}");
    // A missing file is reported before any connection is opened.
    let missing = refused("transport/link/tls/root_ca_certificate=\"/no/such/ca.pem\"");
    assert!(
        missing.contains("root_ca_certificate") && missing.contains("/no/such/ca.pem"),
        "{missing}"
    );
}

/// A peer that does not trust the router continues without it, logs what to check, and appears in
/// no graph.
#[test]
fn a_peer_that_trusts_another_authority_stays_alone() {
    said::listen();
    let (authority, other) = (Authority::new("of-peer"), Authority::new("of-no-peer"));
    let network = Network::configured("tls", &authority.of_router());
    let endpoint = &network.endpoint;
    let engine = ConfiguredZenohEngine {
        config_override: format!(
            "connect/endpoints=[\"{endpoint}\"];listen/endpoints=[];{}",
            other.of_session()
        ),
        router_check_attempts: 1,
    };
    let options = SessionOptions { domain_id: DOMAIN_ID, ..SessionOptions::default() };
    let alone = wire_node(engine.open(&options).unwrap(), "alone");
    let warning = said::said(&format!("no Zenoh router is at [\"{endpoint}\"]"));
    assert!(warning.contains("root_ca_certificate"), "{warning}");
    let publisher = alone.publisher_of("/wire/alone", STRING, QosProfile::default());
    let open = || network.open("client", &authority.of_session()).unwrap();
    let (near, far) = (wire_node(open(), "near"), wire_node(open(), "far"));
    let heard = far.subscription_of("/wire/alone", STRING, QosProfile::default());
    let trusted = near.publisher_of("/wire/alone", STRING, QosProfile::default());
    trusted.wait_for_matches(1);
    publisher.publish(&text_message("from whom nobody trusts"));
    trusted.publish(&text_message("trusted"));
    assert_eq!(text_in(&heard.next().payload), "trusted");
    assert_eq!(
        (publisher.publisher.matched_subscriptions(), heard.subscription.matched_publishers()),
        (0, 1)
    );
}

/// A router that requires certificates accepts only sessions with a certificate of its authority.
#[test]
fn a_router_may_ask_for_certificates() {
    let (authority, other) = (Authority::new("mutual"), Authority::new("not-mutual"));
    let rules = format!(
        "{};{};transport/link/tls/enable_mtls=true",
        authority.of_router(),
        authority.of_session()
    );
    let network = Network::configured("tls", &rules);
    let mutual = |of: &Authority| {
        format!("{};transport/link/tls/enable_mtls=true", of.of_known_session(&authority))
    };
    let open = || network.open("client", &mutual(&authority)).unwrap();
    let (near, far) = (wire_node(open(), "near"), wire_node(open(), "far"));
    let publisher = near.publisher_of("/wire/mutual", STRING, QosProfile::default());
    let subscription = far.subscription_of("/wire/mutual", STRING, QosProfile::default());
    publisher.wait_for_matches(1);
    publisher.publish(&text_message("known"));
    assert_eq!(text_in(&subscription.next().payload), "known");
    for refused in [authority.of_session(), mutual(&other)] {
        let Err(error) = network.open("client", &refused) else { panic!("{refused} was let in") };
        let text = error.to_string();
        assert!(text.contains("connect_certificate") && text.contains("enable_mtls"), "{text}");
    }
}

/// If the key is malformed or belongs to another certificate, the router does not start, and the
/// error names the TLS requirements.
#[test]
fn a_router_with_a_bad_key_does_not_start() {
    let (authority, other) = (Authority::new("keys"), Authority::new("other-keys"));
    std::fs::write(authority.folder.join("bad.pem"), "no key").unwrap();
    for key in [authority.path("bad.pem"), other.path("key.pem")] {
        let started = Router::start_overridden(&format!(
            "listen/endpoints=[\"tls/127.0.0.1:{}\"];transport/link/tls/listen_private_key=\"{key}\";\
             transport/link/tls/listen_certificate=\"{}\"",
            feros_test_support::free_tcp_port(),
            authority.path("router.pem")
        ));
        let Err(error) = started else { panic!("{key} was taken") };
        let text = error.to_string();
        assert!(text.contains("listen_private_key and listen_certificate"), "{text}");
    }
}

/// Starts a router that denies this kind of message below `/wire/secret` to all sessions.
fn denying(message: &str) -> Network {
    let rules = format!(
        "access_control={{enabled: true, default_permission: \"allow\", \
         rules: [{{id: \"secret\", messages: [\"{message}\"], flows: [\"ingress\", \"egress\"], \
         permission: \"deny\", key_exprs: [\"{DOMAIN_ID}/wire/secret/**\"]}}], \
         subjects: [{{id: \"all\"}}], policies: [{{rules: [\"secret\"], subjects: [\"all\"]}}]}}"
    );
    Network::configured("tcp", &rules)
}

/// A session that may not publish reaches no subscription, and a session that may not subscribe
/// receives nothing.
#[test]
fn access_control_denies_topics() {
    for message in ["put", "declare_subscriber"] {
        topics_without(message);
    }
}

fn topics_without(message: &str) {
    let network = denying(message);
    let (near, far) = (wire_node(network.client(), "near"), wire_node(network.client(), "far"));
    let [secret, open] = ["/wire/secret", "/wire/open"].map(|topic| {
        let publisher = near.publisher_of(topic, STRING, QosProfile::default());
        let subscription = far.subscription_of(topic, STRING, QosProfile::default());
        publisher.wait_for_matches(1);
        (publisher, subscription)
    });
    secret.0.publish(&text_message("denied"));
    open.0.publish(&text_message("allowed"));
    assert_eq!(text_in(&open.1.next().payload), "allowed");
    assert!(
        secret.1.subscription.take().unwrap().is_none(),
        "one link keeps the order: it would be there"
    );
}

/// A session that may not ask gets no response. To a session that may not declare a server, no
/// request comes, and its server is not available.
#[test]
fn access_control_denies_calls() {
    for (message, available) in [("query", true), ("declare_queryable", false)] {
        calls_without(message, available);
    }
}

fn calls_without(message: &str, available: bool) {
    let network = denying(message);
    let (near, far) = (wire_node(network.client(), "near"), wire_node(network.client(), "far"));
    let [secret, open] = ["/wire/secret", "/wire/open"]
        .map(|service| (far.service_of(service, SET_BOOL), near.client_of(service, SET_BOOL)));
    open.1.wait_for_server();
    until("the token of the denied server is known", || !secret.1.client.responders().is_empty());
    if available {
        secret.1.wait_for_server();
    }
    assert_eq!(secret.1.client.service_is_available(), available, "without {message}");
    secret.1.send(&[0, 1, 0, 0, 1]);
    open.1.send(&[0, 1, 0, 0, 1]);
    open.0.respond_once(&open.0.next().0, &response(true, "allowed")).unwrap();
    assert_eq!(text_in(&open.1.next().1.payload[4..]), "allowed");
    assert!(secret.0.service.take_request().unwrap().is_none(), "denied without {message}");
}
