//! The command `feros`.
fn main() {}
