// Fast DDS 2, from 2.6 (ROS 2 Humble) to 2.14 (Jazzy); see api.hpp. Only 2.9 has been tried.
#pragma once
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include <fastrtps/config.h>

#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/core/status/DeadlineMissedStatus.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/common/Guid.h>
#include <fastdds/rtps/common/SequenceNumber.h>
#include <fastdds/rtps/common/SerializedPayload.h>
#include <fastdds/rtps/common/Time_t.h>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/participant/ParticipantDiscoveryInfo.h>
#include <fastdds/rtps/reader/ReaderDiscoveryInfo.h>
#include <fastdds/rtps/transport/ChainingTransport.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastdds/rtps/writer/WriterDiscoveryInfo.h>
#include <fastrtps/attributes/LibrarySettingsAttributes.h>
#include <fastrtps/types/TypesBase.h>
#include <fastrtps/utils/IPLocator.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

#if FASTRTPS_VERSION_MAJOR != 2 || FASTRTPS_VERSION_MINOR < 6
#error "Fast DDS 2.6 or newer is needed"
#endif

namespace feros {

namespace rtps = eprosima::fastrtps::rtps;
namespace transports = eprosima::fastdds::rtps;

namespace fast {

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::c_TimeInfinite;
using eprosima::fastrtps::Duration_t;

constexpr int RETCODE_OK = 0;
constexpr int RETCODE_ERROR = 1;
constexpr int RETCODE_INCONSISTENT_POLICY = 8;
constexpr int RETCODE_TIMEOUT = 10;
constexpr int RETCODE_NO_DATA = 11;

} // namespace fast

} // namespace feros

#include "found.hpp"

namespace feros {

// A transport on top of another transport, which sends through that transport.
class PassingTransport : public transports::ChainingTransport
{
public:

    using ChainingTransport::ChainingTransport;

    bool send(
            rtps::SenderResource* lower,
            const rtps::octet* data,
            uint32_t size_bytes,
            rtps::LocatorsIterator* begin,
            rtps::LocatorsIterator* end,
            const std::chrono::steady_clock::time_point& until) override
    {
        return lower->send(data, size_bytes, begin, end, until);
    }
};

constexpr const char* VERSION = FASTRTPS_VERSION_STR;

inline int code_of(const eprosima::fastrtps::types::ReturnCode_t& code)
{
    return static_cast<int>(code());
}

// Endpoints accept a pool of the shim only from 2.12 on, and there, a payload does not name its
// owner. So messages are copied once when they are written and once when they are taken.
inline bool is_lent(const rtps::SerializedPayload_t&)
{
    return false;
}

class AnyType : public fast::TopicDataType
{
    using Payload = rtps::SerializedPayload_t;
    using Key = rtps::InstanceHandle_t;

public:

    AnyType(const std::string& name, uint32_t reserved_bytes)
    {
        setName(name.c_str());
        m_typeSize = reserved_bytes;
        m_isGetKeyDefined = false;
    }

    virtual bool write_to(const Written& written, Payload& payload) = 0;
    virtual bool read_from(const Payload& payload, Received& received) = 0;

    bool serialize(void* data, Payload* payload) override
    {
        return write_to(*static_cast<const Written*>(data), *payload);
    }

    bool deserialize(Payload* payload, void* data) override
    {
        return read_from(*payload, *static_cast<Received*>(data));
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override
    {
        return [size = static_cast<const Written*>(data)->buffer->size]
               {
                   return size;
               };
    }

    void* createData() override
    {
        return new Received;
    }

    void deleteData(void* data) override
    {
        delete static_cast<Received*>(data);
    }

    bool getKey(void*, Key*, bool) override
    {
        return false;
    }
};

class AnyDiscovery : public fast::DomainParticipantListener
{
public:

    // Returns whether to ignore the participant from now on. Ignoring is possible from 2.10 on.
    virtual bool on_participant(const FoundParticipant& found) = 0;
    virtual void on_endpoint(const FoundEndpoint& found) = 0;

#if FASTRTPS_VERSION_MINOR >= 10
    void on_participant_discovery(
            fast::DomainParticipant*,
            rtps::ParticipantDiscoveryInfo&& info,
            bool& should_be_ignored) override
    {
        should_be_ignored = found(info);
    }

#else
    void on_participant_discovery(
            fast::DomainParticipant*,
            rtps::ParticipantDiscoveryInfo&& info) override
    {
        found(info);
    }

#endif // if FASTRTPS_VERSION_MINOR >= 10

    void on_subscriber_discovery(
            fast::DomainParticipant*,
            rtps::ReaderDiscoveryInfo&& info) override
    {
        using Status = rtps::ReaderDiscoveryInfo;
        const bool alive = info.status == Status::DISCOVERED_READER || info.status == Status::CHANGED_QOS_READER;
        found(info.info, false, alive);
    }

    void on_publisher_discovery(fast::DomainParticipant*, rtps::WriterDiscoveryInfo&& info) override
    {
        using Status = rtps::WriterDiscoveryInfo;
        const bool alive = info.status == Status::DISCOVERED_WRITER || info.status == Status::CHANGED_QOS_WRITER;
        found(info.info, true, alive);
    }

private:

    bool found(const rtps::ParticipantDiscoveryInfo& discovered)
    {
        using Status = rtps::ParticipantDiscoveryInfo;
        const auto& info = discovered.info;
        const bool alive = discovered.status == Status::DISCOVERED_PARTICIPANT ||
                discovered.status == Status::CHANGED_QOS_PARTICIPANT;
        // Fast DDS 2 does not read the versions that others announce.
        return on_participant({info.m_guid, alive, info.m_userData.data_vec(),
                               {info.m_VendorId[0], info.m_VendorId[1]}, 0, {}});
    }

