//! The options of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use feros_interface::InterfaceSet;
use feros_launch::Packages;
use feros_message::Schema;
use feros_rmw::TypeHash;

use crate::protocol::Finding;
use crate::server::access::Token;

/// The port that Foxglove tries first.
pub const DEFAULT_PORT: u16 = 8765;

/// The default of [`ViewOptions::patience`].
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// Finds the definition of a type that is not among the interfaces, for example by asking a node of
/// the topic: topic, type, and its hash if it is known. It may take some seconds.
pub type Describe = Arc<dyn Fn(&str, &str, Option<TypeHash>) -> Option<Schema> + Send + Sync>;

/// Makes the checks of `feros doctor`. It may take some seconds.
pub type Doctor = Arc<dyn Fn() -> Vec<Finding> + Send + Sync>;

/// The options of a server.
#[derive(Clone)]
pub struct ViewOptions {
    /// The address to listen at; port 0 takes a free port.
    pub address: SocketAddr,
    /// The secret that clients need; required if other machines can connect.
    pub token: Option<Token>,
    /// Whether clients may publish, call services and set parameters.
    pub allow_changes: bool,
    /// Origins of pages that may also connect, such as `https://app.foxglove.dev`.
    pub allowed_origins: Vec<String>,
    /// The most WebSockets at a time.
    pub max_connections: usize,
    /// The time that a client may be silent, or take for one frame or for a file of the page; the
    /// server sends four pings within it.
    pub patience: Duration,
    /// The known types.
    pub interfaces: Arc<InterfaceSet>,
    /// Finds unknown types.
    pub describe: Option<Describe>,
    /// The places of packages' files.
    pub packages: Packages,
    /// Examines the machine.
    pub doctor: Option<Doctor>,
    /// The folder in which running programs write their traces: the layers of latencies are read
    /// there while a client looks at their topics. The default is the folder of `FEROS_TRACE`.
    pub traces: Option<PathBuf>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT),
            token: None,
            allow_changes: false,
            allowed_origins: Vec::new(),
            max_connections: 32,
            patience: DEFAULT_PATIENCE,
            interfaces: Arc::new(feros_interface::shipped().clone()),
            describe: None,
            packages: Packages::from_env(),
            doctor: None,
            traces: std::env::var_os(feros::trace::FOLDER_VARIABLE)
                .filter(|folder| !folder.is_empty())
                .map(PathBuf::from),
        }
    }
}

impl std::fmt::Debug for ViewOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ViewOptions")
            .field("address", &self.address)
            .field("allow_changes", &self.allow_changes)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}
