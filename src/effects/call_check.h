// For tests: makes calls of the kernel whose buffers lie in memory full of random bytes, and
// compares what has changed with what effects.h says. Implemented in call_check_test.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <initializer_list>

namespace weir::effects::testing {

// A buffer between bytes that belong to none.
struct Buffer {
  uint64_t at;
  size_t size;

  operator long() const { return static_cast<long>(at); }
  template <typename T>
  T& as(size_t offset = 0) const {
    return *reinterpret_cast<T*>(at + offset);
  }
  void* data() const { return reinterpret_cast<void*>(at); }
};

// Forgets all buffers.
void clear_buffers();
Buffer random_bytes(size_t size);
Buffer zeroes(size_t size);
Buffer bytes(const void* from, size_t size);
Buffer text(const char* text);
template <typename T>
Buffer value(const T& from) {
  return bytes(&from, sizeof from);
}

inline constexpr size_t kUsual = ~size_t{0};

// Makes the call. Fails the test unless
// - each changed byte lies in a visited range,
// - each visited range lies in one buffer,
// - at most `unchanged` of the visited bytes have kept their value (kUsual: one in 32, and 6,
//   because random bytes may),
// - what it is said to read lies in buffers, and apart from what it writes.
// Clears nothing. Returns what the kernel returns.
long call(long number, std::initializer_list<long> arguments, size_t unchanged = kUsual);

// How many bytes the last call is said to have written, and read.
size_t last_written();
size_t last_read();

}  // namespace weir::effects::testing
