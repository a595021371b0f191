//! Generates the Rust types of the package `robot_msgs`.

fn main() -> Result<(), feros_codegen::Error> {
    feros_codegen::Generator::new().package_dir("../robot_msgs").generate()
}
