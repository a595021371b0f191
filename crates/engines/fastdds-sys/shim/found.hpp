// The participants and endpoints that discovery finds, for both versions of Fast DDS. api_2.hpp and
// api_3.hpp include this file after they have defined `fast` and `rtps`.
#pragma once
#include <cstdint>
#include <vector>

namespace feros {

struct FoundParticipant
{
    const rtps::GUID_t& guid;
    bool alive;
    const std::vector<rtps::octet>& user_data;
    uint8_t vendor[2];
    uint8_t version_kind; // see feros_fastdds_participant_info
    uint8_t version[3];
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
    const fast::HistoryQosPolicy* history; // null if not announced
};

} // namespace feros
