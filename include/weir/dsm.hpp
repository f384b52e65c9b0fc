// weir/dsm.h for C++14: a session as an object, memory for containers and objects, locks as the
// standard library's are used, values of any type in reductions. The rules of dsm.h hold here too;
// weir/tape.hpp says what was accessed.
//
// 1. Numbers of locks, barriers, conditions and semaphores are the program's, as in dsm.h; the
//    classes here are names for them: copied freely, the same on every node.
// 2. What lies in shared memory has one address on all nodes; so plain pointers between shared
//    objects are well, and pointers to anything else mean something on one node only. A type with
//    virtual functions may be shared where the program is loaded at one address everywhere (linked
//    with -no-pie).
// 3. "Collective" means: every node makes the call, one thread of each, in the same order.
// 4. Nothing here throws: failures end the job, as in dsm.h. An exception of the program's that
//    leaves a session of several nodes, or the body of run, ends the job with its text: the others
//    would wait for this node for ever. So does one that nobody catches.
//
//   int main(int argc, char** argv) {
//     weir::dsm::session session(argc, argv);
//     weir::dsm::shared_vector<double> values(1000000);            // collective, zero
//     const auto mine = weir::dsm::part(values.size(), session.node(), session.nodes());
//     for (std::size_t i = mine.first; i < mine.second; i++) values[i] = i;
//     weir::dsm::barrier(0).replay();
//     const double sum = weir::dsm::reduce_sum(my_part_of(values));  // everybody has it
//   }
#ifndef WEIR_DSM_HPP
#define WEIR_DSM_HPP

#if __cplusplus < 201402L
#error "weir/dsm.hpp needs C++14 or later"
#endif

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <cxxabi.h>

#include "weir/dsm.h"

namespace weir {
namespace dsm {

namespace detail {
inline bool is_unwinding() noexcept {
#if defined(__cpp_lib_uncaught_exceptions)
  return std::uncaught_exceptions() > 0;
#else
  return std::uncaught_exception();
#endif
}
// Before what is collective in a destructor: an exception leaves this node alone, as far as anybody
// knows.
inline void end_if_unwinding(const char* where) noexcept {
  if (is_unwinding() && weir_dsm_nodes() > 1) weir_dsm_abort_by_exception(where);
}
}  // namespace detail

// --- Start and end

// Collective, both its beginning and its end. One at a time.
class session {
 public:
  session() { weir_dsm_start(nullptr, nullptr); }
  session(int& argc, char**& argv) { weir_dsm_start(&argc, &argv); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    detail::end_if_unwinding("leaves the session");
    weir_dsm_finish();
  }

