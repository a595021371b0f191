//! A client that speaks WebSocket and HTTP.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use feros_test_support::WATCHDOG;
use feros_view::Server;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// A client that has read the server's first operation.
pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) server_info: Value,
}

/// A frame from the server.
#[derive(Debug)]
pub(crate) enum Incoming {
    Op(Value),
    Frame(Vec<u8>),
}

/// Opens a WebSocket with additional headers; the error contains the HTTP status of a refusal.
pub(crate) fn open(
    address: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, (u16, String)> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    match tungstenite::client::client_with_config(request, stream, Some(config)) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            let body = response.body().as_deref().unwrap_or_default();
            Err((response.status().as_u16(), String::from_utf8_lossy(body).into_owned()))
        }
        Err(other) => panic!("{other}"),
    }
}

/// Requests a path, which is sent unchanged; returns the status and the body.
pub(crate) fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), response)
}

impl Client {
    pub(crate) fn connect(server: &Server, subprotocol: &str) -> Self {
        let address = server.address();
        Self::over(open(address, "/", &[("Sec-WebSocket-Protocol", subprotocol)]).unwrap())
    }

    pub(crate) fn over(mut socket: WebSocket<TcpStream>) -> Self {
        let server_info = match incoming(&mut socket) {
            Incoming::Op(op) if op["op"] == "serverInfo" => op,
            other => panic!("serverInfo comes first, not {other:?}"),
        };
        Self { socket, server_info }
    }

    pub(crate) fn send(&mut self, op: Value) {
        self.socket.send(Message::text(op.to_string())).unwrap();
    }

    pub(crate) fn send_frame(&mut self, frame: Vec<u8>) {
        self.socket.send(Message::binary(frame)).unwrap();
    }

    /// Reads until `look` returns a value.
    pub(crate) fn find<T>(&mut self, mut look: impl FnMut(Incoming) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(incoming(&mut self.socket)) {
                return found;
            }
        }
    }

    /// Reads until an operation of this name comes for which `fits` is true.
    pub(crate) fn op(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.find(|incoming| match incoming {
            Incoming::Op(op) if op["op"] == name && fits(&op) => Some(op),
            _ => None,
        })
    }

    /// Reads until a status contains this text.
    pub(crate) fn status(&mut self, part: &str) -> Value {
        self.op("status", |op| op["message"].as_str().is_some_and(|text| text.contains(part)))
    }

    /// Reads until a binary frame of this operation comes.
    pub(crate) fn frame(&mut self, op: u8) -> Vec<u8> {
        self.find(|incoming| match incoming {
            Incoming::Frame(frame) if frame[0] == op => Some(frame),
            _ => None,
        })
    }

    /// Reads until a topic is advertised.
    pub(crate) fn channel(&mut self, topic: &str) -> Value {
        self.advertised("advertise", "channels", |entry| entry["topic"] == topic)
    }

    /// Reads until a service is advertised.
    pub(crate) fn service(&mut self, name: &str) -> Value {
        self.advertised("advertiseServices", "services", |entry| entry["name"] == name)
    }

    fn advertised(&mut self, name: &str, list: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.find(|incoming| match incoming {
            Incoming::Op(op) if op["op"] == name => {
                op[list].as_array().unwrap().iter().find(|entry| fits(entry)).cloned()
            }
            _ => None,
        })
    }

    /// Subscribes to a topic as soon as it is advertised.
    pub(crate) fn subscribe(&mut self, topic: &str, id: u32) -> Value {
        let channel = self.channel(topic);
        let subscription = json!({"id": id, "channelId": channel["id"]});
        self.send(json!({"op": "subscribe", "subscriptions": [subscription]}));
        channel
    }
}

fn incoming(socket: &mut WebSocket<TcpStream>) -> Incoming {
    let started = Instant::now();
    loop {
        // Pings keep the socket's timeout from being reached, so the time is also checked here.
        assert!(started.elapsed() < WATCHDOG, "nothing but pings comes");
        match socket.read().unwrap() {
            Message::Text(text) => return Incoming::Op(serde_json::from_str(&text).unwrap()),
            Message::Binary(frame) => return Incoming::Frame(frame.to_vec()),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
