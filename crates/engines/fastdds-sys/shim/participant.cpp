// Participants: the range of their discovery, as in rmw_fastrtps
// (ros2/rmw_fastrtps:rmw_fastrtps_shared_cpp/src/participant.cpp), and the participants and
// endpoints that they discover.
#include "participant.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <sys/statvfs.h>

#include <fastdds/dds/log/Log.hpp>

#include "at_exit.hpp"
#include "held_udp.hpp"
#include "raw_type.hpp"

namespace {

using namespace feros;

constexpr uint8_t LOCALHOST = 1;
constexpr uint8_t OFF = 2;
// How many participants of each host discovery tries without multicast, as in rmw_fastrtps.
constexpr uint32_t PARTICIPANTS_OF_A_HOST = 32;

void add_peer(fast::WireProtocolConfigQos& wire, const std::string& address, uint32_t port)
{
    rtps::Locator_t peer;
    rtps::IPLocator::setIPv4(peer, address);
    peer.port = port;
    wire.builtin.initialPeersList.push_back(peer);
}

// Makes a participant announce itself less often. By default, it does so five times in half a
// second, of which four are superfluous: on loopback, any participant with open sockets hears the
// first announcement, and participants that open their sockets later announce themselves. While
// Fast DDS announces itself, it must not lose a writer (eProsima/Fast-DDS#6502,
// docs/decisions/0021-fastdds-engine.md).
void announce_seldom(fast::WireProtocolConfigQos& wire)
{
    auto& initial = wire.builtin.discovery_config.initial_announcements;
    if (initial == rtps::InitialAnnouncementConfig())
    {
        initial.count = 1;
        initial.period = fast::Duration_t(0, 500000000);
    }
}

void look_for(const feros_fastdds_participant_options& options, fast::DomainParticipantQos& qos)
{
    auto& wire = qos.wire_protocol();
    if (options.range == LOCALHOST || options.range == OFF)
    {
        // Configures a unicast locator without an address, because Fast DDS then does not listen to
        // multicast.
        rtps::Locator_t own;
        own.port = first_port(wire, options.domain_id);
        wire.builtin.metatrafficMulticastLocatorList.clear();
        wire.builtin.metatrafficUnicastLocatorList.push_back(own);
        announce_seldom(wire);
    }
    std::set<std::string> hosts(options.peers, options.peers + options.peers_count);
    if (options.range == LOCALHOST)
    {
        hosts.insert("127.0.0.1");
    }
    for (const auto& host : hosts)
    {
        for (uint32_t participant = 0; participant < PARTICIPANTS_OF_A_HOST; ++participant)
        {
            add_peer(wire, host, wire.port.getUnicastPort(options.domain_id, participant));
        }
    }
    if (options.range == OFF)
    {
        add_peer(wire, "127.0.0.1", 9); // otherwise Fast DDS announces itself by multicast
        // Before 2.10, Fast DDS offers no callback that decides whether to ignore a participant.
        wire.builtin.discovery_config.ignoreParticipantFlags = static_cast<rtps::ParticipantFilteringFlags>(
            rtps::FILTER_DIFFERENT_HOST | rtps::FILTER_DIFFERENT_PROCESS | rtps::FILTER_SAME_PROCESS);
    }
    else if (!hosts.empty() && options.range == 0)
    {
        // Once there are peers, multicast must be configured explicitly.
        rtps::Locator_t multicast;
        rtps::IPLocator::setIPv4(multicast, "239.255.0.1");
        multicast.port = wire.port.getMulticastPort(options.domain_id);
        wire.builtin.initialPeersList.push_back(multicast);
    }
}

// The limit on the shared memory of a participant, in bytes and as a fraction (the divisor) of the
// free memory. Fast DDS allocates all of it at the start (`posix_fallocate`), whether or not
// messages use it.
constexpr uint64_t MOST_SHARED_BYTES = 16 << 20;
constexpr uint64_t PART_OF_FREE = 64;

uint32_t shared_bytes()
{
    struct statvfs memory
    {
    };
    if (statvfs("/dev/shm", &memory) != 0)
    {
        return 0;
    }
    const uint64_t free_bytes = static_cast<uint64_t>(memory.f_bavail) * memory.f_frsize;
    return static_cast<uint32_t>(std::min(MOST_SHARED_BYTES, free_bytes / PART_OF_FREE));
}

// Messages wait in the sender's shared memory. The default of Fast DDS is 512 KiB, which delays
// larger messages. UDP datagrams are held back until the returned reception is opened. If XML or
// the environment chooses the transports, or if shared memory is not available, the transports stay
// unchanged.
std::shared_ptr<Reception> choose_transports(
        const feros_fastdds_participant_options& options,
        fast::DomainParticipantQos& qos)
{
    constexpr uint32_t DEFAULT_BYTES = 512 << 10;
    auto reception = std::make_shared<Reception>();
    auto& transport = qos.transport();
    const uint32_t bytes = shared_bytes();
    if (!transport.use_builtin_transports || !transport.user_transports.empty() || bytes == 0 ||
            std::getenv("FASTDDS_BUILTIN_TRANSPORTS") != nullptr)
    {
        return reception;
    }
    auto shared_memory = std::make_shared<transports::SharedMemTransportDescriptor>();
    shared_memory->segment_size(std::max(bytes, DEFAULT_BYTES));
    auto udp = std::make_shared<transports::UDPv4TransportDescriptor>();
    udp->sendBufferSize = transport.send_socket_buffer_size;
    udp->receiveBufferSize = transport.listen_socket_buffer_size;
    transport.use_builtin_transports = false;
    // Participants of this host may use the loopback interface alone, as rmw_cyclonedds of Humble
    // does with ROS_LOCALHOST_ONLY. Static peers are on other hosts, which cannot use its address.
    const bool announces_loopback = options.range == LOCALHOST && options.peers_count == 0;
    transport.user_transports = {
        shared_memory, std::make_shared<HeldUdpDescriptor>(udp, reception, announces_loopback)};
    return reception;
}

class LogSink : public fast::LogConsumer
{
public:

