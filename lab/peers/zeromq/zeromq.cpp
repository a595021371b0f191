// Measures ZeroMQ with Protobuf: what a robot's programs use without ROS. The contract is in ../README.md.
//
// Fairness: this uses Debian's packages as they are. A message is a message of Protobuf with one field, and the path that is
// measured contains what ROS does for its types: the publisher serializes into the buffer that ZeroMQ sends, and the
// subscription parses before its callback reads the clock. The program uses each message object of Protobuf again, as the
// documentation of Protobuf recommends. A relay parses and serializes, like a node. ZeroMQ has no discovery: the address of a
// topic follows from its name. The publisher binds, and subscriptions connect: `ipc` between processes of one host (in Linux's
// abstract namespace), `tcp` between hosts and in the variant `tcp`, `inproc` within a process (`composed`), where
// threads pass the serialized message by pointer.
//
// QoS: the depth is ZeroMQ's high water mark on both sides; with `keep_all` it is ZeroMQ's default, 1000. A full queue makes
// the publisher wait if `reliable` and `keep_all` are set; otherwise ZeroMQ drops the newest message. `ipc` and `tcp` are
// streams, so `best_effort` does not differ otherwise. Transient local and deadlines do not exist. A thread of ZeroMQ sends
// and receives; a thread of this program polls all subscriptions (`single`, the default), or each has its own (`isolated`,
// and every node of a chain).
#include <zmq.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../contract.h"
#include "payload.pb.h"

namespace {

constexpr int DEFAULT_HIGH_WATER_MARK = 1000;
/// The time that a relay waits for a subscription to its output. The talker cannot see this subscription.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;
/// The time that the end of a program waits for queued messages to be sent.
constexpr int LINGER_RELIABLE_MILLIS = 2000, LINGER_MILLIS = 200;
/// The interval at which a publisher that waits for space checks whether it has to stop.
constexpr int BLOCKED_MILLIS = 100;
/// The largest number of messages that a thread takes from a subscription before it polls again.
constexpr int TAKEN_AT_ONCE = 1000;

[[noreturn]] void fail(const char *what) { contract_error("failed", what, zmq_strerror(zmq_errno())); }

std::string variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value != nullptr ? value : otherwise;
}

/// The hash FNV-1a of a topic. All programs need the same hash, which std::hash does not promise.
uint32_t hash_of(const std::string &topic) {
  uint32_t hash = 2166136261u;
  for (const char letter : topic) hash = (hash ^ uint8_t(letter)) * 16777619u;
  return hash;
}

std::string address_of(const contract &c, bool is_tcp, const std::string &topic) {
  const std::string port = ":" + variable("FEROS_LAB_PORT", "47100");
  if (c.placement == CONTRACT_COMPOSED) return "inproc://" + topic;
  if (c.placement == CONTRACT_REMOTE) return "tcp://" + variable("FEROS_LAB_ADDRESS", "127.0.0.1") + port;
  if (!is_tcp) return "ipc://@feros_lab_" + variable("FEROS_LAB_RUN", "by_hand") + "_" + topic;
  // A run has one port, so each topic has its own address of the loopback interface.
  const uint32_t hash = hash_of(topic);
  return "tcp://127." + std::to_string(1 + hash % 250) + "." + std::to_string(hash / 250 % 250) + ".1" + port;
}

class Context {
 public:
  Context() : raw(zmq_ctx_new()) {
    if (raw == nullptr) fail("ZeroMQ made no context");
  }
  Context(const Context &) = delete;
  ~Context() { zmq_ctx_term(raw); }

  void *const raw;
};

class Socket {
 public:
  Socket(Context &context, int kind) : raw(zmq_socket(context.raw, kind)) {
    if (raw == nullptr) fail("ZeroMQ made no socket");
    set(ZMQ_LINGER, LINGER_MILLIS);
  }
  Socket(const Socket &) = delete;
  ~Socket() { zmq_close(raw); }

  void set(int option, int value) {
    if (zmq_setsockopt(raw, option, &value, sizeof value) != 0) fail("a socket refused an option");
  }

  void set_qos(const contract &c) {
    const int depth = c.is_keep_all ? DEFAULT_HIGH_WATER_MARK : int(std::min<uint64_t>(c.depth, 1000000));
    set(ZMQ_SNDHWM, depth);
    set(ZMQ_RCVHWM, depth);
  }

