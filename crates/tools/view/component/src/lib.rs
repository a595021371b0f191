//! The server of `feros view` as a component, `feros_view::View`: it runs in one container with the
//! robot's other components, and starts and ends with them.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use feros::{Context, Error, Node, NodeOptions, Parameter, Parameters};
use feros_component::{Component, register};
use feros_view::{Server, Token, ViewOptions};

#[derive(Parameters)]
struct Settings {
    /// The address to listen at: 127.0.0.1 for this machine only, 0.0.0.0 for all networks
    #[parameter(default = "127.0.0.1", read_only)]
    address: Parameter<String>,
    /// The port; 0 takes a free one
    #[parameter(default = 8765, range = 0..=65535, read_only)]
    port: Parameter<i64>,
    /// Let clients publish, call services and set parameters
    #[parameter(default = false, read_only)]
    allow_changes: Parameter<bool>,
    /// Let pages of these origins connect as well, such as https://app.foxglove.dev
    #[parameter(default = Vec::<String>::new(), read_only)]
    allow_origins: Parameter<Vec<String>>,
    /// The limit on simultaneous clients
    #[parameter(default = 32, range = 1..=10_000, read_only)]
    max_connections: Parameter<i64>,
}

/// A server for as long as this value lives. If other machines can connect and `FEROS_VIEW_TOKEN`
/// has no token, the server makes a token, and prints the link with the token to standard error.
/// The log has only the address, since everybody on the network can read `/rosout`.
pub struct View {
    node: Node,
    server: Server,
}

impl View {
    /// The address of the page, with the token if the server needs one.
    pub fn link(&self) -> &str {
        self.server.link()
    }
}

impl Component for View {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("view"))?;
        let settings = Settings::declare(&node)?;
        let (options, of_token) = view_options(&settings)?;
        let server = Server::start(&node, options).map_err(Error::other)?;
        feros::info!(node, "the page is at {}{}", server.page(), of_token.hint());
        if of_token == OfToken::MadeUp {
            // Printing fails if nobody reads standard error; the log has said where the link is.
            let _ = writeln!(std::io::stderr(), "link of the page: {}", server.link());
        }
        Ok(Self { node, server })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The origin of the link's token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfToken {
    NotNeeded,
    Variable,
    MadeUp,
}

impl OfToken {
    /// Returns the words about the token that follow the address in the log.
    fn hint(self) -> &'static str {
        match self {
            Self::NotNeeded => "",
            Self::Variable => ", with the token in FEROS_VIEW_TOKEN",
            Self::MadeUp => ": this process prints the link with the token to standard error",
        }
    }
}

fn view_options(settings: &Settings) -> Result<(ViewOptions, OfToken), Error> {
    let text = settings.address.get();
    let address: IpAddr = text.parse().map_err(|_| {
        Error::other(format!(
            "the parameter `address` is `{text}`: give an address such as 0.0.0.0"
        ))
    })?;
    // Both values are within the ranges of the parameters.
    let port = u16::try_from(settings.port.get()).unwrap_or(feros_view::DEFAULT_PORT);
    let max_connections = usize::try_from(settings.max_connections.get()).unwrap_or(1);
    // The token is not a parameter, since anybody may read parameters.
    let (token, of_token) = match Token::from_environment().map_err(Error::other)? {
        Some(token) => (Some(token), OfToken::Variable),
        None if address.is_loopback() => (None, OfToken::NotNeeded),
        None => (Some(Token::random().map_err(Error::other)?), OfToken::MadeUp),
    };
    let mut interfaces = feros_interface::shipped().clone();
    // Packages that cannot be read have no definitions, which does not affect the other packages.
    drop(interfaces.load_environment());
    let options = ViewOptions {
        address: SocketAddr::new(address, port),
        token,
        allow_changes: settings.allow_changes.get(),
        allowed_origins: settings.allow_origins.get(),
        max_connections,
        interfaces: Arc::new(interfaces),
        ..ViewOptions::default()
    };
    Ok((options, of_token))
}

register!(View, "feros_view::View");
