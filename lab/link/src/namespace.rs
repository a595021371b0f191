//! A network namespace, and what else makes a host of its own on this machine: beside its own
//! devices, addresses and ports also its own shared memory, queues, host name and identity, so that
//! no middleware finds a shorter way between two of them than the link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// What the process does that holds a namespace: it waits until its standard input is closed, which
/// also the death of its owner does, and then ends every process of the namespace, also those that
/// their parents forgot. `find` itself and what it finds too late are gone by the next round.
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

/// A network namespace with the rest of a host, and all that runs in it: its `/dev/shm` is empty
/// and its own, as are its System V and POSIX queues, its host name and the identity in
/// `/etc/machine-id`. Files otherwise, processes and the clock are this machine's.
///
/// Dropping it ends every process in it with SIGKILL; so does the death of this process, however it
/// dies.
#[derive(Debug)]
pub struct Namespace {
    net: File,
    others: Vec<(&'static str, File)>,
    holder: Child,
    alive: Option<ChildStdin>, // closed to end the holder
}

/// A program that is needed is not installed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the program `{program}` is needed and cannot be started: install the package {package} ({cause})"
)]
pub struct MissingProgram {
    /// The program.
    pub program: &'static str,
    /// The package that has it, as Debian calls it.
    pub package: &'static str,
    /// What starting it said.
    pub cause: std::io::Error,
}

/// Why there is no namespace.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// This process may not make namespaces.
    #[error(
        "network namespaces are not permitted to this process ({said}): run it as root (sudo), or in a container with the capabilities \
         SYS_ADMIN and NET_ADMIN"
    )]
    NotPermitted {
        /// What the system said.
        said: String,
    },
    /// A program that is needed is not installed.
    #[error(transparent)]
    MissingProgram(#[from] MissingProgram),
    /// The namespace could not be set up.
    #[error("the network namespace could not be set up: {said}")]
    Setup {
        /// What the system said.
        said: String,
    },
    /// Entering a namespace, or starting a thread for it, failed.
    #[error("the network namespace could not be entered: {0}")]
    Enter(#[source] std::io::Error),
}

impl Namespace {
    /// A new namespace with nothing but a loopback device, which is up.
    ///
    /// # Errors
    ///
    /// [`NamespaceError::NotPermitted`] without root or its capabilities;
    /// [`NamespaceError::MissingProgram`] without `unshare`; [`NamespaceError::Setup`] for what
    /// else goes wrong, with the system's words.
    pub fn new() -> Result<Namespace, NamespaceError> {
        let mut holder = Command::new("unshare")
            .args(["--net", "--ipc", "--uts", "--mount", "--", "sh", "-c", HOLDER])
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0) // Ctrl-C is for the owner
            .spawn()
            .map_err(|cause| MissingProgram { program: "unshare", package: "util-linux", cause })?;
        let alive = holder.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = holder.stdout.take() {
            // What cannot be read is not "ready".
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

    /// A command that runs `program` on this host, in the working directory that it is given. It
    /// becomes the program itself, so the process that it starts has the program's process id,
    /// output and exit code. A program that cannot be started shows as exit code 126 or 127 with
    /// the reason on standard error.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        // Numbers and fixed words only: nothing that a shell could take for something else.
        // Entering another tree of mounts leaves the working directory, so it is entered again by
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

    /// Calls `work` on a thread inside the network namespace (of the host's other parts it sees
    /// nothing): sockets and devices that it opens are the namespace's, and stay so wherever they
    /// are used.
    ///
    /// # Errors
    ///
    /// [`NamespaceError::Enter`] when the thread cannot be started or may not enter.
    ///
    /// # Panics
    ///
    /// When `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        run_in(&self.net, work)
    }

    /// What stands for the namespace and keeps it, even when nothing runs in it any more.
    pub(crate) fn handle(&self) -> std::io::Result<File> {
        self.net.try_clone()
    }
}

/// Calls `work` on a thread inside the namespace that `net` stands for, as [`Namespace::run`].
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
        // It ends as soon as all others have; there is nobody to tell if it had ended before.
        let _ = self.holder.wait();
    }
}
