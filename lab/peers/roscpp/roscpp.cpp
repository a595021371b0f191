// Measures ROS 1 Noetic as its programs use it: roscpp between processes, nodelets within one process.
// The contract is in ../README.md.
//
// Fairness: this uses Debian's packages with a real rosmaster; only variants configure anything. Callbacks are
// roscpp's, called by its AsyncSpinner with one thread, which does the same as ros::spin(); the main thread publishes.
// /rosout, a topic that every ROS 1 node has, is off in nodes that carry messages and on in the role `nodes`.
//
// Placements. roscpp does not connect to itself through TCP: a subscription finds its own process and takes a shortcut,
// whatever the program does. `composed` is a program that publishes a message by reference: the message is serialized, handed
// over in memory and deserialized. `intra` are nodelets in the nodelet library's loader that publish shared pointers: nothing
// is copied. The loader is that of the nodelet manager, with its pool of threads; only the plugin files are left out.
//
// ROS 1 lacks best effort over TCP (it gets TCP, which is more), deadlines (they are not watched) and acknowledgement (a
// talker waits until its subscriptions have left, 2 s at most). TRANSIENT_LOCAL is a latched topic, which keeps one message.
// KEEP_ALL is a queue without limit. Publishing is always asynchronous: a thread of roscpp writes to the sockets.
#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <std_msgs/String.h>
#include <std_msgs/UInt8MultiArray.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../contract.h"

namespace {

constexpr uint64_t LINGER_MILLIS = 2000;
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;

std_msgs::String::_data_type &data_of(std_msgs::String &message) { return message.data; }
std_msgs::UInt8MultiArray::_data_type &data_of(std_msgs::UInt8MultiArray &message) { return message.data; }
const std_msgs::String::_data_type &data_of(const std_msgs::String &message) { return message.data; }
const std_msgs::UInt8MultiArray::_data_type &data_of(const std_msgs::UInt8MultiArray &message) { return message.data; }

/// The settings of the contract and of the variant.
struct Settings {
  const contract *c;
  ros::TransportHints hints;
  bool by_pointer;

  uint32_t queue_size() const { return c->is_keep_all ? 0 : c->depth; }
};

template <class Message>
ros::Publisher advertise(ros::NodeHandle &node, const Settings &settings, const std::string &topic) {
  return node.advertise<Message>(topic, settings.queue_size(), settings.c->is_transient_local);
}

/// A subscription and its callback, and in a relay also the publisher that passes messages on.
template <class Message>
class Reader {
 public:
  Reader(const Settings &settings, const contract *c, uint64_t index) : settings_(settings) {
    contract_samples_init(&samples, c, index);
    contract_published_init(&passed_on, c);
  }

  void subscribe(ros::NodeHandle &node, const std::string &topic) {
    subscriber_ = node.subscribe<Message>(topic, settings_.queue_size(), &Reader::received, this, settings_.hints);
  }

  /// Shuts the subscription down, which must happen before its callback queue is destroyed.
  void leave() { subscriber_.shutdown(); }

  void pass_on_to(const ros::Publisher &publisher) { onward_ = publisher; }

  contract_samples samples;
  contract_published passed_on;

 private:
  void received(const boost::shared_ptr<const Message> &message) {
    const uint64_t now = contract_now();
    const auto &data = data_of(*message);
    if (onward_) {
      uint64_t stamped, number;
      contract_read_stamp(settings_.c, data.data(), &stamped, &number);
      if (settings_.by_pointer) onward_.publish(message);
      else onward_.publish(*message);
      contract_note_published(&passed_on, number, now, now);
    }
    contract_note_received(&samples, data.data(), data.size(), now);
  }

  const Settings &settings_;
  ros::Subscriber subscriber_;
  ros::Publisher onward_;
};

/// The owner of the nodes of one process, and of the threads that call their callbacks.
class Home {
 public:
  virtual ~Home() = default;
  /// Creates a node and hands its handle to `make`, on this thread.
  virtual void add(const std::string &name, const std::function<void(ros::NodeHandle &)> &make) = 0;
  virtual void start() = 0;
  virtual void stop() = 0;
};

/// Node handles, with one callback queue for all or with one for each.
class Handles : public Home {
 public:
  explicit Handles(contract_executor executor) : executor_(executor) {}

