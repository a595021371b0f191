//! Compiles the shim in C++: what only C++ may do with a message of C++.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim/messages.cpp");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/messages.cpp")
        .warnings(true)
        .extra_warnings(true)
        // Always optimized: each text of a message passes here, in every build.
        .opt_level(2)
        .compile("feros_typesupport_shim");
}
