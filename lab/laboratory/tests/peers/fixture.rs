//! The folders in which peers are built for the test, and the environment that peers need: servers,
//! domains, ports.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use feros_lab::contract::{EXIT_NOT_INSTALLED, EXIT_USAGE, Role};
use feros_lab::peer::{Peer, Port, Server, SystemRef};
use feros_lab::peer_builder::PeerBuilder;
use feros_test_support::{ReservedDomain, free_tcp_port};
use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Options, Program};

const SERVER_PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn peers_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").canonicalize().unwrap()
}

pub(crate) enum Built {
    /// The peer's programs are in this folder.
    Ready(PathBuf),
    Missing(String),
    Failed(String),
}

/// The folder with the programs that cargo built together with this test.
fn beside() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().to_owned()
}

pub(crate) fn build(peer: &Peer) -> Built {
    if let Some(reason) = &peer.manifest.unavailable {
        return Built::Missing(reason.clone());
    }
    let is_apart =
        ["Cargo.lock", "requirements.txt"].iter().any(|file| peer.folder.join(file).exists());
    let out = if is_apart {
        // Such a peer is built by the laboratory, or not at all.
        let out = PeerBuilder::new().cache().join(&peer.name);
        let program = peer.manifest.program[0].replace("{out}", &out.to_string_lossy());
        if !Path::new(&program).is_file() {
            return Built::Missing(
                "it takes minutes to build or downloads packages, and no run of the laboratory has \
                 done that"
                    .into(),
            );
        }
        out
    } else {
        // This is not the folder that the laboratory uses, which would then measure test builds.
        beside().join("lab-tests").join(&peer.name)
    };
    std::fs::create_dir_all(&out).unwrap();
    let of_variants = peer.manifest.variant.iter().map(|variant| variant.build.as_slice());
    for build in std::iter::once(peer.manifest.build.as_slice()).chain(of_variants) {
        let [program, arguments @ ..] = build else { continue };
        let mut command = Command::new(peer.folder.join(program));
        command.args(arguments).current_dir(&peer.folder).env("FEROS_LAB_OUT", &out);
        command.env("FEROS_LAB_BUILT", beside()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(EXIT_NOT_INSTALLED) => {
                return Built::Missing(said.lines().last().unwrap_or_default().into());
            }
            _ => return Built::Failed(said.into_owned()),
        }
    }
    Built::Ready(out)
}

/// Reads a stream to its end, so that the writer is never held up.
fn read_lines(from: impl std::io::Read + Send + 'static, to: SyncSender<String>) {
    let read = move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = to.try_send(line);
        }
    };
    thread::Builder::new().name("server".into()).spawn(read).unwrap();
}

/// A peer, with the environment that it needs.
pub(crate) struct Fixture<'a> {
    peer: &'a Peer,
    out: PathBuf,
    domain: ReservedDomain,
    port: u16,
    run: String,
    topics: AtomicU32,
    servers: Vec<Running>,
}

/// A running server, and the lines that it writes.
struct Running {
    process: Child,
    lines: Receiver<String>,
}

impl<'a> Fixture<'a> {
    pub(crate) fn new(peer: &'a Peer, out: PathBuf) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let run = format!("test{}x{number}", std::process::id());
        let domain = ReservedDomain::new();
        let mut fixture = Self {
            peer,
            out,
            domain,
            port: free_tcp_port(),
            run,
            topics: AtomicU32::new(0),
            servers: Vec::new(),
        };
        for server in &peer.manifest.server {
            fixture.serve(server);
        }
        fixture
    }