  void add(const std::string &, const std::function<void(ros::NodeHandle &)> &make) override {
    if (queues_.empty() || executor_ == CONTRACT_EXECUTOR_ISOLATED) {
      queues_.push_back(std::make_unique<ros::CallbackQueue>());
      const uint32_t threads = executor_ == CONTRACT_EXECUTOR_MULTI ? 0 : 1; // 0: one for each processor
      spinners_.push_back(std::make_unique<ros::AsyncSpinner>(threads, queues_.back().get()));
    }
    nodes_.push_back(std::make_unique<ros::NodeHandle>());
    nodes_.back()->setCallbackQueue(queues_.back().get());
    make(*nodes_.back());
  }

  void start() override {
    for (auto &spinner : spinners_) spinner->start();
  }

  void stop() override {
    for (auto &spinner : spinners_) spinner->stop();
  }

 private:
  contract_executor executor_;
  std::vector<std::unique_ptr<ros::CallbackQueue>> queues_;
  std::vector<std::unique_ptr<ros::AsyncSpinner>> spinners_;
  std::vector<std::unique_ptr<ros::NodeHandle>> nodes_;
};

/// A nodelet that runs a given function when it is loaded.
class Part : public nodelet::Nodelet {
 public:
  explicit Part(std::function<void(ros::NodeHandle &)> make) : make_(std::move(make)) {}

 private:
  void onInit() override { make_(getNodeHandle()); }

  std::function<void(ros::NodeHandle &)> make_;
};

/// A loader of nodelets, which has its own threads.
class Nodelets : public Home {
 public:
  Nodelets() : loader_([this](const std::string &) { return boost::make_shared<Part>(next_); }) {}

  void add(const std::string &name, const std::function<void(ros::NodeHandle &)> &make) override {
    next_ = make;
    if (!loader_.load("/" + name, "feros_lab/Part", nodelet::M_string(), nodelet::V_string()))
      contract_error("failed", "the nodelet loader refused a nodelet", name.c_str());
  }

  void start() override {}
  void stop() override {} // its threads end with it

