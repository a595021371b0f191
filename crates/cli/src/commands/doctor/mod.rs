//! `feros doctor`: looks at this machine and says what stands in the way of ROS, each with its
//! cure.

mod engine;
mod finding;
mod graph;
mod machine;
mod network;

use std::process::ExitCode;

use anstyle::AnsiColor;
use serde_json::json;

use self::finding::{Finding, Status};
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

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let mut findings = network::examine();
    findings.extend(machine::examine());
    let (engine, context) = engine::examine();
    findings.extend(engine);
    findings.extend(graph::examine());
    let configuration = context.map(|context| context.session().configuration());
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
