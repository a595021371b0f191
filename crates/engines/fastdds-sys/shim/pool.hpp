// The pool that makes Fast DDS 3 keep messages in reference-counted buffers. Messages are sent from
// the buffer into which they were serialized, and lent from the buffer into which they were
// received, without another copy.
#pragma once
#include <cstring>
#include <memory>

#include <fastdds/rtps/common/SerializedPayload.hpp>
#include <fastdds/rtps/history/IPayloadPool.hpp>

#include "buffer.hpp"

namespace feros {

class Pool : public eprosima::fastdds::rtps::IPayloadPool
{
    using Payload = eprosima::fastdds::rtps::SerializedPayload_t;

public:

    // Each process has one pool, because buffers move between the process's participants.
    static const std::shared_ptr<Pool>& get()
    {
        // Never destroyed, because threads of Fast DDS outlive static objects.
        static auto* pool = new std::shared_ptr<Pool>(new Pool);
        return *pool;
    }

    // While this value exists, the next payload of the buffer's size that this thread requests is
    // the buffer itself.
    class Writing
    {
    public:

        explicit Writing(feros_fastdds_buffer* buffer)
        {
            written() = buffer;
        }

        Writing(const Writing&) = delete;

        ~Writing()
        {
            written() = nullptr;
        }
    };

    bool get_payload(uint32_t size, Payload& payload) override
    {
        if (auto* buffer = written(); buffer != nullptr && buffer->size == size)
        {
            written() = nullptr;
            buffer->add_reference();
            return give(buffer, payload);
        }
        return give(feros_fastdds_buffer::make(size), payload);
    }

    bool get_payload(const Payload& data, Payload& payload) override
    {
        if (data.payload_owner == this)
        {
            auto* buffer = feros_fastdds_buffer::of(data.data);
            buffer->add_reference();
            give(buffer, payload);
        }
        else
        {
            if (!give(feros_fastdds_buffer::make(data.length), payload))
            {
                return false;
            }
            std::memcpy(payload.data, data.data, data.length);
        }
        payload.encapsulation = data.encapsulation;
        payload.length = data.length;
        return true;
    }

    bool release_payload(Payload& payload) override
    {
        if (payload.payload_owner != this)
        {
            return false;
        }
        feros_fastdds_buffer::of(payload.data)->release();
        payload.data = nullptr;
        payload.length = payload.max_size = payload.pos = 0;
        payload.payload_owner = nullptr;
        return true;
    }

private:

    // The buffer that this thread is writing.
    static feros_fastdds_buffer*& written()
    {
        static thread_local feros_fastdds_buffer* buffer = nullptr;
        return buffer;
    }

    bool give(feros_fastdds_buffer* buffer, Payload& payload)
    {
        if (buffer == nullptr)
        {
            return false;
        }
        payload.data = buffer->bytes();
        payload.max_size = buffer->size;
        payload.payload_owner = this;
        return true;
    }
};

} // namespace feros
