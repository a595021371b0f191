// Measures iceoryx itself, the shared memory transport with a daemon (RouDi) that owns the memory,
// through its untyped C++ API. The contract is in ../README.md.
//
// Fairness: this uses Debian's package as it is; the daemon's pools are those of roudi.toml, sized for the payloads
// and depths of the scenarios. A message is loaned from the pool, gets its stamp there and is published: nothing is copied
// or serialized, and the bytes after the stamp keep the loan's old content, unless `--fill each` overwrites them. A relay
// has to copy into its own loan. Both types are octets here. There is no network, so no `remote`; within a process it is the
// same transport (`composed`).
//
// Subscriptions are read through WaitSets: `single` (the default) has one WaitSet and thread for all of them; `isolated`, and
// every node of a chain, has its own. `reliable` with `keep_all` blocks the publisher when a queue is full; every other QoS
// discards the oldest message. The depth is limited by the build of iceoryx: 256 for a queue, 16 for the history of
// TRANSIENT_LOCAL.
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/mepoo/chunk_header.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/user_trigger.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/node.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <iceoryx_posh/runtime/service_discovery.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../contract.h"

namespace {

using iox::capro::IdString_t;
using iox::capro::ServiceDescription;
using iox::popo::UntypedPublisher;
using iox::popo::UntypedSubscriber;

/// The largest payload that roudi.toml has a pool for.
constexpr size_t LARGEST_BYTES = 5 << 20;
constexpr uint64_t MOST_QUEUED = 256, MOST_HISTORY = 16;
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;
/// The time that a talker waits for subscriptions to read queued messages.
constexpr uint64_t LINGER_MILLIS = 200;

IdString_t id(const std::string &text) { return IdString_t(iox::cxx::TruncateToCapacity, text.c_str()); }

ServiceDescription service(const std::string &kind, const std::string &topic) { return {"feros_lab", id(kind), id(topic)}; }

bool blocks(const contract &c) { return c.is_reliable && c.is_keep_all; }

std::unique_ptr<UntypedPublisher> publisher_of(const contract &c, const std::string &topic) {
  iox::popo::PublisherOptions options;
  if (c.is_transient_local) options.historyCapacity = std::min<uint64_t>(c.depth, MOST_HISTORY);
  if (blocks(c)) options.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
  return std::make_unique<UntypedPublisher>(service("messages", topic), options);
}

/// A subscription and its callback, and in a relay also the publisher that passes messages on.
class Reader {
 public:
  Reader(const contract &c, const contract *counting, const std::string &topic, uint64_t index)
      : subscriber(service("messages", topic), options_of(c)), c_(c), topic_(topic), index_(index) {
    contract_samples_init(&samples, counting, index);
    contract_published_init(&passed_on, counting);
  }

  void take_all() {
    for (;;) {
      auto taken = subscriber.take();
      const uint64_t now = contract_now();
      if (taken.has_error()) return;
      const void *message = taken.value();
      const size_t size = iox::mepoo::ChunkHeader::fromUserPayload(message)->userPayloadSize();
      if (onward != nullptr) pass_on(message, size, now);
      contract_note_received(&samples, message, size, now);
      subscriber.release(message);
    }
  }

  /// A publisher knows whether there are subscriptions, but not how many, so each connected subscription announces itself as
  /// a separate service.
  bool say_when_connected() {
    if (presence_ == nullptr && subscriber.getSubscriptionState() == iox::SubscribeState::SUBSCRIBED) {
      const std::string instance = topic_ + "_" + std::to_string(getpid()) + "_" + std::to_string(index_);
      presence_ = std::make_unique<UntypedPublisher>(ServiceDescription("feros_lab_presence", id(topic_), id(instance)));
    }
    return presence_ != nullptr;
  }

  UntypedSubscriber subscriber;
  UntypedPublisher *onward = nullptr;
  contract_samples samples;
  contract_published passed_on;

 private:
  static iox::popo::SubscriberOptions options_of(const contract &c) {
    iox::popo::SubscriberOptions options;
    options.queueCapacity = c.is_keep_all ? MOST_QUEUED : std::min<uint64_t>(c.depth, MOST_QUEUED);
    if (c.is_transient_local) options.historyRequest = std::min<uint64_t>(c.depth, MOST_HISTORY);
    if (blocks(c)) options.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
    return options;
  }

