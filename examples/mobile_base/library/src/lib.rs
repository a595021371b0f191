//! The components of `mobile_base` as a library that containers load; it uses the container's
//! Feros.
use {feros_shared as _, mobile_base as _};
