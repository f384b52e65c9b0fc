// weir/region.h for C++14: pointers into regions that register themselves, regions as objects, sets
// as scopes. The rules of region.h hold here too.
//
// 1. region_ptr<T> is used as T* is. It is registered while it refers to a region, wherever it
//    lies: on a stack, in a container, or in a region itself.
// 2. Every access through it loads the pointer afresh, after all that the program did to memory
//    before. So an access traps where it would if nothing were optimized, also where a handler has
//    just changed the level of this region or of another (section 3.4 of the paper); but one whose
//    result is not used may be left out by the compiler, as any other may. What a handler has
//    written to the program's own variables is seen after the next access through a region_ptr, or
//    std::atomic_signal_fence.
// 3. T&, T* and `this` in a member function are copies that are not registered: through one kept
//    over a change of level the access is made in the window that it was in. Where the level has
//    been raised since, it still arrives (after a trap that calls no handler); where it has been
//    lowered, it does not trap.
// 4. A region_ptr costs what a pointer costs to read, and some tens of nanoseconds to copy, move or
//    change. For an inner loop: weir_region_touch, then get(). Where it lies in a region itself,
//    its bytes there (40) are written when levels change, unseen by handlers; a value that the
//    program gives it is seen. So a region with such pointers is not to be copied byte by byte, nor
//    by weir_region_diff_apply.
// 5. As with T*, one region_ptr may be read by several threads, and changed by one while nobody
//    else uses it. Levels may be changed meanwhile.
// 6. Nothing here throws but std::bad_alloc, and where exceptions are off that is a null pointer.
#ifndef WEIR_REGION_HPP
#define WEIR_REGION_HPP

#if __cplusplus < 201402L
#error "weir/region.hpp needs C++14 or later"
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weir/region.h"

#ifndef WEIR_NODISCARD /* the attribute's own name came with C++17 */
#if __cplusplus >= 201703L
#define WEIR_NODISCARD [[nodiscard]]
#else
#define WEIR_NODISCARD
#endif
#endif

namespace weir {

// A random access iterator, and a "fancy pointer" for std::pointer_traits. T may be void, const and
// incomplete. It belongs to the set of the region_ptr that it was copied or computed from. One made
// from a T* belongs to the set that the calling thread uses; where that T* comes from another set's
// region_ptr (not from set 0's), to that one.
template <typename T>
class region_ptr {
  template <typename U>
  using if_convertible =
      std::enable_if_t<std::is_convertible<U*, T*>::value && !std::is_same<U, T>::value>;
  using referred = std::conditional_t<std::is_void<T>::value, char, T>;

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = std::add_lvalue_reference_t<T>;
  using iterator_category = std::random_access_iterator_tag;
  template <typename U>
  using rebind = region_ptr<U>;

  // --- Its life. A null one is not registered, and costs nothing; neither does a static one need a
  //     constructor to run.
  constexpr region_ptr() noexcept : link_{} {}
  constexpr region_ptr(std::nullptr_t) noexcept : link_{} {}
  // `value`: in any window, or in the memory that a region was defined on. It may also lie in no
  // region, and is a plain pointer then.
  region_ptr(T* value) noexcept : link_{} { start(value, nullptr); }
  region_ptr(const region_ptr& other) noexcept : link_{} { start(other.load(), &other.link_); }
  // Leaves `other` null.
  region_ptr(region_ptr&& other) noexcept : link_{} {
    start(other.load(), &other.link_);
    other.drop();
  }
  // To const, to a base class, to void.
  template <typename U, typename = if_convertible<U>>
  region_ptr(const region_ptr<U>& other) noexcept : link_{} {
    start(other.load(), &other.link_);
  }
  ~region_ptr() {
    if (is_linked()) weir_region_link_drop(&link_);
  }

  region_ptr& operator=(const region_ptr& other) noexcept {
    set(other.load(), &other.link_);
    return *this;
  }
  region_ptr& operator=(region_ptr&& other) noexcept {
    if (this == &other) return *this;
    set(other.load(), &other.link_);
    other.drop();
    return *this;
  }
  template <typename U, typename = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  region_ptr& operator=(U* value) noexcept {
    set(value, nullptr);
    return *this;
  }

