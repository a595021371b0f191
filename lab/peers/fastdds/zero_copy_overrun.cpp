// Proves that the SIGSEGV of a data-sharing reader whose writer writes without pause is a fault of Fast
// DDS (docs/measurements/0009-conditions-of-a-table.md). The reader has no listener and takes nothing: no code but Fast DDS's
// touches a sample in its process.
//
//   c++ -std=c++17 -O2 zero_copy_overrun.cpp -o /tmp/zero_copy_overrun -lfastrtps -lfastcdr && /tmp/zero_copy_overrun
//
// It prints for each of ten runs the signal that ended the reader's process.
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::types::ReturnCode_t;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint32_t SIZE = 1024;

/// A kilobyte, with its memory as its representation.
class Kilobyte : public TopicDataType {
 public:
  Kilobyte() {
    setName("Kilobyte");
    m_typeSize = 4 + SIZE;
  }
  bool serialize(void *data, eprosima::fastrtps::rtps::SerializedPayload_t *to) override {
    to->length = m_typeSize;
    memset(to->data, 0, 4);
    memcpy(to->data + 4, data, SIZE);
    return true;
  }
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *from, void *data) override {
    memcpy(data, from->data + 4, SIZE);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void *) override {
    return [this] { return m_typeSize; };
  }
  void *createData() override { return calloc(1, SIZE); }
  void deleteData(void *data) override { free(data); }
  bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
  bool is_bounded() const override { return true; }
  bool is_plain() const override { return true; }
  bool construct_sample(void *) const override { return true; }
};

template <class Qos>
void settle(Qos &qos) {
  qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  qos.history().kind = KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 10;
  qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_MEMORY_MODE;
}

DomainParticipant *participant(uint32_t domain, TypeSupport &type) {
  DomainParticipant *made = DomainParticipantFactory::get_instance()->create_participant(domain, PARTICIPANT_QOS_DEFAULT);
  if (made == nullptr || type.register_type(made) != ReturnCode_t::RETCODE_OK) abort();
  return made;
}

void read(uint32_t domain) {
  TypeSupport type(new Kilobyte);
  DomainParticipant *const own = participant(domain, type);
  DataReaderQos qos = DATAREADER_QOS_DEFAULT;
  settle(qos);
  Topic *topic = own->create_topic("overrun", "Kilobyte", TOPIC_QOS_DEFAULT);
  if (own->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, qos) == nullptr) abort();
  std::this_thread::sleep_for(milliseconds(4000));
  _exit(0);
}

void write(uint32_t domain) {
  TypeSupport type(new Kilobyte);
  DomainParticipant *const own = participant(domain, type);
  DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
  settle(qos);
  Topic *topic = own->create_topic("overrun", "Kilobyte", TOPIC_QOS_DEFAULT);
  DataWriter *writer = own->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos);
  if (writer == nullptr) abort();
  PublicationMatchedStatus matched;
  const auto until = steady_clock::now() + milliseconds(3000);
  do {
    std::this_thread::sleep_for(milliseconds(5));
    writer->get_publication_matched_status(matched);
  } while (matched.current_count == 0 && steady_clock::now() < until);
  for (const auto end = steady_clock::now() + milliseconds(1000); steady_clock::now() < end;) {
    void *loan = nullptr;
    if (writer->loan_sample(loan) != ReturnCode_t::RETCODE_OK) continue;
    if (!writer->write(loan)) writer->discard_loan(loan);
  }
  _exit(0);
}

int main() {
  const uint32_t domain = 100 + uint32_t(getpid()) % 100;
  int by_signal = 0;
  for (int round = 0; round < 10; ++round) {
    const pid_t reader = fork();
    if (reader == 0) read(domain);
    const pid_t writer = fork();
    if (writer == 0) write(domain);
    int status = 0;
    waitpid(writer, nullptr, 0);
    waitpid(reader, &status, 0);
    if (!WIFSIGNALED(status)) continue;
    ++by_signal;
    printf("round %d: the reader ended by signal %d (%s)\n", round, WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  printf("%d of 10\n", by_signal);
  return 0;
}