  void *const raw;
};

/// A message of either type, used again for each message.
class Payload {
 public:
  explicit Payload(bool is_text) : is_text_(is_text) {}

  std::string &data() { return is_text_ ? *text_.mutable_data() : *bytes_.mutable_data(); }

  google::protobuf::MessageLite &message() {
    if (is_text_) return text_;
    return bytes_;
  }

 private:
  bool is_text_;
  feros_lab::Bytes bytes_;
  feros_lab::Text text_;
};

class Sender {
 public:
  Sender(Context &context, const contract &c, bool is_tcp, const std::string &topic) : socket_(context, ZMQ_XPUB), c_(c) {
    socket_.set_qos(c);
    // ZeroMQ then reports each subscription, even if an earlier subscription has the same filter.
    socket_.set(ZMQ_XPUB_VERBOSE, 1);
    if (c.is_reliable) socket_.set(ZMQ_LINGER, LINGER_RELIABLE_MILLIS);
    if (c.is_reliable && c.is_keep_all) {
      socket_.set(ZMQ_XPUB_NODROP, 1);
      socket_.set(ZMQ_SNDTIMEO, BLOCKED_MILLIS);
    }
    if (zmq_bind(socket_.raw, address_of(c, is_tcp, topic).c_str()) != 0) fail("a publisher cannot bind its address");
  }

  /// The number of subscriptions so far.
  uint64_t matches() {
    char filter[8];
    int size;
    while ((size = zmq_recv(socket_.raw, filter, sizeof filter, ZMQ_DONTWAIT)) >= 0)
      if (size > 0 && filter[0] == 1) ++matches_;
    return matches_;
  }

