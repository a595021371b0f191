// Writers and readers with their listeners.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>

#include "at_exit.hpp"
#include "participant.hpp"
#include "raw_type.hpp"

namespace {

using namespace feros;

// The number of samples that the shim takes from Fast DDS at once.
constexpr size_t MOST_AT_ONCE = 1024;

// Reports statuses until its gate is closed, which waits for running reports.
class Teller
{
public:

    explicit Teller(const feros_fastdds_endpoint_options& options)
        : context_(options.context)
        , on_status_(options.on_status)
    {
    }

    void tell(
            int32_t kind,
            int32_t total = 0,
            int32_t change = 0,
            const fast::InstanceHandle_t* other = nullptr)
    {
        gate.pass([&]
                {
                    feros_fastdds_status status{kind, total, change, {}};
                    if (other != nullptr)
                    {
                        copy_guid(rtps::iHandle2GUID(*other), status.guid);
                    }
                    on_status_(context_, &status);
                });
    }

    Gate gate;

private:

    void* context_;
    feros_fastdds_on_status on_status_;
};

class WriterListener : public fast::DataWriterListener, public Teller
{
public:

    using Teller::Teller;

    void on_publication_matched(
            fast::DataWriter*,
            const fast::PublicationMatchedStatus& status) override
    {
        if (status.current_count_change != 0)
        {
            tell(FEROS_FASTDDS_MATCHED, 0, status.current_count_change, &status.last_subscription_handle);
        }
    }

    void on_offered_incompatible_qos(
            fast::DataWriter*,
            const fast::OfferedIncompatibleQosStatus& status) override
    {
        tell(FEROS_FASTDDS_INCOMPATIBLE_QOS, status.total_count, static_cast<int32_t>(status.last_policy_id));
    }

    void on_offered_deadline_missed(
            fast::DataWriter*,
            const fast::OfferedDeadlineMissedStatus& status) override
    {
        tell(FEROS_FASTDDS_DEADLINE, status.total_count);
    }

    void on_liveliness_lost(fast::DataWriter*, const fast::LivelinessLostStatus& status) override
    {
        tell(FEROS_FASTDDS_LIVELINESS_LOST, status.total_count);
    }
};

class ReaderListener : public fast::DataReaderListener, public Teller
{
public:

    using Teller::Teller;

    void on_data_available(fast::DataReader*) override
    {
        tell(FEROS_FASTDDS_DATA);
    }

    void on_subscription_matched(
            fast::DataReader*,
            const fast::SubscriptionMatchedStatus& status) override
    {
        if (status.current_count_change != 0)
        {
            tell(FEROS_FASTDDS_MATCHED, 0, status.current_count_change, &status.last_publication_handle);
        }
    }

    void on_requested_incompatible_qos(
            fast::DataReader*,
            const fast::RequestedIncompatibleQosStatus& status) override
    {
        tell(FEROS_FASTDDS_INCOMPATIBLE_QOS, status.total_count, static_cast<int32_t>(status.last_policy_id));
    }

    void on_requested_deadline_missed(
            fast::DataReader*,
            const fast::RequestedDeadlineMissedStatus& status) override
    {
        tell(FEROS_FASTDDS_DEADLINE, status.total_count);
    }

    void on_liveliness_changed(
            fast::DataReader*,
            const fast::LivelinessChangedStatus& status) override
    {
        tell(FEROS_FASTDDS_LIVELINESS, status.alive_count_change, status.not_alive_count_change,
                &status.last_publication_handle);
    }
};

template<class Entity>
int set_user_data(Entity* entity, const uint8_t* data, size_t bytes)
{
    auto qos = entity->get_qos();
    qos.user_data().setValue(std::vector<uint8_t>(data, data + bytes));
    return code_of(entity->set_qos(qos));
}

} // namespace

struct feros_fastdds_writer
{
    feros_fastdds_participant* participant;
    std::string topic;
    WriterListener listener;
    fast::DataWriter* writer;
};

struct feros_fastdds_reader
{
    feros_fastdds_participant* participant;
    std::string topic;
    ReaderListener listener;
    fast::DataReader* reader;
    std::mutex lock;
    // Samples that have been taken from Fast DDS, but not from this reader.
    std::deque<feros_fastdds_sample> taken;
};

