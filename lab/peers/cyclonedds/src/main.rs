//! Chooses the configuration at run time (a network namespace has its own interfaces), then becomes
//! the C program.
//!
//! `--configuration default|recommended|as-feros` comes first; the rest is for the C program.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use feros_cyclonedds::config::{Circumstances, configuration, interfaces};
use feros_engine::SessionOptions;

/// The buffer size that the tuning page of ROS 2 recommends. If the kernel does not permit it, it
/// is not requested, because the engine would refuse to start.
const RECOMMENDED_BUFFER_BYTES: u64 = 10_000_000;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let mut choice = String::from("default");
    if words.next_if(|word| word == "--configuration").is_some() {
        choice = words.next().unwrap_or_default();
    }
    let found = match choice.as_str() {
        "default" => Ok(<_>::default()),
        "recommended" => Ok(recommended()),
        "as-feros" => as_feros(),
        _ => {
            eprintln!(
                "error: --configuration {choice}: it takes one of default, recommended, as-feros"
            );
            return ExitCode::from(64);
        }
    };
    let (uri, said) = match found {
        Ok(found) => found,
        Err(text) => {
            eprintln!("error: {text}");
            return ExitCode::FAILURE;
        }
    };
    let mut program = Command::new(env!("FEROS_LAB_CYCLONEDDS"));
    if !uri.is_empty() {
        program.env("CYCLONEDDS_URI", uri);
    }
    let error = program.args(words).env("FEROS_LAB_CONFIGURED", said).exec();
    eprintln!("error: {} did not start: {error}", env!("FEROS_LAB_CYCLONEDDS"));
    ExitCode::FAILURE
}

/// A configuration, and the remark on it that follows the version.
type Configured = (String, String);

fn recommended() -> Configured {
    let path = "/proc/sys/net/core/rmem_max";
    let most = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let is_allowed = most.is_none_or(|most| most >= RECOMMENDED_BUFFER_BYTES);
    let least = if is_allowed { "10MB" } else { "default" };
    let uri = format!(
        "<CycloneDDS><Domain id=\"any\"><General><MaxMessageSize>65500B</MaxMessageSize></General>\
         <Internal><SocketReceiveBufferSize min=\"{least}\" max=\"10MB\"/></Internal></Domain></CycloneDDS>"
    );
    let said = match most {
        Some(most) if !is_allowed => {
            format!(", receive buffer limited to {most} bytes by net.core.rmem_max")
        }
        _ => String::new(),
    };
    (uri, said)
}

fn as_feros() -> Result<Configured, String> {
    let options = SessionOptions::from_variables(|name| std::env::var_os(name));
    let options = options.map_err(|error| error.to_string())?;
    let uri = configuration(&Circumstances {
        options: &options,
        interfaces: &interfaces(),
        user_configuration: None,
        process_id: std::process::id(),
    });
    Ok((uri, ", configured by Feros".into()))
}
