// Measures ROS 2 as its C++ programs use it: rclcpp with an executor. The contract is in ../README.md.
//
// Fairness: only variants configure anything. Callbacks take a message by `ConstSharedPtr` and run on the executor of
// the role: `single`, `multi` and the variant `events` are rclcpp's own, `isolated` is a single-threaded executor for each
// node. The main thread publishes, by reference to a message that it fills; `intra` is rclcpp's intra-process communication,
// where a publisher gives a message away by `unique_ptr`, and relays of a chain take it so. Within a process, a message thus
// crosses one thread: from the main thread to the executor's, and in a chain to one more for each node. Nodes that carry
// messages have no parameter services and no /rosout; nodes of the role `nodes` have everything that rclcpp gives them.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include "endpoints.hpp"

namespace {

using feros_lab::Reader;
using feros_lab::Settings;
using feros_lab::Writer;
using feros_lab::say_hello;
using feros_lab::set_publish;
using EventsExecutor = rclcpp::experimental::executors::EventsExecutor;

/// Best effort has no acknowledgement, so a talker waits until its subscriptions have left, but no longer than this.
constexpr uint64_t GONE_WITHIN_MILLIS = 500;
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;

/// Executors and their threads.
class Spinning {
 public:
  /// `isolated`: an executor for each node.
  Spinning(const Settings &settings, bool isolated) : settings_(settings), isolated_(isolated) {}
  explicit Spinning(const Settings &settings) : Spinning(settings, settings.c->executor == CONTRACT_EXECUTOR_ISOLATED) {}
  ~Spinning() { stop(); }

  void add(const rclcpp::Node::SharedPtr &node) {
    if (executors_.empty() || isolated_) executors_.push_back(make());
    executors_.back()->add_node(node);
  }

  void start() {
    for (auto &executor : executors_) threads_.emplace_back([&executor] { executor->spin(); });
  }

