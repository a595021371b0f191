//! The options of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use feros_engine::TypeHash;
use feros_interface::InterfaceSet;
use feros_launch::Packages;
use feros_message::Schema;

use crate::protocol::Finding;
use crate::server::access::Token;

/// The port that Foxglove tries first.
pub const DEFAULT_PORT: u16 = 8765;

/// The default of [`ViewOptions::patience`].
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// Finds the definition of a type that is not among the interfaces, for example by asking a node of
/// the topic. Its arguments are the topic, the type, and the type's hash if known. A call may take
/// some seconds.
pub type Describe = Arc<dyn Fn(&str, &str, Option<TypeHash>) -> Option<Schema> + Send + Sync>;

/// Makes the checks of `feros doctor`. A call may take some seconds.
pub type Doctor = Arc<dyn Fn() -> Vec<Finding> + Send + Sync>;

/// The options of a server.
#[derive(Clone)]
pub struct ViewOptions {
    /// The address to listen at; port 0 selects a free port.
    pub address: SocketAddr,
    /// The secret that clients need; required if other machines can connect.
    pub token: Option<Token>,
    /// Whether clients may publish, call services and set parameters.
    pub allow_changes: bool,
    /// Origins of pages that may also connect, such as `https://app.foxglove.dev`.
    pub allowed_origins: Vec<String>,
    /// The limit on simultaneous WebSocket connections.
    pub max_connections: usize,
    /// The longest time for which a client may be silent, or take to read a frame or a file of the
    /// page. The server sends four pings within this time.
    pub patience: Duration,
    /// The known types.
    pub interfaces: Arc<InterfaceSet>,
    /// Finds unknown types.
    pub describe: Option<Describe>,
    /// The folders of the packages whose files clients may read.
    pub packages: Packages,
    /// Makes the checks of `feros doctor`.
    pub doctor: Option<Doctor>,
    /// The folder in which running programs write their traces: the server reads the layers of
    /// latencies there while a client looks at their topics. The default is the folder of
    /// `FEROS_TRACE`.
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
