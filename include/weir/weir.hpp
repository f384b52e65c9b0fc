// weir.h for C++: accesses as scopes, objects that own their memory.
#ifndef WEIR_WEIR_HPP
#define WEIR_WEIR_HPP

#if __cplusplus < 201402L
#error "weir/weir.hpp needs C++14 or later"
#endif

#include <new>
#include <utility>

#include "weir/weir.h"

#ifndef WEIR_NODISCARD /* the attribute's own name came with C++17 */
#if __cplusplus >= 201703L
#define WEIR_NODISCARD [[nodiscard]]
#else
#define WEIR_NODISCARD
#endif
#endif

namespace weir {

// The thread has the object for writing while this lives.
class write_access {
 public:
  template <typename T>
  WEIR_NODISCARD __attribute__((always_inline)) explicit write_access(const T& object)
      : object_(&object) {
    weir_acquire_write(object_);
  }
  __attribute__((always_inline)) ~write_access() { weir_release_write(object_); }
  write_access(const write_access&) = delete;
  write_access& operator=(const write_access&) = delete;

 private:
  const void* object_;
};

// The thread may read the object while this lives.
class read_access {
 public:
  template <typename T>
  WEIR_NODISCARD __attribute__((always_inline)) explicit read_access(const T& object)
      : object_(&object) {
    weir_acquire_read(object_);
  }
  __attribute__((always_inline)) ~read_access() { weir_release_read(object_); }
  read_access(const read_access&) = delete;
  read_access& operator=(const read_access&) = delete;

 private:
  const void* object_;
};

// From here on who holds the mutex has the object. `lock`: a std::mutex, std::recursive_mutex,
// std::shared_mutex, ... of a C library with POSIX threads, or one of these itself.
template <typename T, typename Lock>
__attribute__((always_inline)) inline void set_locked(const T& object, const Lock& lock) {
  weir_set_locked(&object, &lock);
}

// A T in memory of its own, with a policy. The constructor runs as if the object were private; a
// policy that lets this thread in no more counts from then on.
template <typename T>
class object {
 public:
  template <typename... Arguments>
  explicit object(weir_policy policy, Arguments&&... arguments)
      : object_(make(WEIR_PRIVATE, std::forward<Arguments>(arguments)...)) {
    if (policy == WEIR_READ_SHARED) {
      weir_acquire_read(object_);
    } else if (policy == WEIR_STICKY_READ) {
      weir_set_sticky_read(object_);
    } else if (policy == WEIR_RACY) {
      weir_release_write(object_);
      weir_set_racy(object_);
    } else if (policy != WEIR_PRIVATE) {
      weir_release_write(object_);
    }
  }
  // Who holds the lock has it.
  template <typename Lock, typename... Arguments>
  static object locked_by(const Lock& lock, Arguments&&... arguments) {
    object made(WEIR_PRIVATE, std::forward<Arguments>(arguments)...);
    weir_set_locked(made.object_, &lock);
    return made;
  }
  object(object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  object& operator=(object&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  // REQUIRES: this thread may write to it, or acquire it for that.
  ~object() {
    if (!object_) return;
    if (weir_active() && weir_policy_of(object_) != WEIR_PRIVATE &&
        weir_policy_of(object_) != WEIR_RACY)
      weir_acquire_write(object_);
    object_->~T();
    weir_free(object_);
  }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  T* get() const { return object_; }

 private:
  template <typename... Arguments>
  static T* make(weir_policy policy, Arguments&&... arguments) {
    void* memory = weir_alloc(sizeof(T), policy);
    if (!memory) throw std::bad_alloc();
    try {
      return ::new (memory) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
      weir_free(memory);
      throw;
    }
  }

  T* object_;
};

// An array whose slices have policies of their own.
template <typename T>
class sliced_array {
 public:
  sliced_array(size_t count, size_t per_slice, weir_policy policy)
      : array_(weir_array_slice(count, sizeof(T), per_slice, policy)) {
    if (!array_) throw std::bad_alloc();
  }
  ~sliced_array() { weir_array_free(array_); }
  sliced_array(const sliced_array&) = delete;
  sliced_array& operator=(const sliced_array&) = delete;

  __attribute__((always_inline)) T& operator[](size_t index) const {
    return *static_cast<T*>(weir_array_at(array_, index));
  }
  size_t size() const { return array_->count; }

 private:
  static_assert(alignof(T) <= 16, "elements are aligned as malloc aligns");
  weir_array* array_;
};

}  // namespace weir

#endif
