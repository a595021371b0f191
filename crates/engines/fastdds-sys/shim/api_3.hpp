// Fast DDS 3; see api.hpp.
#pragma once
#include <fastdds/LibrarySettings.hpp>
#include <fastdds/config.hpp>
#include <fastdds/dds/core/ReturnCode.hpp>
#include <fastdds/dds/core/Time_t.hpp>
#include <fastdds/dds/core/policy/QosPolicies.hpp>
#include <fastdds/dds/core/status/DeadlineMissedStatus.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/builtin/data/ParticipantBuiltinTopicData.hpp>
#include <fastdds/rtps/builtin/data/PublicationBuiltinTopicData.hpp>
#include <fastdds/rtps/builtin/data/SubscriptionBuiltinTopicData.hpp>
#include <fastdds/rtps/common/Guid.hpp>
#include <fastdds/rtps/common/SequenceNumber.hpp>
#include <fastdds/rtps/common/Time_t.hpp>
#include <fastdds/rtps/common/WriteParams.hpp>
#include <fastdds/rtps/transport/ChainingTransport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>

#include "pool.hpp"

namespace feros {

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;
namespace transports = eprosima::fastdds::rtps;

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
            const std::vector<rtps::NetworkBuffer>& buffers,
            uint32_t size_bytes,
            rtps::LocatorsIterator* begin,
            rtps::LocatorsIterator* end,
            const std::chrono::steady_clock::time_point& until) override
    {
        return lower->send(buffers, size_bytes, begin, end, until);
    }
};

constexpr const char* VERSION = FASTDDS_VERSION_STR;

inline int code_of(fast::ReturnCode_t code)
{
    return code;
}

inline bool is_lent(const rtps::SerializedPayload_t& payload)
{
    return payload.payload_owner == Pool::get().get();
}

class AnyType : public fast::TopicDataType
{
    using Payload = rtps::SerializedPayload_t;
    using Representation = fast::DataRepresentationId_t;
    using Key = rtps::InstanceHandle_t;

public:

    AnyType(const std::string& name, uint32_t reserved_bytes)
    {
        set_name(name);
        max_serialized_type_size = reserved_bytes;
        is_compute_key_provided = false;
    }

    virtual bool write_to(const Written& written, Payload& payload) = 0;
    virtual bool read_from(const Payload& payload, Received& received) = 0;

    bool serialize(const void* const data, Payload& payload, Representation) override
    {
        return write_to(*static_cast<const Written*>(data), payload);
    }

    bool deserialize(Payload& payload, void* data) override
    {
        return read_from(payload, *static_cast<Received*>(data));
    }

    uint32_t calculate_serialized_size(const void* const data, Representation) override
    {
        return static_cast<const Written*>(data)->buffer->size;
    }

    void* create_data() override
    {
        return new Received;
    }

    void delete_data(void* data) override
    {
        delete static_cast<Received*>(data);
    }

    bool compute_key(Payload&, Key&, bool) override
    {
        return false;
    }

    bool compute_key(const void* const, Key&, bool) override
    {
        return false;
    }
};

class AnyDiscovery : public fast::DomainParticipantListener
{
public:

    // Returns whether to ignore the participant from now on.
    virtual bool on_participant(const FoundParticipant& found) = 0;
    virtual void on_endpoint(const FoundEndpoint& found) = 0;

    void on_participant_discovery(
            fast::DomainParticipant*,
            rtps::ParticipantDiscoveryStatus reason,
            const rtps::ParticipantBuiltinTopicData& info,
            bool& should_be_ignored) override
    {
        using Status = rtps::ParticipantDiscoveryStatus;
        const bool alive = reason == Status::DISCOVERED_PARTICIPANT || reason == Status::CHANGED_QOS_PARTICIPANT;
        // Fast DDS reads the version only of Fast DDS, which announces it since version 3.
        const auto& version = info.product_version;
        const bool is_fast_dds = info.vendor_id == rtps::c_VendorId_eProsima;
        const uint8_t version_kind = !is_fast_dds ? 0 : version.major == 0 ? 1 : 2;
        should_be_ignored = on_participant({info.guid, alive, info.user_data.data_vec(),
                                            {info.vendor_id[0], info.vendor_id[1]}, version_kind,
                                            {version.major, version.minor, version.patch}});
    }

