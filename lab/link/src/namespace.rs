//! A separate host on this machine: a network namespace with its own devices, addresses and ports,
//! which also has its own shared memory, queues, host name and identity, so that no engine finds a
//! path between two hosts that is shorter than the link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// The script of the process that holds a namespace: it waits until its standard input is closed,
/// which also happens when its owner dies, and then ends every process of the namespace, including
/// orphans. `find` lists itself, and may list processes that have just ended; the next round no
/// longer finds such processes.
const HOLDER: &str = r#"
trap '' HUP INT QUIT TERM
ip link set lo up || exit 1
mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 1
hostname "feros-host-$$" 2>/dev/null
tr -d - </proc/sys/kernel/random/uuid >/dev/shm/.id && mount --bind /dev/shm/.id /etc/machine-id 2>/dev/null
cat /proc/sys/kernel/random/uuid >/dev/shm/.id2 && mount --bind /dev/shm/.id2 /proc/sys/kernel/random/boot_id 2>/dev/null
rm -f /dev/shm/.id /dev/shm/.id2
echo ready
read -r _
net=$(readlink /proc/$$/ns/net | tr -cd 0-9)
for round in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for process in $(find /proc/[0-9]*/ns/net -lname "net:?$net?" 2>/dev/null); do
        process=${process#/proc/}
        process=${process%%/*}
        [ "$process" = $$ ] && continue
        kill -9 "$process" 2>/dev/null && left=1
    done
    [ -z "$left" ] && break
done
"#;

/// A host: a network namespace with all processes in it. It has its own, empty `/dev/shm`, and its
/// own System V and POSIX queues, host name, and identity in `/etc/machine-id`. It shares all other
/// files, the process ids and the clock with this machine.
///
/// Dropping this value ends every process in the namespace with SIGKILL. So does the end of this
/// process, whatever its cause.
#[derive(Debug)]
pub struct Namespace {
    net: File,
    others: Vec<(&'static str, File)>,
    holder: Child,
    alive: Option<ChildStdin>, // closing it ends the holder
}

/// A required program is not installed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the program `{program}` is needed and cannot be started: install the package {package} ({cause})"
)]
pub struct MissingProgram {
    /// The program.
    pub program: &'static str,
    /// The Debian package that contains the program.
    pub package: &'static str,
    /// The error of starting the program.
    pub cause: std::io::Error,
}

/// The reason why a namespace could not be created or used.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// This process may not create namespaces.
    #[error(
        "network namespaces are not permitted to this process ({said}): run it as root (sudo), or in a container with the capabilities \
         SYS_ADMIN and NET_ADMIN"
    )]
    NotPermitted {
        /// The system's error.
        said: String,
    },
    /// A required program is not installed.
    #[error(transparent)]
    MissingProgram(#[from] MissingProgram),
    /// The namespace could not be set up.
    #[error("the network namespace could not be set up: {said}")]
    Setup {
        /// The system's error.
        said: String,
    },
    /// Entering a namespace, or starting a thread for it, failed.
    #[error("the network namespace could not be entered: {0}")]
    Enter(#[source] std::io::Error),
}

impl Namespace {
    /// Creates a namespace with nothing but a loopback device, which is up.
    ///
    /// # Errors
    ///
    /// [`NamespaceError::NotPermitted`] without root or its capabilities;
    /// [`NamespaceError::MissingProgram`] without `unshare`; [`NamespaceError::Setup`] for any
    /// other failure, with the system's message.
    pub fn new() -> Result<Namespace, NamespaceError> {
        let mut holder = Command::new("unshare")
            .args(["--net", "--ipc", "--uts", "--mount", "--", "sh", "-c", HOLDER])
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0) // Ctrl-C only reaches the owner
            .spawn()
            .map_err(|cause| MissingProgram { program: "unshare", package: "util-linux", cause })?;
        let alive = holder.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = holder.stdout.take() {
            // If the line cannot be read, it is not "ready" either.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        if line != "ready\n" {
            drop(alive);
            return Err(failed_holder(holder));
        }
        let open = |kind: &'static str, file: &str| -> std::io::Result<(&'static str, File)> {
            Ok((kind, File::open(format!("/proc/{}/ns/{file}", holder.id()))?))
        };
        let others = [open("ipc", "ipc"), open("uts", "uts"), open("mount", "mnt")];
        let opened = open("net", "net")
            .and_then(|net| Ok((net.1, others.into_iter().collect::<Result<Vec<_>, _>>()?)));
        match opened {
            Ok((net, others)) => Ok(Namespace { net, others, holder, alive }),
            Err(error) => {
                drop(alive);
                let _ = holder.wait();
                Err(NamespaceError::Setup { said: format!("its files in /proc: {error}") })
            }
        }
    }

    /// A command that runs `program` on this host, in the command's working directory. The command
    /// replaces itself with the program, so the process that it starts has the program's process
    /// id, output and exit code. If the program cannot be started, the exit code is 126 or 127, and
    /// standard error has the reason.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        // The script has only numbers and fixed words, which a shell cannot misread. Entering
        // another mount namespace leaves the working directory, so the script enters it again by
        // name.
        let mut script = String::from("exec nsenter");
        let net = ("net", &self.net);
        for (kind, file) in
            std::iter::once(net).chain(self.others.iter().map(|(kind, file)| (*kind, file)))
        {
            script += &format!(" --{kind}=/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        }
        script += r#" -- sh -c 'cd "$0" && exec "$@"' "$PWD" "$@""#;
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(program);
        command
    }

    /// Makes a command run on this host, as [`command`](Self::command) does. Its program, arguments
    /// and variables stay.
    pub fn place(&self, command: &mut Command) {
        let mut placed = self.command(command.get_program());
        placed.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => placed.env(name, value),
                None => placed.env_remove(name),
            };
        }
        *command = placed;
    }

    /// Calls `work` on a thread inside the network namespace (but in none of the host's other
    /// namespaces): sockets and devices that `work` opens belong to the namespace, no matter where
    /// they are used later.
    ///
    /// # Errors
    ///
    /// [`NamespaceError::Enter`] if the thread cannot be started or may not enter.
    ///
    /// # Panics
    ///
    /// If `work` panics.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        run_in(&self.net, work)
    }

    /// A handle that keeps the namespace alive even when no process runs in it.
    pub(crate) fn handle(&self) -> std::io::Result<File> {
        self.net.try_clone()
    }
}

/// Calls `work` on a thread inside the namespace that `net` refers to, like [`Namespace::run`].
pub(crate) fn run_in<T: Send>(
    net: &File,
    work: impl FnOnce() -> T + Send,
) -> Result<T, NamespaceError> {
    std::thread::scope(|scope| {
        let inside = || {
            move_into_link_name_space(net.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(work())
        };
        let thread =
            std::thread::Builder::new().name("feros-namespace".into()).spawn_scoped(scope, inside);
        match thread.map_err(NamespaceError::Enter)?.join() {
            Ok(done) => {
                done.map_err(|error: rustix::io::Errno| NamespaceError::Enter(error.into()))
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn failed_holder(mut holder: Child) -> NamespaceError {
    let mut said = String::new();
    if let Some(mut stderr) = holder.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    let _ = holder.wait();
    let said = said.trim().to_string();
    if said.contains("not permitted") || said.contains("Permission denied") {
        NamespaceError::NotPermitted { said }
    } else if said.contains("ip: not found") {
        let cause = std::io::Error::new(std::io::ErrorKind::NotFound, said);
        MissingProgram { program: "ip", package: "iproute2", cause }.into()
    } else {
        NamespaceError::Setup { said }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.alive.take());
        // The holder ends once all other processes have ended. If it had already ended, the error
        // does not matter.
        let _ = self.holder.wait();
    }
}
