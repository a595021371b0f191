// Participants: how far they look for others, as rmw_fastrtps has it
// (ros2/rmw_fastrtps:rmw_fastrtps_shared_cpp/src/participant.cpp), and what they find.
#include "participant.hpp"

#include <algorithm>

#include <fastdds/LibrarySettings.hpp>
#include <fastdds/config.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/rtps/builtin/data/ParticipantBuiltinTopicData.hpp>
#include <fastdds/rtps/builtin/data/PublicationBuiltinTopicData.hpp>
#include <fastdds/rtps/builtin/data/SubscriptionBuiltinTopicData.hpp>
#include <fastdds/utils/IPLocator.hpp>

#include "raw_type.hpp"

namespace {

using namespace feros;

constexpr uint8_t LOCALHOST = 1;
constexpr uint8_t OFF = 2;
// Participants of a host that are looked for where there is no multicast, as rmw_fastrtps.
constexpr uint32_t PARTICIPANTS_OF_A_HOST = 32;

void add_peer(
        fast::WireProtocolConfigQos& wire,
        const std::string& address,
        uint32_t port)
{
    rtps::Locator_t peer;
    rtps::IPLocator::setIPv4(peer, address);
    peer.port = port;
    wire.builtin.initialPeersList.push_back(peer);
}

void look_for(
        const feros_fastdds_participant_options& options,
        fast::DomainParticipantQos& qos)
{
    auto& wire = qos.wire_protocol();
    if (options.range == LOCALHOST || options.range == OFF)
    {
        // A unicast locator without an address keeps Fast DDS from listening to multicast.
        wire.builtin.metatrafficMulticastLocatorList.clear();
        wire.builtin.metatrafficUnicastLocatorList.push_back(rtps::Locator_t());
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
    if (hosts.empty() && options.range == OFF)
    {
        add_peer(wire, "127.0.0.1", 9); // else Fast DDS announces itself by multicast
    }
    else if (!hosts.empty() && options.range == 0)
    {
        // With peers, multicast is no default any more.
        rtps::Locator_t multicast;
        rtps::IPLocator::setIPv4(multicast, "239.255.0.1");
        multicast.port = wire.port.getMulticastPort(options.domain_id);
        wire.builtin.initialPeersList.push_back(multicast);
    }
}

class LogSink : public fast::LogConsumer
{
public:

    explicit LogSink(
            feros_fastdds_on_log sink)
        : sink_(sink)
    {
    }

    void Consume(
            const fast::Log::Entry& entry) override
    {
        const std::string category = entry.context.category == nullptr ? "" : entry.context.category;
        sink_(entry.kind == fast::Log::Error, (category + ": " + entry.message).c_str());
    }

private:

    feros_fastdds_on_log sink_;
};

} // namespace

namespace feros {

Discovery::Discovery(
        const feros_fastdds_participant_options& options)
    : peers_only_(options.range == OFF)
    , peers_(options.peers, options.peers + options.peers_count)
    , context_(options.context)
    , on_participant_(options.on_participant)
    , on_endpoint_(options.on_endpoint)
{
}

bool Discovery::is_peer(
        const rtps::ParticipantBuiltinTopicData& info) const
{
    for (const auto& locator : info.metatraffic_locators.unicast)
    {
        if (peers_.count(rtps::IPLocator::toIPv4string(locator)) != 0)
        {
            return true;
        }
    }
    return false;
}

void Discovery::on_participant_discovery(
        fast::DomainParticipant*,
        rtps::ParticipantDiscoveryStatus reason,
        const rtps::ParticipantBuiltinTopicData& info,
        bool& should_be_ignored)
{
    using Status = rtps::ParticipantDiscoveryStatus;
    const bool alive = reason == Status::DISCOVERED_PARTICIPANT || reason == Status::CHANGED_QOS_PARTICIPANT;
    should_be_ignored = alive && peers_only_ && !is_peer(info);
    if (should_be_ignored)
    {
        return;
    }
    gate.pass([&]
            {
                const auto& data = info.user_data.data_vec();
                feros_fastdds_participant_info told{};
                copy_guid(info.guid, told.guid);
                told.alive = alive;
                told.user_data = data.data();
                told.user_data_bytes = data.size();
                on_participant_(context_, &told);
            });
}

template<class Info>
void Discovery::tell(
        const Info& info,
        bool is_writer,
        bool alive)
{
    gate.pass([&]
            {
                const auto& data = info.user_data.data_vec();
                feros_fastdds_endpoint_info told{};
                copy_guid(info.guid, told.guid);
                told.alive = alive;
                told.is_writer = is_writer;
                told.topic = info.topic_name.c_str();
                told.type_name = info.type_name.c_str();
                told.qos = qos_of(info);
                told.user_data = data.data();
                told.user_data_bytes = data.size();
                on_endpoint_(context_, &told);
            });
}

void Discovery::on_data_reader_discovery(
        fast::DomainParticipant*,
        rtps::ReaderDiscoveryStatus reason,
        const rtps::SubscriptionBuiltinTopicData& info,
        bool& should_be_ignored)
{
    should_be_ignored = false;
    using Status = rtps::ReaderDiscoveryStatus;
    tell(info, false, reason == Status::DISCOVERED_READER || reason == Status::CHANGED_QOS_READER);
}

void Discovery::on_data_writer_discovery(
        fast::DomainParticipant*,
        rtps::WriterDiscoveryStatus reason,
        const rtps::PublicationBuiltinTopicData& info,
        bool& should_be_ignored)
{
    should_be_ignored = false;
    using Status = rtps::WriterDiscoveryStatus;
    tell(info, true, reason == Status::DISCOVERED_WRITER || reason == Status::CHANGED_QOS_WRITER);
}

} // namespace feros

feros_fastdds_participant::feros_fastdds_participant(
        const feros_fastdds_participant_options& options)
    : qos_from_xml(options.qos_from_xml)
    , discovery(options)
{
    auto* factory = fast::DomainParticipantFactory::get_instance();
    factory->load_profiles();
    fast::DomainParticipantQos qos = factory->get_default_participant_qos();
    look_for(options, qos);
    // Others see the depth of histories.
    qos.properties().properties().emplace_back("fastdds.serialize_optional_qos", "true");
    // One NUL at the end, as rmw_fastrtps.
    const std::string data = std::string("enclave=") + options.enclave + ";";
    qos.user_data().setValue(std::vector<uint8_t>(data.c_str(), data.c_str() + data.size() + 1));
    qos.name(options.enclave);
    if (!qos_from_xml)
    {
        qos.wire_protocol().builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.wire_protocol().builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    }
    participant = factory->create_participant(
        options.domain_id, qos, &discovery, fast::StatusMask::none());
    if (participant != nullptr)
    {
        publisher = participant->create_publisher(participant->get_default_publisher_qos());
        subscriber = participant->create_subscriber(participant->get_default_subscriber_qos());
    }
}

feros_fastdds_participant::~feros_fastdds_participant()
{
    discovery.gate.close();
    if (participant != nullptr)
    {
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
    code = participant->find_type(type_name).empty() ? type.register_type(participant) : 0;
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

void feros_fastdds_participant::release_topic(
        const std::string& name)
{
    std::lock_guard<std::mutex> guard(topics_lock);
    auto known = topics.find(name);
    if (known != topics.end() && --known->second.users == 0)
    {
        const std::string type_name = known->second.type_name;
        participant->delete_topic(known->second.topic);
        topics.erase(known);
        // Fast DDS refuses this while an endpoint uses the type, but not for a topic whose first
        // endpoint another thread is about to create.
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
    return FASTDDS_VERSION_STR;
}

void feros_fastdds_set_log(
        feros_fastdds_on_log sink)
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

void feros_fastdds_participant_delete(
        feros_fastdds_participant* participant)
{
    delete participant;
}

void feros_fastdds_participant_guid(
        const feros_fastdds_participant* participant,
        uint8_t guid[16])
{
    feros::copy_guid(participant->participant->guid(), guid);
}

int feros_fastdds_ignore_participant(
        feros_fastdds_participant* participant,
        const uint8_t guid[16])
{
    rtps::GUID_t of = feros::to_guid(guid);
    of.entityId = rtps::c_EntityId_RTPSParticipant;
    return participant->participant->ignore_participant(rtps::InstanceHandle_t(of));
}

feros_fastdds_buffer* feros_fastdds_buffer_new(
        size_t bytes)
{
    return feros_fastdds_buffer::make(bytes);
}

void feros_fastdds_buffer_unref(
        feros_fastdds_buffer* buffer)
{
    buffer->release();
}

uint8_t* feros_fastdds_buffer_bytes(
        feros_fastdds_buffer* buffer)
{
    return buffer->bytes();
}

size_t feros_fastdds_buffer_size(
        const feros_fastdds_buffer* buffer)
{
    return buffer->size;
}

} // extern "C"