    explicit LogSink(feros_fastdds_on_log sink)
        : sink_(sink)
    {
    }

    void Consume(const fast::Log::Entry& entry) override
    {
        const std::string category = entry.context.category == nullptr ? "" : entry.context.category;
        sink_(entry.kind == fast::Log::Error, (category + ": " + entry.message).c_str());
    }

private:

    feros_fastdds_on_log sink_;
};

} // namespace

namespace feros {

Discovery::Discovery(const feros_fastdds_participant_options& options)
    : is_off_(options.range == OFF)
    , context_(options.context)
    , on_participant_(options.on_participant)
    , on_endpoint_(options.on_endpoint)
{
}

bool Discovery::on_participant(const FoundParticipant& found)
{
    if (found.alive && is_off_)
    {
        return true;
    }
    gate.pass([&]
            {
                feros_fastdds_participant_info told{};
                copy_guid(found.guid, told.guid);
                told.alive = found.alive;
                told.user_data = found.user_data.data();
                told.user_data_bytes = found.user_data.size();
                std::copy_n(found.vendor, sizeof(told.vendor), told.vendor);
                told.version_kind = found.version_kind;
                std::copy_n(found.version, sizeof(told.version), told.version);
                on_participant_(context_, &told);
            });
    return false;
}

void Discovery::on_endpoint(const FoundEndpoint& found)
{
    gate.pass([&]
            {
                feros_fastdds_endpoint_info told{};
                copy_guid(found.guid, told.guid);
                told.alive = found.alive;
                told.is_writer = found.is_writer;
                told.topic = found.topic;
                told.type_name = found.type_name;
                told.qos = qos_of(found);
                told.user_data = found.user_data.data();
                told.user_data_bytes = found.user_data.size();
                on_endpoint_(context_, &told);
            });
}

} // namespace feros

feros_fastdds_participant::feros_fastdds_participant(
        const feros_fastdds_participant_options& options)
    : qos_from_xml(options.qos_from_xml)
    , discovery(options)
{
    auto* factory = fast::DomainParticipantFactory::get_instance();
    feros::load_profiles(*factory);
    fast::DomainParticipantQos qos = factory->get_default_participant_qos();
    look_for(options, qos);
    const auto reception = choose_transports(options, qos);
    // Makes the depth of histories visible to other participants.
    qos.properties().properties().emplace_back("fastdds.serialize_optional_qos", "true");
    // The string ends with one NUL, as in rmw_fastrtps.
    const std::string data = options.user_data;
    qos.user_data().setValue(std::vector<uint8_t>(data.c_str(), data.c_str() + data.size() + 1));
    qos.name(options.enclave);
    if (!qos_from_xml)
    {
        qos.wire_protocol().builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.wire_protocol().builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    }
    if (!number.claim(qos.wire_protocol().participant_id))
    {
        fast::Log::QueueLog("a participant of this process has the same participantID",
                {__FILE__, __LINE__, __func__, "PARTICIPANT"}, fast::Log::Error);
        return;
    }
    participant = factory->create_participant(
        options.domain_id, qos, &discovery, fast::StatusMask::none());
    reception->open();
    if (participant != nullptr)
    {
        feros::Deletions::wait_for_at_exit();
        publisher = participant->create_publisher(participant->get_default_publisher_qos());
        subscriber = participant->create_subscriber(participant->get_default_subscriber_qos());
    }
}

