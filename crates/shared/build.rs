//! Nothing is built here; cargo regards build dependencies only if there is a build script.

fn main() {}
