//! Generates the Rust types of `interfaces/robot_interfaces`.

fn main() -> Result<(), feros_codegen::Error> {
    feros_codegen::Generator::new().package_dir("interfaces/robot_interfaces").generate()
}
