//! The components of `pipeline` as a library that containers load; it shares their Feros.
use {feros_shared as _, pipeline as _};
