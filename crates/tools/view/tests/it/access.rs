//! The control of access, and the files that paths lead to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use feros_test_support::{WATCHDOG, until};
use feros_view::{Server, StartError, Token, ViewOptions};

use crate::client::{Client, get, open};
use crate::support::Fixture;

fn refused(address: SocketAddr, path: &str, headers: &[(&'static str, &str)]) -> (u16, String) {
    match open(address, path, headers) {
        Ok(_) => panic!("{path} {headers:?} was let in"),
        Err(refusal) => refusal,
    }
}

const PROTOCOL: (&str, &str) = ("Sec-WebSocket-Protocol", "feros.view.v1");

#[test]
fn each_subprotocol_is_spoken_and_others_are_refused() {
    let fixture = Fixture::new();
    let address = fixture.server.address();
    for protocol in ["feros.view.v1", "foxglove.websocket.v1", "foxglove.sdk.v1"] {
        let client = Client::connect(&fixture.server, protocol);
        let capabilities = client.server_info["capabilities"].as_array().unwrap().clone();
        assert!(capabilities.contains(&"connectionGraph".into()), "{capabilities:?}");
        assert!(!capabilities.contains(&"clientPublish".into()), "it only shows");
    }
    let both = ("Sec-WebSocket-Protocol", "foxglove.sdk.v1, foxglove.websocket.v1");
    drop(Client::over(open(address, "/any/path", &[both]).unwrap()));
    for headers in [&[][..], &[("Sec-WebSocket-Protocol", "chat")][..]] {
        // The test's WebSocket client would itself refuse the answer, so the test asks without that
        // client.
        let protocol: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "Host: {address}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{protocol}Connection: upgrade\r\n"
        );
        let (status, text) = upgrade(address, &head);
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("foxglove.websocket.v1"), "{text}");
    }
    until("all clients have left", || fixture.server.connection_count() == 0);
}

/// Like [`get`], but without `Connection: close`, so the connection stays open after the answer.
fn upgrade(address: SocketAddr, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    stream.write_all(format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
    let mut response = String::new();
    let is_whole = |response: &str| {
        response.split_once("\r\n\r\n").is_some_and(|(_, body)| body.ends_with('\n'))
    };
    let mut bytes = [0; 1024];
    while !is_whole(&response) {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "the answer ends early: {response}");
        response.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    (response.split(' ').nth(1).unwrap().parse().unwrap(), response)
}

#[test]
fn the_page_is_served_and_nothing_else_is() {
    let fixture = Fixture::new();
    let address = fixture.server.address();
    let host = format!("Host: {address}\r\n");
    for (path, kind) in
        [("/", "text/html"), ("/app.js", "text/javascript"), ("/app.css", "text/css")]
    {
        let (status, response) = get(address, path, &host);
        assert_eq!(status, 200);
        assert!(response.contains(&format!("content-type: {kind}")), "{response}");
        assert!(response.contains("nosniff") && response.contains("frame-ancestors 'none'"));
    }
    for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fCargo.toml", "/page/dist"]
    {
        assert_eq!(get(address, path, &host).0, 404, "{path}");
    }
    let (status, _) = get(address, "/", "Host: evil.example\r\n");
    assert_eq!(status, 421, "a foreign name that points here is refused");
    assert_eq!(get(address, "/", "").0, 421);
    let foreign = format!("{host}Origin: http://evil.example\r\n");
    assert_eq!(get(address, "/", &foreign).0, 403);
}

#[test]
fn foreign_pages_and_names_get_no_socket() {
    let fixture =
        Fixture::with(|options| options.allowed_origins = vec!["https://app.foxglove.dev".into()]);
    let address = fixture.server.address();
    let own = format!("http://{address}");
    for origin in [&*own, "https://app.foxglove.dev"] {
        drop(open(address, "/", &[PROTOCOL, ("Origin", origin)]).unwrap());
    }
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        let (status, text) = refused(address, "/", &[PROTOCOL, ("Origin", origin)]);
        assert_eq!(status, 403, "{text}");
        assert!(text.contains("--allow-origin"), "{text}");
    }
    assert_eq!(refused(address, "/", &[PROTOCOL, ("Host", "evil.example")]).0, 421);
}

#[test]
fn a_token_is_asked_for_where_it_is_set() {
    let token = Token::random().unwrap();
    let fixture = Fixture::with(|options| options.token = Some(token.clone()));
    let address = fixture.server.address();
    let with_token = format!("/?token={}", token.as_str());
    assert!(fixture.server.link().ends_with(&with_token));
    drop(Client::over(open(address, &with_token, &[PROTOCOL]).unwrap()));
    for path in ["/", "/?token=", "/?token=0123456789abcdef0123456789abcdef"] {
        assert_eq!(refused(address, path, &[PROTOCOL]).0, 401, "{path}");
        assert_eq!(get(address, path, &format!("Host: {address}\r\n")).0, 401, "{path}");
    }
    let (status, _) = get(address, &with_token, &format!("Host: {address}\r\n"));
    assert_eq!(status, 200);
}

#[test]
fn other_machines_need_a_token_and_a_port_is_taken_once() {
    let fixture = Fixture::new();
    let mut options = ViewOptions { address: "0.0.0.0:0".parse().unwrap(), ..Default::default() };
    let started = Server::start(&fixture.robot, options.clone());
    assert!(matches!(started, Err(StartError::NoToken { .. })), "{started:?}");
    options.address = fixture.server.address();
    let started = Server::start(&fixture.robot, options);
    assert!(matches!(started, Err(StartError::Bind { .. })), "{started:?}");
}

#[test]
fn one_connection_too_many_is_refused_until_another_ends() {
    let fixture = Fixture::with(|options| options.max_connections = 2);
    let address = fixture.server.address();
    let clients = [fixture.page(), fixture.foxglove()];
    let (status, text) = refused(address, "/", &[PROTOCOL]);
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("--max-connections"), "{text}");
    drop(clients);
    until("both have left", || fixture.server.connection_count() == 0);
    drop(fixture.page());
}
