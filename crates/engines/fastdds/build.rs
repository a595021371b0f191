//! Tells the tests whether there is a shim that they can use.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(has_shim)");
    println!("cargo:rerun-if-env-changed=DEP_FEROS_FASTDDS_SHIM");
    if std::env::var_os("DEP_FEROS_FASTDDS_SHIM").is_some() {
        println!("cargo:rustc-cfg=has_shim");
    }
}
