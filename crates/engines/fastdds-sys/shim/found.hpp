// The participants and endpoints that discovery finds, for either version of Fast DDS. Included by
// api_2.hpp and api_3.hpp, where `fast` and `rtps` are known.
#pragma once
#include <vector>

namespace feros {

struct FoundParticipant
{
    const rtps::GUID_t& guid;
    bool alive;
    const std::vector<rtps::octet>& user_data;
    const rtps::RemoteLocatorList& metatraffic_locators;
};

struct FoundEndpoint
{
    const rtps::GUID_t& guid;
    bool is_writer, alive;
    const char* topic;
    const char* type_name;
    const std::vector<rtps::octet>& user_data;
    const fast::DeadlineQosPolicy& deadline;
    const fast::LifespanQosPolicy& lifespan;
    const fast::LivelinessQosPolicy& liveliness;
    const fast::ReliabilityQosPolicy& reliability;
    const fast::DurabilityQosPolicy& durability;
    const fast::HistoryQosPolicy* history; // null: not announced
};

} // namespace feros
