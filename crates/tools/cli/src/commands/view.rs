//! `feros view`: a page in the browser that shows the running system, and the server that Foxglove
//! and Lichtblick connect to.

mod browser;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use feros_engine::Gid;
use feros_view::protocol::{Finding, Severity};
use feros_view::{DEFAULT_PATIENCE, DEFAULT_PORT, Doctor, Server, Token, ViewOptions};

use super::doctor::{self, Status};
use super::topic::watch::spin;
use crate::connection::Connection;
use crate::error::CliError;
use crate::packages::installed_packages;
use crate::types::described;
use crate::types::{InterfaceArgs, Types};
use crate::value_parsers::parse_count;
use crate::{ending, notices, output};

/// Show the running system in the browser, until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "Foxglove and Lichtblick connect to the same address (Foxglove WebSocket). The server is read-only \
                  unless --allow-changes is set; other machines can connect only if --listen allows it, and with the \
                  token in the printed link.\n\nExamples:\n  feros view\n  feros view --listen 0.0.0.0\n  feros \
                  view --allow-changes --allow-origin https://app.foxglove.dev"
)]
pub(crate) struct Args {
    /// The address to listen on: 127.0.0.1 for only this machine, 0.0.0.0 for all networks
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// The port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// The token that the link must contain; by default, one is generated if other machines can
    /// connect. Other users of this machine can read this option, but not the variable
    /// [env: FEROS_VIEW_TOKEN]
    #[arg(long, value_name = "TOKEN", value_parser = Token::new)]
    token: Option<Token>,
    /// Let clients publish, call services and set parameters
    #[arg(long)]
    allow_changes: bool,
    /// Also let pages of this origin connect, such as https://app.foxglove.dev; may be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    allowed_origins: Vec<String>,
    /// The folder where running programs write their traces, for latencies by layer; start them
    /// with FEROS_TRACE=FOLDER FEROS_TRACE_PERIOD=1s [default: FEROS_TRACE of this command]
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// The limit on clients that are connected at a time
    #[arg(long, value_name = "N", default_value = "32", value_parser = parse_count)]
    max_connections: usize,
}

pub(crate) fn run(args: Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    ending::in_peace();
    let types = Arc::new(Types::load(interfaces)?);
    let connection = Connection::open()?;
    let no_open = args.no_open;
    let options = options(args, types, &connection)?;
    let (allow_changes, is_secret) = (options.allow_changes, options.token.is_some());
    let server = Server::start(&connection.node, options).map_err(CliError::failed)?;
    output::print_lines([server.link()])?;
    let only_shows = if allow_changes { "" } else { "; it is read-only without --allow-changes" };
    notices::note(format!("the page is at this address{only_shows}. Ctrl-C ends the server"));
    let _opened = (!no_open).then(|| browser::open(server.link(), is_secret));
    spin(&connection.node, None, || false)?;
    drop(server);
    Ok(())
}

fn options(
    args: Args,
    types: Arc<Types>,
    connection: &Connection,
) -> Result<ViewOptions, CliError> {
    // `clap` does not read the variable, since it would refuse an empty one.
    let given = match args.token {
        None => Token::from_environment().map_err(CliError::usage)?,
        token => token,
    };
    let token = match given {
        None if !args.listen.is_loopback() => Some(Token::random()?),
        token => token,
    };
    let interfaces = Arc::new(types.set().clone());
    let own = connection.context.session().gid();
    let connection = connection.clone();
    let describe = move |topic: &str, name: &str, hash| {
        described::schema_of_topic(&connection, &types, topic, name, hash)
    };
    Ok(ViewOptions {
        address: SocketAddr::new(args.listen, args.port),
        token,
        allow_changes: args.allow_changes,
        allowed_origins: args.allowed_origins,
        max_connections: args.max_connections,
        patience: DEFAULT_PATIENCE,
        interfaces,
        describe: Some(Arc::new(describe)),
        packages: installed_packages(),
        doctor: Some(doctor(own)),
        traces: args.traces.or_else(traces_of_environment),
    })
}

fn traces_of_environment() -> Option<PathBuf> {
    let folder = std::env::var_os(feros::trace::FOLDER_VARIABLE)?;
    (!folder.is_empty()).then(|| PathBuf::from(folder))
}

/// The checks of `feros doctor`, for the page. `own` is the participant of this process.
fn doctor(own: Gid) -> Doctor {
    let finding = |found: doctor::Finding| Finding {
        area: found.area.to_owned(),
        level: match found.status {
            Status::Ok => Severity::Ok,
            Status::Warning => Severity::Warning,
            Status::Error => Severity::Error,
        },
        text: found.text,
        cure: found.cure,
    };
    Arc::new(move || doctor::findings(own).into_iter().map(finding).collect())
}
