//! This script builds nothing; cargo regards build dependencies only if there is a build script.

fn main() {}
