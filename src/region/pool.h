// Memory for the library's own structures, in power-of-two classes. It is never given back, and a
// block stays in its class for ever. So a thread that looks at a block which has just been freed
// sees another of its kind, and no unmapped page.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir::region {

// Guarded by: the registry's lock (state.h).
class Pool {
 public:
  static constexpr unsigned kSmallest = 5,
                            kClasses = 42;  // 32 bytes; the largest is more than any window

  // Zeroed, `size` bytes, aligned to 32, from 4 KiB on to a page. NULL: no memory.
  void* take(size_t size);
  // `size`: as it was taken.
  void give(void* block, size_t size);

  template <typename T>
  T* make() {
    return static_cast<T*>(take(sizeof(T)));
  }
  template <typename T>
  void drop(T* object) {
    give(object, sizeof(T));
  }

 private:
  struct Free {
    Free* next;
  };
  Free* free_[kClasses] = {};
  char* chunk_ = nullptr;
  char* chunk_end_ = nullptr;
};

}  // namespace weir::region
