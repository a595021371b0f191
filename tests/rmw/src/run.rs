//! Runs programs, each on an rmw.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use feros_interop::{Domain, LONGEST_WAIT};

use crate::{Kit, Rmw};

/// A running program. Dropping this value ends it.
#[derive(Debug)]
pub struct Running {
    what: String,
    expected: String,
    child: Child,
    /// The standard input; closing it ends a serving program.
    input: Option<ChildStdin>,
    /// The lines of the standard output. If nothing else ends the program, its own watchdog does.
    said: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts a role of a program in a domain.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn start(
        kit: &Kit,
        domain: &Domain,
        rmw: &Rmw,
        program: &Path,
        role: &str,
        executor: &str,
    ) -> Self {
        Self::start_with(kit, domain, rmw, program, &[role, executor], None)
    }

    /// Starts a program with these arguments; `prefix` is an installation prefix with a package
    /// index.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn start_with(
        kit: &Kit,
        domain: &Domain,
        rmw: &Rmw,
        program: &Path,
        arguments: &[&str],
        prefix: Option<&Path>,
    ) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let what = format!("{name} {} on {rmw}", arguments.join(" "));
        let role = arguments.first().unwrap_or(&"");
        let mut command = kit.command("run.sh");
        command.arg(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        domain.confine(&mut command);
        rmw.choose(&mut command);
        if let Some(prefix) = prefix {
            command.env("AMENT_PREFIX_PATH", prefix);
        }
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
        let input = child.stdin.take();
        let output = child.stdout.take().unwrap_or_else(|| panic!("{what} has no output"));
        let said = BufReader::new(output).lines();
        Self { what, expected: format!("ok {role} {rmw}"), child, input, said }
    }

    /// Waits for a line of the program.
    ///
    /// # Panics
    /// If the program prints another line, or ends.
    pub fn says(&mut self, expected: &str) {
        match self.said.next() {
            Some(Ok(line)) => assert_eq!(line, expected, "{}", self.what),
            _ => {
                let status = self.wait();
                panic!("{} ended with {status}, and did not say {expected:?}", self.what);
            }
        }
    }

    /// Waits until the program has ended successfully, with the expected last line.
    ///
    /// # Panics
    /// If the program fails, ends without that line, or hangs.
    pub fn succeeds(mut self) {
        drop(self.input.take());
        let last = self.said.by_ref().map_while(Result::ok).last();
        let status = self.wait();
        assert!(status.success(), "{} ended with {status}", self.what);
        assert_eq!(last.as_ref(), Some(&self.expected), "{} in the end", self.what);
    }

    /// Kills the program, as a crash would end it. The returned value removes the files that Fast
    /// DDS leaves behind.
    ///
    /// # Panics
    /// If the program hangs.
    pub fn kill(mut self) -> Leftovers {
        let leftovers = Leftovers::of(self.child.id());
        let _ = self.child.kill();
        self.wait();
        leftovers
    }

    /// Ends a program that does not end when its input ends, such as a container.
    pub fn interrupt(mut self) {
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        self.wait();
    }

    fn wait(&mut self) -> std::process::ExitStatus {
        let began = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status;
            }
            assert!(began.elapsed() < LONGEST_WAIT, "{} hangs", self.what);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The files of Fast DDS that only the killed process used. Dropping this value removes them, since
/// nothing else removes all of them.
#[derive(Debug)]
pub struct Leftovers(Vec<PathBuf>);

impl Leftovers {
    fn of(process: u32) -> Self {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mapped = maps.lines().filter_map(|line| line.split_whitespace().last());
        // Several processes share the files of ports, which can be recognized by name.
        // Fast DDS 3 has the first name, Fast DDS 2 the other one.
        let families = ["/dev/shm/fastdds_", "/dev/shm/fastrtps_"];
        let own = mapped.filter(|path| {
            let mut names = families.iter().filter_map(|family| path.strip_prefix(*family));
            names.any(|name| !name.starts_with("port"))
        });
        Self(own.flat_map(|path| [PathBuf::from(path), format!("{path}_el").into()]).collect())
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        for file in &self.0 {
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
