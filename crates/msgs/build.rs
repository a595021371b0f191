//! Generates the standard packages.

fn main() -> Result<(), feros_codegen::Error> {
    feros_codegen::Generator::new()
        .shipped_packages()
        .message_path("::feros_message")
        .msgs_path("crate")
        .generate()
}
