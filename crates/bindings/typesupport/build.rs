//! Compiles the C++ shim: the operations on C++ messages that only C++ code can do.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shim/messages.cpp");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("shim/messages.cpp")
        .warnings(true)
        .extra_warnings(true)
        // Optimized even in debug builds, since each string of a C++ message passes through the
        // shim.
        .opt_level(2)
        .compile("feros_typesupport_shim");
}
