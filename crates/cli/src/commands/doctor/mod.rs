//! `feros doctor`: looks at this machine and says what stands in the way of ROS, each with its
//! cure.

mod engine;
mod graph;
mod machine;
mod network;

use std::process::ExitCode;

use anstyle::AnsiColor;
use serde::Serialize;
use serde_json::json;

use crate::error::CliError;
use crate::output;

/// Check this machine and say what stands in the way
#[derive(clap::Args)]
#[command(
    after_help = "Ends with 1 if there is an error.\n\nExamples:\n  feros doctor\n  feros doctor --json | jq \
                        '.findings[] | select(.status != \"ok\")'"
)]
pub(crate) struct Args {
    /// The engine's whole configuration as well
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON object with all findings
    #[arg(long)]
    json: bool,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// As it should be.
    Ok,
    /// It works, but worse than it could.
    Warning,
    /// ROS does not work.
    Error,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    area: &'static str,
    status: Status,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

impl Finding {
    fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, status: Status::Ok, text: text.into(), cure: None }
    }

    fn warning(area: &'static str, text: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { area, status: Status::Warning, text: text.into(), cure: Some(cure.into()) }
    }

    fn error(area: &'static str, text: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { area, status: Status::Error, text: text.into(), cure: Some(cure.into()) }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let mut findings = network::examine();
    findings.extend(machine::examine());
    let (engine, configuration) = engine::examine();
    findings.extend(engine);
    findings.extend(graph::examine());
    let worst = findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok);
    if args.json {
        let mut object = json!({ "worst": worst, "findings": findings });
        if args.verbose {
            object["engine_configuration"] = configuration.into();
        }
        output::print_json(&object)?;
    } else {
        output::print(&text(&findings))?;
        if let Some(configuration) = configuration.filter(|_| args.verbose) {
            output::print(&format!(
                "\nConfiguration of the engine:\n{}\n",
                configuration.trim_end()
            ))?;
        }
    }
    Ok(if worst == Status::Error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
        text.push_str(&format!("{style}{word}{style:#}  {area:<12}{what}\n"));
        if let Some(cure) = cure {
            let dim = output::DIM;
            text.push_str(&format!("{:21}{dim}-> {cure}{dim:#}\n", ""));
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
}
