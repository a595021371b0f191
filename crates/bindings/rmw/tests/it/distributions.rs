//! The library recognizes the distribution of ROS 2 in the process from what is loaded. No pair of
//! a distribution and this library ends the process by a signal.

use std::path::{Path, PathBuf};

use feros_interop::{Distribution, Domain, distribution, environment};
use serde_json::json;

use crate::support::{library, run_python};

/// Sets `ROS_DISTRO` for a script, or removes it.
fn ros_distro(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("import os\nos.environ[\"ROS_DISTRO\"] = {}\n", json!(name)),
        None => "import os\nos.environ.pop(\"ROS_DISTRO\", None)\n".to_owned(),
    }
}

/// Exchanges a message and a call between two contexts.
const EXCHANGE: &str = r#"
os.dup2(1, 2)  # warnings go to standard output
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import SetBool
contexts = [rclpy.Context(), rclpy.Context()]
for context in contexts:
    context.init()
names = ("talker", "listener")
talker, listener = [
    rclpy.create_node(name, context=context) for name, context in zip(names, contexts)]
got = []
listener.create_subscription(String, "x", lambda message: got.append(message.data), 10)
listener.create_service(SetBool, "set", lambda _, response: response)
publisher = talker.create_publisher(String, "x", 10)
client = talker.create_client(SetBool, "set")
executors = []
for node in (talker, listener):
    executors.append(SingleThreadedExecutor(context=node.context))
    executors[-1].add_node(node)
def spin_until(condition):
    for _ in range(2000):
        if condition():
            return
        for executor in executors:
            executor.spin_once(timeout_sec=0.02)
    raise SystemExit("it did not become true")
spin_until(lambda: publisher.get_subscription_count() == 1 and client.service_is_ready())
publisher.publish(String(data="hello"))
answer = client.call_async(SetBool.Request(data=True))
spin_until(lambda: got == ["hello"] and answer.done())
assert rclpy.get_rmw_implementation_identifier() == "rmw_feros"
for executor, node in zip(executors, (talker, listener)):
    executor.shutdown()
    node.destroy_node()
    node.context.shutdown()
print("ok")
"#;