  void stop() {
    for (auto &executor : executors_) executor->cancel();
    for (auto &thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::unique_ptr<rclcpp::Executor> make() const {
    if (settings_.events) return std::make_unique<EventsExecutor>();
    if (settings_.c->executor == CONTRACT_EXECUTOR_MULTI) return std::make_unique<rclcpp::executors::MultiThreadedExecutor>();
    return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  }

  const Settings &settings_;
  const bool isolated_;
  std::vector<std::unique_ptr<rclcpp::Executor>> executors_;
  std::vector<std::thread> threads_;
};

template <class Message>
void talker(const Settings &settings) {
  const contract &c = *settings.c;
  Writer<Message> writer(settings, settings.node("talker"), c.topic);
  writer.wait_for(c.matched);
  contract_published sent;
  writer.publish_all(sent);
  writer.wait_for_acknowledgements();
  const uint64_t until = contract_now() + GONE_WITHIN_MILLIS * 1000000u;
  while (!c.is_reliable && contract_now() < until && writer.matches() > 0) contract_sleep_millis(2);
  contract_end(&sent, nullptr, 0);
}

/// A listener or relay runs its callbacks on a thread of the executor, while this thread waits for the end.
template <class Message>
void listener(const Settings &settings) {
  const contract &c = *settings.c;
  const bool relays = c.role == CONTRACT_RELAY;
  const auto node = settings.node(std::string(relays ? "relay_" : "listener_") + std::to_string(c.index));
  std::unique_ptr<Writer<Message>> onward;
  if (relays) onward = std::make_unique<Writer<Message>>(settings, node, c.to);
  Reader<Message> reader(settings, node, c.topic, c.index, onward.get());
  Spinning spinning(settings);
  spinning.add(node);
  spinning.start();
  const uint64_t until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
  while (relays && onward->matches() == 0 && contract_now() < until && !contract_wait_stopped(&c, 2)) {
  }
  contract_ready();
  while (!contract_samples_done(&reader.samples) && !contract_wait_stopped(&c, 50)) {
  }
  if (relays) onward->wait_for_acknowledgements();
  spinning.stop();
  contract_samples *samples = &reader.samples;
  contract_end(relays ? &reader.passed_on : nullptr, &samples, 1);
}

template <class Message>
void pair(const Settings &settings) {
  const contract &c = *settings.c;
  Writer<Message> writer(settings, settings.node("talker"), c.topic);
  std::vector<std::unique_ptr<Reader<Message>>> readers;
  std::vector<contract_samples *> samples;
  Spinning spinning(settings);
  for (uint64_t i = 0; i < c.subscriptions; ++i) {
    const auto node = settings.node("listener_" + std::to_string(i));
    readers.push_back(std::make_unique<Reader<Message>>(settings, node, c.topic, i, nullptr));
    samples.push_back(&readers.back()->samples);
    spinning.add(node);
  }
  spinning.start();
  writer.wait_for(c.subscriptions);
  contract_published sent;
  writer.publish_all(sent);
  contract_wait_received(&c, samples.data(), samples.size(), sent.sent);
  spinning.stop();
  contract_end(&sent, samples.data(), samples.size());
}

/// Each node has its own executor and thread, unless the arguments select another executor.
template <class Message>
void chain(const Settings &settings) {
  const contract &c = *settings.c;
  const auto link = [&c](uint64_t i) { return std::string(c.topic) + "_" + std::to_string(i); };
  Spinning spinning(settings, c.executor == CONTRACT_EXECUTOR_DEFAULT || c.executor == CONTRACT_EXECUTOR_ISOLATED);
  // The writer of each node but the last, and the reader of each node but the first.
  std::vector<std::unique_ptr<Writer<Message>>> writers;
  std::vector<std::unique_ptr<Reader<Message>>> readers;
  writers.push_back(std::make_unique<Writer<Message>>(settings, settings.node("node_0"), link(0)));
  for (uint64_t i = 1; i < c.nodes; ++i) {
    const auto node = settings.node("node_" + std::to_string(i));
    const bool relays = i + 1 < c.nodes;
    if (relays) writers.push_back(std::make_unique<Writer<Message>>(settings, node, link(i)));
    readers.push_back(std::make_unique<Reader<Message>>(settings, node, link(i - 1), 0, relays ? writers.back().get() : nullptr));
    spinning.add(node);
  }
  spinning.start();
  for (auto &writer : writers) writer->wait_for(1);
  contract_published sent;
  writers.front()->publish_all(sent);
  contract_samples *last = &readers.back()->samples;
  contract_wait_received(&c, &last, 1, sent.sent);
  spinning.stop();
  contract_end(&sent, &last, 1);
}

/// Idle nodes as rclcpp creates them, in one executor.
void idle_nodes(const Settings &settings) {
  Spinning spinning(settings);
  std::vector<rclcpp::Node::SharedPtr> nodes;
  for (uint64_t i = 0; i < settings.c->nodes; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>("node_" + std::to_string(i)));
    spinning.add(nodes.back());
  }
  spinning.start();
  contract_stay(settings.c);
  spinning.stop();
  contract_end(nullptr, nullptr, 0);
}

template <class Message>
void run(const Settings &settings) {
  switch (settings.c->role) {
    case CONTRACT_TALKER: return talker<Message>(settings);
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: return listener<Message>(settings);
    case CONTRACT_PAIR: return pair<Message>(settings);
    case CONTRACT_CHAIN: return chain<Message>(settings);
    case CONTRACT_NODES: return idle_nodes(settings);
    default: contract_error("unsupported", "this program of rclcpp has no such role", nullptr);
  }
}

} // namespace

int main(int argc, char **argv) {
  static const char *const choices[] = {"no", "yes", nullptr};
  contract_extra events = {"--events", choices, "no"};
  contract c;
  contract_parse(&c, argc, argv, &events, 1);
  say_hello(c, "rclcpp");
  const Settings settings = {&c, std::string(events.value) == "yes"};
  if (settings.events && (c.executor == CONTRACT_EXECUTOR_MULTI || c.executor == CONTRACT_EXECUTOR_ISOLATED))
    contract_error("unsupported", "the executor of events is one thread for all nodes", nullptr);
  set_publish(c);
  rclcpp::init(0, nullptr, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  if (c.is_string) run<std_msgs::msg::String>(settings);
  else run<std_msgs::msg::UInt8MultiArray>(settings);
  rclcpp::shutdown();
  return 0;
}
