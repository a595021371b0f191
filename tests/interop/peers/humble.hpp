// What nodes of ROS 2 Humble that are made by hand have in common, whatever their DDS library: they announce and read
// nodes with gids of 24 bytes. Messages are CDR in hexadecimal.
//
// Each input line is a request, and gets the line `ANSWER ok ...` or `ANSWER error ...`. The end of the input ends the
// program. Names of types are those on the wire.
//
//   node NAMESPACE NAME          the following endpoints belong to this node
//   publisher TOPIC TYPE         subscription TOPIC TYPE         answers with the number of the endpoint
//   server SERVICE TYPE          client SERVICE TYPE             TYPE without its suffix; answers with the number
//   matched NUMBER COUNT         waits until this many endpoints match, for each side of a service
//   publish NUMBER MESSAGE       take NUMBER                     waits for a message
//   call NUMBER REQUEST          answers with the response
//   serve NUMBER RESPONSE        waits for a request and responds; answers with the request
//   nodes                        NAMESPACE NAME GIDS ENDPOINTS, ...: the nodes of other participants, with the number of
//                                their gids, and of the endpoints with these gids that discovery has found
//   endpoints TOPIC              NODE TYPE, ...: other participants' endpoints, with the node that has their gid
//   announcement                 the last announcement of nodes that came
//   demanded                     BYTES, ...: the memory that each announcement which cannot be read asked for
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace humble {

using Bytes = std::vector<uint8_t>;
/// `char[24] data` of rmw_dds_common/msg/Gid in Humble: the 16 bytes of a GUID, and zeros.
using Gid = std::array<uint8_t, 24>;

/// How long a request waits, which only ends a test that hangs.
constexpr std::chrono::seconds WATCHDOG(60);
/// An announcement that asks for more memory than this counts as unreadable, and nothing is allocated.
constexpr uint64_t MOST_BYTES = 1 << 20;
/// The participants of this host that these programs search for.
constexpr uint32_t PARTICIPANTS = 100;

constexpr const char *DISCOVERY_TOPIC = "ros_discovery_info";
constexpr const char *DISCOVERY_TYPE = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

inline uint32_t domain() {
  const char *domain = getenv("ROS_DOMAIN_ID");
  return domain != nullptr ? uint32_t(atoi(domain)) : 0;
}

template <class Condition>
void wait_for(const char *what, Condition condition) {
  const auto began = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - began > WATCHDOG) throw std::runtime_error(std::string("no ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// The members of rmw_dds_common/msg/NodeEntitiesInfo. Their size is that of the generated struct.
struct Node {
  std::string name_space, name;
  std::vector<Gid> readers, writers;
};

struct Unreadable : std::runtime_error {
  explicit Unreadable(uint64_t bytes) : std::runtime_error("unreadable"), bytes(bytes) {}
  uint64_t bytes;
};

/// Reads rmw_dds_common/msg/ParticipantEntitiesInfo as the generated code of Humble does, which resizes a vector to the
/// count that it finds. `demanded` sums up the memory of the vectors.
struct Announcement {
  explicit Announcement(const Bytes &bytes) : bytes_(bytes) {
    is_little_endian_ = take(4)[1] & 1;
    memcpy(gid.data(), take(gid.size()), gid.size());
    nodes.resize(count(sizeof(Node)));
    for (Node &node : nodes) {
      node.name_space = text();
      node.name = text();
      for (auto *gids : {&node.readers, &node.writers}) {
        gids->resize(count(sizeof(Gid)));
        for (Gid &each : *gids) memcpy(each.data(), take(each.size()), each.size());
      }
    }
  }

  Gid gid{};
  std::vector<Node> nodes;
  uint64_t demanded = 0;

 private:
  const uint8_t *take(size_t size) {
    if (size > bytes_.size() - at_) throw Unreadable(demanded);
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  uint32_t number() {
    take((4 - at_ % 4) % 4); // the header has 4 bytes, too
    const uint8_t *from = take(4);
    uint32_t number = 0;
    for (int byte = 0; byte < 4; ++byte) number |= uint32_t(from[byte]) << 8 * (is_little_endian_ ? byte : 3 - byte);
    return number;
  }
  std::string text() {
    const uint32_t size = number(); // with the NUL
    const char *from = reinterpret_cast<const char *>(take(size));
    return size == 0 ? std::string() : std::string(from, size - 1);
  }
  size_t count(size_t element_bytes) {
    const uint32_t count = number();
    demanded += uint64_t(count) * element_bytes;
    if (demanded > MOST_BYTES) throw Unreadable(demanded);
    return count;
  }

  const Bytes &bytes_;
  size_t at_ = 0;
  bool is_little_endian_ = false;
};

/// Writes what `Announcement` reads, with at most one node.
inline Bytes announcement(const Gid &participant, const Node *node) {
  Bytes bytes = {0, 1, 0, 0};
  const auto number = [&bytes](size_t number) {
    bytes.resize((bytes.size() + 3) / 4 * 4);
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(uint8_t(number >> 8 * byte));
  };
  bytes.insert(bytes.end(), participant.begin(), participant.end());
  number(node != nullptr ? 1 : 0);
  if (node == nullptr) return bytes;
  for (const auto *text : {&node->name_space, &node->name}) {
    number(text->size() + 1);
    bytes.insert(bytes.end(), text->c_str(), text->c_str() + text->size() + 1);
  }
  for (const auto *gids : {&node->readers, &node->writers}) {
    number(gids->size());
    for (const Gid &gid : *gids) bytes.insert(bytes.end(), gid.begin(), gid.end());
  }
  return bytes;
}

/// What the other participants have announced. Threads of the library may report here.
class Graph {
 public:
  void announced(const Bytes &bytes) {
    std::lock_guard<std::mutex> guard(mutex_);
    last_ = bytes;
    try {
      Announcement read(bytes);
      nodes_[read.gid] = read.nodes;
    } catch (const Unreadable &unreadable) {
      demanded_.push_back(unreadable.bytes);
    }
  }
  void found(const Gid &endpoint, const std::string &topic, const std::string &type) {
    std::lock_guard<std::mutex> guard(mutex_);
    endpoints_[endpoint] = {topic, type};
  }
  void gone(const Gid &endpoint) {
    std::lock_guard<std::mutex> guard(mutex_);
    endpoints_.erase(endpoint);
  }

  std::string nodes() const {
    std::lock_guard<std::mutex> guard(mutex_);
    std::ostringstream text;
    for (const auto &participant : nodes_)
      for (const Node &node : participant.second)
        text << node.name_space << ' ' << node.name << ' ' << node.readers.size() + node.writers.size() << ' '
             << known(node.readers) + known(node.writers) << ',';
    return text.str();
  }
  std::string endpoints(const std::string &topic) const {
    std::lock_guard<std::mutex> guard(mutex_);
    std::ostringstream text;
    for (const auto &endpoint : endpoints_)
      if (endpoint.second.first == topic) text << node_of(endpoint.first) << ' ' << endpoint.second.second << ',';
    return text.str();
  }
  Bytes last() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return last_;
  }
  std::string demanded() const {
    std::lock_guard<std::mutex> guard(mutex_);
    std::ostringstream text;
    for (uint64_t bytes : demanded_) text << bytes << ',';
    return text.str();
  }

 private:
  size_t known(const std::vector<Gid> &gids) const {
    return size_t(std::count_if(gids.begin(), gids.end(), [&](const Gid &gid) { return endpoints_.count(gid) > 0; }));
  }
  std::string node_of(const Gid &gid) const {
    for (const auto &participant : nodes_)
      for (const Node &node : participant.second)
        for (const auto *gids : {&node.readers, &node.writers})
          if (std::count(gids->begin(), gids->end(), gid) > 0) return node.name;
    return "?";
  }

  mutable std::mutex mutex_;
  std::map<Gid, std::vector<Node>> nodes_;
  std::map<Gid, std::pair<std::string, std::string>> endpoints_;
  Bytes last_;
  std::vector<uint64_t> demanded_;
};

enum class Role { PUBLISHER, SUBSCRIPTION, SERVER, CLIENT };

/// A participant that answers requests. A DDS library implements what is virtual; endpoints are numbered from 0.
class Peer {
 public:
  virtual ~Peer() = default;

  std::string answer(const std::string &line) {
    std::istringstream words(line);
    std::string what, first, second;
    words >> what >> first >> second;
    if (what == "node") {
      node_ = {first, second, {}, {}};
      has_node_ = true;
      announce();
      return "";
    }
    const std::map<std::string, Role> roles = {{"publisher", Role::PUBLISHER},
                                               {"subscription", Role::SUBSCRIPTION},
                                               {"server", Role::SERVER},
                                               {"client", Role::CLIENT}};
    const auto role = roles.find(what);
    if (role != roles.end()) return add(role->second, first, second);
    read_graph();
    if (what == "nodes") return graph_.nodes();
    if (what == "endpoints") return graph_.endpoints(first);
    if (what == "announcement") return to_text(graph_.last());
    if (what == "demanded") return graph_.demanded();
    const size_t number = size_t(std::stoul(first));
    if (number >= count_) throw std::runtime_error("no endpoint " + first);
    if (what == "take") return to_text(take(number));
    if (what == "publish") return publish(number, from_text(second)), "";
    if (what == "call") return to_text(call(number, from_text(second)));
    if (what == "serve") return to_text(serve(number, from_text(second)));
    if (what != "matched") throw std::runtime_error("unknown request " + what);
    const int count = std::stoi(second);
    wait_for("matches", [&] { return is_matched(number, count); });
    return "";
  }

 protected:
  /// Announces the node, once the participant exists.
  void announce() { announce(announcement(gid(), has_node_ ? &node_ : nullptr)); }

  virtual Gid gid() const = 0;
  virtual void announce(const Bytes &announcement) = 0;
  /// Makes the next endpoint, with a reader of one topic, a writer to another topic, or both, whose gids it adds.
  virtual void make(Role role, const std::string &reads, const std::string &read_type, const std::string &writes,
                    const std::string &written_type, Node &node) = 0;
  virtual bool is_matched(size_t number, int count) = 0;
  virtual void publish(size_t number, Bytes message) = 0;
  virtual Bytes take(size_t number) = 0;
  virtual Bytes call(size_t number, Bytes request) = 0;
  virtual Bytes serve(size_t number, Bytes response) = 0;
  /// Reports to `graph_` what has been received, if the library has not called yet.
  virtual void read_graph() {}

  Graph graph_;

 private:
  std::string add(Role role, const std::string &name, const std::string &type) {
    const std::string topic = "rt" + name, request = "rq" + name + "Request", reply = "rr" + name + "Reply";
    const std::string requests = type + "_Request_", replies = type + "_Response_";
    switch (role) {
      case Role::PUBLISHER: make(role, "", "", topic, type, node_); break;
      case Role::SUBSCRIPTION: make(role, topic, type, "", "", node_); break;
      case Role::SERVER: make(role, request, requests, reply, replies, node_); break;
      case Role::CLIENT: make(role, reply, replies, request, requests, node_); break;
    }
    announce();
    return std::to_string(count_++);
  }

  static std::string to_text(const Bytes &bytes) {
    std::string text;
    for (uint8_t byte : bytes)
      for (int shift : {4, 0}) text += "0123456789abcdef"[(byte >> shift) & 15];
    return text;
  }
  static Bytes from_text(const std::string &text) {
    Bytes bytes;
    for (size_t at = 0; at + 1 < text.size(); at += 2) bytes.push_back(uint8_t(std::stoi(text.substr(at, 2), nullptr, 16)));
    return bytes;
  }

  Node node_;
  bool has_node_ = false;
  size_t count_ = 0;
};

/// Answers the requests on standard input.
inline void serve_requests(Peer &peer) {
  std::cout << "ANSWER ok ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const std::string answer = peer.answer(line);
      std::cout << "ANSWER ok " << answer << std::endl;
    } catch (const std::exception &error) {
      std::cout << "ANSWER error " << error.what() << std::endl;
    }
  }
}

} // namespace humble
