//! Compiles the C++ shim, which does what only C++ may do with a C++ message.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim/messages.cpp");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/messages.cpp")
        .warnings(true)
        .extra_warnings(true)
        // Always optimized: in every build, each text of a message passes through the shim.
        .opt_level(2)
        .compile("feros_typesupport_shim");
}
