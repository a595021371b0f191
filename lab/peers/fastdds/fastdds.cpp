// Measures Fast DDS itself, without a client library above it, through its C++ API. The contract is in
// ../README.md.
//
// Fairness: Fast DDS as it is installed (2 of Debian's package, or 3: ../fastdds3); `participant_qos` has the settings
// of the variants. The payload is an unbounded sequence of octets or string, in CDR, written here by hand as its generator
// would (a length and one copy), so that no generator is needed. History memory is PREALLOCATED_WITH_REALLOC, as rmw_fastrtps
// has it.
//
// Callbacks are those of DataReaderListener: a thread of the transport runs them, or, within a process, the writer's own
// thread. `--executor single` and `isolated` wait with WaitSets instead, on one thread or on one for each subscription; so
// does every node of a chain. Placement `composed`: Fast DDS delivers from writer to reader without a transport, but
// serialized; it cannot pass unbounded data by pointer, so there is no `intra`. The variant `zero_copy` has data of a fixed
// size: loaned from the writer, written in place, and read there by another process (data sharing). There, a reader that its
// writer overtakes crashes in Fast DDS (see zero_copy_overrun.cpp).
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../contract.h"
#include "versions.hpp"

namespace {

using namespace eprosima::fastdds::dds;
using namespace versions;
using versions::c_TimeInfinite;
using versions::Duration_t;
using versions::OK;
using versions::ReturnCode_t;

constexpr int ACKNOWLEDGED_WITHIN_SECONDS = 2;
constexpr uint64_t GONE_WITHIN_MILLIS = 200;
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
constexpr uint64_t ONWARD_WITHIN_MILLIS = 5000;
constexpr uint32_t SEGMENT_BYTES = 64 << 20;
constexpr uint32_t SOCKET_BUFFER_BYTES = 12 << 20;
/// The sizes of the representation header (CDR, little-endian) and of the length that follows it.
constexpr uint32_t HEAD_BYTES = 4, LENGTH_BYTES = 4;

[[noreturn]] void failed(const char *what) { contract_error("failed", what, "Fast DDS refused it"); }

using Payload = std::vector<uint8_t>;

/// A sequence of octets or a string.
class Unbounded : public Type {
 public:
  explicit Unbounded(bool is_string) : terminator_(is_string ? 1 : 0) {
    // The memory reserved in advance; it grows with the first message.
    describe(is_string ? "feros_lab::String" : "feros_lab::Bytes", HEAD_BYTES + LENGTH_BYTES + 256);
  }

  bool write_to(const void *data, SerializedPayload_t &to) override {
    const Payload &payload = *static_cast<const Payload *>(data);
    const uint32_t length = uint32_t(payload.size()) + terminator_, whole = HEAD_BYTES + LENGTH_BYTES + length;
    if (to.max_size < whole) return false;
    to.encapsulation = CDR_LE;
    to.length = whole;
    const uint8_t head[HEAD_BYTES] = {0, CDR_LE, 0, 0};
    memcpy(to.data, head, HEAD_BYTES);
    memcpy(to.data + HEAD_BYTES, &length, LENGTH_BYTES);
    memcpy(to.data + HEAD_BYTES + LENGTH_BYTES, payload.data(), payload.size());
    if (terminator_ == 1) to.data[whole - 1] = 0;
    return true;
  }

  bool read_from(SerializedPayload_t &from, void *data) override {
    uint32_t length;
    if (from.length < HEAD_BYTES + LENGTH_BYTES || from.data[1] != CDR_LE) return false;
    memcpy(&length, from.data + HEAD_BYTES, LENGTH_BYTES);
    if (length < terminator_ || length > from.length - HEAD_BYTES - LENGTH_BYTES) return false;
    const uint8_t *begin = from.data + HEAD_BYTES + LENGTH_BYTES;
    static_cast<Payload *>(data)->assign(begin, begin + length - terminator_);
    return true;
  }

  uint32_t size_of(const void *data) override {
    return HEAD_BYTES + LENGTH_BYTES + uint32_t(static_cast<const Payload *>(data)->size()) + terminator_;
  }

