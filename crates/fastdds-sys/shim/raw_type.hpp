// The type of every topic: a message stays the bytes that it is on the wire.
#pragma once
#include <string>

#include <fastdds/dds/topic/TopicDataType.hpp>

#include "buffer.hpp"

namespace feros {

// What `write` gives to Fast DDS.
struct Written
{
    feros_fastdds_buffer* buffer;
};

// What `take` gets from it.
struct Received
{
    feros_fastdds_buffer* buffer = nullptr;
    uint32_t length = 0;
};

class RawType : public eprosima::fastdds::dds::TopicDataType
{
    using Payload = eprosima::fastdds::rtps::SerializedPayload_t;
    using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
    using Key = eprosima::fastdds::rtps::InstanceHandle_t;

public:

    explicit RawType(
            const std::string& name)
    {
        set_name(name);
        max_serialized_type_size = 256; // what is reserved at first; messages have any size
        is_compute_key_provided = false;
    }

    bool serialize(
            const void* const data,
            Payload& payload,
            Representation) override
    {
        auto* buffer = static_cast<const Written*>(data)->buffer;
        if (payload.data != buffer->bytes())
        {
            if (payload.max_size < buffer->size)
            {
                return false;
            }
            std::memcpy(payload.data, buffer->bytes(), buffer->size);
        }
        payload.length = buffer->size;
        payload.encapsulation = (buffer->bytes()[1] & 1) != 0 ? CDR_LE : CDR_BE;
        return true;
    }

    bool deserialize(
            Payload& payload,
            void* data) override
    {
        auto* received = static_cast<Received*>(data);
        if (payload.length < 4)
        {
            return true; // refused by `take`, which sees no buffer
        }
        if (payload.payload_owner == Pool::get().get())
        {
            received->buffer = feros_fastdds_buffer::of(payload.data);
            received->buffer->add_reference();
            // Fragments are put together in a buffer of the size that their sender claims.
            received->length = payload.length;
            return true;
        }
        received->buffer = feros_fastdds_buffer::make(payload.length);
        if (received->buffer == nullptr)
        {
            return false;
        }
        std::memcpy(received->buffer->bytes(), payload.data, payload.length);
        received->length = payload.length;
        return true;
    }

    uint32_t calculate_serialized_size(
            const void* const data,
            Representation) override
    {
        return static_cast<const Written*>(data)->buffer->size;
    }

    void* create_data() override
    {
        return new Received;
    }

    void delete_data(
            void* data) override
    {
        delete static_cast<Received*>(data);
    }

    bool compute_key(
            Payload&,
            Key&,
            bool) override
    {
        return false;
    }

    bool compute_key(
            const void* const,
            Key&,
            bool) override
    {
        return false;
    }
};

} // namespace feros
