// A participant of ROS 2 Humble, made by hand on Fast DDS 2, the library of Humble's time. It announces and reads nodes
// as rmw_fastrtps of Humble does: gids have 24 bytes, and endpoints have no USER_DATA. Messages are CDR in hexadecimal.
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
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/reader/ReaderDiscoveryInfo.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/writer/WriterDiscoveryInfo.h>
#include <fastrtps/utils/IPLocator.h>

namespace {

using namespace eprosima::fastdds::dds;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::types::ReturnCode_t;
namespace rtps = eprosima::fastrtps::rtps;

using Bytes = std::vector<uint8_t>;
/// `char[24] data` of rmw_dds_common/msg/Gid in Humble: the 16 bytes of a GUID, and zeros.
using Gid = std::array<char, 24>;

/// How long a request waits, which only ends a test that hangs.
constexpr std::chrono::seconds WATCHDOG(60);
/// An announcement that asks for more memory than this counts as unreadable, and nothing is allocated.
constexpr uint64_t MOST_BYTES = 1 << 20;
/// The participants of this host that this program searches for.
constexpr uint32_t PARTICIPANTS = 100;

Gid gid_of(const rtps::GUID_t &guid) {
  Gid gid{};
  memcpy(gid.data(), guid.guidPrefix.value, 12);
  memcpy(gid.data() + 12, guid.entityId.value, 4);
  return gid;
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
  explicit Announcement(const Bytes &bytes) {
    FastBuffer buffer(reinterpret_cast<char *>(const_cast<uint8_t *>(bytes.data())), bytes.size());
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    try {
      cdr.read_encapsulation();
      cdr.deserializeArray(gid.data(), gid.size());
      nodes.resize(count(cdr, sizeof(Node)));
      for (Node &node : nodes) {
        cdr >> node.name_space >> node.name;
        for (auto *gids : {&node.readers, &node.writers}) {
          gids->resize(count(cdr, sizeof(Gid)));
          for (Gid &each : *gids) cdr.deserializeArray(each.data(), each.size());
        }
      }
    } catch (const eprosima::fastcdr::exception::Exception &) {
      throw Unreadable(demanded);
    }
  }

  size_t count(Cdr &cdr, size_t element_bytes) {
    uint32_t count = 0;
    cdr >> count;
    demanded += uint64_t(count) * element_bytes;
    if (demanded > MOST_BYTES) throw Unreadable(demanded);
    return count;
  }

  Gid gid{};
  std::vector<Node> nodes;
  uint64_t demanded = 0;
};

/// Any type, as its bytes.
class Raw : public TopicDataType {
 public:
  explicit Raw(const std::string &name) {
    setName(name.c_str());
    m_typeSize = 256; // the memory reserved in advance; it grows
    m_isGetKeyDefined = false;
  }

  bool serialize(void *data, rtps::SerializedPayload_t *to) override {
    const Bytes &bytes = *static_cast<Bytes *>(data);
    if (bytes.size() < 4 || to->max_size < bytes.size()) return false;
    memcpy(to->data, bytes.data(), bytes.size());
    to->length = uint32_t(bytes.size());
    to->encapsulation = bytes[1];
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t *from, void *data) override {
    static_cast<Bytes *>(data)->assign(from->data, from->data + from->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [data] { return uint32_t(static_cast<Bytes *>(data)->size()); };
  }
  void *createData() override { return new Bytes; }
  void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
  bool getKey(void *, rtps::InstanceHandle_t *, bool) override { return false; }
};

/// The announcements that this participant has received.
class Graph : public DomainParticipantListener {
 public:
  explicit Graph(const rtps::GuidPrefix_t *&own) : own_(own) {}

  void on_data_available(DataReader *reader) override {
    Bytes bytes;
    SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
      const auto &prefix = info.sample_identity.writer_guid().guidPrefix;
      if (!info.valid_data || (own_ != nullptr && prefix == *own_)) continue;
      std::lock_guard<std::mutex> guard(mutex_);
      last_ = bytes;
      try {
        Announcement read(bytes);
        nodes_[read.gid] = read.nodes;
      } catch (const Unreadable &unreadable) {
        demanded_.push_back(unreadable.bytes);
      }
    }
  }
  void on_subscriber_discovery(DomainParticipant *, rtps::ReaderDiscoveryInfo &&found) override {
    keep(found.info, found.status == rtps::ReaderDiscoveryInfo::REMOVED_READER);
  }
  void on_publisher_discovery(DomainParticipant *, rtps::WriterDiscoveryInfo &&found) override {
    keep(found.info, found.status == rtps::WriterDiscoveryInfo::REMOVED_WRITER);
  }

