//! Serves the connections that other programs open to a node: calls of its API, and TCPROS
//! connections to its topics and services.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::Inner;
use crate::connections::{self, Place};
use crate::header::ConnectionHeader;
use crate::http::PATIENCE;
use crate::slave_api;

impl Inner {
    /// Starts a task that listens and serves connections until it is aborted.
    pub(super) fn listen<S: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        listener: TcpListener,
        serve: fn(Arc<Self>, TcpStream, SocketAddr) -> S,
    ) -> AbortHandle {
        let inner = self.clone();
        let listening = async move {
            let listener = match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => listener,
                Err(error) => {
                    return tracing::error!(
                        "{}: no connections can be accepted: {error}",
                        inner.name
                    );
                }
            };
            let mut served = JoinSet::new();
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    Some(_) = served.join_next() => continue,
                };
                let Ok((stream, from)) = accepted else {
                    // The process may have no free descriptor. So the task waits before it tries
                    // again.
                    sleep(Duration::from_millis(50)).await;
                    continue;
                };
                served.spawn(serve(inner.clone(), stream, from));
            }
        };
        self.tasks.spawn(listening).abort_handle()
    }

    /// Takes slots for a new connection whose header has not arrived yet. If no slot is free, logs
    /// the refusal and returns `None`.
    fn places(&self) -> Option<(Place, Place)> {
        let places = connections::place_of_stranger().zip(connections::place());
        if places.is_none() {
            self.lines.warn(format_args!(
                "{}: a connection is refused: the process has {} connections, its limit",
                self.name,
                connections::most()
            ));
        }
        places
    }

    pub(super) async fn serve_api(self: Arc<Self>, stream: TcpStream, _: SocketAddr) {
        let Some(_places) = self.places() else { return };
        slave_api::serve(&*self, stream).await;
    }

    pub(super) async fn serve_tcpros(self: Arc<Self>, mut stream: TcpStream, from: SocketAddr) {
        let Some((stranger, _place)) = self.places() else { return };
        let _ = stream.set_nodelay(true);
        let header = timeout(PATIENCE, ConnectionHeader::next(&mut stream)).await;
        let header = match header.unwrap_or_else(|late| Err(late.into())) {
            Ok(header) => header,
            Err(error) => return self.strangers.say(&self.name, self.tcpros.port, from, &error),
        };
        drop(stranger);
        if !header.has("service") && !header.has("topic") {
            let reason = "the header of the connection has neither `topic` nor `service`";
            return refuse(&mut stream, reason).await;
        }
        if header.has("service") {
            let service = self.services.lock().get(header.get("service")).cloned();
            let Some(service) = service else {
                let reason = format!("{} is not served here", header.get("service"));
                return refuse(&mut stream, &reason).await;
            };
            if let Err(error) = service.serve(stream, &self.name, &header, &self.lines).await {
                tracing::debug!("{}: {error}", service.options.service);
            }
            return;
        }
        let publication = self.publications.lock().get(header.get("topic")).cloned();
        let Some(publication) = publication else {
            let reason = format!("{} is not published here", header.get("topic"));
            return refuse(&mut stream, &reason).await;
        };
        let refused = publication.check(&header).err().or_else(|| publication.refusal());
        if let Some(reason) = refused {
            self.lines.warn(&reason);
            return refuse(&mut stream, &reason).await;
        }
        let answered = timeout(PATIENCE, publication.header(&self.name).put(&mut stream)).await;
        if matches!(answered, Ok(Ok(()))) {
            publication.serve(stream, header.get("callerid")).await;
        }
    }
}

async fn refuse(stream: &mut TcpStream, reason: &str) {
    let _ = timeout(PATIENCE, ConnectionHeader::new(&[("error", reason)]).put(stream)).await;
}