    void on_data_reader_discovery(
            fast::DomainParticipant*,
            rtps::ReaderDiscoveryStatus reason,
            const rtps::SubscriptionBuiltinTopicData& info,
            bool& should_be_ignored) override
    {
        should_be_ignored = false;
        using Status = rtps::ReaderDiscoveryStatus;
        found(info, false, reason == Status::DISCOVERED_READER || reason == Status::CHANGED_QOS_READER);
    }

    void on_data_writer_discovery(
            fast::DomainParticipant*,
            rtps::WriterDiscoveryStatus reason,
            const rtps::PublicationBuiltinTopicData& info,
            bool& should_be_ignored) override
    {
        should_be_ignored = false;
        using Status = rtps::WriterDiscoveryStatus;
        found(info, true, reason == Status::DISCOVERED_WRITER || reason == Status::CHANGED_QOS_WRITER);
    }

private:

    template<class Info>
    void found(const Info& info, bool is_writer, bool alive)
    {
        on_endpoint({info.guid, is_writer, alive, info.topic_name.c_str(), info.type_name.c_str(),
                     info.user_data.data_vec(), info.deadline, info.lifespan, info.liveliness, info.reliability,
                     info.durability, info.history.has_value() ? &*info.history : nullptr});
    }
};

// Unless a file says otherwise, the participants of a process send to each other over their
// transports. The intra-process delivery of Fast DDS 3.2 is off, because it may take the locks of
// two participants in different orders (docs/decisions/0021-fastdds-engine.md).
inline void load_profiles(fast::DomainParticipantFactory& factory)
{
    static const bool loaded = [&factory]
            {
                eprosima::fastdds::LibrarySettings settings;
                settings.intraprocess_delivery = eprosima::fastdds::INTRAPROCESS_OFF;
                // Fails if the program already has a participant of Fast DDS of its own.
                factory.set_library_settings(settings);
                factory.load_profiles();
                return true;
            }();
    static_cast<void>(loaded);
}

// Fast DDS 3 itself prevents that two participants have the same number.
struct ParticipantNumber
{
    bool claim(int32_t)
    {
        return true;
    }
};

// The port that a participant tries first; 0 if the participant's number determines the port.
inline uint32_t first_port(const fast::WireProtocolConfigQos&, uint32_t)
{
    return 0;
}

// Sends directly from the buffer.
inline int write(fast::DataWriter& writer, Written& written, rtps::WriteParams& parameters)
{
    const Pool::Writing writing(written.buffer);
    return writer.write(&written, parameters);
}

// Sets the interval at which a writer sends heartbeats, which ask its readers for missing messages.
inline void ask_every(fast::DataWriterQos& qos, const fast::Duration_t& period)
{
    qos.reliable_writer_qos().times.heartbeat_period = period;
}

inline fast::DataWriter* create_writer(
        fast::Publisher& publisher,
        fast::Topic* topic,
        const fast::DataWriterQos& qos,
        fast::DataWriterListener* listener)
{
    return publisher.create_datawriter(topic, qos, listener, fast::StatusMask::all(), Pool::get());
}

inline fast::DataReader* create_reader(
        fast::Subscriber& subscriber,
        fast::Topic* topic,
        const fast::DataReaderQos& qos,
        fast::DataReaderListener* listener)
{
    return subscriber.create_datareader(topic, qos, listener, fast::StatusMask::all(), Pool::get());
}

template<class Qos>
void ask_for_xcdr1(Qos& qos)
{
    qos.representation().m_value = {fast::XCDR_DATA_REPRESENTATION};
}

} // namespace feros
