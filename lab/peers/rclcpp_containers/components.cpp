// Talker and listeners of the laboratory as components of stock ROS 2, in a library that containers load. The script
// ../pair_in_container starts the container and loads them, as a user would.
//
// All components of the process note received messages in one place, from which the talker reports them at the end. The
// talker publishes on its own thread, as in feros_containers.
#include <csignal>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <rclcpp_components/register_node_macro.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include "../rclcpp/endpoints.hpp"

namespace rclcpp_containers {

using Message = std_msgs::msg::UInt8MultiArray;

namespace {

std::mutex received_lock;
std::map<uint64_t, contract_samples *> received;

} // namespace

/// What both components have: a node, and the arguments that the script got, which are its parameter `arguments`.
class Component {
 public:
  rclcpp::node_interfaces::NodeBaseInterface::SharedPtr get_node_base_interface() const {
    return node_->get_node_base_interface();
  }

 protected:
  Component(const char *name, const rclcpp::NodeOptions &options) : node_(feros_lab::make_node(name, options)) {
    std::istringstream line(node_->declare_parameter("arguments", std::string()));
    for (std::string word; line >> word;) words_.push_back(word);
    std::string program = "component";
    std::vector<char *> argv = {program.data()};
    for (std::string &word : words_) argv.push_back(word.data());
    contract_parse(&c_, static_cast<int>(argv.size()), argv.data(), nullptr, 0);
  }

  rclcpp::Node::SharedPtr node_;
  contract c_;
  const feros_lab::Settings settings_ = {&c_, false};

 private:
  /// `c_` has pointers into them.
  std::vector<std::string> words_;
};

/// A subscription of the pair. Its parameter `index` is its index among the subscriptions.
class Listener : public Component {
 public:
  explicit Listener(const rclcpp::NodeOptions &options)
      : Component("listener", options), index_(static_cast<uint64_t>(node_->declare_parameter("index", 0))),
        reader_(settings_, node_, c_.topic, index_, nullptr) {
    const std::lock_guard<std::mutex> held(received_lock);
    received[index_] = &reader_.samples;
  }

  ~Listener() {
    const std::lock_guard<std::mutex> held(received_lock);
    received.erase(index_);
  }

 private:
  const uint64_t index_;
  feros_lab::Reader<Message> reader_;
};

/// The publisher of the pair, on its own thread. It writes the contract's lines to the standard output of the container, and
/// ends the container after its last line.
class Talker : public Component {
 public:
  explicit Talker(const rclcpp::NodeOptions &options) : Component("talker", options), thread_([this] { talk(); }) {}
  ~Talker() { thread_.join(); }

 private:
  void talk() {
    feros_lab::say_hello(c_, "rclcpp_containers");
    feros_lab::Writer<Message> writer(settings_, node_, c_.topic);
    writer.wait_for(c_.subscriptions);
    contract_published sent;
    writer.publish_all(sent);
    std::vector<contract_samples *> samples;
    {
      const std::lock_guard<std::mutex> held(received_lock);
      for (const auto &one : received) samples.push_back(one.second);
    }
    contract_wait_received(&c_, samples.data(), samples.size(), sent.sent);
    contract_end(&sent, samples.data(), samples.size());
    kill(getpid(), SIGTERM);
  }

  std::thread thread_;
};

} // namespace rclcpp_containers

RCLCPP_COMPONENTS_REGISTER_NODE(rclcpp_containers::Listener)
RCLCPP_COMPONENTS_REGISTER_NODE(rclcpp_containers::Talker)