  unsigned node() const noexcept { return weir_dsm_node(); }
  unsigned nodes() const noexcept { return weir_dsm_nodes(); }
};

// Collective. Calls body(worker, workers) on every thread of every node (weir_dsm_run):
//   weir::dsm::run([&](unsigned worker, unsigned workers) { ... });
template <typename Body>
void run(Body&& body) {
  using plain = std::remove_reference_t<Body>;
  weir_dsm_run(
      [](unsigned worker, unsigned workers, void* context) {
        try {
          (*static_cast<plain*>(context))(worker, workers);
        } catch (abi::__forced_unwind&) {
          throw;  // the thread is cancelled
        } catch (...) { weir_dsm_abort_by_exception("leaves the body of run"); }
      },
      const_cast<void*>(static_cast<const volatile void*>(std::addressof(body))));
}

// The worker's share of `count` things: [first, second).
inline std::pair<std::size_t, std::size_t> part(std::size_t count, unsigned worker,
                                                unsigned workers) noexcept {
  const std::size_t each = count / workers, more = count % workers;
  const auto start = [&](std::size_t at) { return at * each + (at < more ? at : more); };
  return {start(worker), start(std::size_t{worker} + 1)};
}

// --- Memory

// For containers that one node builds and others read, or that a lock guards. The container itself
// has to be shared too:
//   using names = std::vector<int, weir::dsm::allocator<int>>;
//   names* shared = weir::dsm::create_shared<names>();             // collective
template <typename T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  allocator() noexcept = default;
  template <typename U>
  allocator(const allocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64, "shared memory is aligned to 64 bytes");
    return static_cast<T*>(
        weir_dsm_alloc(count > SIZE_MAX / sizeof(T) ? SIZE_MAX : count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { weir_dsm_free(memory); }
  template <typename U>
  friend bool operator==(const allocator&, const allocator<U>&) noexcept {
    return true;
  }
  template <typename U>
  friend bool operator!=(const allocator&, const allocator<U>&) noexcept {
    return false;
  }
};

// By any node, in shared memory. Others see what the constructor has written after the next
// synchronization.
template <typename T, typename... Arguments>
T* create(Arguments&&... arguments) {
  return ::new (static_cast<void*>(allocator<T>().allocate(1)))
      T(std::forward<Arguments>(arguments)...);
}
// By any node, once nobody uses it. NULL is well.
template <typename T>
void destroy(T* object) {
  if (!object) return;
  object->~T();
  weir_dsm_free(object);
}

// Owned by one node, which destroys it.
struct deleter {
  template <typename T>
  void operator()(T* object) const {
    destroy(object);
  }
};
template <typename T>
using unique_ptr = std::unique_ptr<T, deleter>;
template <typename T, typename... Arguments>
unique_ptr<T> make_unique(Arguments&&... arguments) {
  return unique_ptr<T>(create<T>(std::forward<Arguments>(arguments)...));
}

// Collective; a barrier. Everybody's value becomes that of node `from`.
template <typename T>
void share(T& value, unsigned from = 0) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 65536,
                "only bytes travel, and at most 64 KiB");
  weir_dsm_share(std::addressof(value), sizeof value, from);
}

// Collective; a barrier. Node 0 makes the object, and everybody has its address.
template <typename T, typename... Arguments>
T* create_shared(Arguments&&... arguments) {
  T* object = weir_dsm_node() == 0 ? create<T>(std::forward<Arguments>(arguments)...) : nullptr;
  share(object);
  return object;
}

// Makes `count` objects readable, or writable too, by one round of messages.
template <typename T>
void touch(const T* objects, std::size_t count = 1, bool write = false) {
  weir_dsm_touch(objects, count * sizeof(T), write);
}

// An array whose size is fixed when it is made, the same on each node. Its elements are zero, and
// are accessed as those of an array are: T&, T*. Collective: the constructor (a barrier), the
// destructor, and clear() (both barriers). Moved, not copied; views of it are data() and size().
template <typename T>
class shared_vector {
  static_assert(std::is_trivially_copyable<T>::value, "elements are compared and copied as bytes");
  static_assert(alignof(T) <= 64, "shared memory is aligned to 64 bytes");