feros_fastdds_participant::~feros_fastdds_participant()
{
    discovery.gate.close();
    if (participant != nullptr)
    {
        const feros::Deletion deletion;
        participant->set_listener(nullptr);
        participant->delete_contained_entities();
        fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
    }
}

fast::Topic* feros_fastdds_participant::share_topic(
        const std::string& name,
        const std::string& type_name,
        int& code)
{
    std::lock_guard<std::mutex> guard(topics_lock);
    auto known = topics.find(name);
    if (known != topics.end())
    {
        if (known->second.type_name != type_name)
        {
            code = -1;
            return nullptr;
        }
        ++known->second.users;
        return known->second.topic;
    }
    fast::TypeSupport type(new feros::RawType(type_name));
    code = participant->find_type(type_name).empty() ? code_of(type.register_type(participant)) : 0;
    if (code != 0)
    {
        return nullptr;
    }
    auto* topic = participant->create_topic(name, type_name, fast::TOPIC_QOS_DEFAULT);
    if (topic == nullptr)
    {
        code = fast::RETCODE_ERROR;
        return nullptr;
    }
    topics[name] = SharedTopic{topic, type_name, 1};
    return topic;
}

void feros_fastdds_participant::release_topic(const std::string& name)
{
    std::lock_guard<std::mutex> guard(topics_lock);
    auto known = topics.find(name);
    if (known != topics.end() && --known->second.users == 0)
    {
        const std::string type_name = known->second.type_name;
        participant->delete_topic(known->second.topic);
        topics.erase(known);
        // Fast DDS refuses to unregister a type while an endpoint uses it, but does not know of a
        // topic whose first endpoint another thread is about to create.
        const auto uses_it = [&type_name](const auto& topic)
                {
                    return topic.second.type_name == type_name;
                };
        if (std::none_of(topics.begin(), topics.end(), uses_it))
        {
            participant->unregister_type(type_name);
        }
    }
}

extern "C" {

uint32_t feros_fastdds_interface(void)
{
    return FEROS_FASTDDS_INTERFACE;
}

const char* feros_fastdds_version(void)
{
    return feros::VERSION;
}

void feros_fastdds_set_log(feros_fastdds_on_log sink)
{
    fast::Log::ClearConsumers();
    fast::Log::RegisterConsumer(std::unique_ptr<fast::LogConsumer>(new LogSink(sink)));
}

feros_fastdds_participant* feros_fastdds_participant_new(
        const feros_fastdds_participant_options* options)
try
{
    auto made = std::make_unique<feros_fastdds_participant>(*options);
    const bool is_whole = made->participant != nullptr && made->publisher != nullptr && made->subscriber != nullptr;
    if (!is_whole)
    {
        fast::Log::Flush();
    }
    return is_whole ? made.release() : nullptr;
}
catch (...)
{
    return nullptr;
}

void feros_fastdds_participant_delete(feros_fastdds_participant* participant)
{
    delete participant;
}

void feros_fastdds_participant_guid(const feros_fastdds_participant* participant, uint8_t guid[16])
{
    feros::copy_guid(participant->participant->guid(), guid);
}

int feros_fastdds_ignore_participant(feros_fastdds_participant* participant, const uint8_t guid[16])
{
    rtps::GUID_t of = feros::to_guid(guid);
    of.entityId = rtps::c_EntityId_RTPSParticipant;
    return code_of(participant->participant->ignore_participant(rtps::InstanceHandle_t(of)));
}

feros_fastdds_buffer* feros_fastdds_buffer_new(size_t bytes)
{
    return feros_fastdds_buffer::make(bytes);
}

void feros_fastdds_buffer_unref(feros_fastdds_buffer* buffer)
{
    buffer->release();
}

uint8_t* feros_fastdds_buffer_bytes(feros_fastdds_buffer* buffer)
{
    return buffer->bytes();
}

} // extern "C"