    fn fill(&self, text: &str) -> String {
        let repository = self.peer.folder.join("../../..").canonicalize().unwrap();
        [
            ("{out}", self.out.to_string_lossy().into_owned()),
            ("{peer}", self.peer.folder.to_string_lossy().into_owned()),
            ("{repository}", repository.to_string_lossy().into_owned()),
            ("{domain}", self.domain.id().to_string()),
            ("{port}", self.port.to_string()),
            ("{run}", self.run.clone()),
            ("{address}", "127.0.0.1".into()),
            ("{server_address}", "127.0.0.1".into()),
        ]
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    fn command(&self, words: &[String]) -> Command {
        let words: Vec<String> = words.iter().map(|word| self.fill(word)).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        // Traffic of the test stays on this machine.
        command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST").env_remove("RMW_IMPLEMENTATION");
        command
            .env_remove("CYCLONEDDS_URI")
            .env_remove("FEROS_TRANSPORTS")
            .env_remove("FEROS_ENGINE");
        command.envs(
            self.peer.manifest.environment.iter().map(|(name, value)| (name, self.fill(value))),
        );
        command
    }

    /// Starts a server, which ends when this value is dropped, and waits until the server is ready.
    fn serve(&mut self, server: &Server) {
        let mut command = self.command(&server.program);
        command.envs(server.environment.iter().map(|(name, value)| (name, self.fill(value))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process =
            command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", server.program));
        let (sender, lines) = sync_channel(100);
        read_lines(process.stdout.take().unwrap(), sender.clone());
        read_lines(process.stderr.take().unwrap(), sender);
        self.servers.push(Running { process, lines });
        let until = Instant::now() + SERVER_PATIENCE;
        let mut said = String::new();
        loop {
            let running = self.servers.last_mut().unwrap();
            said.extend(running.lines.recv_timeout(Duration::from_millis(50)));
            // The port of a server that has ended may answer: another program may have taken it.
            let ended = running.process.try_wait().unwrap();
            assert!(ended.is_none(), "{:?} ended with {ended:?}: {said}", server.program);
            if self.is_ready(server, &said) {
                return;
            }
            assert!(Instant::now() < until, "{:?} does not get ready: {said}", server.program);
        }
    }

    /// Whether a server that has written `said` is ready.
    fn is_ready(&self, server: &Server, said: &str) -> bool {
        let text = server.ready.as_ref().is_none_or(|text| said.contains(text));
        let file =
            server.ready_file.as_ref().is_none_or(|file| Path::new(&self.fill(file)).exists());
        let port = server.ready_port.as_ref().is_none_or(|port| {
            let port = match port {
                Port::Number(port) => *port,
                Port::Text(text) => self.fill(text).parse().unwrap(),
            };
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        text && file && port
    }

    /// A name that no earlier run has used.
    pub(crate) fn topic(&self) -> String {
        format!("lab{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }

    fn program(&self, system: SystemRef<'_>) -> Command {
        let mut command = self.command(&self.peer.manifest.program);
        if let Some(variant) = system.variant {
            command.args(variant.arguments.iter().map(|word| self.fill(word)));
            command.envs(variant.environment.iter().map(|(name, value)| (name, self.fill(value))));
        }
        command
    }

    pub(crate) fn start(
        &self,
        system: SystemRef<'_>,
        options: &Options,
    ) -> Result<Program, String> {
        let mut command = self.program(system);
        command.args(options.arguments());
        Program::start(&mut command, options)
    }

    pub(crate) fn refuses(&self, system: SystemRef<'_>) -> Result<(), String> {
        let role = self.peer.manifest.roles.first().copied().unwrap_or(Role::Talker);
        let options = Options { role, ..Options::default() };
        let mut command = self.program(system);
        command.args(options.arguments()).args(["--colour", "red"]);
        let mut program = Program::start(&mut command, &options)?;
        let status = program.wait(Instant::now() + SERVER_PATIENCE)?;
        if status.code() == Some(EXIT_USAGE) {
            return Ok(());
        }
        Err(format!("it ended with {status}, not with {EXIT_USAGE}"))
    }
}

impl Fixture<'_> {
    /// Describes the servers that have ended although their peer still needed them.
    pub(crate) fn ended_servers(&mut self) -> Vec<String> {
        let ended = |server: &mut Running| {
            let status = server.process.try_wait().unwrap()?;
            let said: Vec<String> = server.lines.try_iter().collect();
            Some(format!("a server ended with {status}: {}", said.join("\n")))
        };
        self.servers.iter_mut().filter_map(ended).collect()
    }

    /// Ends the servers, and returns their remaining files of shared memory.
    pub(crate) fn kill_servers(&mut self) -> Vec<PathBuf> {
        let mut had = Vec::new();
        for Running { process: mut server, .. } in self.servers.drain(..) {
            let maps =
                std::fs::read_to_string(format!("/proc/{}/maps", server.id())).unwrap_or_default();
            let files =
                maps.lines().filter_map(|line| line.find("/dev/shm/").map(|at| line[at..].into()));
            had.extend(files);
            let _ = server.kill();
            let _ = server.wait();
        }
        had
    }
}

impl Drop for Fixture<'_> {
    fn drop(&mut self) {
        // Servers are first asked to end, as in the laboratory, so that RouDi removes its memory.
        for server in &self.servers {
            let pid = i32::try_from(server.process.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
        }
        let until = Instant::now() + SERVER_PATIENCE;
        for Running { process: server, .. } in &mut self.servers {
            while matches!(server.try_wait(), Ok(None)) && Instant::now() < until {
                thread::sleep(Duration::from_millis(20));
            }
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