  // --- Access
  reference operator*() const noexcept { return *load(); }
  T* operator->() const noexcept { return load(); }
  reference operator[](difference_type index) const noexcept { return load()[index]; }
  explicit operator bool() const noexcept { return load() != nullptr; }
  // Where it points to by now: in the window of the level. Not registered.
  T* get() const noexcept { return load(); }
  // The same byte where it may always be read and written, and is never trapped. Two of them are
  // equal just where these are.
  T* open() const noexcept { return static_cast<T*>(weir_region_open(untyped(load()))); }

  // --- Arithmetic. The end of a region belongs to it, whatever region lies behind.
  region_ptr& operator+=(difference_type count) noexcept {
    set(load() + count, &link_);
    return *this;
  }
  region_ptr& operator-=(difference_type count) noexcept { return *this += -count; }
  region_ptr& operator++() noexcept { return *this += 1; }
  region_ptr& operator--() noexcept { return *this += -1; }
  region_ptr operator++(int) noexcept {
    region_ptr before(*this);
    *this += 1;
    return before;
  }
  region_ptr operator--(int) noexcept {
    region_ptr before(*this);
    *this += -1;
    return before;
  }
  friend region_ptr operator+(const region_ptr& pointer, difference_type count) noexcept {
    return region_ptr(pointer.load() + count, pointer);
  }
  friend region_ptr operator+(difference_type count, const region_ptr& pointer) noexcept {
    return pointer + count;
  }
  friend region_ptr operator-(const region_ptr& pointer, difference_type count) noexcept {
    return pointer + -count;
  }
  friend difference_type operator-(const region_ptr& left, const region_ptr& right) noexcept {
    return left.open() - right.open();
  }

  // --- Order: that of the bytes, whichever window each pointer is in. It is total, as that of
  //     std::less is.
  friend bool operator==(const region_ptr& left, const region_ptr& right) noexcept {
    return left.load() == right.load() || left.open() == right.open();
  }
  friend bool operator!=(const region_ptr& left, const region_ptr& right) noexcept {
    return !(left == right);
  }
  friend bool operator<(const region_ptr& left, const region_ptr& right) noexcept {
    return std::less<T*>()(left.open(), right.open());
  }
  friend bool operator>(const region_ptr& left, const region_ptr& right) noexcept {
    return right < left;
  }
  friend bool operator<=(const region_ptr& left, const region_ptr& right) noexcept {
    return !(right < left);
  }
  friend bool operator>=(const region_ptr& left, const region_ptr& right) noexcept {
    return !(left < right);
  }
  friend bool operator==(const region_ptr& left, std::nullptr_t) noexcept { return !left.load(); }
  friend bool operator==(std::nullptr_t, const region_ptr& right) noexcept { return !right.load(); }
  friend bool operator!=(const region_ptr& left, std::nullptr_t) noexcept { return left.load(); }
  friend bool operator!=(std::nullptr_t, const region_ptr& right) noexcept { return right.load(); }

  // For std::pointer_traits.
  static region_ptr pointer_to(referred& object) noexcept {
    return region_ptr(std::addressof(object));
  }

  template <typename To, typename From>
  friend region_ptr<To> static_pointer_cast(const region_ptr<From>& from) noexcept;
  template <typename To, typename From>
  friend region_ptr<To> const_pointer_cast(const region_ptr<From>& from) noexcept;

 private:
  template <typename U>
  friend class region_ptr;

  template <typename U>
  region_ptr(T* value, const region_ptr<U>& origin) noexcept : link_{} {
    start(value, &origin.link_);
  }

  static void* untyped(T* value) noexcept {
    return const_cast<void*>(static_cast<const volatile void*>(value));
  }

