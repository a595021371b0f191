// The structures of introspection, the strings and the sequences, in the form of each distribution:
// as in the headers of Kilted, and for Lyrical as published information says, since these tests do
// not run with Lyrical.

#ifndef FORMS_HPP_
#define FORMS_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct Hash { uint8_t version; uint8_t value[32]; };
struct TypeSupport {
  const char * identifier;
  const void * data;
  const TypeSupport * (*func)(const TypeSupport *, const char *);
  const Hash * (*hash)(const TypeSupport *);
  const void * (*description)(const TypeSupport *);
  const void * (*sources)(const TypeSupport *);
};
struct Member {
  const char * name;
  uint8_t type_id;
  size_t string_upper_bound;
  const TypeSupport * members;
  bool is_key;
  bool is_array;
  size_t array_size;
  bool is_upper_bound;
  uint32_t offset;
  const void * default_value;
  size_t (* size)(const void *);
  const void * (*get_const)(const void *, size_t);
  void * (*get)(void *, size_t);
  void (* fetch)(const void *, size_t, void *);
  void (* assign)(void *, size_t, const void *);
  void (* resize)(void *, size_t);
};
struct LyricalMember {
  Member member;
  bool is_buffer;
};
struct Members {
  const char * name_space;
  const char * name;
  uint32_t member_count;
  size_t size_of;
  bool has_any_key_member;
  const void * members;
  void (* init)(void *, int);
  void (* fini)(void *);
};

// The strings and sequences of both languages. In Lyrical, sequences of primitives have two flags
// in C, and an unbounded `uint8[]` is a buffer in C++.

template<typename T>
struct CSequence { T * data; size_t size; size_t capacity; using Item = T; };
template<typename T>
struct CNumbers {
  T * data;
  size_t size;
  size_t capacity;
  bool is_buffer;
  bool owns_buffer;
  using Item = T;
};
struct CText { char * data; size_t size; size_t capacity; };
struct CWideText { uint16_t * data; size_t size; size_t capacity; };

// Stands for `rosidl::Buffer<uint8_t>`. Access to bytes that are on a device throws, but their
// number is known.
class Buffer
{
public:
  size_t size() const {return storage->size();}

  std::vector<uint8_t> & bytes() const
  {
    if (on_device) {
      throw std::runtime_error("the bytes are on a device");
    }
    return *storage;
  }

  bool on_device = false;

private:
  std::unique_ptr<std::vector<uint8_t>> storage = std::make_unique<std::vector<uint8_t>>();
};

// A language in the form of Kilted: the types of its fields, and the description of a field.
// `Bytes` is an unbounded `uint8[]`.

struct C {
  static constexpr const char * identifier = "rosidl_typesupport_introspection_c";
  static constexpr const char * name_space = "tables__msg";
  static constexpr bool is_cpp = false;
  using Text = CText;
  using WideText = CWideText;
  template<typename T> using Sequence = CSequence<T>;
  template<typename T, size_t N> using Array = T[N];
  using Bytes = CSequence<uint8_t>;
  using Described = Member;
  static Described described(const Member & member, bool) {return member;}
};

struct Cpp {
  static constexpr const char * identifier = "rosidl_typesupport_introspection_cpp";
  static constexpr const char * name_space = "tables::msg";
  static constexpr bool is_cpp = true;
  using Text = std::string;
  using WideText = std::u16string;
  template<typename T> using Sequence = std::vector<T>;
  template<typename T, size_t N> using Array = std::array<T, N>;
  using Bytes = std::vector<uint8_t>;
  using Described = Member;
  static Described described(const Member & member, bool) {return member;}
};

// The same in the form of Lyrical.

struct CLyrical : C {
  template<typename T>
  using Sequence = std::conditional_t<std::is_arithmetic_v<T>, CNumbers<T>, CSequence<T>>;
  using Bytes = CNumbers<uint8_t>;
  using Described = LyricalMember;
  static Described described(const Member & member, bool is_buffer) {return {member, is_buffer};}
};

struct CppLyrical : Cpp {
  using Bytes = Buffer;
  using Described = LyricalMember;
  static Described described(const Member & member, bool is_buffer) {return {member, is_buffer};}
};

}  // namespace

#endif  // FORMS_HPP_
