// A participant of ROS 2 Humble, made by hand on Fast DDS 2, the library of Humble's time. Endpoints have no USER_DATA, and
// the identities of requests and responses are beside them, as rmw_fastrtps of Humble has them.
#include "humble.hpp"

#include <memory>

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
using eprosima::fastrtps::types::ReturnCode_t;
using namespace humble;
namespace rtps = eprosima::fastrtps::rtps;

Gid gid_of(const rtps::GUID_t &guid) {
  Gid gid{};
  memcpy(gid.data(), guid.guidPrefix.value, 12);
  memcpy(gid.data() + 12, guid.entityId.value, 4);
  return gid;
}

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

/// Reports what this participant has received.
class Listener : public DomainParticipantListener {
 public:
  Listener(Graph &graph, const rtps::GuidPrefix_t *&own) : graph_(graph), own_(own) {}

  void on_data_available(DataReader *reader) override {
    Bytes bytes;
    SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
      const auto &prefix = info.sample_identity.writer_guid().guidPrefix;
      if (info.valid_data && (own_ == nullptr || prefix != *own_)) graph_.announced(bytes);
    }
  }
  void on_subscriber_discovery(DomainParticipant *, rtps::ReaderDiscoveryInfo &&found) override {
    keep(found.info, found.status == rtps::ReaderDiscoveryInfo::REMOVED_READER);
  }
  void on_publisher_discovery(DomainParticipant *, rtps::WriterDiscoveryInfo &&found) override {
    keep(found.info, found.status == rtps::WriterDiscoveryInfo::REMOVED_WRITER);
  }

 private:
  template <class Info>
  void keep(const Info &info, bool is_gone) {
    if (is_gone) graph_.gone(gid_of(info.guid()));
    else graph_.found(gid_of(info.guid()), info.topicName().to_string(), info.typeName().to_string());
  }

  Graph &graph_;
  const rtps::GuidPrefix_t *&own_;
};

/// A publisher, a subscription, or both sides of a client or server.
struct Endpoint {
  DataWriter *writer = nullptr;
  DataReader *reader = nullptr;
};

class FastDdsPeer : public Peer {
 public:
  FastDdsPeer() : listener_(graph_, own_prefix_) {
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
    stay_on_this_host(qos.wire_protocol(), domain());
    qos.wire_protocol().builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.wire_protocol().builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    const char enclave[] = "enclave=/;"; // rmw_fastrtps sends the NUL, too
    qos.user_data().setValue(Bytes(enclave, enclave + sizeof enclave));
    qos.name("/");
    participant_ = DomainParticipantFactory::get_instance()->create_participant(
        domain(), qos, &listener_, StatusMask::none());
    if (participant_ == nullptr) throw std::runtime_error("no participant");
    own_prefix_ = &participant_->guid().guidPrefix;
    publisher_ = participant_->create_publisher(PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    announcer_ = writer(DISCOVERY_TOPIC, DISCOVERY_TYPE, TRANSIENT_LOCAL_DURABILITY_QOS, 1);
    reader(DISCOVERY_TOPIC, DISCOVERY_TYPE, TRANSIENT_LOCAL_DURABILITY_QOS, &listener_);
    Peer::announce();
  }

  ~FastDdsPeer() override {
    participant_->set_listener(nullptr);
    participant_->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant_);
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

  Gid gid() const override { return gid_of(participant_->guid()); }
  void announce(const Bytes &announcement) override {
    Bytes bytes = announcement;
    if (!announcer_->write(&bytes)) throw std::runtime_error("the node cannot be announced");
  }
  void make(Role, const std::string &reads, const std::string &read_type, const std::string &writes,
            const std::string &written_type, Node &node) override {
    Endpoint endpoint;
    if (!reads.empty()) node.readers.push_back(gid_of((endpoint.reader = reader(reads, read_type))->guid()));
    if (!writes.empty()) node.writers.push_back(gid_of((endpoint.writer = writer(writes, written_type))->guid()));
    endpoints_.push_back(endpoint);
  }
  bool is_matched(size_t number, int count) override {
    const Endpoint &endpoint = endpoints_[number];
    PublicationMatchedStatus of_writer;
    SubscriptionMatchedStatus of_reader;
    of_writer.current_count = of_reader.current_count = count;
    if (endpoint.writer != nullptr) endpoint.writer->get_publication_matched_status(of_writer);
    if (endpoint.reader != nullptr) endpoint.reader->get_subscription_matched_status(of_reader);
    return of_writer.current_count == count && of_reader.current_count == count;
  }
  void publish(size_t number, Bytes message) override {
    if (!endpoints_[number].writer->write(&message)) throw std::runtime_error("the message cannot be written");
  }
  Bytes take(size_t number) override { return take(endpoints_[number]).first; }
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
  Bytes call(size_t number, Bytes request) override {
    const Endpoint &client = endpoints_[number];
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
  Bytes serve(size_t number, Bytes response) override {
    const Endpoint &server = endpoints_[number];
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

  const rtps::GuidPrefix_t *own_prefix_ = nullptr;
  Listener listener_;
  DomainParticipant *participant_;
  Publisher *publisher_;
  Subscriber *subscriber_;
  DataWriter *announcer_;
  std::vector<Endpoint> endpoints_;
};

} // namespace

int main() {
  FastDdsPeer peer;
  serve_requests(peer);
}
