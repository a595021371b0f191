// C and C++ messages as rosidl generates them, and their introspection, for tests and fuzzing
// without ROS 2. The structures of introspection are declared as in the headers of Kilted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
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
struct Members {
  const char * name_space;
  const char * name;
  uint32_t member_count;
  size_t size_of;
  bool has_any_key_member;
  const Member * members;
  void (* init)(void *, int);
  void (* fini)(void *);
};

// The strings and sequences of both languages.

template<typename T>
struct CSequence { T * data; size_t size; size_t capacity; using Item = T; };
struct CText { char * data; size_t size; size_t capacity; };
struct CWideText { uint16_t * data; size_t size; size_t capacity; };

struct C {
  static constexpr const char * identifier = "rosidl_typesupport_introspection_c";
  static constexpr const char * name_space = "tables__msg";
  static constexpr bool is_cpp = false;
  using Text = CText;
  using WideText = CWideText;
  template<typename T> using Sequence = CSequence<T>;
  template<typename T, size_t N> using Array = T[N];
};

struct Cpp {
  static constexpr const char * identifier = "rosidl_typesupport_introspection_cpp";
  static constexpr const char * name_space = "tables::msg";
  static constexpr bool is_cpp = true;
  using Text = std::string;
  using WideText = std::u16string;
  template<typename T> using Sequence = std::vector<T>;
  template<typename T, size_t N> using Array = std::array<T, N>;
};

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

template<typename T>
struct Accessors<CSequence<T>> {
  using Sequence = CSequence<T>;
  static size_t size(const void * at) {return static_cast<const Sequence *>(at)->size;}
  static const void * get_const(const void * at, size_t index)
  {
    return &static_cast<const Sequence *>(at)->data[index];
  }
  static void * get(void * at, size_t index) {return &static_cast<Sequence *>(at)->data[index];}
  static bool resize(void * at, size_t count)
  {
    auto & sequence = *static_cast<Sequence *>(at);
    Fini()(sequence);
    if (count == 0) {return true;}
    sequence.data = static_cast<T *>(calloc(count, sizeof(T)));
    if (!sequence.data) {return false;}
    sequence.size = sequence.capacity = count;
    for (size_t index = 0; index < count; ++index) {Init()(sequence.data[index]);}
    return true;
  }
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
struct Describe<L, std::vector<T>>: Describe<L, CSequence<T>> {};

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
Member member(const char * name, size_t offset, size_t bound = 0, size_t string_bound = 0)
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
  return member;
}

#define MEMBER(field, ...) \
  member<L, decltype(Message::field)>(#field, offsetof(Message, field), ## __VA_ARGS__)

template<typename L>
const std::vector<Member> & members_of(const Point<L> *)
{
  using Message = Point<L>;
  static const std::vector<Member> members {MEMBER(x), MEMBER(y)};
  return members;
}

template<typename L>
const std::vector<Member> & members_of(const Empty<L> *)
{
  using Message = Empty<L>;
  static const std::vector<Member> members {MEMBER(structure_needs_at_least_one_member)};
  return members;
}

template<typename L>
const std::vector<Member> & members_of(const Padded<L> *)
{
  using Message = Padded<L>;
  static const std::vector<Member> members {
    MEMBER(tag), MEMBER(number), MEMBER(flag), MEMBER(real), MEMBER(end)};
  return members;
}

template<typename L>
const std::vector<Member> & members_of(const Inner<L> *)
{
  using Message = Inner<L>;
  static const std::vector<Member> members {
    MEMBER(flag), MEMBER(name), MEMBER(value), MEMBER(bytes)};
  return members;
}

template<typename L>
const std::vector<Member> & members_of(const Sample<L> *)
{
  using Message = Sample<L>;
  static const std::vector<Member> members {
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
    default: return nullptr;
  }
}

}  // namespace

extern "C" const void * feros_tables_type_support(int language, int type)
{
  return language == 0 ? type_support_of<C>(type) : type_support_of<Cpp>(type);
}
