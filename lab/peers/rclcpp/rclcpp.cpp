// Measures ROS 2 as its C++ programs use it: rclcpp with an executor. The contract is in ../README.md.
//
// Fairness: only variants configure anything. Callbacks take a message by `ConstSharedPtr` and run on the executor of
// the role: `single`, `multi` and the variant `events` are rclcpp's own, `isolated` is a single-threaded executor for each
// node. The main thread publishes, by reference to a message that it fills; `intra` is rclcpp's intra-process communication,
// where a publisher gives a message away by `unique_ptr`, and relays of a chain take it so. Within a process, a message thus
// crosses one thread: from the main thread to the executor's, and in a chain to one more for each node. Nodes that carry
// messages have no parameter services and no /rosout; nodes of the role `nodes` have everything that rclcpp gives them.
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include "endpoints.hpp"
#include "graph.hpp"

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

/// The steps of a graph with their entities.
class Nodes {
 public:
  using Message = std_msgs::msg::UInt8MultiArray;

  Nodes(const Settings &settings, const feros_lab::Graph &graph, feros_lab::Figures &figures)
      : settings_(settings), graph_(graph) {
    for (const feros_lab::Step &step : graph.steps) add(step, figures);
  }

  void spin_in(Spinning &spinning) {
    for (auto &[name, node] : nodes_) spinning.add(node);
  }

  /// Waits until each publisher has all of its subscriptions.
  void wait_matched() {
    for (const auto &step : steps_)
      while (step->publisher && step->publisher->get_subscription_count() < graph_.subscriptions(step->about.output))
        if (contract_wait_stopped(settings_.c, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  }

  void start() {
    for (const auto &step : steps_) {
      if (step->about.period_ms == 0) continue;
      const auto period = std::chrono::milliseconds(step->about.period_ms);
      timers_.push_back(step->node->create_wall_timer(period, [this, step = step.get()] {
        const std::lock_guard<std::mutex> lock(step->worker.mutex);
        send(*step, step->worker.tick());
      }));
    }
  }

 private:
  struct Working {
    Working(const feros_lab::Graph &graph, const feros_lab::Step &step, feros_lab::Figures &figures)
        : about(step), worker(graph, step, figures) {}

    const feros_lab::Step &about;
    feros_lab::Worker worker;
    rclcpp::Node::SharedPtr node;
    rclcpp::Publisher<Message>::SharedPtr publisher;
    std::vector<rclcpp::Subscription<Message>::SharedPtr> subscriptions;
  };

  void add(const feros_lab::Step &about, feros_lab::Figures &figures) {
    auto &node = nodes_[about.node];
    if (!node) node = settings_.node(about.node);
    steps_.push_back(std::make_unique<Working>(graph_, about, figures));
    Working *step = steps_.back().get();
    step->node = node;
    if (!about.output.empty()) step->publisher = node->create_publisher<Message>(about.output, settings_.qos());
    for (size_t input = 0; input < about.inputs.size(); ++input)
      step->subscriptions.push_back(node->create_subscription<Message>(
          about.inputs[input], settings_.qos(), [this, step, input](Message::ConstSharedPtr message) { receive(*step, input, *message); }));
  }

  void receive(Working &step, size_t input, const Message &message) {
    if (message.data.size() < sizeof(feros_lab::Head)) contract_error("failed", "a message is not from here", nullptr);
    const std::lock_guard<std::mutex> lock(step.worker.mutex);
    const auto made = step.worker.receive(input, feros_lab::Head::read(message.data.data()));
    if (made) send(step, *made);
  }

  void send(Working &step, const feros_lab::Head &head) {
    auto message = std::make_unique<Message>();
    message->data.resize(graph_.message_bytes);
    head.write(message->data.data());
    if (settings_.c->placement == CONTRACT_INTRA) step.publisher->publish(std::move(message));
    else step.publisher->publish(*message);
  }

  const Settings &settings_;
  const feros_lab::Graph &graph_;
  std::map<std::string, rclcpp::Node::SharedPtr> nodes_;
  std::vector<std::unique_ptr<Working>> steps_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

/// Runs a graph of lab/graphs until its chain has carried `until` messages (0: any number), or the laboratory stops it.
void graph(const Settings &settings, const std::string &name, uint64_t until) {
  const contract &c = *settings.c;
  if (c.placement != CONTRACT_COMPOSED && c.placement != CONTRACT_INTRA)
    contract_error("unsupported", "the graph runs in one process: composed or intra", nullptr);
  const feros_lab::Graph described = feros_lab::read_graph(name);
  uint64_t period_ms = 0;
  for (const auto &step : described.steps)
    if (step.kind == "cyclic") period_ms = step.period_ms;
  feros_lab::Figures figures(c.warm_up, period_ms);
  Nodes nodes(settings, described, figures);
  Spinning spinning(settings);
  nodes.spin_in(spinning);
  spinning.start();
  nodes.wait_matched();
  nodes.start();
  contract_ready();
  while (!contract_wait_stopped(&c, 50) && (until == 0 || figures.messages() < until)) {
  }
  spinning.stop();
  for (const auto &[value, number] : figures.values()) contract_value(value.c_str(), number);
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
  static const char *const graphs[] = {"driving", nullptr};
  contract_extra extras[] = {{"--events", choices, "no"}, {"--graph", graphs, "driving"}, {"--until", nullptr, "0"}};
  contract c;
  contract_parse(&c, argc, argv, extras, 3);
  say_hello(c, "rclcpp");
  const Settings settings = {&c, std::string(extras[0].value) == "yes"};
  if (settings.events && (c.executor == CONTRACT_EXECUTOR_MULTI || c.executor == CONTRACT_EXECUTOR_ISOLATED))
    contract_error("unsupported", "the executor of events is one thread for all nodes", nullptr);
  set_publish(c);
  rclcpp::init(0, nullptr, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  if (c.role == CONTRACT_GRAPH) graph(settings, extras[1].value, contract_whole("--until", extras[2].value, 0, 1e9));
  else if (c.is_string) run<std_msgs::msg::String>(settings);
  else run<std_msgs::msg::UInt8MultiArray>(settings);
  rclcpp::shutdown();
  return 0;
}
