//! The components of `navigation_graph` as a library that containers load; it uses the container's
//! Feros.
use {feros_shared as _, navigation_graph as _};