  std::string nodes() const {
    std::lock_guard<std::mutex> guard(mutex_);
    std::ostringstream text;
    for (const auto &participant : nodes_)
      for (const Node &node : participant.second)
        text << node.name_space << ' ' << node.name << ' ' << node.readers.size() + node.writers.size() << ' '
             << found(node.readers) + found(node.writers) << ',';
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
  template <class Info>
  void keep(const Info &info, bool is_gone) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (is_gone) endpoints_.erase(gid_of(info.guid()));
    else endpoints_[gid_of(info.guid())] = {info.topicName().to_string(), info.typeName().to_string()};
  }
  size_t found(const std::vector<Gid> &gids) const {
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
  const rtps::GuidPrefix_t *&own_;
  std::map<Gid, std::vector<Node>> nodes_;
  std::map<Gid, std::pair<std::string, std::string>> endpoints_;
  Bytes last_;
  std::vector<uint64_t> demanded_;
};

/// A publisher, a subscription, or both sides of a client or server.
struct Endpoint {
  DataWriter *writer = nullptr;
  DataReader *reader = nullptr;
};

class Peer {
 public:
  Peer() : graph_(own_prefix_) {
    const char *domain = getenv("ROS_DOMAIN_ID");
    const uint32_t number_of_domain = domain != nullptr ? uint32_t(atoi(domain)) : 0;
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
    stay_on_this_host(qos.wire_protocol(), number_of_domain);
    qos.wire_protocol().builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.wire_protocol().builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    const char enclave[] = "enclave=/;"; // rmw_fastrtps sends the NUL, too
    qos.user_data().setValue(Bytes(enclave, enclave + sizeof enclave));
    qos.name("/");
    participant_ = DomainParticipantFactory::get_instance()->create_participant(
        number_of_domain, qos, &graph_, StatusMask::none());
    if (participant_ == nullptr) throw std::runtime_error("no participant");
    own_prefix_ = &participant_->guid().guidPrefix;
    publisher_ = participant_->create_publisher(PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    const std::string topic = "ros_discovery_info", type = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
    announcer_ = writer(topic, type, TRANSIENT_LOCAL_DURABILITY_QOS, 1);
    reader(topic, type, TRANSIENT_LOCAL_DURABILITY_QOS, &graph_);
    announce();
  }

  ~Peer() {
    participant_->set_listener(nullptr);
    participant_->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

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
    if (what == "publisher") return add({writer("rt" + first, second), nullptr});
    if (what == "subscription") return add({nullptr, reader("rt" + first, second)});
    const std::string request = "rq" + first + "Request", reply = "rr" + first + "Reply";
    if (what == "server") return add({writer(reply, second + "_Response_"), reader(request, second + "_Request_")});
    if (what == "client") return add({writer(request, second + "_Request_"), reader(reply, second + "_Response_")});
    if (what == "nodes") return graph_.nodes();
    if (what == "endpoints") return graph_.endpoints(first);
    if (what == "announcement") return to_text(graph_.last());
    if (what == "demanded") return graph_.demanded();
    const Endpoint &endpoint = endpoints_.at(size_t(std::stoul(first)));
    if (what == "matched") return matched(endpoint, std::stoi(second));
    if (what == "publish") return publish(endpoint, from_text(second));
    if (what == "take") return to_text(take(endpoint).first);
    if (what == "call") return to_text(call(endpoint, from_text(second)));
    if (what == "serve") return to_text(serve(endpoint, from_text(second)));
    throw std::runtime_error("unknown request " + what);
  }

 private:
  /// Looks for the participants of this host, each at its own port, and listens to no multicast.
  static void stay_on_this_host(WireProtocolConfigQos &wire, uint32_t domain) {
    rtps::Locator_t own, other;
    own.port = wire.port.getUnicastPort(domain, 0);
    wire.builtin.metatrafficMulticastLocatorList.clear();
    wire.builtin.metatrafficUnicastLocatorList.push_back(own);
    rtps::IPLocator::setIPv4(other, "127.0.0.1");
    for (uint32_t number = 0; number < PARTICIPANTS; ++number) {
      other.port = wire.port.getUnicastPort(domain, number);
      wire.builtin.initialPeersList.push_back(other);
    }
  }

  Topic *topic(const std::string &name, const std::string &type) {
    TypeSupport support(new Raw(type));
    support.register_type(participant_);
    auto *topic = static_cast<Topic *>(participant_->lookup_topicdescription(name));
    return topic != nullptr ? topic : participant_->create_topic(name, type, TOPIC_QOS_DEFAULT);
  }
  DataWriter *writer(const std::string &name, const std::string &type,
                     DurabilityQosPolicyKind durability = VOLATILE_DURABILITY_QOS, int32_t depth = 10) {
    DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.durability().kind = durability;
    qos.history().depth = depth;
    qos.publish_mode().kind = SYNCHRONOUS_PUBLISH_MODE;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    DataWriter *writer = publisher_->create_datawriter(topic(name, type), qos);
    if (writer == nullptr) throw std::runtime_error("no writer of " + name);
    return writer;
  }
  DataReader *reader(const std::string &name, const std::string &type,
                     DurabilityQosPolicyKind durability = VOLATILE_DURABILITY_QOS, DataReaderListener *listener = nullptr) {
    DataReaderQos qos = DATAREADER_QOS_DEFAULT;
    qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
    qos.durability().kind = durability;
    qos.history().kind = listener != nullptr ? KEEP_ALL_HISTORY_QOS : KEEP_LAST_HISTORY_QOS;
    qos.history().depth = 10;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    DataReader *reader =
        subscriber_->create_datareader(topic(name, type), qos, listener, StatusMask::data_available());
    if (reader == nullptr) throw std::runtime_error("no reader of " + name);
    return reader;
  }

  std::string add(const Endpoint &endpoint) {
    endpoints_.push_back(endpoint);
    if (endpoint.reader != nullptr) node_.readers.push_back(gid_of(endpoint.reader->guid()));
    if (endpoint.writer != nullptr) node_.writers.push_back(gid_of(endpoint.writer->guid()));
    announce();
    return std::to_string(endpoints_.size() - 1);
  }

  void announce() {
    FastBuffer buffer;
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.serialize_encapsulation();
    cdr.serializeArray(gid_of(participant_->guid()).data(), sizeof(Gid));
    cdr << uint32_t(has_node_ ? 1 : 0);
    if (has_node_) {
      cdr << node_.name_space << node_.name;
      for (const auto *gids : {&node_.readers, &node_.writers}) {
        cdr << uint32_t(gids->size());
        for (const Gid &gid : *gids) cdr.serializeArray(gid.data(), gid.size());
      }
    }
    const auto *begin = reinterpret_cast<const uint8_t *>(buffer.getBuffer());
    Bytes bytes(begin, begin + cdr.getSerializedDataLength());
    if (!announcer_->write(&bytes)) throw std::runtime_error("the node cannot be announced");
  }

  template <class Condition>
  static void wait_for(const char *what, Condition condition) {
    const auto began = std::chrono::steady_clock::now();
    while (!condition()) {
      if (std::chrono::steady_clock::now() - began > WATCHDOG) throw std::runtime_error(std::string("no ") + what);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  static std::string matched(const Endpoint &endpoint, int count) {
    wait_for("matches", [&] {
      PublicationMatchedStatus of_writer;
      SubscriptionMatchedStatus of_reader;
      of_writer.current_count = of_reader.current_count = count;
      if (endpoint.writer != nullptr) endpoint.writer->get_publication_matched_status(of_writer);
      if (endpoint.reader != nullptr) endpoint.reader->get_subscription_matched_status(of_reader);
      return of_writer.current_count == count && of_reader.current_count == count;
    });
    return "";
  }
  static std::string publish(const Endpoint &endpoint, Bytes message) {
    if (!endpoint.writer->write(&message)) throw std::runtime_error("the message cannot be written");
    return "";
  }
  static std::pair<Bytes, SampleInfo> take(const Endpoint &endpoint) {
    std::pair<Bytes, SampleInfo> taken;
    wait_for("message", [&] {
      return endpoint.reader->take_next_sample(&taken.first, &taken.second) == ReturnCode_t::RETCODE_OK &&
             taken.second.valid_data;
    });
    return taken;
  }
  /// As rmw_fastrtps does: the request names the reader of replies, and the response names that reader and the number of
  /// the request.
  static Bytes call(const Endpoint &client, Bytes request) {
    rtps::WriteParams parameters;
    parameters.related_sample_identity().writer_guid() = client.reader->guid();
    if (!client.writer->write(&request, parameters)) throw std::runtime_error("the request cannot be written");
    for (;;) {
      const auto taken = take(client);
      const auto &related = taken.second.related_sample_identity;
      const bool is_own = related.writer_guid() == client.reader->guid() || related.writer_guid() == client.writer->guid();
      if (is_own && related.sequence_number() == parameters.sample_identity().sequence_number()) return taken.first;
    }
  }
  static Bytes serve(const Endpoint &server, Bytes response) {
    const auto taken = take(server);
    rtps::WriteParams parameters;
    parameters.related_sample_identity() = taken.second.sample_identity;
    const rtps::GUID_t &replies = taken.second.related_sample_identity.writer_guid();
    if (replies != rtps::GUID_t::unknown()) parameters.related_sample_identity().writer_guid() = replies;
    wait_for("reader of replies", [&] {
      PublicationMatchedStatus status;
      server.writer->get_publication_matched_status(status);
      return status.current_count > 0;
    });
    if (!server.writer->write(&response, parameters)) throw std::runtime_error("the response cannot be written");
    return taken.first;
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

  const rtps::GuidPrefix_t *own_prefix_ = nullptr;
  Graph graph_;
  DomainParticipant *participant_;
  Publisher *publisher_;
  Subscriber *subscriber_;
  DataWriter *announcer_;
  Node node_;
  bool has_node_ = false;
  std::vector<Endpoint> endpoints_;
};

} // namespace

int main() {
  Peer peer;
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
