// The type of every topic, which keeps a message as the bytes that it has on the wire.
#pragma once
#include <cstring>

#include "api.hpp"

namespace feros {

class RawType : public AnyType
{
    using Payload = rtps::SerializedPayload_t;

public:

    explicit RawType(const std::string& name)
        : AnyType(name, 256) // the initial size of the memory; messages have any size
    {
    }

    bool write_to(const Written& written, Payload& payload) override
    {
        auto* buffer = written.buffer;
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

    bool read_from(const Payload& payload, Received& received) override
    {
        if (payload.length < 4)
        {
            return true; // `take` refuses the sample, since it has no buffer
        }
        received.length = payload.length;
        if (is_lent(payload))
        {
            // Fragments are assembled in a buffer whose size the sender claims.
            received.buffer = feros_fastdds_buffer::of(payload.data);
            received.buffer->add_reference();
            return true;
        }
        received.buffer = feros_fastdds_buffer::make(payload.length);
        if (received.buffer == nullptr)
        {
            return false;
        }
        std::memcpy(received.buffer->bytes(), payload.data, payload.length);
        return true;
    }
};

} // namespace feros