  void *make() override { return new Payload; }
  void unmake(void *data) override { delete static_cast<Payload *>(data); }

 private:
  uint32_t terminator_;
};

/// An array of octets: bounded and plain, so that its memory is its representation.
class Plain : public Type {
 public:
  explicit Plain(uint32_t size) : size_(size) { describe("feros_lab::Array", HEAD_BYTES + size); }

  bool write_to(const void *data, SerializedPayload_t &to) override {
    if (to.max_size < HEAD_BYTES + size_) return false;
    to.encapsulation = CDR_LE;
    to.length = HEAD_BYTES + size_;
    const uint8_t head[HEAD_BYTES] = {0, CDR_LE, 0, 0};
    memcpy(to.data, head, HEAD_BYTES);
    memcpy(to.data + HEAD_BYTES, data, size_);
    return true;
  }

  bool read_from(SerializedPayload_t &from, void *data) override {
    if (from.length < HEAD_BYTES + size_) return false;
    memcpy(data, from.data + HEAD_BYTES, size_);
    return true;
  }

  uint32_t size_of(const void *) override { return HEAD_BYTES + size_; }
  void *make() override { return calloc(1, size_); }
  void unmake(void *data) override { free(data); }
  bool is_array() const override { return true; }

 private:
  uint32_t size_;
};

/// The settings of the contract and of the variant, and the parents of all entities.
class Domain {
 public:
  Domain(const contract &settings, const std::string &variant) : c(settings), is_plain(variant == "zero_copy") {
    const char *domain = getenv("ROS_DOMAIN_ID");
    auto *factory = DomainParticipantFactory::get_instance();
    participant_ = factory->create_participant(domain != nullptr ? uint32_t(atoi(domain)) : 0, participant_qos(variant));
    if (participant_ == nullptr) failed("a participant");
    publisher_ = participant_->create_publisher(PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
    if (publisher_ == nullptr || subscriber_ == nullptr) failed("a publisher or a subscriber");
    if (is_plain) type_.reset(new Plain(uint32_t(c.size_bytes)));
    else type_.reset(new Unbounded(c.is_string));
    if (type_.register_type(participant_) != OK) failed("a type");
  }

  ~Domain() {
    participant_->delete_contained_entities();
    DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  DataWriter *writer(const std::string &topic) {
    DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
    publisher_->get_default_datawriter_qos(qos);
    endpoint_qos(qos);
    if (c.publish != CONTRACT_PUBLISH_DEFAULT)
      qos.publish_mode().kind = c.publish == CONTRACT_PUBLISH_SYNC ? SYNCHRONOUS_PUBLISH_MODE : ASYNCHRONOUS_PUBLISH_MODE;
    DataWriter *writer = publisher_->create_datawriter(topic_of(topic), qos);
    if (writer == nullptr) failed("a writer");
    return writer;
  }

  DataReader *reader(const std::string &topic) {
    DataReaderQos qos = DATAREADER_QOS_DEFAULT;
    subscriber_->get_default_datareader_qos(qos);
    endpoint_qos(qos);
    DataReader *reader = subscriber_->create_datareader(topic_of(topic), qos);
    if (reader == nullptr) failed("a reader");
    return reader;
  }

  const contract &c;
  const bool is_plain;

 private:
  static DomainParticipantQos participant_qos(const std::string &variant) {
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    if (variant != "recommended" && variant != "udp") return qos;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    if (variant == "udp") return qos;
    udp->sendBufferSize = udp->receiveBufferSize = SOCKET_BUFFER_BYTES;
    qos.transport().send_socket_buffer_size = qos.transport().listen_socket_buffer_size = SOCKET_BUFFER_BYTES;
    auto memory = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
    memory->segment_size(SEGMENT_BYTES);
    qos.transport().user_transports.push_back(memory);
    return qos;
  }

  template <class Qos>
  void endpoint_qos(Qos &qos) const {
    qos.reliability().kind = c.is_reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    qos.durability().kind = c.is_transient_local ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
    qos.history().kind = c.is_keep_all ? KEEP_ALL_HISTORY_QOS : KEEP_LAST_HISTORY_QOS;
    qos.history().depth = int32_t(c.depth);
    // The limit on samples that a reader or writer keeps, 5000 by default, must not be below the depth.
    if (int32_t(c.depth) > qos.resource_limits().max_samples_per_instance) {
      qos.resource_limits().max_samples_per_instance = int32_t(c.depth);
      qos.resource_limits().max_samples = int32_t(c.depth);
    }
    if (c.deadline_ms > 0) qos.deadline().period = Duration_t(c.deadline_ms / 1000);
    qos.endpoint().history_memory_policy = is_plain ? versions::rtps::PREALLOCATED_MEMORY_MODE
                                                    : versions::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  }

  Topic *topic_of(const std::string &name) {
    Topic *topic = static_cast<Topic *>(participant_->lookup_topicdescription(name));
    if (topic == nullptr) topic = participant_->create_topic(name, type_.get_type_name(), TOPIC_QOS_DEFAULT);
    if (topic == nullptr) failed("a topic");
    return topic;
  }

  TypeSupport type_;
  DomainParticipant *participant_;
  Publisher *publisher_;
  Subscriber *subscriber_;
};

/// A subscription and its callback, and in a relay also the writer that passes messages on.
class Reader : public DataReaderListener {
 public:
  Reader(Domain &domain, const contract *counting, const std::string &topic, uint64_t index)
      : reader(domain.reader(topic)), domain_(domain) {
    contract_samples_init(&samples, counting, index);
    contract_published_init(&passed_on, counting);
  }

  void listen() {
    if (reader->set_listener(this, StatusMask::data_available()) != OK) failed("a listener");
    on_data_available(reader);
  }

  void leave() { reader->set_listener(nullptr); }

  void on_data_available(DataReader *) override {
    SampleInfo info;
    if (domain_.is_plain) return take_loans();
    while (reader->take_next_sample(&payload_, &info) == OK)
      if (info.valid_data) received(payload_.data(), payload_.size(), &payload_);
  }

  DataReader *reader;
  DataWriter *onward = nullptr;
  contract_samples samples;
  contract_published passed_on;

 private:
  void take_loans() {
    LoanableSequence<uint8_t> loans;
    SampleInfoSeq infos;
    while (reader->take(loans, infos) == OK) {
      for (LoanableCollection::size_type i = 0; i < loans.length(); ++i)
        if (infos[i].valid_data) received(&loans[i], domain_.c.size_bytes, &loans[i], &infos[i]);
      reader->return_loan(loans, infos);
    }
  }

  /// A writer that shares its data may overwrite a sample while it is read. Fast DDS asks readers of loans to check
  /// afterwards whether the sample is still valid (`is_sample_valid`). The check does not apply to copies.
  void received(const uint8_t *data, size_t size, void *sample, const SampleInfo *loaned = nullptr) {
    const uint64_t now = contract_now();
    const contract_seen seen = contract_see(&domain_.c, data, size);
    if (loaned != nullptr && !reader->is_sample_valid(sample, loaned)) return;
    if (onward != nullptr) {
      if (is_written(onward->write(sample))) contract_note_published(&passed_on, seen.number, now, now);
    }
    contract_note_seen(&samples, seen, now);
  }

  Domain &domain_;
  Payload payload_;
};

/// A WaitSet with a thread for some subscriptions.
class Spin {
 public:
  explicit Spin(std::vector<Reader *> readers) : readers_(std::move(readers)) {
    for (Reader *reader : readers_) {
      reader->reader->get_statuscondition().set_enabled_statuses(StatusMask::data_available());
      set_.attach_condition(reader->reader->get_statuscondition());
    }
    set_.attach_condition(end_);
    thread_ = std::thread([this] { run(); });
  }

  ~Spin() {
    end_.set_trigger_value(true);
    thread_.join();
  }

 private:
  void run() {
    ConditionSeq active;
    while (!end_.get_trigger_value()) {
      set_.wait(active, c_TimeInfinite);
      for (Reader *reader : readers_) reader->on_data_available(reader->reader);
    }
  }

  std::vector<Reader *> readers_;
  WaitSet set_;
  GuardCondition end_;
  std::thread thread_;
};

size_t matches_of(const DataWriter &writer) {
  PublicationMatchedStatus status;
  if (writer.get_publication_matched_status(status) != OK) failed("the number of subscriptions");
  return size_t(status.current_count);
}

void wait_for_matches(const DataWriter &writer, const contract &c, uint64_t wanted) {
  while (matches_of(writer) < wanted)
    if (contract_wait_stopped(&c, 2)) contract_error("not-matched", "the subscriptions were not found in time", nullptr);
}

void publish_all(DataWriter &writer, const Domain &domain, contract_published &sent) {
  const contract &c = domain.c;
  Payload payload(c.size_bytes);
  contract_fill(&c, payload.data());
  contract_pace pace;
  uint64_t number, refused = 0;
  contract_published_init(&sent, &c);
  contract_ready();
  contract_pace_begin(&pace, &c);
  while (contract_pace_next(&pace, &number)) {
    void *loan = nullptr;
    const uint64_t asked = domain.is_plain ? contract_now() : 0;
    // If readers hold all loans, the message is not sent; a real program would have to wait or drop it too.
    if (domain.is_plain && writer.loan_sample(loan) != OK) {
      ++refused;
      continue;
    }
    const uint64_t at = contract_stamp_loan(&c, domain.is_plain ? loan : payload.data(), number, asked);
    if (is_written(writer.write(domain.is_plain ? loan : &payload))) contract_note_published(&sent, number, at, contract_now());
    else if (++refused, domain.is_plain) writer.discard_loan(loan);
  }
  if (refused > 0) fprintf(stderr, "fastdds: %llu messages were refused by write()\n", (unsigned long long) refused);
}

/// Waits until the published messages have arrived, or can no longer arrive.
void wait_delivered(DataWriter &writer, const contract &c) {
  if (c.is_reliable) writer.wait_for_acknowledgments(Duration_t(ACKNOWLEDGED_WITHIN_SECONDS, 0));
  const uint64_t until = contract_now() + GONE_WITHIN_MILLIS * 1000000u;
  while (!c.is_reliable && matches_of(writer) > 0 && contract_now() < until) contract_sleep_millis(2);
}

void talker(Domain &domain) {
  DataWriter *writer = domain.writer(domain.c.topic);
  wait_for_matches(*writer, domain.c, domain.c.matched);
  contract_published sent;
  publish_all(*writer, domain, sent);
  wait_delivered(*writer, domain.c);
  contract_end(&sent, nullptr, 0);
}

/// Calls back on the engine's threads, or on as many threads of this program as the executor requires.
std::vector<std::unique_ptr<Spin>> start(const contract &c, const std::vector<Reader *> &readers, bool isolated) {
  std::vector<std::unique_ptr<Spin>> spins;
  if (isolated || c.executor == CONTRACT_EXECUTOR_ISOLATED)
    for (Reader *reader : readers) spins.push_back(std::make_unique<Spin>(std::vector<Reader *>{reader}));
  else if (c.executor == CONTRACT_EXECUTOR_SINGLE) spins.push_back(std::make_unique<Spin>(readers));
  else
    for (Reader *reader : readers) reader->listen();
  return spins;
}

void listener(Domain &domain) {
  const contract &c = domain.c;
  const bool relays = c.role == CONTRACT_RELAY;
  DataWriter *onward = relays ? domain.writer(c.to) : nullptr;
  Reader reader(domain, &c, c.topic, c.index);
  reader.onward = onward;
  auto spins = start(c, {&reader}, false);
  const uint64_t onward_until = contract_now() + ONWARD_WITHIN_MILLIS * 1000000u;
  while (relays && matches_of(*onward) == 0 && contract_now() < onward_until && !contract_wait_stopped(&c, 2)) {
  }
  contract_ready();
  while (!contract_samples_done(&reader.samples) && !contract_wait_stopped(&c, 50)) {
  }
  reader.leave();
  spins.clear();
  contract_samples *samples = &reader.samples;
  contract_end(relays ? &reader.passed_on : nullptr, &samples, 1);
  if (relays) wait_delivered(*onward, c);
}

void pair(Domain &domain) {
  const contract &c = domain.c;
  DataWriter *writer = domain.writer(c.topic);
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  std::vector<contract_samples *> samples;
  for (uint64_t i = 0; i < c.subscriptions; ++i) {
    readers.push_back(std::make_unique<Reader>(domain, &c, c.topic, i));
    all.push_back(readers.back().get());
    samples.push_back(&all.back()->samples);
  }
  auto spins = start(c, all, false);
  wait_for_matches(*writer, c, c.subscriptions);
  contract_published sent;
  publish_all(*writer, domain, sent);
  contract_wait_received(&c, samples.data(), samples.size(), sent.sent);
  for (Reader *reader : all) reader->leave();
  spins.clear();
  contract_end(&sent, samples.data(), samples.size());
}

void chain(Domain &domain) {
  const contract &c = domain.c;
  contract counting = c;
  counting.keeps_samples = false;
  const size_t links = c.nodes - 1;
  std::vector<DataWriter *> writers;
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<Reader *> all;
  for (size_t i = 0; i < links; ++i) {
    const std::string topic = std::string(c.topic) + "_" + std::to_string(i);
    writers.push_back(domain.writer(topic));
    readers.push_back(std::make_unique<Reader>(domain, i + 1 == links ? &c : &counting, topic, 0));
    all.push_back(readers.back().get());
    if (i > 0) all[i - 1]->onward = writers[i];
  }
  auto spins = start(c, all, true);
  for (DataWriter *writer : writers) wait_for_matches(*writer, c, 1);
  contract_published sent;
  publish_all(*writers[0], domain, sent);
  contract_samples *samples = &all.back()->samples;
  contract_wait_received(&c, &samples, 1, sent.sent);
  spins.clear();
  contract_end(&sent, &samples, 1);
}

/// DDS has no nodes: a participant comes nearest, so this creates N of them.
void idle(const contract &c, const std::string &variant) {
  std::vector<std::unique_ptr<Domain>> domains;
  for (uint64_t i = 0; i < c.nodes; ++i) domains.push_back(std::make_unique<Domain>(c, variant));
  contract_stay(&c);
  domains.clear();
  contract_end(nullptr, nullptr, 0);
}

} // namespace

int main(int argc, char **argv) {
  static const char *const variants[] = {"default", "recommended", "udp", "zero_copy", nullptr};
  contract_extra variant = {"--variant", variants, "default"};
  contract c;
  contract_parse(&c, argc, argv, &variant, 1);
  contract_hello(&c, "fastdds", VERSION);
  const std::string chosen = variant.value;
  if (c.placement == CONTRACT_INTRA) contract_error("unsupported", "Fast DDS cannot pass unbounded data by pointer", nullptr);
  if (c.executor == CONTRACT_EXECUTOR_MULTI) contract_error("unsupported", "Fast DDS has no executor", nullptr);
  if (chosen == "zero_copy" && (c.is_string || c.is_keep_all || c.role == CONTRACT_RELAY || c.role == CONTRACT_CHAIN))
    contract_error("unsupported", "zero copy is for octets of a fixed size, kept last, that go to their readers directly", nullptr);
  if (c.role == CONTRACT_NODES) {
    idle(c, chosen);
    return 0;
  }
  Domain domain(c, chosen);
  switch (c.role) {
    case CONTRACT_TALKER: talker(domain); break;
    case CONTRACT_LISTENER:
    case CONTRACT_RELAY: listener(domain); break;
    case CONTRACT_PAIR: pair(domain); break;
    case CONTRACT_CHAIN: chain(domain); break;
    default: contract_error("unsupported", "Fast DDS has no such role", nullptr);
  }
  return 0;
}
