//! The components of `pipeline` as a library that containers load; it uses the container's Feros.
use {feros_shared as _, pipeline as _};
