//! Generates the Rust types of the graph's actions.

fn main() -> Result<(), feros_codegen::Error> {
    feros_codegen::Generator::new().package_dir("interfaces/navigation_interfaces").generate()
}
