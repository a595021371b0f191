//! A managed node of rclcpp. `FEROS_STOCK` names the folder of the kit that compiles the program
//! with rclcpp_lifecycle; without it, the test is skipped.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use feros::LifecycleClient;
use feros::lifecycle::Transition;
use feros::msgs::lifecycle_msgs::msg::TransitionDescription;
use feros_interop::{Domain, kit_of_cpp, prefix_of_ros2};

use crate::support::{Spinning, WATCHDOG, node};

/// The first activation of the node throws, and on_error recovers.
const PROGRAM: &str = r#"
#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "std_msgs/msg/string.hpp"

using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

class Managed : public rclcpp_lifecycle::LifecycleNode {
public:
  Managed() : LifecycleNode("managed", "/theirs") {}
  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    publisher_ = create_publisher<std_msgs::msg::String>("chatter", 10);
    return CallbackReturn::SUCCESS;
  }
  CallbackReturn on_activate(const rclcpp_lifecycle::State & state) override {
    if (!broken_) {
      broken_ = true;
      throw std::runtime_error("as wanted by the test");
    }
    LifecycleNode::on_activate(state);
    return CallbackReturn::SUCCESS;
  }
  CallbackReturn on_error(const rclcpp_lifecycle::State &) override {
    return CallbackReturn::SUCCESS;
  }
private:
  bool broken_ = false;
  std::shared_ptr<rclcpp_lifecycle::LifecyclePublisher<std_msgs::msg::String>> publisher_;
};

int main(int argc, char ** argv) {
  rclcpp::init(argc, argv);
  auto node = std::make_shared<Managed>();
  std::cout << "ready" << std::endl;
  rclcpp::spin(node->get_node_base_interface());
  rclcpp::shutdown();
}
"#;

struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // A program that gets SIGINT releases its shared memory.
        let _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        let began = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) {
            if began.elapsed() > WATCHDOG {
                let _ = self.0.kill();
                let _ = self.0.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_node_of_rclcpp_is_managed_by_feros() {
    let Some(kit) = kit_of_cpp() else { return };
    let Some(domain) = Domain::reserve() else { return };
    let Some(venv) = prefix_of_ros2() else { return };
    let folder = std::env::temp_dir().join(format!("feros_lifecycle_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("managed.cpp"), folder.join("managed"));
    std::fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new(kit.join("rclcpp/compile.sh"))
        .args([&venv, &source, &program])
        .status()
        .unwrap();
    assert!(compiled.success());
    let mut command = Command::new(kit.join("rclcpp/run.sh"));
    command.args([&venv, &program]).stdout(Stdio::piped());
    domain.confine(&mut command);
    let mut running = Program(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let node = node(&domain);
    let _spinning = Spinning::new(&node);
    let client = LifecycleClient::new(&node, "/theirs/managed").unwrap();
    let state = || client.get_state(WATCHDOG).unwrap().label;
    assert_eq!(state(), "unconfigured");
    assert!(!client.change_state("activate", WATCHDOG).unwrap());
    assert!(client.change_state("configure", WATCHDOG).unwrap());
    assert!(!client.change_state(3_u8, WATCHDOG).unwrap());
    assert_eq!(state(), "unconfigured", "its exception was an error that on_error healed");
    assert!(client.change_state("configure", WATCHDOG).unwrap());
    assert!(client.change_state("activate", WATCHDOG).unwrap());
    assert_eq!(state(), "active");
    let ours: Vec<TransitionDescription> = Transition::ALL.into_iter().map(Into::into).collect();
    assert_eq!(client.get_transition_graph(WATCHDOG).unwrap(), ours);
    assert!(client.change_state("shutdown", WATCHDOG).unwrap());
    assert_eq!(state(), "finalized");
    drop(running);
    let _ = std::fs::remove_dir_all(&folder);
}