 private:
  std::function<void(ros::NodeHandle &)> next_;
  nodelet::Loader loader_;
};

std::unique_ptr<Home> home_of(const contract &c, bool isolated) {
  if (c.placement == CONTRACT_INTRA) {
    if (c.executor == CONTRACT_EXECUTOR_SINGLE || c.executor == CONTRACT_EXECUTOR_ISOLATED)
      contract_error("unsupported", "a nodelet manager has one pool of threads for all its nodelets", nullptr);
    return std::make_unique<Nodelets>();
  }
  return std::make_unique<Handles>(isolated ? CONTRACT_EXECUTOR_ISOLATED : c.executor);
}

void wait_for_matches(const ros::Publisher &publisher, const contract &c, uint64_t wanted) {
  while (publisher.getNumSubscribers() < wanted)
    if (contract_wait_stopped(&c, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
}

/// Messages that are published by pointer must not change afterwards, so only messages without other owners are reused.
template <class Message>
class Pool {
 public:
  explicit Pool(const contract &c) : c_(c) {}

  boost::shared_ptr<Message> take() {
    for (size_t looked = 0; looked < messages_.size(); ++looked) {
      next_ = (next_ + 1) % messages_.size();
      if (messages_[next_].use_count() != 1) continue;
      std::atomic_thread_fence(std::memory_order_acquire);
      return messages_[next_];
    }
    auto message = boost::make_shared<Message>();
    data_of(*message).resize(c_.size_bytes);
    contract_fill(&c_, &data_of(*message)[0]);
    if (messages_.size() < 64) messages_.push_back(message);
    return message;
  }

 private:
  const contract &c_;
  std::vector<boost::shared_ptr<Message>> messages_;
  size_t next_ = 0;
};

template <class Message>
void publish_all(const ros::Publisher &publisher, const Settings &settings, contract_published &sent) {
  const contract &c = *settings.c;
  Pool<Message> pool(c);
  boost::shared_ptr<Message> message = pool.take();
  contract_pace pace;
  uint64_t number;
  contract_published_init(&sent, &c);
  contract_ready();
  contract_pace_begin(&pace, &c);
  while (contract_pace_next(&pace, &number)) {
    if (settings.by_pointer) {
      message.reset();
      message = pool.take();
    }
    const uint64_t at = contract_stamp(&c, &data_of(*message)[0], number);
    if (settings.by_pointer) publisher.publish(boost::shared_ptr<const Message>(message));
    else publisher.publish(*message);
    contract_note_published(&sent, number, at, contract_now());
  }
}

template <class Message>
void talker(const Settings &settings) {
  ros::NodeHandle node;
  ros::Publisher publisher = advertise<Message>(node, settings, settings.c->topic);
  wait_for_matches(publisher, *settings.c, settings.c->matched);
  contract_published sent;
  publish_all<Message>(publisher, settings, sent);
  const uint64_t until = contract_now() + LINGER_MILLIS * 1000000u;
  while (publisher.getNumSubscribers() > 0 && contract_now() < until && !contract_wait_stopped(settings.c, 2)) {
  }
  contract_end(&sent, nullptr, 0);
}

/// A listener or relay runs its callbacks on a thread of the spinner, while this thread waits for the end.
template <class Message>
void listener(const Settings &settings) {
  const bool relays = settings.c->role == CONTRACT_RELAY;
  Handles home(settings.c->executor); // declared before its contents, so that it is destroyed after them
  Reader<Message> reader(settings, settings.c, settings.c->index);
  ros::Publisher onward;
  home.add("listener", [&](ros::NodeHandle &node) {
    if (relays) reader.pass_on_to(onward = advertise<Message>(node, settings, settings.c->to));
    reader.subscribe(node, settings.c->topic);
  });
  home.start();
  const uint64_t onward_until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
  while (relays && onward.getNumSubscribers() == 0 && contract_now() < onward_until && !contract_wait_stopped(settings.c, 2)) {
  }
  contract_ready();
  while (!contract_samples_done(&reader.samples) && !contract_wait_stopped(settings.c, 50)) {
  }
  reader.leave();
  home.stop();
  contract_samples *samples = &reader.samples;
  contract_end(relays ? &reader.passed_on : nullptr, &samples, 1);
  const uint64_t until = contract_now() + LINGER_MILLIS * 1000000u;
  while (relays && onward.getNumSubscribers() > 0 && contract_now() < until) contract_sleep_millis(2);
}

template <class Message>
void pair(const Settings &settings) {
  const contract &c = *settings.c;
  const std::unique_ptr<Home> home = home_of(c, false); // declared before its contents, so that it is destroyed after them
  std::vector<std::unique_ptr<Reader<Message>>> readers;
  std::vector<contract_samples *> samples;
  ros::Publisher publisher;
  home->add("talker", [&](ros::NodeHandle &node) { publisher = advertise<Message>(node, settings, c.topic); });
  for (uint64_t i = 0; i < c.subscriptions; ++i) {
    readers.push_back(std::make_unique<Reader<Message>>(settings, &c, i));
    samples.push_back(&readers.back()->samples);
    home->add("listener_" + std::to_string(i), [&](ros::NodeHandle &node) { readers.back()->subscribe(node, c.topic); });
  }
  home->start();
  // All subscriptions of a process share one connection to its publisher.
  wait_for_matches(publisher, c, 1);
  contract_published sent;
  publish_all<Message>(publisher, settings, sent);
  contract_wait_received(&c, samples.data(), samples.size(), sent.sent);
  for (auto &reader : readers) reader->leave();
  home->stop();
  contract_end(&sent, samples.data(), samples.size());
}

/// Node 0 publishes from the main thread; every other node has a callback queue and, unless it is a nodelet, a thread.
template <class Message>
void chain(const Settings &settings) {
  const contract &c = *settings.c;
  contract counting = c;
  counting.keeps_samples = false;
  const size_t links = c.nodes - 1;
  const std::unique_ptr<Home> home = home_of(c, true); // declared before its contents, so that it is destroyed after them
  std::vector<ros::Publisher> publishers(links);
  std::vector<std::unique_ptr<Reader<Message>>> readers;
  const auto topic = [&](size_t link) { return std::string(c.topic) + "_" + std::to_string(link); };
  for (size_t i = 0; i < links; ++i) readers.push_back(std::make_unique<Reader<Message>>(settings, i + 1 == links ? &c : &counting, 0));
  for (size_t i = 0; i <= links; ++i)
    home->add("chain_" + std::to_string(i), [&](ros::NodeHandle &node) {
      if (i < links) publishers[i] = advertise<Message>(node, settings, topic(i));
      if (i > 0 && i < links) readers[i - 1]->pass_on_to(publishers[i]);
      if (i > 0) readers[i - 1]->subscribe(node, topic(i - 1));
    });
  home->start();
  for (const ros::Publisher &publisher : publishers) wait_for_matches(publisher, c, 1);
  contract_published sent;
  publish_all<Message>(publishers[0], settings, sent);
  contract_samples *samples = &readers.back()->samples;
  contract_wait_received(&c, &samples, 1, sent.sent);
  for (auto &reader : readers) reader->leave();
  home->stop();
  contract_end(&sent, &samples, 1);
}

/// A ROS 1 process is one node. Further nodes in a process are nodelets.
void idle_nodes(const contract &c) {
  std::unique_ptr<Home> home;
  if (c.nodes == 1) home = std::make_unique<Handles>(CONTRACT_EXECUTOR_SINGLE);
  else home = std::make_unique<Nodelets>();
  for (uint64_t i = 0; i < c.nodes; ++i) home->add("node_" + std::to_string(i), [](ros::NodeHandle &) {});
  home->start();
  contract_stay(&c);
  home->stop();
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
    case CONTRACT_NODES: return idle_nodes(*settings.c);
    default: contract_error("unsupported", "ROS 1 has no such role", nullptr);
  }
}

} // namespace

int main(int argc, char **argv) {
  static const char *const transports[] = {"tcp", "tcp_nodelay", "udp", nullptr};
  contract_extra transport = {"--transport", transports, "tcp"};
  contract c;
  contract_parse(&c, argc, argv, &transport, 1);
  contract_hello(&c, "roscpp", VERSION);
  const std::string chosen = transport.value;
  if (chosen == "udp" && c.is_reliable) contract_error("unsupported", "UDPROS delivers with best effort only", nullptr);
  if (c.publish == CONTRACT_PUBLISH_SYNC) contract_error("unsupported", "roscpp always writes from a thread of its own", nullptr);
  const char *const names[] = {"talker", "listener", "relay", "pair", "chain", "node"};
  const std::string name = std::string("feros_lab_") + names[c.role] + "_" + std::to_string(getpid());
  ros::init(ros::M_string(), name, ros::init_options::NoSigintHandler | (c.role == CONTRACT_NODES ? 0u : uint32_t(ros::init_options::NoRosout)));
  // roscpp logs messages below the level of errors to standard output, which is reserved for the contract here.
  ros::console::set_logger_level(ROSCONSOLE_DEFAULT_NAME, ros::console::levels::Error);
  ros::console::notifyLoggerLevelsChanged();
  if (!ros::master::check()) contract_error("failed", "there is no rosmaster at ROS_MASTER_URI", getenv("ROS_MASTER_URI"));
  Settings settings = {&c, ros::TransportHints(), c.placement == CONTRACT_INTRA};
  if (chosen == "tcp_nodelay") settings.hints = ros::TransportHints().tcpNoDelay();
  if (chosen == "udp") settings.hints = ros::TransportHints().udp();
  if (c.is_string) run<std_msgs::String>(settings);
  else run<std_msgs::UInt8MultiArray>(settings);
  ros::shutdown();
  return 0;
}
