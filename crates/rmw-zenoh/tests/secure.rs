//! Links that are encrypted, and keys that are kept from whoever has no business with them: by
//! Zenoh's own configuration.
#![allow(clippy::unwrap_used)]

mod ends;
mod network;

use std::path::{Path, PathBuf};

use feros_rmw::QosProfile;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use ends::{End, SET_BOOL, STRING, response, text_in, text_message};
use network::{DOMAIN_ID, Network};

/// An authority, and what it has signed for a router at 127.0.0.1; the files go with it.
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
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let signed = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        for (file, text) in [
            ("ca.pem", issuer.pem()),
            ("router.pem", signed.pem()),
            ("key.pem", key.serialize_pem()),
        ] {
            std::fs::write(folder.join(file), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, file: &str) -> String {
        self.folder.join(file).to_string_lossy().into_owned()
    }

    /// What a router is configured with.
    fn of_router(&self) -> String {
        format!(
            "transport/link/tls/listen_private_key=\"{}\";transport/link/tls/listen_certificate=\"{}\"",
            self.path("key.pem"),
            self.path("router.pem")
        )
    }

    /// What a session is configured with that trusts this authority.
    fn of_session(&self) -> String {
        format!("transport/link/tls/root_ca_certificate=\"{}\"", self.path("ca.pem"))
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder); // it lies in the target folder
    }
}

#[test]
fn topics_and_services_pass_by_tls() {
    let authority = Authority::new("tls");
    let network = Network::configured("tls", &authority.of_router());
    let open = || network.open("client", &authority.of_session()).unwrap();
    let (near, far) = (End::new(open(), "near"), End::new(open(), "far"));
    let publisher = near.publisher("/wire/tls", STRING, QosProfile::default());
    let subscription = far.subscription("/wire/tls", STRING, QosProfile::default());
    let (server, client) =
        (far.service("/wire/asked", SET_BOOL), near.client("/wire/asked", SET_BOOL));
    publisher.wait_for_match();
    publisher.publish(&text_message("encrypted"));
    assert_eq!(text_in(&subscription.next().payload), "encrypted");
    client.wait_for_server();
    client.ask(&[0, 1, 0, 0, 1]);
    server.respond(&server.next().0, &response(true, "answered"));
    assert_eq!(text_in(&client.next().1.payload[4..]), "answered");
}

/// Neither who trusts another authority nor who speaks no TLS gets in, and both are told what to
/// look at.
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
    // A file that is not there is named before anything is opened.
    let missing = refused("transport/link/tls/root_ca_certificate=\"/no/such/ca.pem\"");
    assert!(
        missing.contains("root_ca_certificate") && missing.contains("/no/such/ca.pem"),
        "{missing}"
    );
}

/// A router whose access control denies a key passes all but that.
#[test]
fn access_control_denies_what_it_names() {
    let rules = format!(
        "access_control={{enabled: true, default_permission: \"allow\", \
         rules: [{{id: \"secret\", messages: [\"put\"], flows: [\"ingress\", \"egress\"], \
         permission: \"deny\", key_exprs: [\"{DOMAIN_ID}/wire/secret/**\"]}}], \
         subjects: [{{id: \"all\"}}], policies: [{{rules: [\"secret\"], subjects: [\"all\"]}}]}}"
    );
    let network = Network::configured("tcp", &rules);
    let (near, far) = (End::new(network.client(), "near"), End::new(network.client(), "far"));
    let [secret, open] = ["/wire/secret", "/wire/open"].map(|topic| {
        let publisher = near.publisher(topic, STRING, QosProfile::default());
        let subscription = far.subscription(topic, STRING, QosProfile::default());
        publisher.wait_for_match();
        (publisher, subscription)
    });
    secret.0.publish(&text_message("denied"));
    open.0.publish(&text_message("allowed"));
    assert_eq!(text_in(&open.1.next().payload), "allowed");
    assert!(secret.1.end.take().unwrap().is_none(), "one link keeps the order: it would be there");
}
