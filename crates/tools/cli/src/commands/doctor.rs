//! `feros doctor`: checks this machine for obstacles to ROS, and reports each with its cure.

mod discovery;
mod distributions;
mod domains;
mod engine;
mod examination;
mod finding;
mod graph;
mod hello;
mod machine;
mod mismatches;
mod network;
mod programs;
mod report;

use std::ffi::OsString;

use anstyle::AnsiColor;
use serde_json::json;

pub(in crate::commands) use self::examination::findings;
use self::examination::{Examination, Running, Stop};
pub(in crate::commands) use self::finding::{Finding, Status};
use crate::error::CliError;
use crate::notices;
use crate::output::{self, foreign};

/// Check this machine and report what prevents ROS from working well
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "The exit code is 1 if there is an error. Ctrl-C prints what was found until then; the exit code is then 130.\n\nExamples:\n  feros doctor\n  feros doctor --report\n  feros doctor \
                        hello\n  feros doctor --json | jq '.findings[] | select(.status != \"ok\")'"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Print the facts of this machine, its packages and the running system, without findings
    #[arg(short, long, conflicts_with_all = ["report_failed", "verbose"])]
    report: bool,
    /// Print only errors; with --include-warnings, also warnings
    #[arg(long)]
    report_failed: bool,
    /// Count warnings as errors
    #[arg(long)]
    include_warnings: bool,
    /// Leave the packages out of --report
    #[arg(long)]
    exclude_packages: bool,
    /// Print the engine's whole configuration as well
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON object with all findings
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Verb {
    Hello(hello::Args),
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    match &args.verb {
        Some(Verb::Hello(args)) => hello::run(args),
        None if args.report => report::run(args.exclude_packages, args.json),
        None => check(args),
    }
}

fn check(args: &Args) -> Result<(), CliError> {
    let running = Running::start()?;
    let (examination, stop) = running.wait();
    let outcome = print(args, examination, stop);
    running.end(stop);
    outcome
}

/// Prints what was found.
fn print(args: &Args, examination: Examination, stop: Stop) -> Result<(), CliError> {
    let Examination { mut findings, context, distributions } = examination;
    let is_complete = stop == Stop::Complete;
    let configuration = context.map(|context| context.session().configuration());
    let worst = findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok);
    let failing = if args.include_warnings { Status::Warning } else { Status::Error };
    if args.report_failed {
        findings.retain(|finding| finding.status >= failing);
    }
    if args.json {
        let distributions = distributions.as_ref().map(distributions::to_json);
        let mut object = json!({
            "worst": worst, "complete": is_complete, "findings": findings,
            "distributions": distributions,
        });
        if args.verbose {
            object["engine_configuration"] = configuration.into();
        }
        output::print_json(&object)?;
    } else {
        output::print_coloured(&text(&findings))?;
        if let Some(configuration) = configuration.filter(|_| args.verbose) {
            output::print(&format!(
                "\nConfiguration of the engine:\n{}\n",
                configuration.trim_end()
            ))?;
        }
    }
    if !is_complete {
        notices::warn("interrupted: some checks were not made");
        return Err(CliError::Interrupted);
    }
    if worst >= failing { Err(CliError::Ended(1)) } else { Ok(()) }
}

/// Spells out the options that `ros2 doctor` has with one dash and two letters; clap would take
/// each for two options.
pub(super) fn spelled_out(mut words: Vec<OsString>) -> Vec<OsString> {
    if !words.get(1).is_some_and(|word| word == "doctor" || word == "wtf") {
        return words;
    }
    let is_hello = words.get(2).is_some_and(|word| word == "hello");
    for word in words.iter_mut().skip(2) {
        let long = match word.to_str() {
            Some("-rf") => "--report-failed",
            Some("-iw") => "--include-warnings",
            Some("-ep") if is_hello => "--emit-period",
            Some("-ep") => "--exclude-packages",
            Some("-pp") => "--print-period",
            _ => continue,
        };
        *word = long.into();
    }
    words
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { area, status, text: what, cure } in findings {
        let (word, colour) = match status {
            Status::Ok => ("ok     ", AnsiColor::Green),
            Status::Warning => ("warning", AnsiColor::Yellow),
            Status::Error => ("error  ", AnsiColor::Red),
        };
        let style = colour.on_default();
        text.push_str(&format!("{style}{word}{style:#}  {area:<12}{}\n", foreign(what)));
        if let Some(cure) = cure {
            let dim = output::DIM;
            text.push_str(&format!("{:21}{dim}-> {}{dim:#}\n", "", foreign(cure)));
        }
    }
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    text.push_str(&format!(
        "{} errors, {} warnings\n",
        count(Status::Error),
        count(Status::Warning)
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_shown_with_their_cures() {
        let findings = [
            Finding::ok("network", "eth0 is up"),
            Finding::error("multicast", "it fails", "do something"),
        ];
        let plain = anstream::adapter::strip_str(&text(&findings)).to_string();
        assert_eq!(
            plain,
            "ok       network     eth0 is up\nerror    multicast   it fails\n                     -> do something\n1 \
             errors, 0 warnings\n"
        );
    }

    #[test]
    fn options_of_two_letters_are_spelled_out() {
        let spelled = |line: &str| {
            let words = spelled_out(line.split(' ').map(OsString::from).collect());
            words.join(std::ffi::OsStr::new(" ")).into_string()
        };
        let whole = "feros doctor --report-failed --include-warnings --exclude-packages";
        assert_eq!(spelled("feros doctor -rf -iw -ep").as_deref(), Ok(whole));
        let hello = "feros wtf hello --emit-period 1 --print-period 2";
        assert_eq!(spelled("feros wtf hello -ep 1 -pp 2").as_deref(), Ok(hello));
        assert_eq!(spelled("feros topic echo -rf").as_deref(), Ok("feros topic echo -rf"));
    }
}
