//! The servers of a system, such as a master or a router, which run during a cell.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::network::Host;
use super::super::outcome::Outcome;
use super::super::program::{Program, Start};
use super::{CellError, SERVERS, Session};
use crate::peer::{Port, Server};

/// The time that a server may take to become ready.
const SERVER_START: Duration = Duration::from_secs(20);

impl Session<'_> {
    /// Starts the servers of the system, one after the other; returns the outcome of the cell if a
    /// server does not get ready.
    pub(super) fn start_servers(&mut self) -> Result<Option<Outcome>, CellError> {
        let manifest = &self.context.system.peer.manifest;
        for (index, server) in manifest.server.iter().enumerate() {
            let placeholders = self.placeholders(Host::Talker);
            let environment: BTreeMap<String, String> = self
                .environment(Host::Talker)
                .into_iter()
                .chain(
                    server
                        .environment
                        .iter()
                        .map(|(name, value)| (name.clone(), placeholders.fill(value))),
                )
                .collect();
            let command: Vec<String> =
                server.program.iter().map(|word| placeholders.fill(word)).collect();
            let name = command
                .first()
                .map_or("server", |path| path.rsplit('/').next().unwrap_or(path))
                .to_owned();
            let start = Start {
                name: name.clone(),
                words: command,
                environment: &environment,
                foreign: &self.context.foreign,
                folder: self.context.scratch,
                namespace: self.network.namespace(Host::Talker),
                realtime: false,
                processors: None,
                first_subscription: 0,
            };
            match Program::start(&start, SERVERS + index, &self.sender) {
                Ok(program) => self.servers.push(program),
                Err(error) => {
                    return Ok(Some(Outcome::Failed(format!("{name} cannot be started: {error}"))));
                }
            }
            if let Some(reason) = self.wait_for_server(index, server)? {
                return Ok(Some(Outcome::Failed(reason)));
            }
        }
        Ok(None)
    }

    /// Waits until a server is ready; returns the reason if it is not.
    fn wait_for_server(
        &mut self,
        index: usize,
        server: &Server,
    ) -> Result<Option<String>, CellError> {
        let placeholders = self.placeholders(Host::Talker);
        let began = Instant::now();
        loop {
            self.hear()?;
            // Another program may answer at the port of a server that has ended.
            let running = &mut self.servers[index];
            if running.has_ended() {
                return Ok(Some(
                    running
                        .failure()
                        .unwrap_or_else(|| format!("{} ended immediately", running.name)),
                ));
            }
            let by_text = server.ready.as_ref().is_none_or(|text| {
                let text = placeholders.fill(text);
                self.server_said.iter().any(|line| line.contains(&text))
            });
            let by_file =
                server.ready_file.as_ref().is_none_or(|file| placeholders.path(file).exists());
            let by_port = server.ready_port.as_ref().is_none_or(|port| {
                let port = match port {
                    Port::Number(port) => Some(*port),
                    Port::Text(text) => placeholders.fill(text).parse().ok(),
                };
                port.is_some_and(|port| self.network.answers(port))
            });
            if by_text && by_file && by_port {
                return Ok(None);
            }
            if began.elapsed() > SERVER_START {
                return Ok(Some(format!(
                    "{} was not ready after {} s",
                    self.servers[index].name,
                    SERVER_START.as_secs()
                )));
            }
        }
    }
}
