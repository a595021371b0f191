//! The components of `demo_components` as a library that containers load; it uses the container's
//! Feros.
use {demo_components as _, feros_shared as _};
