//! Compiles the messages and their introspection.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=forms.hpp");
    println!("cargo::rerun-if-changed=tables.cpp");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("tables.cpp")
        .warnings(true)
        .extra_warnings(true)
        // C++ message templates are not standard-layout types; compilers know their offsets anyway.
        .flag("-Wno-invalid-offsetof")
        .compile("feros_typesupport_tables");
}
