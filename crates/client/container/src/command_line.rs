//! The containers' own arguments, apart from those after `--ros-args`.

use crate::restart::RestartPolicy;

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
         address\n{multi_threaded}  -h, --help                     print this\n\nThe node is /ComponentManager unless \
         remapped (--ros-args -r __node:=NAME)."
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
    fn unknown_and_incomplete_options_are_errors() {
        for line in [
            &["--threads"][..],
            &["--use_multi_threaded_executor"],
            &["--restart-limit"],
            &["--restart-limit", "x"],
        ] {
            assert!(read(Kind::SingleThreaded, line).is_err(), "{line:?}");
        }
    }
}
