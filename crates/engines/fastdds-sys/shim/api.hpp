// The differences between Fast DDS 2 and Fast DDS 3. The rest of the shim is written for Fast DDS
// 3, with the names that these headers define: `fast` is the DDS API, and `rtps` is the layer below
// it.
//
// Each of the two headers has
//   fast, rtps                    namespaces with the names of Fast DDS 3
//   VERSION                       of the headers
//   code_of(code)                 a return code as a number
//   is_lent(payload)              whether a payload is a buffer of ours, which need not be copied
//   AnyType, AnyDiscovery         base classes with one signature in both
//   ParticipantNumber             a number that a profile gives to a participant
//   load_profiles, first_port, write, ask_every, create_writer, create_reader, ask_for_xcdr1
#pragma once
#include "buffer.hpp"

namespace feros {

// The data that `write` passes to Fast DDS.
struct Written
{
    feros_fastdds_buffer* buffer;
};

// The data that `take` gets from Fast DDS.
struct Received
{
    feros_fastdds_buffer* buffer = nullptr;
    uint32_t length = 0;
};

} // namespace feros

#if FEROS_FASTDDS_MAJOR == 2
#include "api_2.hpp"
#else
#include "api_3.hpp"
#endif
