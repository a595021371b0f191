// Measures ROS 2 as its C++ programs use it: rclcpp with an executor. The contract is in ../README.md.
//
// Fairness: only variants configure anything. Callbacks take a message by `ConstSharedPtr` and run on the executor of
// the role: `single`, `multi` and the variant `events` are rclcpp's own, `isolated` is a single-threaded executor for each
// node. The main thread publishes, by reference to a message that it fills; `intra` is rclcpp's intra-process communication,
// where a publisher gives a message away by `unique_ptr`. Nodes that carry messages have no parameter services and no
// /rosout; nodes of the role `nodes` have everything that rclcpp gives them.
#include <rmw/rmw.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>

#include "../contract.h"

namespace {

using std::chrono::milliseconds;
using EventsExecutor = rclcpp::experimental::executors::EventsExecutor;

constexpr milliseconds ACKNOWLEDGED_WITHIN{2000};
/// Best effort has no acknowledgement, so a talker waits until its subscriptions have left, but no longer than this.
constexpr uint64_t GONE_WITHIN_MILLIS = 500;
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;

/// The settings of the contract and of the variant.
struct Settings {
  const contract *c;
  bool events;

  rclcpp::QoS qos() const {
    rclcpp::QoS qos = c->is_keep_all ? rclcpp::QoS(rclcpp::KeepAll()) : rclcpp::QoS(c->depth);
    if (c->is_reliable) qos.reliable();
    else qos.best_effort();
    if (c->is_transient_local) qos.transient_local();
    if (c->deadline_ms > 0) qos.deadline(std::chrono::nanoseconds(static_cast<int64_t>(c->deadline_ms * 1e6)));
    return qos;
  }

  rclcpp::Node::SharedPtr node(const std::string &name) const {
    rclcpp::NodeOptions options;
    options.enable_rosout(false).start_parameter_services(false).start_parameter_event_publisher(false);
    options.use_intra_process_comms(c->placement == CONTRACT_INTRA);
    return std::make_shared<rclcpp::Node>(name, options);
  }

  /// A relay reports only counts.
  contract counting() const {
    contract counts = *c;
    counts.keeps_samples = c->keeps_samples && c->role != CONTRACT_RELAY;
    return counts;
  }
};

/// Executors and their threads.
class Spinning {
 public:
  explicit Spinning(const Settings &settings) : settings_(settings) {}
  ~Spinning() { stop(); }

  void add(const rclcpp::Node::SharedPtr &node) {
    if (executors_.empty() || settings_.c->executor == CONTRACT_EXECUTOR_ISOLATED) executors_.push_back(make());
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
  std::vector<std::unique_ptr<rclcpp::Executor>> executors_;
  std::vector<std::thread> threads_;
};

template <class Message>
class Writer {
 public:
  Writer(const Settings &settings, const rclcpp::Node::SharedPtr &node, const std::string &topic)
      : c_(*settings.c), publisher_(node->create_publisher<Message>(topic, settings.qos())) {}

  size_t matches() const { return publisher_->get_subscription_count() + publisher_->get_intra_process_subscription_count(); }

  void wait_for(uint64_t wanted) {
    while (publisher_->get_subscription_count() < wanted)
      if (contract_wait_stopped(&c_, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  }

  void publish(const Message &message) { publisher_->publish(message); }

  void publish_all(contract_published &sent) {
    auto message = fresh();
    contract_pace pace;
    uint64_t number;
    contract_published_init(&sent, &c_);
    contract_ready();
    contract_pace_begin(&pace, &c_);
    while (contract_pace_next(&pace, &number)) {
      if (message == nullptr) message = fresh();
      const uint64_t at = contract_stamp(&c_, &message->data[0], number);
      if (c_.placement == CONTRACT_INTRA) publisher_->publish(std::move(message));
      else publisher_->publish(*message);
      contract_note_published(&sent, number, at, contract_now());
    }
  }

  void wait_for_acknowledgements() {
    if (c_.is_reliable && c_.placement != CONTRACT_INTRA) publisher_->wait_for_all_acked(ACKNOWLEDGED_WITHIN);
  }

 private:
  std::unique_ptr<Message> fresh() const {
    auto message = std::make_unique<Message>();
    message->data.resize(c_.size_bytes);
    contract_fill(&c_, &message->data[0]);
    return message;
  }

  const contract &c_;
  typename rclcpp::Publisher<Message>::SharedPtr publisher_;
};

/// A subscription and its callback, and in a relay also the publisher that passes messages on.
template <class Message>
class Reader {
 public:
  Reader(const Settings &settings, const rclcpp::Node::SharedPtr &node, uint64_t index, Writer<Message> *onward)
      : counting_(settings.counting()), onward_(onward) {
    contract_samples_init(&samples, &counting_, index);
    contract_published_init(&passed_on, &counting_);
    subscription_ = node->create_subscription<Message>(
        settings.c->topic, settings.qos(), [this](typename Message::ConstSharedPtr message) { received(*message); });
  }

  contract_samples samples;
  contract_published passed_on;

 private:
  void received(const Message &message) {
    const uint64_t now = contract_now();
    if (onward_ != nullptr) {
      uint64_t stamped, number;
      contract_read_stamp(&counting_, message.data.data(), &stamped, &number);
      onward_->publish(message);
      contract_note_published(&passed_on, number, now, contract_now());
    }
    contract_note_received(&samples, message.data.data(), message.data.size(), now);
  }

  contract counting_;
  Writer<Message> *onward_;
  typename rclcpp::Subscription<Message>::SharedPtr subscription_;
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
  Reader<Message> reader(settings, node, c.index, onward.get());
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
    readers.push_back(std::make_unique<Reader<Message>>(settings, node, i, nullptr));
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

/// Idle nodes as rclcpp creates them, in one executor.
void idle_nodes(const Settings &settings) {
  Spinning spinning(settings);
  std::vector<rclcpp::Node::SharedPtr> nodes;
  for (uint64_t i = 0; i < settings.c->nodes; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>("node_" + std::to_string(i)));
    spinning.add(nodes.back());
  }
  spinning.start();
  contract_ready();
  while (!contract_wait_stopped(settings.c, 1000000)) {
  }
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
  const std::string rmw = rmw_get_implementation_identifier();
  contract_hello(&c, "rclcpp", (std::string("rclcpp " RCLCPP_VERSION_TEXT ", ") + rmw).c_str());
  const char *wanted = std::getenv("RMW_IMPLEMENTATION");
  if (wanted != nullptr && rmw != wanted)
    contract_error("failed", "RMW_IMPLEMENTATION names another rmw than the one that is loaded", rmw.c_str());
  const Settings settings = {&c, std::string(events.value) == "yes"};
  if (settings.events && (c.executor == CONTRACT_EXECUTOR_MULTI || c.executor == CONTRACT_EXECUTOR_ISOLATED))
    contract_error("unsupported", "the executor of events is one thread for all nodes", nullptr);
  if (c.publish != CONTRACT_PUBLISH_DEFAULT)
    setenv("RMW_FASTRTPS_PUBLICATION_MODE", c.publish == CONTRACT_PUBLISH_SYNC ? "SYNCHRONOUS" : "ASYNCHRONOUS", 1);
  rclcpp::init(0, nullptr, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  if (c.is_string) run<std_msgs::msg::String>(settings);
  else run<std_msgs::msg::UInt8MultiArray>(settings);
  rclcpp::shutdown();
  return 0;
}