 public:
  using value_type = T;
  using size_type = std::size_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  shared_vector() noexcept = default;  // empty; not collective
  explicit shared_vector(std::size_t size) : shared_vector(size, weir_dsm_attributes{}) {}
  shared_vector(std::size_t size, const weir_dsm_attributes& attributes)
      : data_(static_cast<T*>(weir_dsm_alloc_shared(size, sizeof(T), &attributes))), size_(size) {}
  shared_vector(shared_vector&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  shared_vector& operator=(
      shared_vector&& other) noexcept {  // `other` gets what this one had: nothing is freed here
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~shared_vector() {
    if (data_) detail::end_if_unwinding("leaves the scope of a shared_vector");
    clear();
  }

  // REQUIRES: the session lives.
  void clear() noexcept {
    if (!data_) return;
    T* data = std::exchange(data_, nullptr);
    size_ = 0;
    share(data);  // nobody uses it any more
    if (weir_dsm_node() == 0) weir_dsm_free(data);
  }

  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  T& front() noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& front() const noexcept { return data_[0]; }
  const T& back() const noexcept { return data_[size_ - 1]; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

  // As dsm::touch, of [first, first + count).
  void touch(std::size_t first, std::size_t count, bool write = false) const {
    dsm::touch(data_ + first, count, write);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// --- Synchronization

// Lockable: for std::lock_guard, std::unique_lock, std::scoped_lock (with several, in one order
// everywhere: trying costs messages), and `locked`.
//   weir::dsm::mutex queue(3);
//   const weir::dsm::locked guard(queue);
class mutex {
 public:
  explicit constexpr mutex(std::uint32_t lock) noexcept : number_(lock) {}
  void lock() { weir_dsm_lock(number_); }
  bool try_lock() { return weir_dsm_trylock(number_); }
  void unlock() { weir_dsm_unlock(number_); }
  std::uint32_t number() const noexcept { return number_; }

 private:
  std::uint32_t number_;
};

// The lock brings what was accessed when it was last held here.
class auto_mutex : public mutex {
 public:
  using mutex::mutex;
  void lock() { weir_dsm_lock_auto(number()); }
};

// The lock brings these objects.
class user_mutex : public mutex {
 public:
  template <typename T>
  user_mutex(std::uint32_t lock, const T* objects, std::size_t count = 1) noexcept
      : mutex(lock), address_(objects), size_(count * sizeof(T)) {}
  void lock() { weir_dsm_lock_user(number(), address_, size_); }

 private:
  const void* address_;
  std::size_t size_;
};

// Holds a mutex while it lives.
template <typename Mutex = mutex>
class locked {
 public:
  explicit locked(Mutex lock) : lock_(lock) { lock_.lock(); }
  explicit locked(std::uint32_t lock) : locked(Mutex(lock)) {}
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
  ~locked() { lock_.unlock(); }
  std::uint32_t number() const noexcept { return lock_.number(); }

 private:
  Mutex lock_;
};
#ifdef __cpp_deduction_guides  // before C++17: locked<> guard(3)
template <typename Number, typename = std::enable_if_t<std::is_integral<Number>::value>>
locked(Number) -> locked<mutex>;
#endif

// Waited for under a lock, always the same one:
//   weir::dsm::locked guard(queue);
//   not_empty.wait(guard, [&] { return count > 0; });
class condition {
 public:
  explicit constexpr condition(std::uint32_t number) noexcept : number_(number) {}
  template <typename Mutex>
  void wait(locked<Mutex>& held) const {
    weir_dsm_wait(number_, held.number());
  }
  template <typename Mutex, typename Predicate>
  void wait(locked<Mutex>& held, Predicate holds) const {
    while (!holds()) wait(held);
  }
  void notify_one() const { weir_dsm_signal(number_); }
  void notify_all() const { weir_dsm_broadcast(number_); }

 private:
  std::uint32_t number_;
};

class barrier {
 public:
  explicit constexpr barrier(std::uint32_t number) noexcept : number_(number) {}
  void arrive_and_wait() const { weir_dsm_barrier(number_); }
  // Data that is going to be asked for travels before (section 3.1 of the paper).
  void replay(weir_dsm_pattern pattern = WEIR_DSM_STATIC) const {
    weir_dsm_barrier_replay(number_, pattern);
  }

 private:
  std::uint32_t number_;
};

// Starts with 0.
class semaphore {
 public:
  explicit constexpr semaphore(std::uint32_t number) noexcept : number_(number) {}
  void release() const { weir_dsm_semaphore_post(number_); }
  void acquire() const { weir_dsm_semaphore_wait(number_); }

 private:
  std::uint32_t number_;
};

// What is written in its life comes as a whole to who asks for any of it; goes to all nodes.
class producing {
 public:
  producing() { weir_dsm_produce_start(); }
  producing(const producing&) = delete;
  producing& operator=(const producing&) = delete;
  ~producing() { weir_dsm_produce_end(); }
};
class flushing {
 public:
  flushing() { weir_dsm_flush_start(); }
  flushing(const flushing&) = delete;
  flushing& operator=(const flushing&) = delete;
  ~flushing() { weir_dsm_flush_end(); }
};

// An object in shared memory whose operations are atomic among all that are made through an
// atomic_ref with the same lock; the lock brings its value. Each is an acquire and a release of
// that lock, so orders what a mutex would. REQUIRES: the calling thread does not hold the lock.
//   weir::dsm::atomic_ref next(*counter, 7);
//   while ((task = next.fetch_add(1)) < tasks) ...
template <typename T>
class atomic_ref {
  static_assert(std::is_trivially_copyable<T>::value, "its value is copied");

 public:
  using value_type = T;

  atomic_ref(T& object, std::uint32_t lock) noexcept
      : object_(std::addressof(object)), lock_(lock, object_) {}

  T load() const {
    return apply([](const T&) {});
  }
  operator T() const { return load(); }
  void store(T value) const { exchange(value); }
  T exchange(T value) const {
    return apply([&](T& object) { object = value; });
  }
  // True: the object was equal (by ==) to `expected` and is `desired` now. False: `expected` is
  // what it is.
  bool compare_exchange(T& expected, T desired) const {
    bool is_done = false;
    const T before = apply([&](T& object) {
      is_done = object == expected;
      if (is_done) object = desired;
    });
    if (!is_done) expected = before;
    return is_done;
  }
  T fetch_add(T value) const {
    return apply([&](T& object) { object = static_cast<T>(object + value); });
  }
  T fetch_sub(T value) const {
    return apply([&](T& object) { object = static_cast<T>(object - value); });
  }
  // Any change: change(T&) is called with the lock held. Answers what was there before.
  template <typename Change>
  T apply(Change change) const {
    const locked<user_mutex> held(lock_);
    const T before = *object_;
    change(*object_);
    return before;
  }

 private:
  T* object_;
  user_mutex lock_;
};

// --- Reductions: barriers with a result, which everybody has; every worker calls them

// Element by element, any count (in pieces of 1,024).
inline void reduce(double* values, std::size_t count, weir_dsm_operation operation) {
  for (std::size_t at = 0; at < count; at += 1024)
    weir_dsm_reduce_double(values + at, count - at < 1024 ? count - at : 1024, operation);
}
inline void reduce(std::int64_t* values, std::size_t count, weir_dsm_operation operation) {
  for (std::size_t at = 0; at < count; at += 1024)
    weir_dsm_reduce_int64(values + at, count - at < 1024 ? count - at : 1024, operation);
}

namespace detail {

template <typename T>
T reduce(T value, weir_dsm_operation operation, std::true_type /* it has a fraction */) {
  double wide = static_cast<double>(value);
  dsm::reduce(&wide, 1, operation);
  return static_cast<T>(wide);
}
template <typename T>
T reduce(T value, weir_dsm_operation operation, std::false_type) {
  // Unsigned ones of 64 bits are in order as signed ones when the top bit is the other way.
  const std::uint64_t flip =
      std::is_unsigned<T>::value && sizeof(T) == 8 && operation != WEIR_DSM_SUM
          ? std::uint64_t{1} << 63
          : 0;
  auto wide = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) ^ flip);
  dsm::reduce(&wide, 1, operation);
  return static_cast<T>(static_cast<std::uint64_t>(wide) ^ flip);
}

}  // namespace detail

// One number of any arithmetic type that double or int64_t holds; sums of integers wrap around.
template <typename T>
T reduce(T value, weir_dsm_operation operation) {
  static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8,
                "a number that double or int64_t holds");
  return detail::reduce(value, operation, std::is_floating_point<T>());
}
template <typename T>
T reduce_sum(T value) {
  return reduce(value, WEIR_DSM_SUM);
}
template <typename T>
T reduce_min(T value) {
  return reduce(value, WEIR_DSM_MIN);
}
template <typename T>
T reduce_max(T value) {
  return reduce(value, WEIR_DSM_MAX);
}

// --- Sight

inline weir_dsm_counters counters() {
  weir_dsm_counters of_this_node;
  weir_dsm_counters_get(&of_this_node);
  return of_this_node;
}
// Collective.
inline weir_dsm_counters counters_total() {
  weir_dsm_counters of_all;
  weir_dsm_counters_total(&of_all);
  return of_all;
}

}  // namespace dsm
}  // namespace weir

#endif
