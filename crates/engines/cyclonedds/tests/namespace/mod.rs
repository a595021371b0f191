//! Runs the test `child` of a test program in its own network namespace, for several test files.

use std::process::Command;

use feros_test_support::words_of;

/// Runs `child` in a network namespace that the shell command `setup` prepares, with the
/// environment variable `name` set to `value`, and returns the output. The error contains the
/// reason why there is no such namespace, such as a missing permission or tool.
pub(crate) fn in_namespace(setup: &str, name: &str, value: &str) -> Result<String, String> {
    let program = words_of(std::env::current_exe().unwrap());
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--net", "sh", "-c", script, "sh"]);
        command
            .args(&program)
            .args(["child", "--exact", "--ignored", "--nocapture"])
            .env(name, value);
        command.output()
    };
    let prepared = unshare(setup);
    if !prepared.as_ref().is_ok_and(|prepared| prepared.status.success()) {
        return Err(format!("`{setup}`: {prepared:?}"));
    }
    let output = unshare(&format!("{setup} && exec \"$@\"")).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(text)
}
