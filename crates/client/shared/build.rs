//! This script does nothing; but without a build script, cargo ignores build dependencies.

fn main() {}
