//! Programs in Python that lack a module: `feros run` and `feros launch` say what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::process::{Finished, Running};

const CURE: &str = "Python has no module nav2_simple_commander: source a ROS 2 that has it \
                    (apt install ros-DISTRO-nav2-simple-commander), or build its workspace";

/// A prefix with the executable `planner` of the package `demo`.
struct Prefix(tempfile::TempDir);

impl Prefix {
    fn new(program: &str) -> Self {
        let prefix = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(prefix.file("lib/demo/planner", program), mode()).unwrap();
        prefix.file("share/demo/package.xml", "<package/>");
        prefix
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs the command with a Python that has the package feros, and no other modules of ROS.
    fn feros(&self, words: &[&str]) -> Finished {
        let site = self.0.path().join("site");
        fs::create_dir_all(site.join("feros")).unwrap();
        fs::write(site.join("feros/__init__.py"), "").unwrap();
        Running::start_with(words, |command| {
            command.env("PYTHONPATH", &site).env("FEROS_PREFIX_PATH", self.0.path());
            command.env("ROS_LOG_DIR", self.0.path().join("log"));
            command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("AMENT_PREFIX_PATH");
            command.current_dir(self.0.path());
        })
        .finish()
    }
}

fn mode() -> fs::Permissions {
    fs::Permissions::from_mode(0o755)
}

#[test]
fn a_program_that_lacks_a_module_tells_the_cure_after_its_traceback() {
    let text = "#!/usr/bin/env python3\nimport nav2_simple_commander\n";
    let prefix = Prefix::new(text);
    let script = prefix.file("plan.py", text);
    for words in [&["run", "demo", "planner"][..], &["run", script.to_str().unwrap()]] {
        let told = prefix.feros(words).failure(1);
        let (traceback, cure) = told.split_once("error: ").unwrap();
        assert!(traceback.starts_with("Traceback (most recent call last):\n"), "{told}");
        let end = "ModuleNotFoundError: No module named 'nav2_simple_commander'\n";
        assert!(traceback.ends_with(end), "{told}");
        assert_eq!(traceback.lines().count(), 4, "{told}");
        assert!(cure.starts_with(CURE), "{told}");
        assert_eq!(cure.lines().count(), 1, "{told}");
    }
}

#[test]
fn other_errors_and_codes_of_a_program_stay_as_they_are() {
    for (code, ends, last) in [
        ("raise SystemExit(7)", Some(7), "\n"),
        ("import json.absent", Some(1), "ModuleNotFoundError: No module named 'json.absent'\n"),
        ("raise ImportError('x')", Some(1), "ImportError: x\n"),
        ("try:\n    import absent\nexcept ImportError:\n    exit(3)", Some(3), "\n"),
        ("import os\nos.kill(os.getpid(), 15)", None, "\n"),
    ] {
        let prefix = Prefix::new(&format!("#!/usr/bin/env python3\n{code}\n"));
        let ended = prefix.feros(&["run", "demo", "planner"]);
        assert_eq!(ended.code, ends, "{ended:?}");
        let line = ended.err.lines().last().unwrap_or("").to_owned() + "\n";
        assert_eq!(line, last, "{ended:?}");
        assert!(!ended.err.contains("error: "), "{ended:?}");
    }
}

/// The program sees its environment as if `feros run` had added nothing, and so do its processes.
#[test]
fn a_program_does_not_see_how_it_tells_the_cure() {
    let text = "#!/usr/bin/env python3\n\
                import os, subprocess, sys, sitecustomize\n\
                print(os.environ['PYTHONPATH'], sitecustomize.whose, sys.argv[1:])\n\
                files = [os.readlink(f'/proc/self/fd/{n}') for n in range(3, 20)\n\
                \x20        if os.path.exists(f'/proc/self/fd/{n}')]\n\
                print([p for p in [*sys.path, *files] if 'proc' in p or 'feros-run' in p])\n\
                code = 'import os, sys; print(os.environ[\"PYTHONPATH\"], sys.path[1:2])'\n\
                sys.stdout.flush()\n\
                subprocess.run([sys.executable, '-c', code])\n";
    let prefix = Prefix::new(text);
    prefix.file("site/sitecustomize.py", "whose = 'ours'\n");
    let site = prefix.0.path().join("site").display().to_string();
    let said = prefix.feros(&["run", "demo", "planner", "a b"]).success();
    assert_eq!(said, format!("{site} ours ['a b']\n[]\n{site} ['{site}']\n"));
}

#[test]
fn a_python_without_the_wheel_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(folder.path())
        .output()
        .unwrap();
    if !made.status.success() {
        return feros_test_support::skip("python3 cannot make a virtual environment");
    }
    let python = folder.path().join("bin/python").display().to_string();
    let prefix = Prefix::new(&format!("#!{python}\nimport rclpy\n"));
    let program = prefix.0.path().join("lib/demo/planner").display().to_string();
    let cure = format!(
        "Python has no module rclpy: the Python {python}, which the first line of {program} names, \
         lacks Feros's wheel: install the wheel there with pip, or build the package"
    );
    let told = prefix.feros(&["run", "demo", "planner"]).failure(1);
    assert!(told.contains(&format!("error: {cure}")), "{told}");
    let text = "<launch><node pkg='demo' exec='planner'/></launch>";
    let file = prefix.file("one.launch.xml", text);
    let logged = prefix.feros(&["launch", file.to_str().unwrap()]).success();
    assert!(logged.contains(&format!("[ERROR] [planner-1]: {cure}")), "{logged}");
}
