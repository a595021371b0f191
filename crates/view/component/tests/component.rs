//! The component as a container makes it: by its parameters.
#![allow(clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use feros::rmw::{DiscoveryRange, SessionOptions};
use feros::{Arguments, Context, ContextOptions, NodeOptions, ParameterValue, TransportSet};
use feros_component::Component as _;
use feros_interop::Domain;
use feros_view_component::View;

fn context(domain: &Domain) -> Context {
    let session = SessionOptions {
        domain_id: domain.id().into(),
        discovery_range: DiscoveryRange::Localhost,
        ..SessionOptions::default()
    };
    Context::new(ContextOptions {
        session,
        arguments: Arguments::default(),
        engine: None,
        handle_signals: false,
        transports: TransportSet::ALL,
    })
    .unwrap()
}

fn options<const N: usize>(parameters: [(&str, ParameterValue); N]) -> NodeOptions {
    NodeOptions::new("").parameter_overrides(parameters)
}

#[test]
fn the_page_is_served_as_long_as_the_component_lives() {
    let domain = Domain::reserve_without_ros2();
    let context = context(&domain);
    let view = View::new(&context, options([("port", 0.into())])).unwrap();
    let host = view.link().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    drop(view);
    assert!(TcpStream::connect(&host).is_err(), "it has ended");
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    let domain = Domain::reserve_without_ros2();
    let context = context(&domain);
    let refusal = |parameters| match View::new(&context, options([parameters])) {
        Ok(_) => panic!("it was made"),
        Err(error) => error.to_string(),
    };
    assert!(refusal(("address", "robot".into())).contains("give an address such as 0.0.0.0"));
    assert!(refusal(("port", 70_000.into())).contains("port"));
}
