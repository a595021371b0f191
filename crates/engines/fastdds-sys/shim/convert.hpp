// Converts values of the C interface to values of Fast DDS, and back.
#pragma once
#include <algorithm>
#include <cstring>

#include "api.hpp"

namespace feros {

inline void copy_guid(const rtps::GUID_t& from, uint8_t* to)
{
    std::memcpy(to, from.guidPrefix.value, 12);
    std::memcpy(to + 12, from.entityId.value, 4);
}

inline rtps::GUID_t to_guid(const uint8_t* bytes)
{
    rtps::GUID_t guid;
    std::memcpy(guid.guidPrefix.value, bytes, 12);
    std::memcpy(guid.entityId.value, bytes + 12, 4);
    return guid;
}

inline int64_t number_of(const rtps::SequenceNumber_t& number)
{
    return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(number.high)) << 32) | number.low);
}

inline rtps::SequenceNumber_t to_number(int64_t number)
{
    return rtps::SequenceNumber_t(static_cast<int32_t>(number >> 32), static_cast<uint32_t>(number));
}

// Seconds are unsigned on the wire and signed in Fast DDS. The fraction is rounded up, so that it
// converts back to the same nanosecond.
inline rtps::Time_t to_stamp(int64_t nanos)
{
    constexpr uint64_t second = 1000000000;
    const auto all = static_cast<uint64_t>(nanos);
    const uint64_t fraction = (((all % second) << 32) + second - 1) / second;
    rtps::Time_t stamp;
    stamp.seconds(static_cast<int32_t>(static_cast<uint32_t>(all / second)));
    stamp.fraction(static_cast<uint32_t>(fraction));
    return stamp;
}

inline int64_t nanos_of(const rtps::Time_t& stamp)
{
    if (stamp == rtps::c_RTPSTimeInvalid)
    {
        return 0;
    }
    const uint64_t seconds = static_cast<uint32_t>(stamp.seconds());
    const uint64_t nanos = (static_cast<uint64_t>(stamp.fraction()) * 1000000000 + (1ull << 31)) >> 32;
    return static_cast<int64_t>(seconds * 1000000000 + nanos);
}

inline fast::Duration_t to_duration(int64_t nanos)
{
    constexpr int64_t second = 1000000000;
    if (nanos < 0 || nanos / second >= INT32_MAX)
    {
        return fast::c_TimeInfinite;
    }
    return fast::Duration_t(static_cast<int32_t>(nanos / second), static_cast<uint32_t>(nanos % second));
}

inline int64_t nanos_of(const fast::Duration_t& duration)
{
    if (duration == fast::c_TimeInfinite || duration.seconds < 0)
    {
        return FEROS_FASTDDS_INFINITE;
    }
    return static_cast<int64_t>(duration.seconds) * 1000000000 + duration.nanosec;
}

// The policies that writers and readers have in common.
template<class Qos>
void apply(const feros_fastdds_endpoint_options& options, Qos& qos)
{
    const auto& asked = options.qos;
    qos.reliability().kind = asked.reliable ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
    qos.reliability().max_blocking_time = to_duration(options.max_blocking);
    qos.durability().kind =
            asked.transient_local ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
    qos.history().kind = asked.keep_all ? fast::KEEP_ALL_HISTORY_QOS : fast::KEEP_LAST_HISTORY_QOS;
    if (!asked.keep_all)
    {
        qos.history().depth = asked.depth;
        auto& limits = qos.resource_limits();
        limits.max_samples_per_instance = std::max(limits.max_samples_per_instance, asked.depth);
        limits.max_samples = std::max(limits.max_samples, asked.depth);
    }
    qos.deadline().period = to_duration(asked.deadline);
    qos.lifespan().duration = to_duration(asked.lifespan);
    auto& liveliness = qos.liveliness();
    liveliness.kind = asked.liveliness == 0 ? fast::AUTOMATIC_LIVELINESS_QOS
            : asked.liveliness == 1 ? fast::MANUAL_BY_PARTICIPANT_LIVELINESS_QOS
            : fast::MANUAL_BY_TOPIC_LIVELINESS_QOS;
    liveliness.lease_duration = to_duration(asked.lease);
    // Two thirds of the lease, like rmw_fastrtps (rmw_fastrtps_shared_cpp/src/qos.cpp).
    liveliness.announcement_period = asked.lease < 0 ? fast::c_TimeInfinite : to_duration(asked.lease / 3 * 2);
    ask_for_xcdr1(qos);
    qos.user_data().setValue(
        std::vector<uint8_t>(options.user_data, options.user_data + options.user_data_bytes));
}

// The policies of a discovered endpoint.
inline feros_fastdds_qos qos_of(const FoundEndpoint& info)
{
    feros_fastdds_qos qos{};
    qos.deadline = nanos_of(info.deadline.period);
    qos.lifespan = nanos_of(info.lifespan.duration);
    qos.lease = nanos_of(info.liveliness.lease_duration);
    if (info.history != nullptr)
    {
        qos.keep_all = info.history->kind == fast::KEEP_ALL_HISTORY_QOS;
        qos.depth = info.history->depth;
    }
    qos.reliable = info.reliability.kind == fast::RELIABLE_RELIABILITY_QOS;
    qos.transient_local = info.durability.kind >= fast::TRANSIENT_LOCAL_DURABILITY_QOS;
    qos.liveliness = static_cast<uint8_t>(info.liveliness.kind);
    return qos;
}

} // namespace feros
