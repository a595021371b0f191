//! A stock container in C++ and its components, from the command line. `FEROS_STOCK` names the
//! folder of a kit with rclcpp_components to compile components with; without it this test is
//! skipped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use feros_interop::{Domain, kit_of_cpp, prefix_of_ros2};
use feros_test_support::eventually as until;

use crate::process::{Finished, Running, eventually};

const COMPONENT: &str = r#"
#include <chrono>
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_components/register_node_macro.hpp"
#include "std_msgs/msg/string.hpp"

namespace theirs {
class Talker : public rclcpp::Node {
public:
  explicit Talker(const rclcpp::NodeOptions & options) : Node("talker", options) {
    text_ = declare_parameter("text", "Hello");
    publisher_ = create_publisher<std_msgs::msg::String>("chatter", 10);
    timer_ = create_wall_timer(std::chrono::milliseconds(50), [this] {
      std_msgs::msg::String message;
      message.data = text_;
      publisher_->publish(message);
    });
  }
private:
  std::string text_;
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};
}
RCLCPP_COMPONENTS_REGISTER_NODE(theirs::Talker)
"#;

struct Kit {
    folder: PathBuf,
    venv: PathBuf,
}

impl Kit {
    fn find() -> Option<Self> {
        let folder = kit_of_cpp()?;
        let venv = prefix_of_ros2()?;
        Some(Self { folder, venv })
    }

    /// A prefix with the package `their_package`, which has the component above.
    fn prefix(&self) -> tempfile::TempDir {
        let prefix = tempfile::tempdir().unwrap();
        let index = prefix.path().join("share/ament_index/resource_index");
        for (kind, text) in
            [("packages", ""), ("rclcpp_components", "theirs::Talker;lib/libtheir_talker.so\n")]
        {
            std::fs::create_dir_all(index.join(kind)).unwrap();
            std::fs::write(index.join(kind).join("their_package"), text).unwrap();
        }
        let source = prefix.path().join("talker.cpp");
        std::fs::write(&source, COMPONENT).unwrap();
        std::fs::create_dir(prefix.path().join("lib")).unwrap();
        let library = prefix.path().join("lib/libtheir_talker.so");
        let mut compile = Command::new(self.folder.join("rclcpp/compile.sh"));
        compile.args([&self.venv, &source, &library]).arg("-shared");
        assert!(compile.status().unwrap().success());
        prefix
    }

    fn start_container(&self, domain: &Domain, prefix: &Path) -> Container {
        let mut command = Command::new(self.folder.join("rclcpp/run.sh"));
        command.args([&self.venv, &self.folder.join("rclcpp/bin/component_container")]);
        domain.confine(&mut command);
        command.env("AMENT_PREFIX_PATH", prefix);
        Container(command.spawn().unwrap())
    }
}

struct Container(Child);

impl Drop for Container {
    fn drop(&mut self) {
        // A container that ends in order frees its shared memory.
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        let _ = until(|| self.0.try_wait().ok().flatten().ok_or("the end of the stock container"));
    }
}

#[test]
fn a_stock_container_is_listed_loaded_and_unloaded() {
    let Some(kit) = Kit::find() else { return };
    let Some(domain) = Domain::reserve() else { return };
    let prefix = kit.prefix();
    let feros = |arguments: &[&str]| -> Finished {
        let set = |command: &mut Command| {
            command.env("AMENT_PREFIX_PATH", prefix.path()).env_remove("FEROS_PREFIX_PATH");
        };
        Running::start_with_in(&domain, arguments, set).finish()
    };
    let types = feros(&["component", "types"]).success();
    assert_eq!(types, "their_package\n  theirs::Talker (rclcpp)\n");
    assert_eq!(
        feros(&["component", "types", "their_package", "--json"]).json()[0]["kind"],
        "rclcpp"
    );

    let _container = kit.start_container(&domain, prefix.path());
    let is_there = |finished: &Finished| finished.out == "/ComponentManager\n";
    eventually(|| feros(&["component", "list", "--containers-only"]), is_there);
    let load = ["component", "load", "/ComponentManager", "their_package", "theirs::Talker"];
    let named = ["-n", "speaker", "--node-namespace", "/robot", "-r", "chatter:=/said"];
    let more = ["-p", "text:=Ahoy", "-e", "use_intra_process_comms:=true"];
    assert_eq!(
        feros(&[&load[..], &named, &more].concat()).success(),
        "Loaded component 1 into '/ComponentManager' container node as '/robot/speaker'\n"
    );
    let echo = ["topic", "echo", "/said", "--once", "--field", "data", "--timeout", "50"];
    assert!(feros(&echo).success().contains("Ahoy"));
    assert_eq!(feros(&["component", "list", "/ComponentManager"]).success(), "1  /robot/speaker\n");
    let unknown = feros(&[&load[..4], &["theirs::Nothing"]].concat()).failure(1);
    assert!(unknown.contains("Failed to load component: "), "{unknown}");
    let unload = ["component", "unload", "/ComponentManager", "1"];
    assert_eq!(
        feros(&unload).success(),
        "Unloaded component 1 from '/ComponentManager' container node\n"
    );
    let again = feros(&unload).failure(1);
    assert!(again.contains("No node found with unique_id: 1"), "{again}");
    assert_eq!(feros(&["component", "list", "/ComponentManager"]).success(), "");
}
