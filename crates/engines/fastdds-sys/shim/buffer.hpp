// Reference-counted buffers that hold one message each.
#pragma once
#include <atomic>
#include <cstdlib>
#include <new>

#include "feros_fastdds.h"

struct feros_fastdds_buffer
{
    std::atomic<uint32_t> references{1};
    uint32_t size;

    // The offset of the message in the buffer. The bytes after the message's four bytes of
    // encapsulation are aligned to 8.
    static constexpr size_t offset = 20;

    uint8_t* bytes()
    {
        return reinterpret_cast<uint8_t*>(this) + offset;
    }

    static feros_fastdds_buffer* of(uint8_t* bytes)
    {
        return reinterpret_cast<feros_fastdds_buffer*>(bytes - offset);
    }

    static feros_fastdds_buffer* make(size_t size)
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