namespace {

// Limits the history of an endpoint that keeps all messages.
template<class Qos>
void bound(const feros_fastdds_endpoint_options& options, Qos& qos)
{
    if (options.qos.keep_all)
    {
        auto& limits = qos.resource_limits();
        limits.max_samples = limits.max_samples_per_instance = options.qos.depth;
    }
}

fast::DataWriterQos writer_qos(
        feros_fastdds_participant* participant,
        const feros_fastdds_endpoint_options& options)
{
    auto qos = participant->publisher->get_default_datawriter_qos();
    if (!participant->qos_from_xml)
    {
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.data_sharing().off();
        bound(options, qos);
        // A reader that was full, or that lost the last message, gets the missing messages after
        // this time, as on Cyclone DDS. The default is 3 seconds.
        ask_every(qos, fast::Duration_t(0, 100000000));
    }
    else if (code_of(participant->publisher->get_datawriter_qos_from_profile(options.topic, qos)) != fast::RETCODE_OK)
    {
        qos = participant->publisher->get_default_datawriter_qos();
    }
    if (!participant->qos_from_xml && options.publish_mode != 2)
    {
        qos.publish_mode().kind =
                options.publish_mode == 0 ? fast::SYNCHRONOUS_PUBLISH_MODE : fast::ASYNCHRONOUS_PUBLISH_MODE;
    }
    apply(options, qos);
    return qos;
}

fast::DataReaderQos reader_qos(
        feros_fastdds_participant* participant,
        const feros_fastdds_endpoint_options& options)
{
    auto qos = participant->subscriber->get_default_datareader_qos();
    if (!participant->qos_from_xml)
    {
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.data_sharing().off();
        bound(options, qos);
    }
    else if (code_of(participant->subscriber->get_datareader_qos_from_profile(options.topic, qos)) != fast::RETCODE_OK)
    {
        qos = participant->subscriber->get_default_datareader_qos();
    }
    apply(options, qos);
    return qos;
}

// Takes the next sample from Fast DDS. Returns 1 if there was a sample and 0 if there was no sample,
// or the negative return code of Fast DDS.
int take_next(feros_fastdds_reader& reader, feros_fastdds_sample& sample)
{
    for (;;)
    {
        Received received;
        fast::SampleInfo info;
        const int code = code_of(reader.reader->take_next_sample(&received, &info));
        if (code != fast::RETCODE_OK)
        {
            return code == fast::RETCODE_NO_DATA ? 0 : -code;
        }
        if (!info.valid_data)
        {
            continue; // the end of a writer, not a message
        }
        const auto& related = info.related_sample_identity;
        sample.buffer = received.buffer;
        sample.bytes = received.length;
        copy_guid(info.sample_identity.writer_guid(), sample.writer);
        sample.number = number_of(info.sample_identity.sequence_number());
        sample.has_related = related.writer_guid() != rtps::c_Guid_Unknown;
        copy_guid(related.writer_guid(), sample.related);
        sample.related_number = number_of(related.sequence_number());
        sample.source_stamp = nanos_of(info.source_timestamp);
        sample.received_stamp = nanos_of(info.reception_timestamp);
        return 1;
    }
}

// Fast DDS sorts waiting samples by source timestamps (eProsima/Fast-DDS:
// src/cpp/rtps/history/ReaderHistory.cpp), which may decrease. This function restores the order in
// which each writer wrote its messages. Each position keeps a message of the same writer.
void restore_order(std::deque<feros_fastdds_sample>& samples)
{
    std::map<std::array<uint8_t, 16>, std::vector<size_t>> places;
    for (size_t place = 0; place < samples.size(); ++place)
    {
        std::array<uint8_t, 16> writer;
        std::copy(samples[place].writer, samples[place].writer + 16, writer.begin());
        places[writer].push_back(place);
    }
    for (const auto& of_writer : places)
    {
        std::vector<feros_fastdds_sample> own;
        for (size_t place : of_writer.second)
        {
            own.push_back(samples[place]);
        }
        std::sort(own.begin(), own.end(), [](const auto& a, const auto& b)
                {
                    return a.number < b.number;
                });
        for (size_t index = 0; index < own.size(); ++index)
        {
            samples[of_writer.second[index]] = own[index];
        }
    }
}

bool is_ordered(const std::deque<feros_fastdds_sample>& samples)
{
    for (size_t place = 1; place < samples.size(); ++place)
    {
        const auto& before = samples[place - 1];
        if (std::memcmp(before.writer, samples[place].writer, 16) != 0 || before.number > samples[place].number)
        {
            return false;
        }
    }
    return true;
}

// Takes all samples that Fast DDS has. Returns the code of the last attempt.
int take_all(feros_fastdds_reader& reader, std::deque<feros_fastdds_sample>& taken)
{
    feros_fastdds_sample sample{};
    int code = take_next(reader, sample);
    while (code == 1)
    {
        taken.push_back(sample);
        // Takes no more samples than a history holds. Otherwise, a fast publisher would keep this
        // loop running.
        code = taken.size() < MOST_AT_ONCE ? take_next(reader, sample) : 0;
    }
    if (!is_ordered(taken))
    {
        restore_order(taken);
    }
    return code < 0 ? -code : 0;
}

} // namespace