  void pass_on(const void *message, size_t size, uint64_t now) {
    auto loan = onward->loan(uint32_t(size));
    if (loan.has_error()) return;
    uint64_t stamped, number;
    contract_read_stamp(&c_, message, &stamped, &number);
    memcpy(loan.value(), message, size);
    onward->publish(loan.value());
    contract_note_published(&passed_on, number, now, now);
  }

  const contract &c_;
  std::string topic_;
  uint64_t index_;
  std::unique_ptr<UntypedPublisher> presence_;
};

/// A WaitSet with a thread for some subscriptions.
class Spin {
 public:
  explicit Spin(std::vector<Reader *> readers) : readers_(std::move(readers)) {
    for (Reader *reader : readers_)
      if (set_.attachState(reader->subscriber, iox::popo::SubscriberState::HAS_DATA).has_error())
        contract_error("failed", "a WaitSet refused a subscription", nullptr);
    if (set_.attachEvent(end_).has_error()) contract_error("failed", "a WaitSet refused its end", nullptr);
    thread_ = std::thread([this] { run(); });
  }

  ~Spin() {
    is_over_.store(true);
    end_.trigger();
    thread_.join();
  }

 private:
  void run() {
    while (!is_over_.load()) {
      set_.wait();
      for (Reader *reader : readers_) reader->take_all();
    }
  }

