//! The containers' own arguments, apart from those after `--ros-args`.

use feros_executor::{RealtimeConfig, Scheduling};

use crate::cpu_list;
use crate::restart::RestartPolicy;

/// The option that locks memory. Processes of components get it too, since a process does not
/// inherit locks.
pub(crate) const LOCK_MEMORY: &str = "--lock-memory";

/// The kinds of containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All components run on one executor with one thread: `component_container`.
    SingleThreaded,
    /// All components run on one executor with several threads: `component_container_mt`.
    MultiThreaded,
    /// Each component has its own executor and thread: `component_container_isolated`.
    Isolated,
    /// Each component has its own process: `component_container_process`.
    Process,
}

impl Kind {
    /// All kinds, each with the name of its executable.
    pub const ALL: [(&str, Self); 4] = [
        ("component_container", Self::SingleThreaded),
        ("component_container_mt", Self::MultiThreaded),
        ("component_container_isolated", Self::Isolated),
        ("component_container_process", Self::Process),
    ];
}

/// The result of reading a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandLine {
    Run(Options),
    Help(String),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) restart: RestartPolicy,
    /// True if the executors of isolated components have several threads.
    pub(crate) use_multi_threaded_executor: bool,
    /// True if requests from other hosts are ignored.
    pub(crate) local_requests_only: bool,
    /// True if the memory of the container and of its processes is locked.
    pub(crate) locks_memory: bool,
    /// The settings of all threads: scheduling, processors and memory.
    pub(crate) realtime: RealtimeConfig,
}

impl CommandLine {
    /// Reads the arguments that do not belong to ROS.
    ///
    /// # Errors
    /// The first unknown argument, with a list of the known arguments.
    pub(crate) fn read(kind: Kind, line: Vec<String>) -> Result<Self, String> {
        let mut options = Options::default();
        let mut line = line.into_iter();
        while let Some(argument) = line.next() {
            match argument.as_str() {
                "-h" | "--help" => return Ok(Self::Help(help(kind))),
                "--restart" => {
                    if options.restart == RestartPolicy::Never {
                        options.restart = RestartPolicy::OnFailure { limit: None };
                    }
                }
                "--restart-limit" => {
                    let limit = line.next().and_then(|text| text.parse().ok());
                    let limit = limit.ok_or("--restart-limit needs a number, such as 5")?;
                    options.restart = RestartPolicy::OnFailure { limit: Some(limit) };
                }
                "--local-requests-only" => options.local_requests_only = true,
                "--priority" => {
                    let priority = line.next().and_then(|text| text.parse::<u8>().ok());
                    let priority = priority
                        .filter(|priority| (1..=99).contains(priority))
                        .ok_or("--priority needs a number from 1 (low) to 99 (high), such as 80")?;
                    options.realtime = options.realtime.scheduling(Scheduling::Fifo { priority });
                }
                "--cpus" => {
                    let list = line.next().ok_or("--cpus needs a list, such as 0,2-3")?;
                    let cpus =
                        cpu_list::parse(&list).map_err(|error| format!("--cpus: {error}"))?;
                    options.realtime = options.realtime.cpus(cpus);
                }
                LOCK_MEMORY => {
                    options.locks_memory = true;
                    options.realtime = options.realtime.lock_memory();
                }
                "--use_multi_threaded_executor" if kind == Kind::Isolated => {
                    options.use_multi_threaded_executor = true;
                }
                _ => return Err(format!("unknown argument {argument:?}\n\n{}", help(kind))),
            }
        }
        Ok(Self::Run(options))
    }
}

fn help(kind: Kind) -> String {
    let (name, what) = match kind {
        Kind::SingleThreaded => ("component_container", "on one thread"),
        Kind::MultiThreaded => {
            ("component_container_mt", "on several threads (parameter thread_num)")
        }
        Kind::Isolated => ("component_container_isolated", "each on a thread of its own"),
        Kind::Process => ("component_container_process", "each in a process of its own"),
    };
    let multi_threaded = match kind {
        Kind::Isolated => "  --use_multi_threaded_executor  each on several threads\n",
        _ => "",
    };
    format!(
        "Runs components, {what}.\n\nUsage: {name} [OPTIONS] [--ros-args \
         ARGUMENTS]\n\nOptions:\n  --restart                      restart failed components, after a pause that \
         doubles each time\n  --restart-limit N              ... at most N times in a \
         row\n  --local-requests-only          ignore requests from other hosts, by their source \
         address\n  --priority N                   schedule all threads with SCHED_FIFO, from 1 (low) to 99 \
         (high)\n  --cpus LIST                    use only these processors, such as 0,2-3\n  \
         --lock-memory                  keep all memory in RAM\n{multi_threaded}  -h, --help                     \
         print this\n\nThe node is /ComponentManager unless remapped (--ros-args -r __node:=NAME)."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, line: &[&str]) -> Result<CommandLine, String> {
        CommandLine::read(kind, line.iter().map(|&argument| argument.to_owned()).collect())
    }

    #[test]
    fn options_are_read() {
        let run = |options| Ok(CommandLine::Run(options));
        assert_eq!(read(Kind::Process, &[]), run(Options::default()));
        let restart = RestartPolicy::OnFailure { limit: None };
        assert_eq!(
            read(Kind::Process, &["--restart"]),
            run(Options { restart, ..Options::default() })
        );
        let restart = RestartPolicy::OnFailure { limit: Some(3) };
        let line = ["--restart-limit", "3", "--restart"];
        assert_eq!(read(Kind::Process, &line), run(Options { restart, ..Options::default() }));
        let options = Options { local_requests_only: true, ..Options::default() };
        assert_eq!(read(Kind::MultiThreaded, &["--local-requests-only"]), run(options));
        let options = Options { use_multi_threaded_executor: true, ..Options::default() };
        assert_eq!(read(Kind::Isolated, &["--use_multi_threaded_executor"]), run(options));
        assert!(matches!(read(Kind::SingleThreaded, &["-h"]), Ok(CommandLine::Help(_))));
    }

    #[test]
    fn options_of_threads_and_memory_are_read() {
        let scheduling = Scheduling::Fifo { priority: 80 };
        let realtime = RealtimeConfig::default().scheduling(scheduling).cpus([0, 2, 3]);
        let line = ["--priority", "80", "--cpus", "0,2-3"];
        let options = Options { realtime: realtime.clone(), ..Options::default() };
        assert_eq!(read(Kind::Isolated, &line), Ok(CommandLine::Run(options)));
        let options =
            Options { locks_memory: true, realtime: realtime.lock_memory(), ..Options::default() };
        let line = ["--priority", "80", LOCK_MEMORY, "--cpus", "0,2-3"];
        assert_eq!(read(Kind::Process, &line), Ok(CommandLine::Run(options)));
    }

    #[test]
    fn unknown_and_incomplete_options_are_errors() {
        for line in [
            &["--threads"][..],
            &["--use_multi_threaded_executor"],
            &["--restart-limit"],
            &["--restart-limit", "x"],
            &["--priority"],
            &["--priority", "0"],
            &["--priority", "100"],
            &["--priority", "-1"],
            &["--priority", "256"],
            &["--cpus"],
            &["--cpus", "1-"],
            &["--lock-memory=yes"],
        ] {
            assert!(read(Kind::SingleThreaded, line).is_err(), "{line:?}");
        }
    }
}