extern "C" {

feros_fastdds_writer* feros_fastdds_writer_new(
        feros_fastdds_participant* participant,
        const feros_fastdds_endpoint_options* options,
        int* code)
try
{
    auto* topic = participant->share_topic(options->topic, options->type_name, *code);
    if (topic == nullptr)
    {
        return nullptr;
    }
    std::unique_ptr<feros_fastdds_writer> made(new feros_fastdds_writer{
        participant, options->topic, WriterListener(*options), nullptr});
    made->writer = create_writer(
        *participant->publisher, topic, writer_qos(participant, *options), &made->listener);
    if (made->writer == nullptr)
    {
        participant->release_topic(options->topic);
        *code = fast::RETCODE_INCONSISTENT_POLICY;
        return nullptr;
    }
    return made.release();
}
catch (...)
{
    *code = fast::RETCODE_ERROR;
    return nullptr;
}

void feros_fastdds_writer_delete(feros_fastdds_writer* writer)
{
    const Deletion deletion;
    writer->listener.gate.close();
    writer->writer->set_listener(nullptr);
    writer->participant->publisher->delete_datawriter(writer->writer);
    writer->participant->release_topic(writer->topic);
    delete writer;
}

void feros_fastdds_writer_guid(const feros_fastdds_writer* writer, uint8_t guid[16])
{
    copy_guid(writer->writer->guid(), guid);
}

int feros_fastdds_writer_set_user_data(
        feros_fastdds_writer* writer,
        const uint8_t* data,
        size_t bytes)
{
    return set_user_data(writer->writer, data, bytes);
}

int feros_fastdds_write(
        feros_fastdds_writer* writer,
        feros_fastdds_buffer* buffer,
        int64_t stamp,
        const uint8_t* related,
        int64_t related_number,
        int64_t* number)
try
{
    rtps::WriteParams parameters;
    parameters.source_timestamp(to_stamp(stamp));
    if (related != nullptr)
    {
        parameters.related_sample_identity().writer_guid(to_guid(related));
        parameters.related_sample_identity().sequence_number(to_number(related_number));
    }
    Written written{buffer};
    const int code = write(*writer->writer, written, parameters);
    *number = number_of(parameters.sample_identity().sequence_number());
    return code;
}
catch (...)
{
    return fast::RETCODE_ERROR;
}

int feros_fastdds_wait_for_acknowledgments(feros_fastdds_writer* writer, int64_t timeout)
{
    return code_of(writer->writer->wait_for_acknowledgments(to_duration(timeout)));
}

int feros_fastdds_assert_liveliness(feros_fastdds_writer* writer)
{
    return code_of(writer->writer->assert_liveliness());
}

feros_fastdds_reader* feros_fastdds_reader_new(
        feros_fastdds_participant* participant,
        const feros_fastdds_endpoint_options* options,
        int* code)
try
{
    auto* topic = participant->share_topic(options->topic, options->type_name, *code);
    if (topic == nullptr)
    {
        return nullptr;
    }
    std::unique_ptr<feros_fastdds_reader> made(new feros_fastdds_reader{
        participant, options->topic, ReaderListener(*options), nullptr, {}, {}});
    made->reader = create_reader(
        *participant->subscriber, topic, reader_qos(participant, *options), &made->listener);
    if (made->reader == nullptr)
    {
        participant->release_topic(options->topic);
        *code = fast::RETCODE_INCONSISTENT_POLICY;
        return nullptr;
    }
    return made.release();
}
catch (...)
{
    *code = fast::RETCODE_ERROR;
    return nullptr;
}

void feros_fastdds_reader_delete(feros_fastdds_reader* reader)
{
    const Deletion deletion;
    reader->listener.gate.close();
    reader->reader->set_listener(nullptr);
    reader->participant->subscriber->delete_datareader(reader->reader);
    reader->participant->release_topic(reader->topic);
    for (const auto& sample : reader->taken)
    {
        if (sample.buffer != nullptr)
        {
            sample.buffer->release();
        }
    }
    delete reader;
}

void feros_fastdds_reader_guid(const feros_fastdds_reader* reader, uint8_t guid[16])
{
    copy_guid(reader->reader->guid(), guid);
}

int feros_fastdds_reader_set_user_data(
        feros_fastdds_reader* reader,
        const uint8_t* data,
        size_t bytes)
{
    return set_user_data(reader->reader, data, bytes);
}

int feros_fastdds_take(feros_fastdds_reader* reader, feros_fastdds_sample* sample)
try
{
    {
        std::lock_guard<std::mutex> guard(reader->lock);
        if (!reader->taken.empty())
        {
            *sample = reader->taken.front();
            reader->taken.pop_front();
            return 1;
        }
    }
    // The lock is not held here: taking needs locks of Fast DDS, which a listener that takes
    // already holds.
    std::deque<feros_fastdds_sample> taken;
    const int code = take_all(*reader, taken);
    if (taken.empty())
    {
        return -code;
    }
    *sample = taken.front();
    taken.pop_front();
    std::lock_guard<std::mutex> guard(reader->lock);
    reader->taken.insert(reader->taken.end(), taken.begin(), taken.end());
    return 1;
}
catch (...)
{
    return -fast::RETCODE_ERROR;
}

} // extern "C"
