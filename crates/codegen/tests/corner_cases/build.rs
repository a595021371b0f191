//! Generates two packages that refer to each other and to one that another crate has generated.

fn main() -> Result<(), feros_codegen::Error> {
    feros_codegen::Generator::new()
        .message_path("::feros_message")
        .msgs_path("::feros_msgs")
        .package_dir("interfaces/corner_cases")
        .package_dir("interfaces/r_move")
        .dependency_dir("../../../../examples/own_package/interfaces/robot_interfaces", "::own_package")
        .generate()
}