  std::vector<Reader *> readers_;
  iox::popo::WaitSet<> set_;
  iox::popo::UserTrigger end_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

using Spins = std::vector<std::unique_ptr<Spin>>;

Spins start(const std::vector<Reader *> &readers, bool isolated) {
  Spins spins;
  if (!isolated) spins.push_back(std::make_unique<Spin>(readers));
  else
    for (Reader *reader : readers) spins.push_back(std::make_unique<Spin>(std::vector<Reader *>{reader}));
  return spins;
}

size_t present(const std::string &topic) {
  static iox::runtime::ServiceDiscovery discovery;
  size_t found = 0;
  discovery.findService(IdString_t("feros_lab_presence"), id(topic), iox::capro::Wildcard,
                        [&](const ServiceDescription &) { ++found; }, iox::popo::MessagingPattern::PUB_SUB);
  return found;
}

void wait_for_matches(const contract &c, const std::string &topic, uint64_t wanted) {
  while (present(topic) < wanted)
    if (contract_wait_stopped(&c, 5)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
}

void publish_all(UntypedPublisher &publisher, const contract &c, contract_published &sent) {
  contract_pace pace;
  uint64_t number, refused = 0;
  contract_published_init(&sent, &c);
  contract_ready();
  contract_pace_begin(&pace, &c);
  while (contract_pace_next(&pace, &number)) {
    const uint64_t asked = contract_now();
    auto loan = publisher.loan(uint32_t(c.size_bytes));
    if (loan.has_error()) {
      ++refused;
      continue;
    }
    const uint64_t at = contract_stamp_loan(&c, loan.value(), number, asked);
    publisher.publish(loan.value());
    contract_note_published(&sent, number, at, contract_now());
  }
  if (refused > 0) fprintf(stderr, "iceoryx: no memory in the pool for %llu messages\n", (unsigned long long) refused);
}

void talker(const contract &c) {
  auto publisher = publisher_of(c, c.topic);
  wait_for_matches(c, c.topic, c.matched);
  contract_published sent;
  publish_all(*publisher, c, sent);
  const uint64_t until = contract_now() + LINGER_MILLIS * 1000000u;
  while (publisher->hasSubscribers() && contract_now() < until) contract_sleep_millis(2);
  contract_end(&sent, nullptr, 0);
}

void listener(const contract &c) {
  const bool relays = c.role == CONTRACT_RELAY;
  std::unique_ptr<UntypedPublisher> onward;
  if (relays) onward = publisher_of(c, c.to);
  Reader reader(c, &c, c.topic, c.index);
  reader.onward = onward.get();
  Spins spins = start({&reader}, false);
  const uint64_t onward_until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
  while (relays && present(c.to) == 0 && contract_now() < onward_until && !contract_wait_stopped(&c, 5)) {
  }
  contract_ready();
  while (!reader.say_when_connected() && !contract_wait_stopped(&c, 5)) {
  }
  while (!contract_samples_done(&reader.samples) && !contract_wait_stopped(&c, 50)) {
  }
  spins.clear();
  contract_samples *samples = &reader.samples;
  contract_end(relays ? &reader.passed_on : nullptr, &samples, 1);
}

void pair(const contract &c) {
  auto publisher = publisher_of(c, c.topic);
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  std::vector<contract_samples *> samples;
  for (uint64_t i = 0; i < c.subscriptions; ++i) {
    readers.push_back(std::make_unique<Reader>(c, &c, c.topic, i));
    all.push_back(readers.back().get());
    samples.push_back(&all.back()->samples);
  }
  Spins spins = start(all, c.executor == CONTRACT_EXECUTOR_ISOLATED);
  for (Reader *reader : all)
    while (!reader->say_when_connected())
      if (contract_wait_stopped(&c, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  contract_published sent;
  publish_all(*publisher, c, sent);
  contract_wait_received(&c, samples.data(), samples.size(), sent.sent);
  spins.clear();
  contract_end(&sent, samples.data(), samples.size());
}

void chain(const contract &c) {
  contract counting = c;
  counting.keeps_samples = false;
  const size_t links = c.nodes - 1;
  std::vector<std::unique_ptr<UntypedPublisher>> publishers;
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  for (size_t i = 0; i < links; ++i) {
    const std::string topic = std::string(c.topic) + "_" + std::to_string(i);
    publishers.push_back(publisher_of(c, topic));
    readers.push_back(std::make_unique<Reader>(c, i + 1 == links ? &c : &counting, topic, 0));
    all.push_back(readers.back().get());
    if (i > 0) all[i - 1]->onward = publishers[i].get();
  }
  Spins spins = start(all, true);
  for (Reader *reader : all)
    while (!reader->say_when_connected())
      if (contract_wait_stopped(&c, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  contract_published sent;
  publish_all(*publishers[0], c, sent);
  contract_samples *samples = &all.back()->samples;
  contract_wait_received(&c, &samples, 1, sent.sent);
  spins.clear();
  contract_end(&sent, &samples, 1);
}

/// Nodes in the sense of iceoryx: names that an application registers with RouDi.
void idle(const contract &c) {
  std::vector<iox::runtime::Node> nodes;
  for (uint64_t i = 0; i < c.nodes; ++i)
    nodes.emplace_back(iox::NodeName_t(iox::cxx::TruncateToCapacity, "node_" + std::to_string(i)));
  contract_stay(&c);
  nodes.clear();
  contract_end(nullptr, nullptr, 0);
}

} // namespace

int main(int argc, char **argv) {
  contract c;
  contract_parse(&c, argc, argv, nullptr, 0);
  contract_hello(&c, "iceoryx", VERSION);
  if (c.placement == CONTRACT_REMOTE || c.placement == CONTRACT_INTRA)
    contract_error("unsupported", "iceoryx is shared memory of one host, and uses it within a process as well", nullptr);
  if (c.publish == CONTRACT_PUBLISH_ASYNC) contract_error("unsupported", "iceoryx delivers in the publisher's thread", nullptr);
  if (c.executor == CONTRACT_EXECUTOR_MULTI) contract_error("unsupported", "iceoryx has no executor", nullptr);
  if (c.role != CONTRACT_NODES && c.size_bytes > LARGEST_BYTES)
    contract_error("unsupported", "the pools of memory in roudi.toml end at 5 MiB", nullptr);
  iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kError);
  iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, "feros_lab_" + std::to_string(getpid())));
  switch (c.role) {
    case CONTRACT_TALKER: talker(c); break;
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: listener(c); break;
    case CONTRACT_PAIR: pair(c); break;
    case CONTRACT_CHAIN: chain(c); break;
    case CONTRACT_NODES: idle(c); break;
    default: contract_error("unsupported", "iceoryx has no such role", nullptr);
  }
  return 0;
}
