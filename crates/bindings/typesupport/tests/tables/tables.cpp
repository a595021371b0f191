// C and C++ messages as rosidl generates them, and their introspection, for tests and fuzzing
// without ROS 2, in the form of each distribution.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "forms.hpp"

namespace {

// The messages. `each` visits all fields, for the init and fini functions of C.

template<typename L>
struct Point {
  double x; double y;
  template<typename F> void each(F && f) {f(x); f(y);}
};

template<typename L>
struct Empty {
  uint8_t structure_needs_at_least_one_member;
  template<typename F> void each(F && f) {f(structure_needs_at_least_one_member);}
};

template<typename L>
struct Padded {
  uint8_t tag; uint32_t number; bool flag; double real; uint16_t end;
  template<typename F> void each(F && f) {f(tag); f(number); f(flag); f(real); f(end);}
};

template<typename L>
struct Inner {
  bool flag; typename L::Text name; double value; typename L::template Sequence<int8_t> bytes;
  template<typename F> void each(F && f) {f(flag); f(name); f(value); f(bytes);}
};

template<typename L>
struct Chunk {
  uint32_t number; typename L::Bytes data;
  template<typename F> void each(F && f) {f(number); f(data);}
};

template<typename L>
struct Blob {
  uint8_t tag;
  typename L::Bytes data;
  double real;
  typename L::template Sequence<uint8_t> bounded_bytes;
  typename L::template Sequence<double> reals;
  typename L::template Sequence<bool> bits;
  typename L::Text text;
  Chunk<L> chunk;
  typename L::template Array<Chunk<L>, 2> pair;
  typename L::template Sequence<Chunk<L>> chunks;
  uint64_t end;
  template<typename F> void each(F && f)
  {
    f(tag); f(data); f(real); f(bounded_bytes); f(reals); f(bits); f(text); f(chunk); f(pair);
    f(chunks); f(end);
  }
};

template<typename L>
struct Sample {
  bool flag; uint8_t tag; int16_t small; int32_t number; double real; uint64_t big;
  typename L::Text text;
  uint16_t between;
  typename L::Text bounded_text;
  typename L::WideText wide_text;
  typename L::template Array<double, 3> numbers;
  typename L::template Array<bool, 2> flags;
  typename L::template Array<typename L::Text, 2> texts;
  typename L::template Array<Padded<L>, 2> padded;
  typename L::template Array<Point<L>, 2> points;
  typename L::template Array<Inner<L>, 2> inners;
  typename L::template Sequence<int32_t> integers;
  typename L::template Sequence<bool> bits;
  typename L::template Sequence<uint8_t> bounded_bytes;
  typename L::template Sequence<typename L::Text> text_sequence;
  typename L::template Sequence<typename L::WideText> wide_text_sequence;
  typename L::template Sequence<Point<L>> path;
  typename L::template Sequence<Padded<L>> padded_sequence;
  typename L::template Sequence<Inner<L>> inner_sequence;
  Empty<L> empty;
  Point<L> point;
  template<typename F> void each(F && f)
  {
    f(flag); f(tag); f(small); f(number); f(real); f(big); f(text); f(between); f(bounded_text);
    f(wide_text); f(numbers); f(flags); f(texts); f(padded); f(points); f(inners); f(integers);
    f(bits); f(bounded_bytes); f(text_sequence); f(wide_text_sequence); f(path);
    f(padded_sequence); f(inner_sequence); f(empty); f(point);
  }
};

// The init and fini functions of C, as in rosidl_runtime_c: a string always has memory for its NUL.

struct Init {
  template<typename T> void operator()(T & value) const
  {
    if constexpr (std::is_arithmetic_v<T>) {value = T();} else {value.each(*this);}
  }
  template<typename T, size_t N> void operator()(T (& values)[N]) const
  {
    for (auto & value : values) {(*this)(value);}
  }
  template<typename T> void operator()(CSequence<T> & sequence) const {sequence = {};}
  template<typename T> void operator()(CNumbers<T> & sequence) const {sequence = {};}
  void operator()(CText & text) const {text = {static_cast<char *>(calloc(1, 1)), 0, 1};}
  void operator()(CWideText & text) const
  {
    text = {static_cast<uint16_t *>(calloc(1, 2)), 0, 1};
  }
};

struct Fini {
  template<typename T> void operator()(T & value) const
  {
    if constexpr (!std::is_arithmetic_v<T>) {value.each(*this);}
  }
  template<typename T, size_t N> void operator()(T (& values)[N]) const
  {
    for (auto & value : values) {(*this)(value);}
  }
  template<typename T> void operator()(CSequence<T> & sequence) const
  {
    for (size_t index = 0; index < sequence.capacity; ++index) {(*this)(sequence.data[index]);}
    free(sequence.data);
    sequence = {};
  }
  // A test that lets a sequence point to a buffer takes the pointer back.
  template<typename T> void operator()(CNumbers<T> & sequence) const
  {
    if (sequence.is_buffer) {abort();}
    free(sequence.data);
    sequence = {};
  }
  // Like rosidl_runtime_c, aborts the process if a string has memory but no capacity.
  void operator()(CText & text) const
  {
    if (text.data && text.capacity == 0) {abort();}
    free(text.data);
    text = {};
  }
  void operator()(CWideText & text) const
  {
    if (text.data && text.capacity == 0) {abort();}
    free(text.data);
    text = {};
  }
};

template<typename L, typename Message>
void init(void * message, int)
{
  if constexpr (L::is_cpp) {
    new (message) Message();
  } else {
    Init()(*static_cast<Message *>(message));
  }
}

template<typename L, typename Message>
void fini(void * message)
{
  if constexpr (L::is_cpp) {
    static_cast<Message *>(message)->~Message();
  } else {
    Fini()(*static_cast<Message *>(message));
  }
}

// The functions of sequences.

template<typename T> struct Accessors;

// Aborts the process if a sequence points to a buffer, to which the sequence has no access.
template<typename T> void only_elements(const CSequence<T> &) {}
template<typename T> void only_elements(const CNumbers<T> & sequence)
{
  if (sequence.is_buffer) {abort();}
}

template<typename S>
struct CAccessors {
  using Sequence = S;
  using T = typename S::Item;
  static size_t size(const void * at)
  {
    only_elements(*static_cast<const Sequence *>(at));
    return static_cast<const Sequence *>(at)->size;
  }
  static const void * get_const(const void * at, size_t index)
  {
    only_elements(*static_cast<const Sequence *>(at));
    return &static_cast<const Sequence *>(at)->data[index];
  }
  static void * get(void * at, size_t index)
  {
    only_elements(*static_cast<Sequence *>(at));
    return &static_cast<Sequence *>(at)->data[index];
  }
  static bool resize(void * at, size_t count)
  {
    auto & sequence = *static_cast<Sequence *>(at);
    only_elements(sequence);
    Fini()(sequence);
    if (count == 0) {return true;}
    sequence.data = static_cast<T *>(calloc(count, sizeof(T)));
    if (!sequence.data) {return false;}
    sequence.size = sequence.capacity = count;
    for (size_t index = 0; index < count; ++index) {Init()(sequence.data[index]);}
    return true;
  }
};

template<typename T> struct Accessors<CSequence<T>>: CAccessors<CSequence<T>> {};
template<typename T> struct Accessors<CNumbers<T>>: CAccessors<CNumbers<T>> {};

template<>
struct Accessors<Buffer> {
  static size_t size(const void * at) {return static_cast<const Buffer *>(at)->size();}
  static const void * get_const(const void * at, size_t index)
  {
    return &static_cast<const Buffer *>(at)->bytes()[index];
  }
  static void * get(void * at, size_t index)
  {
    return &static_cast<Buffer *>(at)->bytes()[index];
  }
  static void resize(void * at, size_t count) {static_cast<Buffer *>(at)->bytes().resize(count);}
};

template<typename T>
struct Accessors<std::vector<T>> {
  using Sequence = std::vector<T>;
  static size_t size(const void * at) {return static_cast<const Sequence *>(at)->size();}
  static const void * get_const(const void * at, size_t index)
  {
    return &(*static_cast<const Sequence *>(at))[index];
  }
  static void * get(void * at, size_t index) {return &(*static_cast<Sequence *>(at))[index];}
  static void resize(void * at, size_t count) {static_cast<Sequence *>(at)->resize(count);}
};

template<typename L, typename Message> const TypeSupport * type_support();

// Derives the description of a field from its C++ type.

template<typename L, typename T>
struct Describe {
  static constexpr bool is_array = false;
  static constexpr size_t count = 0;
  static constexpr bool is_sequence = false;
  using Item = T;
};
template<typename L, typename T, size_t N>
struct Describe<L, T[N]>{
  static constexpr bool is_array = true;
  static constexpr size_t count = N;
  static constexpr bool is_sequence = false;
  using Item = T;
};
template<typename L, typename T, size_t N>
struct Describe<L, std::array<T, N>>: Describe<L, T[N]> {};
template<typename L, typename T>
struct Describe<L, CSequence<T>>{
  static constexpr bool is_array = true;
  static constexpr size_t count = 0;
  static constexpr bool is_sequence = true;
  using Item = T;
};
template<typename L, typename T>
struct Describe<L, CNumbers<T>>: Describe<L, CSequence<T>> {};
template<typename L, typename T>
struct Describe<L, std::vector<T>>: Describe<L, CSequence<T>> {};
template<typename L>
struct Describe<L, Buffer>: Describe<L, CSequence<uint8_t>> {};

template<typename L, typename T>
constexpr uint8_t type_id()
{
  if (std::is_same_v<T, bool>) {return 6;}
  if (std::is_same_v<T, double>) {return 2;}
  if (std::is_same_v<T, uint8_t>) {return 8;}
  if (std::is_same_v<T, int8_t>) {return 9;}
  if (std::is_same_v<T, uint16_t>) {return 10;}
  if (std::is_same_v<T, int16_t>) {return 11;}
  if (std::is_same_v<T, uint32_t>) {return 12;}
  if (std::is_same_v<T, int32_t>) {return 13;}
  if (std::is_same_v<T, uint64_t>) {return 14;}
  if (std::is_same_v<T, typename L::Text>) {return 16;}
  if (std::is_same_v<T, typename L::WideText>) {return 17;}
  return 18;
}

template<typename L, typename T>
typename L::Described member(
  const char * name, size_t offset, size_t bound = 0, size_t string_bound = 0)
{
  using Field = Describe<L, T>;
  using Item = typename Field::Item;
  Member member {};
  member.name = name;
  member.type_id = type_id<L, Item>();
  member.string_upper_bound = string_bound;
  member.is_array = Field::is_array;
  member.array_size = Field::is_sequence ? bound : Field::count;
  member.is_upper_bound = bound != 0;
  member.offset = static_cast<uint32_t>(offset);
  if constexpr (type_id<L, Item>() == 18) {member.members = type_support<L, Item>();}
  if constexpr (Field::is_sequence) {
    member.size = Accessors<T>::size;
    // The C function returns whether there was enough memory; the caller casts it back to its real
    // type.
    member.resize = reinterpret_cast<void (*)(void *, size_t)>(
      reinterpret_cast<void (*)()>(&Accessors<T>::resize));
    if constexpr (!std::is_same_v<T, std::vector<bool>>) {
      member.get_const = Accessors<T>::get_const;
      member.get = Accessors<T>::get;
    }
  }
  return L::described(member, std::is_same_v<T, typename L::Bytes> && bound == 0);
}

#define MEMBER(field, ...) \
  member<L, decltype(Message::field)>(#field, offsetof(Message, field), ## __VA_ARGS__)

template<typename L>
const std::vector<typename L::Described> & members_of(const Point<L> *)
{
  using Message = Point<L>;
  static const std::vector<typename L::Described> members {MEMBER(x), MEMBER(y)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Empty<L> *)
{
  using Message = Empty<L>;
  static const std::vector<typename L::Described> members {
    MEMBER(structure_needs_at_least_one_member)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Padded<L> *)
{
  using Message = Padded<L>;
  static const std::vector<typename L::Described> members {
    MEMBER(tag), MEMBER(number), MEMBER(flag), MEMBER(real), MEMBER(end)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Inner<L> *)
{
  using Message = Inner<L>;
  static const std::vector<typename L::Described> members {
    MEMBER(flag), MEMBER(name), MEMBER(value), MEMBER(bytes)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Chunk<L> *)
{
  using Message = Chunk<L>;
  static const std::vector<typename L::Described> members {MEMBER(number), MEMBER(data)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Blob<L> *)
{
  using Message = Blob<L>;
  static const std::vector<typename L::Described> members {
    MEMBER(tag), MEMBER(data), MEMBER(real), MEMBER(bounded_bytes, 4), MEMBER(reals),
    MEMBER(bits), MEMBER(text), MEMBER(chunk), MEMBER(pair), MEMBER(chunks), MEMBER(end)};
  return members;
}

template<typename L>
const std::vector<typename L::Described> & members_of(const Sample<L> *)
{
  using Message = Sample<L>;
  static const std::vector<typename L::Described> members {
    MEMBER(flag), MEMBER(tag), MEMBER(small), MEMBER(number), MEMBER(real), MEMBER(big),
    MEMBER(text), MEMBER(between), MEMBER(bounded_text, 0, 8), MEMBER(wide_text),
    MEMBER(numbers), MEMBER(flags), MEMBER(texts), MEMBER(padded), MEMBER(points),
    MEMBER(inners), MEMBER(integers), MEMBER(bits), MEMBER(bounded_bytes, 4),
    MEMBER(text_sequence), MEMBER(wide_text_sequence), MEMBER(path), MEMBER(padded_sequence),
    MEMBER(inner_sequence), MEMBER(empty), MEMBER(point)};
  return members;
}

template<typename L> const char * name_of(const Point<L> *) {return "Point";}
template<typename L> const char * name_of(const Empty<L> *) {return "Empty";}
template<typename L> const char * name_of(const Padded<L> *) {return "Padded";}
template<typename L> const char * name_of(const Inner<L> *) {return "Inner";}
template<typename L> const char * name_of(const Chunk<L> *) {return "Chunk";}
template<typename L> const char * name_of(const Blob<L> *) {return "Blob";}
template<typename L> const char * name_of(const Sample<L> *) {return "Sample";}

const TypeSupport * find(const TypeSupport * type_support, const char * identifier)
{
  return std::strcmp(type_support->identifier, identifier) == 0 ? type_support : nullptr;
}

const Hash * hash(const TypeSupport *)
{
  static const Hash hash {1, {7, 8, 9}};
  return &hash;
}

template<typename L, typename Message>
const TypeSupport * type_support()
{
  const Message * type = nullptr;
  static const auto & fields = members_of(type);
  static const Members members {
    L::name_space, name_of(type), static_cast<uint32_t>(fields.size()), sizeof(Message), false,
    fields.data(), init<L, Message>, fini<L, Message>};
  static const TypeSupport support {L::identifier, &members, find, hash, nullptr, nullptr};
  return &support;
}

template<typename L>
const TypeSupport * type_support_of(int type)
{
  switch (type) {
    case 0: return type_support<L, Sample<L>>();
    case 1: return type_support<L, Point<L>>();
    case 2: return type_support<L, Empty<L>>();
    case 3: return type_support<L, Padded<L>>();
    case 4: return type_support<L, Blob<L>>();
    default: return nullptr;
  }
}

}  // namespace

extern "C" {

const void * feros_tables_type_support(int form, int language, int type)
{
  if (form == 0) {
    return language == 0 ? type_support_of<C>(type) : type_support_of<Cpp>(type);
  }
  return language == 0 ? type_support_of<CLyrical>(type) : type_support_of<CppLyrical>(type);
}

void feros_tables_move_buffer(void * buffer, bool to_device)
{
  static_cast<Buffer *>(buffer)->on_device = to_device;
}

}  // extern "C"
