//! The components of `mobile_base` as a library that containers load; it shares their Feros.
use {feros_shared as _, mobile_base as _};
