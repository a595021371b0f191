// A participant of Fast DDS with its topics and the listener of its discovery.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/topic/Topic.hpp>

#include "convert.hpp"

namespace feros {

// Lets callbacks pass until it is closed. Closing it waits for running callbacks.
class Gate
{
public:

    template<class Call>
    void pass(Call call)
    {
        running_.fetch_add(1);
        if (!closed_.load())
        {
            call();
        }
        running_.fetch_sub(1);
    }

    void close()
    {
        closed_.store(true);
        while (running_.load() != 0)
        {
            std::this_thread::yield();
        }
    }

private:

    std::atomic<int> running_{0};
    std::atomic<bool> closed_{false};
};

class Discovery : public AnyDiscovery
{
public:

    explicit Discovery(const feros_fastdds_participant_options& options);

    bool on_participant(const FoundParticipant& found) override;

    void on_endpoint(const FoundEndpoint& found) override;

    Gate gate;

private:

    bool is_off_;
    void* context_;
    feros_fastdds_on_participant on_participant_;
    feros_fastdds_on_endpoint on_endpoint_;
};

} // namespace feros

struct feros_fastdds_participant
{
    struct SharedTopic
    {
        feros::fast::Topic* topic;
        std::string type_name;
        size_t users;
    };

    explicit feros_fastdds_participant(const feros_fastdds_participant_options& options);
    ~feros_fastdds_participant();

    // Returns the topic, and creates it if it does not exist. Returns null with the code -1 if the
    // topic has another type.
    feros::fast::Topic* share_topic(
            const std::string& name,
            const std::string& type_name,
            int& code);
    void release_topic(const std::string& name);

    bool qos_from_xml;
    feros::ParticipantNumber number;
    feros::Discovery discovery;
    feros::fast::DomainParticipant* participant = nullptr;
    feros::fast::Publisher* publisher = nullptr;
    feros::fast::Subscriber* subscriber = nullptr;
    std::mutex topics_lock;
    std::map<std::string, SharedTopic> topics;
};
