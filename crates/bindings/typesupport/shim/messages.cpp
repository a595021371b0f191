// The operations on C++ messages that only C++ code can do: reading and writing strings, bits and
// vectors, and keeping exceptions from reaching Rust. No function here depends on a message type.
// The caller checks sizes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__linux__) && !defined(__GLIBCXX__)
#error "On Linux, messages in C++ are laid out by libstdc++: compile this with a compiler that uses it"
#endif

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

// Writes the text of an exception. The last byte of `said` is not written, so that the text ends
// with NUL.
void say(char * said, size_t capacity, const char * what) noexcept
{
  std::strncpy(said, what, capacity - 1);
}

constexpr const char * unknown = "an exception of an unknown type";

// Runs `action`; returns 0 if it ended without an exception, 1 if there was not enough memory, and
// otherwise 2: `said` then contains the text of the exception.
template<typename Action>
int accessed(Action && action, char * said, size_t capacity) noexcept
{
  try {
    action();
    return 0;
  } catch (const std::bad_alloc &) {
    return 1;
  } catch (const std::exception & error) {
    say(said, capacity, error.what());
  } catch (...) {
    say(said, capacity, unknown);
  }
  return 2;
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

// The functions of a sequence, as introspection gives them.
struct feros_accessors
{
  size_t (* size)(const void *);
  const void * (* get_const)(const void *, size_t);
  void * (* get)(void *, size_t);
  void (* resize)(void *, size_t);
};

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

// A buffer is accessed only through its functions, which throw if its bytes are not in the memory
// of the CPU. The bytes are adjacent: the iterators of a `rosidl::Buffer<uint8_t>` are pointers.
int feros_buffer_read(
  const feros_accessors * accessors, const void * buffer, const uint8_t ** data, size_t * count,
  char * said, size_t capacity) noexcept
{
  return accessed(
    [&] {
      *count = accessors->size(buffer);
      const void * first = *count > 0 ? accessors->get_const(buffer, 0) : nullptr;
      *data = static_cast<const uint8_t *>(first);
    }, said, capacity);
}

int feros_buffer_resize(
  const feros_accessors * accessors, void * buffer, size_t count, uint8_t ** data, char * said,
  size_t capacity) noexcept
{
  return accessed(
    [&] {
      if (accessors->size(buffer) != count) {
        accessors->resize(buffer, count);
      }
      void * first = count > 0 ? accessors->get(buffer, 0) : nullptr;
      *data = static_cast<uint8_t *>(first);
    }, said, capacity);
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
// exception.
const void * feros_type_support_find(
  const void * (*find)(const void *, const char *), const void * type_support,
  const char * identifier, char * said, size_t capacity) noexcept
{
  try {
    return find(type_support, identifier);
  } catch (const std::exception & error) {
    say(said, capacity, error.what());
  } catch (...) {
    say(said, capacity, unknown);
  }
  return nullptr;
}

}  // extern "C"
