// Fast DDS 3 renamed parts of Fast DDS 2. fastdds.cpp uses only the names defined here.
#pragma once

#if __has_include(<fastdds/config.hpp>)
#define FAST_DDS_3 1
#include <fastdds/config.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#else
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#endif
#include <fastdds/dds/topic/TopicDataType.hpp>

#include <functional>

namespace versions {

#ifdef FAST_DDS_3
namespace rtps = eprosima::fastdds::rtps;
using eprosima::fastdds::dds::c_TimeInfinite;
using eprosima::fastdds::dds::Duration_t;
using eprosima::fastdds::dds::ReturnCode_t;
constexpr ReturnCode_t OK = eprosima::fastdds::dds::RETCODE_OK;
inline bool is_written(ReturnCode_t code) { return code == OK; }
#else
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastrtps::c_TimeInfinite;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::types::ReturnCode_t;
constexpr auto OK = ReturnCode_t::RETCODE_OK;
inline bool is_written(bool written) { return written; }
#endif
using rtps::SerializedPayload_t;

/// A type that works with both versions.
class Type : public eprosima::fastdds::dds::TopicDataType {
 public:
  virtual bool write_to(const void *data, SerializedPayload_t &to) = 0;
  virtual bool read_from(SerializedPayload_t &from, void *data) = 0;
  virtual uint32_t size_of(const void *data) = 0;
  virtual void *make() = 0;
  virtual void unmake(void *data) = 0;
  virtual bool is_array() const { return false; }

  bool is_bounded() const override { return is_array(); }

#ifdef FAST_DDS_3
  using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
  void describe(const char *name, uint32_t bytes) {
    set_name(name);
    max_serialized_type_size = bytes;
  }
  bool serialize(const void *const data, SerializedPayload_t &to, Representation) override { return write_to(data, to); }
  bool deserialize(SerializedPayload_t &from, void *data) override { return read_from(from, data); }
  uint32_t calculate_serialized_size(const void *const data, Representation) override { return size_of(data); }
  void *create_data() override { return make(); }
  void delete_data(void *data) override { unmake(data); }
  bool compute_key(SerializedPayload_t &, rtps::InstanceHandle_t &, bool) override { return false; }
  bool compute_key(const void *const, rtps::InstanceHandle_t &, bool) override { return false; }
  bool is_plain(Representation) const override { return is_array(); }
#else
  void describe(const char *name, uint32_t bytes) {
    setName(name);
    m_typeSize = bytes;
  }
  bool serialize(void *data, SerializedPayload_t *to) override { return write_to(data, *to); }
  bool deserialize(SerializedPayload_t *from, void *data) override { return read_from(*from, data); }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [this, data] { return size_of(data); };
  }
  void *createData() override { return make(); }
  void deleteData(void *data) override { unmake(data); }
  bool getKey(void *, rtps::InstanceHandle_t *, bool) override { return false; }
  bool is_plain() const override { return is_array(); }
#endif
  bool construct_sample(void *) const override { return is_array(); }
};

} // namespace versions
