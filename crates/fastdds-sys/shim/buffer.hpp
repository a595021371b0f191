// Counted buffers, and the pool by which Fast DDS keeps messages in them: what was serialized into
// a buffer is sent from there, and what was received is lent from there, without a copy of ours.
#pragma once
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <fastdds/rtps/common/SerializedPayload.hpp>
#include <fastdds/rtps/history/IPayloadPool.hpp>

#include "feros_fastdds.h"

struct feros_fastdds_buffer
{
    std::atomic<uint32_t> references{1};
    uint32_t size;

    // The message behind its four bytes of encapsulation is aligned to 8.
    static constexpr size_t offset = 20;

    uint8_t* bytes()
    {
        return reinterpret_cast<uint8_t*>(this) + offset;
    }

    static feros_fastdds_buffer* of(
            uint8_t* bytes)
    {
        return reinterpret_cast<feros_fastdds_buffer*>(bytes - offset);
    }

    static feros_fastdds_buffer* make(
            size_t size)
    {
        if (size > UINT32_MAX - 64)
        {
            return nullptr;
        }
        void* memory = std::malloc(offset + size + 4);
        if (memory == nullptr)
        {
            return nullptr;
        }
        auto* buffer = new (memory) feros_fastdds_buffer;
        buffer->size = static_cast<uint32_t>(size);
        return buffer;
    }

    void add_reference()
    {
        references.fetch_add(1, std::memory_order_relaxed);
    }

    void release()
    {
        if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        {
            this->~feros_fastdds_buffer();
            std::free(this);
        }
    }
};

namespace feros {

class Pool : public eprosima::fastdds::rtps::IPayloadPool
{
    using Payload = eprosima::fastdds::rtps::SerializedPayload_t;

public:

    // One for the process: buffers move between participants within it.
    static const std::shared_ptr<Pool>& get()
    {
        // Never destroyed: threads of Fast DDS outlive static objects.
        static auto* pool = new std::shared_ptr<Pool>(new Pool);
        return *pool;
    }

    // The buffer that this thread writes: the next payload of its size is this one.
    static feros_fastdds_buffer*& written()
    {
        static thread_local feros_fastdds_buffer* buffer = nullptr;
        return buffer;
    }

    bool get_payload(
            uint32_t size,
            Payload& payload) override
    {
        if (auto* buffer = written(); buffer != nullptr && buffer->size == size)
        {
            written() = nullptr;
            buffer->add_reference();
            return give(buffer, payload);
        }
        return give(feros_fastdds_buffer::make(size), payload);
    }

    bool get_payload(
            const Payload& data,
            Payload& payload) override
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

    bool release_payload(
            Payload& payload) override
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

    bool give(
            feros_fastdds_buffer* buffer,
            Payload& payload)
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