    template<class Info>
    void found(const Info& info, bool is_writer, bool alive)
    {
        const auto& qos = info.m_qos;
        on_endpoint({info.guid(), is_writer, alive, info.topicName().c_str(), info.typeName().c_str(),
                     qos.m_userData.data_vec(), qos.m_deadline, qos.m_lifespan, qos.m_liveliness, qos.m_reliability,
                     qos.m_durability, nullptr});
    }
};

// Fast DDS 2 reads the file that FASTRTPS_DEFAULT_PROFILES_FILE names. If that variable is not set,
// this function uses the variable of Fast DDS 3.
//
// Unless a file says otherwise, the participants of a process send to each other over their
// transports. The intra-process delivery of Fast DDS 2 is off, because it may deliver messages to
// readers that another thread is deleting (docs/decisions/0021-fastdds-engine.md).
inline void load_profiles(fast::DomainParticipantFactory& factory)
{
    static const bool loaded = [&factory]
            {
                eprosima::fastrtps::LibrarySettingsAttributes settings;
                settings.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
                eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
                const char* file = std::getenv("FASTDDS_DEFAULT_PROFILES_FILE");
                if (file != nullptr && std::getenv("FASTRTPS_DEFAULT_PROFILES_FILE") == nullptr)
                {
                    factory.load_XML_profiles_file(file);
                }
                factory.load_profiles();
                return true;
            }();
    static_cast<void>(loaded);
}

// The number that a profile gives to a participant, reserved while the participant exists. Before
// 2.10.1, creating a second participant with the same number in a process destroys the first
// participant (eProsima/Fast-DDS#3443).
class ParticipantNumber
{
public:

    // Reserves the number unless another participant has it. If the number is negative, Fast DDS
    // chooses one.
    bool claim(int32_t number)
    {
        std::lock_guard<std::mutex> guard(used().first);
        if (number >= 0 && !used().second.insert(number).second)
        {
            return false;
        }
        number_ = number;
        return true;
    }

    ~ParticipantNumber()
    {
        std::lock_guard<std::mutex> guard(used().first);
        used().second.erase(number_);
    }

private:

    static std::pair<std::mutex, std::set<int32_t>>& used()
    {
        // Never destroyed, because participants may outlive static objects.
        static auto* used = new std::pair<std::mutex, std::set<int32_t>>;
        return *used;
    }

    int32_t number_ = -1;
};

// The port that a participant tries first; if it is in use, the participant tries the next ports.
// This function exists because Fast DDS 2.9 never reuses the numbers of a process's participants,
// while other participants only try the ports of the first few numbers (eProsima/Fast-DDS#3437).
inline uint32_t first_port(const fast::WireProtocolConfigQos& wire, uint32_t domain_id)
{
    return wire.port.getUnicastPort(domain_id, 0);
}

// How long a writer that keeps all messages waits for acknowledgements before it checks for room.
constexpr std::chrono::milliseconds ROOM_AGAIN{5};

// Fast DDS 2 returns only whether a message was written; a failure may be a timeout or an error. A
// writer that keeps all messages stops waiting at any acknowledgement, even at one that makes no
// room (StatefulWriter::try_remove_change), so `write` is repeated until the time is over.
inline int write(fast::DataWriter& writer, Written& written, rtps::WriteParams& parameters)
{
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    if (writer.write(&written, parameters))
    {
        return fast::RETCODE_OK;
    }
    const auto& qos = writer.get_qos();
    const std::chrono::nanoseconds longest(qos.reliability().max_blocking_time.to_ns());
    const auto is_over = [&]
            {
                return Clock::now() - began >= longest / 10 * 9;
            };
    const bool waits_for_room =
            qos.history().kind == fast::KEEP_ALL_HISTORY_QOS && qos.reliability().kind == fast::RELIABLE_RELIABILITY_QOS;
    while (waits_for_room && !is_over())
    {
        writer.wait_for_acknowledgments(fast::Duration_t(
                    0, static_cast<uint32_t>(std::chrono::nanoseconds(ROOM_AGAIN).count())));
        if (writer.write(&written, parameters))
        {
            return fast::RETCODE_OK;
        }
    }
    return is_over() ? fast::RETCODE_TIMEOUT : fast::RETCODE_ERROR;
}

// Sets the interval at which a writer sends heartbeats, which ask its readers for missing messages.
inline void ask_every(fast::DataWriterQos& qos, const fast::Duration_t& period)
{
    qos.reliable_writer_qos().times.heartbeatPeriod = period;
}

inline fast::DataWriter* create_writer(
        fast::Publisher& publisher,
        fast::Topic* topic,
        const fast::DataWriterQos& qos,
        fast::DataWriterListener* listener)
{
    return publisher.create_datawriter(topic, qos, listener, fast::StatusMask::all());
}

inline fast::DataReader* create_reader(
        fast::Subscriber& subscriber,
        fast::Topic* topic,
        const fast::DataReaderQos& qos,
        fast::DataReaderListener* listener)
{
    return subscriber.create_datareader(topic, qos, listener, fast::StatusMask::all());
}

// Does nothing, since XCDR1 is the default of Fast DDS 2.
template<class Qos>
void ask_for_xcdr1(Qos&)
{
}

} // namespace feros
