//! The components of `demo_components` as a library that containers load; it shares their Feros.
use {demo_components as _, feros_shared as _};