#[test]
fn what_is_loaded_counts_and_not_ros_distro() {
    let Some(domain) = Domain::reserve() else { return };
    let right = distribution().name();
    for named in [None, Some(""), Some("jazzy"), Some("kilted"), Some("humble"), Some("\u{1b}[2J")]
    {
        let said = run_python(&domain, &(ros_distro(named) + EXCHANGE), true);
        let warns = said.contains("but the loaded libraries of ROS 2 are of");
        let is_wrong = named.is_some_and(|named| !named.is_empty() && named != right);
        assert_eq!(warns, is_wrong, "{named:?}: {said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
}

/// `ROS_LOCALHOST_ONLY`, which only Jazzy knows, fills a field that only Jazzy has.
#[test]
fn contexts_work_with_ros_localhost_only() {
    let Some(domain) = Domain::reserve() else { return };
    for value in ["0", "1"] {
        let script =
            format!("import os\nos.environ[\"ROS_LOCALHOST_ONLY\"] = {value:?}\n{EXCHANGE}");
        run_python(&domain, &script, true);
    }
}

/// The Python process maps a library of another distribution beside its own.
#[test]
fn libraries_of_two_distributions_are_refused() {
    let Some(domain) = Domain::reserve() else { return };
    let own = distribution();
    let other = Distribution::ALL.into_iter().find(|other| *other != own).unwrap();
    let Some(other_prefix) = environment(other) else { return };
    let script = format!(
        r#"
import mmap
with open({:?}, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
import rclpy
try:
    rclpy.init()
    raise SystemExit("nothing was refused")
except Exception as error:
    for name in ("jazzy", "kilted"):
        assert f"is of ROS 2 {{name}}" in str(error), error
print("ok")
"#,
        other_prefix.join("lib/librmw.so")
    );
    run_python(&domain, &script, true);
}

/// A folder with a file that has the name of a library of ROS 2, and with the manifest of rmw.
struct Installation {
    prefix: tempfile::TempDir,
}

impl Installation {
    fn of(version: Option<&str>) -> Self {
        let prefix = tempfile::tempdir().unwrap();
        for folder in ["lib", "share/rmw"] {
            std::fs::create_dir_all(prefix.path().join(folder)).unwrap();
        }
        std::fs::write(prefix.path().join("lib/librcl.so"), "not empty").unwrap();
        if let Some(version) = version {
            let manifest = format!("<package><version>{version}</version></package>");
            std::fs::write(prefix.path().join("share/rmw/package.xml"), manifest).unwrap();
        }
        Self { prefix }
    }

    fn library(&self) -> PathBuf {
        self.prefix.path().join("lib/librcl.so")
    }
}

/// Calls `rmw_init_options_init` in a process without ROS 2 that maps `loaded`, as if it had loaded
/// this library, and returns the text of the error. The allocator lacks functions, so a
/// distribution that the library serves fails at the allocator.
fn init_options(domain: &Domain, loaded: &Path, named: Option<&str>, code: i32) -> String {
    let script = format!(
        r#"
import ctypes, mmap
os.dup2(1, 2)  # without rcutils, the reason goes to standard error
with open({loaded:?}, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in (
        "allocate", "deallocate", "reallocate", "zero_allocate", "state")]
init = ctypes.CDLL({library:?}).rmw_init_options_init
init.argtypes = [ctypes.c_void_p, Allocator]
options = ctypes.create_string_buffer(4096)
code = init(options, Allocator())
assert code == {code}, code
assert options.raw == bytes(4096), "the options were written"
print("ok")
"#,
        library = library()
    );
    run_python(domain, &(ros_distro(named) + &script), false)
}

const UNSUPPORTED: i32 = 3;
const INVALID_ARGUMENT: i32 = 11;

#[test]
fn distributions_that_are_not_served_are_refused_with_their_name() {
    let Some(domain) = Domain::reserve() else { return };
    let cases = [
        ("6.1.2", "of ROS 2 humble, with rmw 6.1.2"),
        ("7.1.0", "of ROS 2 iron, with rmw 7.1.0"),
        ("7.80.1", "with rmw 7.80.1"),
    ];
    for (version, what) in cases {
        let installation = Installation::of(Some(version));
        let library = installation.library();
        for named in [None, Some("kilted"), Some("jazzy")] {
            let reason = init_options(&domain, &library, named, UNSUPPORTED);
            let says = format!("{} is {what}", library.display());
            assert!(reason.contains(&says), "{reason}");
        }
    }
}

#[test]
fn the_version_beside_a_library_shows_its_distribution() {
    let Some(domain) = Domain::reserve() else { return };
    for (version, is_lyrical) in [("7.3.2", false), ("7.8.1", false), ("7.10.0", true)] {
        let installation = Installation::of(Some(version));
        let reason = init_options(&domain, &installation.library(), None, INVALID_ARGUMENT);
        assert!(reason.contains("the allocator lacks functions"), "{reason}");
        let warns =
            reason.contains("was never run with ROS 2 lyrical; its support for lyrical was ");
        assert_eq!(warns, is_lyrical, "{reason}");
    }
}

#[test]
fn ros_distro_counts_if_nothing_else_shows_the_distribution() {
    let Some(domain) = Domain::reserve() else { return };
    let installation = Installation::of(None);
    for named in ["jazzy", "kilted", "lyrical"] {
        let library = installation.library();
        let reason = init_options(&domain, &library, Some(named), INVALID_ARGUMENT);
        assert!(reason.contains("the allocator lacks functions"), "{reason}");
    }
    for named in [None, Some(""), Some("humble"), Some("unknown")] {
        let reason = init_options(&domain, &installation.library(), named, UNSUPPORTED);
        assert!(reason.contains("set ROS_DISTRO to the distribution"), "{reason}");
    }
}

/// A program serializes without a context. The type support has the three fields of Humble, and
/// behind them an address at which no function is.
#[test]
fn type_supports_of_a_distribution_that_is_not_served_are_not_read() {
    let Some(domain) = Domain::reserve() else { return };
    let installation = Installation::of(Some("6.1.2"));
    let script = format!(
        r#"
import ctypes, mmap, os
os.dup2(1, 2)
with open({loaded:?}, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
library = ctypes.CDLL({library:?})
support = (ctypes.c_void_p * 6)(0, 0, 0, 1, 1, 1)
message, serialized = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
code = library.rmw_serialize(message, support, serialized)
assert code == {UNSUPPORTED}, code
code = library.rmw_deserialize(serialized, support, message)
assert code == {UNSUPPORTED}, code
print("ok")
"#,
        loaded = installation.library(),
        library = library()
    );
    let said = run_python(&domain, &(ros_distro(None) + &script), false);
    assert!(said.contains("of ROS 2 humble, with rmw 6.1.2"), "{said}");
}
