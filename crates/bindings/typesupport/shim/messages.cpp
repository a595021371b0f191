// The operations on C++ messages that only C++ code can do: reading and writing strings, bits and
// vectors, and keeping exceptions from reaching Rust. No function here depends on a message type.
// The caller checks sizes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using Text = std::string;
using WideText = std::u16string;
using Bits = std::vector<bool>;

// Runs `action`; returns true if it ended without an exception. Actions throw only if there is not
// enough memory, since all lengths are bounded by the size of the sample.
template<typename Action>
bool done(Action && action) noexcept
{
  try {
    action();
    return true;
  } catch (...) {
    return false;
  }
}

// Treats the vector as a vector of unsigned numbers of the same width, which makes no difference to
// the allocator and the destructor. Unlike `resize` followed by a copy, this does not write zeros
// first.
template<typename Number>
bool assign(void * vector, const uint8_t * data, size_t count) noexcept
{
  static_assert(std::is_trivially_copyable_v<Number>);
  const auto * numbers = reinterpret_cast<const Number *>(data);
  auto & values = *static_cast<std::vector<Number> *>(vector);
  return done([&] {values.assign(numbers, numbers + count);});
}

}  // namespace

extern "C" {

size_t feros_text_size() noexcept {return sizeof(Text);}

size_t feros_wide_text_size() noexcept {return sizeof(WideText);}

const char * feros_text_read(const void * text, size_t * length) noexcept
{
  const auto & value = *static_cast<const Text *>(text);
  *length = value.size();
  return value.data();
}

bool feros_text_assign(void * text, const char * data, size_t length) noexcept
{
  return done([&] {static_cast<Text *>(text)->assign(data, length);});
}

const char16_t * feros_wide_text_read(const void * text, size_t * length) noexcept
{
  const auto & value = *static_cast<const WideText *>(text);
  *length = value.size();
  return value.data();
}

// Returns null if there is not enough memory.
char16_t * feros_wide_text_resize(void * text, size_t length) noexcept
{
  auto & value = *static_cast<WideText *>(text);
  return done([&] {value.resize(length);}) ? value.data() : nullptr;
}

void feros_bits_read(const void * bits, uint8_t * out, size_t count) noexcept
{
  const auto & value = *static_cast<const Bits *>(bits);
  for (size_t index = 0; index < count; ++index) {
    out[index] = value[index];
  }
}

bool feros_bits_assign(void * bits, const uint8_t * data, size_t count) noexcept
{
  auto & value = *static_cast<Bits *>(bits);
  return done([&] {
             value.resize(count);
             for (size_t index = 0; index < count; ++index) {
               value[index] = data[index] != 0;
             }
           });
}

// `width` is 1, 2, 4 or 8, and the address `data` is a multiple of it.
bool feros_vector_assign(void * vector, size_t width, const uint8_t * data, size_t count) noexcept
{
  switch (width) {
    case 1: return assign<uint8_t>(vector, data, count);
    case 2: return assign<uint16_t>(vector, data, count);
    case 4: return assign<uint32_t>(vector, data, count);
    case 8: return assign<uint64_t>(vector, data, count);
    default: return false;
  }
}

bool feros_vector_resize(void (* resize)(void *, size_t), void * vector, size_t count) noexcept
{
  return done([&] {resize(vector, count);});
}

bool feros_message_init(void (* init)(void *, int), void * message, int how) noexcept
{
  return done([&] {init(message, how);});
}

void feros_message_fini(void (* fini)(void *), void * message) noexcept
{
  done([&] {fini(message);});
}

// Returns the result of `find`. Null if `find` throws: `said` then contains the text of the
// exception. The last byte of `said` is not written, so the text ends with NUL.
const void * feros_type_support_find(
  const void * (*find)(const void *, const char *), const void * type_support,
  const char * identifier, char * said, size_t capacity) noexcept
{
  try {
    return find(type_support, identifier);
  } catch (const std::exception & error) {
    std::strncpy(said, error.what(), capacity - 1);
  } catch (...) {
    std::strncpy(said, "an exception of an unknown type", capacity - 1);
  }
  return nullptr;
}

}  // extern "C"