  // The barrier keeps accesses that the program has made before (they may have trapped, and a
  // handler may have moved this pointer) before the load, which a volatile one alone would not;
  // being volatile keeps the load from being made once for several accesses.
  __attribute__((always_inline)) T* load() const noexcept {
    __asm__ volatile("" : : : "memory");
    return static_cast<T*>(*const_cast<void* volatile*>(&link_.value));
  }
  // Not so are null and plain pointers.
  bool is_linked() const noexcept { return link_.back || link_.region || link_.kind; }
  // The library writes to a link that lies in a region by an address that never traps. So that a
  // handler hears of it nevertheless, it is written to from here first: it stays as it is (another
  // thread may be moving it), and the processor counts that as a write.
  void write() noexcept {
    std::uint64_t expected = 0;
    __atomic_compare_exchange_n(&link_.kind, &expected, expected, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  }
  void start(T* value,
             const weir_region_link* origin) noexcept {  // the constructor has written to it
    if (value) weir_region_link_set(&link_, untyped(value), origin);
  }
  void set(T* value, const weir_region_link* origin) noexcept {
    if (!value) return drop();
    write();
    weir_region_link_set(&link_, untyped(value), origin);
  }
  void drop() noexcept {
    if (is_linked()) {
      write();
      weir_region_link_drop(&link_);
    } else if (load()) {
      *const_cast<void* volatile*>(&link_.value) = nullptr;
    }
  }

  mutable weir_region_link link_;  // the library moves it, be it const or not
};

// As static_cast and const_cast of T*.
template <typename To, typename From>
region_ptr<To> static_pointer_cast(const region_ptr<From>& from) noexcept {
  return region_ptr<To>(static_cast<To*>(from.load()), from);
}
template <typename To, typename From>
region_ptr<To> const_pointer_cast(const region_ptr<From>& from) noexcept {
  return region_ptr<To>(const_cast<To*>(from.load()), from);
}

namespace region_detail {

// Frees a region in which the constructor of an object has thrown.
struct unfinished {
  void* memory;
  ~unfinished() {
    if (memory) weir_region_free(memory);
  }
};

// Destroys the first `count` objects of an array, the last first.
template <typename T>
struct constructed {
  T* first;
  std::size_t count;
  ~constructed() {
    while (count > 0) first[--count].~T();
  }
};

inline void* allocate(std::size_t alignment, std::size_t size) {
  void* memory = weir_region_alloc_aligned(alignment < 16 ? 16 : alignment, size, nullptr, nullptr);
#ifdef __cpp_exceptions
  if (!memory) throw std::bad_alloc();
#endif
  return memory;
}

}  // namespace region_detail

// A T in a region of its own, readable and writable, with the default handler.
template <typename T, typename... Arguments>
WEIR_NODISCARD region_ptr<T> make_region(Arguments&&... arguments) {
  static_assert(!std::is_array<T>::value, "make_region_array<T>(count)");
  static_assert(alignof(T) <= 4096, "a region is aligned to a page at most");
  void* memory = region_detail::allocate(alignof(T), sizeof(T));
  if (!memory) return nullptr;
  region_detail::unfinished unfinished{memory};
  region_ptr<T> made(::new (memory) T(std::forward<Arguments>(arguments)...));
  unfinished.memory = nullptr;
  return made;
}

// `count` of them in one region, value-initialized: numbers are 0. Null where `count` is 0.
template <typename T>
WEIR_NODISCARD region_ptr<T> make_region_array(std::size_t count) {
  static_assert(alignof(T) <= 4096, "a region is aligned to a page at most");
  if (count == 0) return nullptr;
  const bool overflows = count > SIZE_MAX / 2 / sizeof(T);
  void* memory = region_detail::allocate(
      alignof(T), overflows ? SIZE_MAX : count * sizeof(T));  // more than a window is refused
  if (!memory) return nullptr;
  region_detail::unfinished unfinished{memory};
  region_detail::constructed<T> objects{static_cast<T*>(memory), 0};
  for (; objects.count < count; objects.count++)
    ::new (static_cast<void*>(objects.first + objects.count)) T();
  objects.count = 0;
  unfinished.memory = nullptr;
  return region_ptr<T>(static_cast<T*>(memory));
}

// For containers: each allocation is a region of its own, readable and writable, with the default
// handler; an element's address (&container.front()) says which. A container still refers to its
// memory when it gives it back, so that is freed when its last region_ptr goes. Any two are equal.
//   std::vector<int, weir::region_allocator<int>> numbers(1000);
//   weir_region_protect(&numbers.front(), PROT_NONE);
template <typename T>
class region_allocator {
  static_assert(alignof(T) <= 4096, "a region is aligned to a page at most");