  void wait_for(uint64_t wanted) {
    while (matches() < wanted)
      if (contract_wait_stopped(&c_, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
  }

  /// Serializes into the buffer that ZeroMQ sends, and sends it; returns false if the program has to stop.
  bool publish(Payload &payload) {
    const size_t size = payload.message().ByteSizeLong();
    zmq_msg_t out;
    if (zmq_msg_init_size(&out, size) != 0) fail("no memory for a message");
    payload.message().SerializeWithCachedSizesToArray(static_cast<uint8_t *>(zmq_msg_data(&out)));
    while (zmq_msg_send(&out, socket_.raw, 0) < 0) {
      if (zmq_errno() != EAGAIN && zmq_errno() != EINTR) fail("a message was not sent");
      if (contract_stopped(&c_)) {
        zmq_msg_close(&out);
        return false;
      }
    }
    return true;
  }

  void publish_all(contract_published &sent) {
    Payload payload(c_.is_string);
    payload.data().resize(c_.size_bytes);
    contract_fill(&c_, payload.data().data());
    contract_published_init(&sent, &c_);
    contract_ready();
    contract_pace pace;
    uint64_t number;
    contract_pace_begin(&pace, &c_);
    while (contract_pace_next(&pace, &number)) {
      const uint64_t at = contract_stamp(&c_, payload.data().data(), number);
      if (!publish(payload)) return;
      contract_note_published(&sent, number, at, contract_now());
    }
  }

 private:
  Socket socket_;
  const contract &c_;
  uint64_t matches_ = 0;
};

/// A subscription and its callback, and in a relay also the publisher that passes messages on.
class Reader {
 public:
  Reader(Context &context, const contract &c, const contract *counting, bool is_tcp, const std::string &topic, uint64_t index)
      : socket(context, ZMQ_SUB), c_(c), payload_(c.is_string) {
    socket.set_qos(c);
    if (zmq_setsockopt(socket.raw, ZMQ_SUBSCRIBE, "", 0) != 0) fail("a subscription cannot set its filter");
    if (zmq_connect(socket.raw, address_of(c, is_tcp, topic).c_str()) != 0) fail("a subscription cannot connect");
    contract_samples_init(&samples, counting, index);
    contract_published_init(&passed_on, counting);
  }

  /// Takes the waiting messages, at most TAKEN_AT_ONCE: the thread then polls its other sockets as well.
  void take_all() {
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (int i = 0; i < TAKEN_AT_ONCE && zmq_msg_recv(&message, socket.raw, ZMQ_DONTWAIT) >= 0; ++i) {
      if (!payload_.message().ParseFromArray(zmq_msg_data(&message), int(zmq_msg_size(&message))))
        contract_error("failed", "Protobuf cannot parse a received message", nullptr);
      const uint64_t now = contract_now();
      if (onward != nullptr) pass_on(now);
      contract_note_received(&samples, payload_.data().data(), payload_.data().size(), now);
    }
    zmq_msg_close(&message);
  }

  Socket socket;
  Sender *onward = nullptr;
  contract_samples samples;
  contract_published passed_on;

 private:
  void pass_on(uint64_t now) {
    const contract_seen seen = contract_see(&c_, payload_.data().data(), payload_.data().size());
    if (onward->publish(payload_)) contract_note_published(&passed_on, seen.number, now, now);
  }

  const contract &c_;
  Payload payload_;
};

/// A thread that polls some subscriptions until the destructor ends it.
class Spin {
 public:
  Spin(Context &context, std::vector<Reader *> readers)
      : readers_(std::move(readers)), ended_(context, ZMQ_PAIR), end_(context, ZMQ_PAIR) {
    static int count = 0;
    const std::string address = "inproc://end_of_spin_" + std::to_string(count++);
    if (zmq_bind(ended_.raw, address.c_str()) != 0 || zmq_connect(end_.raw, address.c_str()) != 0)
      fail("the sockets that end a thread cannot be joined");
    thread_ = std::thread([this] { run(); });
  }

  ~Spin() {
    zmq_send(end_.raw, "", 0, 0);
    thread_.join();
  }

 private:
  void run() {
    std::vector<zmq_pollitem_t> items{{ended_.raw, 0, ZMQ_POLLIN, 0}};
    for (Reader *reader : readers_) items.push_back({reader->socket.raw, 0, ZMQ_POLLIN, 0});
    for (;;) {
      if (zmq_poll(items.data(), int(items.size()), -1) < 0 && zmq_errno() != EINTR) fail("a thread cannot poll its sockets");
      for (size_t i = 0; i < readers_.size(); ++i)
        if (items[i + 1].revents != 0) readers_[i]->take_all();
      if (items[0].revents != 0) return;
    }
  }

  std::vector<Reader *> readers_;
  Socket ended_, end_;
  std::thread thread_;
};

using Spins = std::vector<std::unique_ptr<Spin>>;

Spins start(Context &context, const std::vector<Reader *> &readers, bool isolated) {
  Spins spins;
  if (!isolated) spins.push_back(std::make_unique<Spin>(context, readers));
  else
    for (Reader *reader : readers) spins.push_back(std::make_unique<Spin>(context, std::vector<Reader *>{reader}));
  return spins;
}

void talker(const contract &c, bool is_tcp) {
  contract_published sent;
  {
    Context context;
    Sender sender(context, c, is_tcp, c.topic);
    sender.wait_for(c.matched);
    sender.publish_all(sent);
  } // waits until ZeroMQ has sent the queued messages, at most for the time of ZMQ_LINGER
  contract_end(&sent, nullptr, 0);
}

void listener(const contract &c, bool is_tcp) {
  const bool relays = c.role == CONTRACT_RELAY;
  if (relays && c.placement == CONTRACT_REMOTE)
    contract_error("unsupported", "ZeroMQ has no discovery, and the cell gives the address of one host", nullptr);
  contract_samples samples;
  contract_published passed_on;
  {
    Context context;
    std::unique_ptr<Sender> onward;
    if (relays) onward = std::make_unique<Sender>(context, c, is_tcp, c.to);
    Reader reader(context, c, &c, is_tcp, c.topic, c.index);
    reader.onward = onward.get();
    const uint64_t until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
    while (relays && onward->matches() == 0 && contract_now() < until && !contract_wait_stopped(&c, 5)) {
    }
    Spins spins = start(context, {&reader}, false);
    contract_ready();
    while (!contract_samples_done(&reader.samples) && !contract_wait_stopped(&c, 50)) {
    }
    spins.clear();
    samples = reader.samples;
    passed_on = reader.passed_on;
  } // waits as the talker does, so that a relay has sent its messages
  contract_samples *all = &samples;
  contract_end(relays ? &passed_on : nullptr, &all, 1);
}

void pair(const contract &c) {
  Context context;
  Sender sender(context, c, false, c.topic);
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  std::vector<contract_samples *> samples;
  for (uint64_t i = 0; i < c.subscriptions; ++i) {
    readers.push_back(std::make_unique<Reader>(context, c, &c, false, c.topic, i));
    all.push_back(readers.back().get());
    samples.push_back(&all.back()->samples);
  }
  Spins spins = start(context, all, c.executor == CONTRACT_EXECUTOR_ISOLATED);
  sender.wait_for(all.size());
  contract_published sent;
  sender.publish_all(sent);
  contract_wait_received(&c, samples.data(), samples.size(), sent.sent);
  spins.clear();
  contract_end(&sent, samples.data(), samples.size());
}

void chain(const contract &c) {
  contract counting = c;
  counting.keeps_samples = false;
  const size_t links = c.nodes - 1;
  Context context;
  std::vector<std::unique_ptr<Sender>> senders;
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  for (size_t i = 0; i < links; ++i) {
    const std::string topic = std::string(c.topic) + "_" + std::to_string(i);
    senders.push_back(std::make_unique<Sender>(context, c, false, topic));
    readers.push_back(std::make_unique<Reader>(context, c, i + 1 == links ? &c : &counting, false, topic, 0));
    all.push_back(readers.back().get());
    if (i > 0) all[i - 1]->onward = senders[i].get();
  }
  for (const auto &sender : senders) sender->wait_for(1);
  Spins spins = start(context, all, true);
  contract_published sent;
  senders[0]->publish_all(sent);
  contract_samples *samples = &all.back()->samples;
  contract_wait_received(&c, &samples, 1, sent.sent);
  spins.clear();
  contract_end(&sent, &samples, 1);
}

/// ZeroMQ has no nodes. A context with its threads is closest to a node; the threads start with the first socket.
void idle(const contract &c) {
  {
    std::vector<std::unique_ptr<Context>> contexts;
    std::vector<std::unique_ptr<Socket>> sockets;
    for (uint64_t i = 0; i < c.nodes; ++i) {
      contexts.push_back(std::make_unique<Context>());
      sockets.push_back(std::make_unique<Socket>(*contexts.back(), ZMQ_PUB));
    }
    contract_stay(&c);
  }
  contract_end(nullptr, nullptr, 0);
}

} // namespace

int main(int argc, char **argv) {
  static const char *const transports[] = {"ipc", "tcp", nullptr};
  contract c;
  contract_extra transport{"--transport", transports, "ipc"};
  contract_parse(&c, argc, argv, &transport, 1);
  const bool is_tcp = strcmp(transport.value, "tcp") == 0;
  int major, minor, patch;
  zmq_version(&major, &minor, &patch);
  char version[96];
  snprintf(version, sizeof version, "ZeroMQ %d.%d.%d, Protobuf %d.%d.%d", major, minor, patch,
           GOOGLE_PROTOBUF_VERSION / 1000000, GOOGLE_PROTOBUF_VERSION / 1000 % 1000, GOOGLE_PROTOBUF_VERSION % 1000);
  contract_hello(&c, "zeromq", version);
  if (c.placement == CONTRACT_INTRA)
    contract_error("unsupported", "ZeroMQ passes serialized messages within a process, and has no other way", nullptr);
  if (c.is_transient_local) contract_error("unsupported", "ZeroMQ keeps no messages for later subscriptions", nullptr);
  if (c.publish == CONTRACT_PUBLISH_SYNC)
    contract_error("unsupported", "ZeroMQ has no synchronous mode: its own thread sends", nullptr);
  if (c.executor == CONTRACT_EXECUTOR_MULTI) contract_error("unsupported", "ZeroMQ has no executor", nullptr);
  switch (c.role) {
    case CONTRACT_TALKER: talker(c, is_tcp); break;
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: listener(c, is_tcp); break;
    case CONTRACT_PAIR: pair(c); break;
    case CONTRACT_CHAIN: chain(c); break;
    case CONTRACT_NODES: idle(c); break;
    default: contract_error("unsupported", "ZeroMQ has no such role", nullptr);
  }
  return 0;
}