 public:
  using value_type = T;
  using pointer = region_ptr<T>;
  using is_always_equal = std::true_type;

  region_allocator() noexcept = default;
  template <typename U>
  region_allocator(const region_allocator<U>&) noexcept {}
  WEIR_NODISCARD pointer allocate(std::size_t count) {
    const std::size_t size = count > SIZE_MAX / 2 / sizeof(T) ? SIZE_MAX : count * sizeof(T);
    return pointer(
        static_cast<T*>(region_detail::allocate(alignof(T), size > 0 ? size : std::size_t{1})));
  }
  void deallocate(const pointer& memory, std::size_t) noexcept {
    weir_region_free_later(memory.open());
  }
  template <typename U>
  friend bool operator==(const region_allocator&, const region_allocator<U>&) noexcept {
    return true;
  }
  template <typename U>
  friend bool operator!=(const region_allocator&, const region_allocator<U>&) noexcept {
    return false;
  }
};

// Destroys the objects that make_region<T> or make_region_array<T> has made there, whatever the
// level is and without a trap; then frees the region. The pointer is null afterwards. REQUIRES: T
// is what it was made of. 0 (also for null); ENOENT: it refers to no region; EBUSY: other pointers
// still refer to it, the objects are destroyed, and the region remains: weir_region_free, once they
// do not.
template <typename T>
int destroy_region(region_ptr<T>& pointer) {
  if (!pointer) return 0;
  void* start;
  std::size_t size;
  if (const int error = weir_region_bounds(pointer.get(), &start, &size)) return error;
  start = weir_region_open(start);
  if (!std::is_trivially_destructible<T>::value) {
    const region_detail::constructed<T> objects{static_cast<T*>(start), size / sizeof(T)};
  }
  pointer = nullptr;
  return weir_region_free(start);
}

// `handler`: called as handler(weir_region_trap&); it must live as long as the region, or until
// another is set. ENOENT.
template <typename T, typename Handler>
int region_handler(const region_ptr<T>& pointer, Handler& handler) {
  static_assert(!std::is_function<Handler>::value, "weir_region_handler takes a function");
  return weir_region_handler(
      const_cast<std::remove_cv_t<T>*>(pointer.get()),
      [](weir_region_trap* trap) { (*static_cast<Handler*>(trap->context))(*trap); },
      const_cast<void*>(static_cast<const void*>(std::addressof(handler))));
}

// A set of pointers for which regions have levels of their own; all are open at first.
// std::bad_alloc: there are too many.
class region_set {
 public:
  region_set() : number_(weir_region_set_new()) {
#ifdef __cpp_exceptions
    if (number_ < 0) throw std::bad_alloc();
#endif
  }
  region_set(region_set&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  region_set& operator=(region_set&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  // REQUIRES: no pointer belongs to it, no thread uses it; else it remains.
  ~region_set() {
    if (number_ >= 0) weir_region_set_free(number_);
  }

  // For the C interface. -1: there is none.
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

  // The level of a region in this set. EINVAL, ENOENT.
  template <typename T>
  int protect(const region_ptr<T>& pointer, int level) const noexcept {
    return weir_region_set_protect(
        number_, const_cast<const void*>(static_cast<const volatile void*>(pointer.get())), level);
  }

  // The calling thread uses the set while this lives: region_ptr<T>(p.get()) makes a pointer of
  // this set from set 0's. Scopes may be nested.
  class use {
   public:
    WEIR_NODISCARD explicit use(const region_set& set) noexcept : use(set.number_) {}
    WEIR_NODISCARD explicit use(int number) noexcept : before_(weir_region_set_use(number)) {}
    ~use() {
      if (before_ >= 0) weir_region_set_use(before_);
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    int before_;
  };

 private:
  int number_;
};

}  // namespace weir

// Equal pointers have equal hashes, whichever windows they are in.
template <typename T>
struct std::hash<weir::region_ptr<T>> {
  std::size_t operator()(const weir::region_ptr<T>& pointer) const noexcept {
    return std::hash<const volatile void*>()(pointer.open());
  }
};

#endif
