// Access to program memory at an address that the program gave in a system call. The memory may not
// be there, or not be writable. The kernel would return EFAULT then, so the runtime must not fault.
// Implemented in safe_copy_x86_64.S.
// It copies by code whose faults on_signal turns into that result.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

extern "C" {
long weir_safe_copy(void* to, const void* from, uint64_t size);
long weir_safe_string(char* to, const char* from, uint64_t capacity);
long weir_safe_touch(void* at);
long weir_safe_hash(const void* from, uint64_t size, uint64_t* lanes);
}

namespace weir::trap {

// 0 or -EFAULT; then some of the bytes may have been copied.
[[nodiscard]] inline long from_program(void* to, long from, uint64_t size) {
  return weir_safe_copy(to, reinterpret_cast<const void*>(from), size);
}
[[nodiscard]] inline long to_program(long to, const void* from, uint64_t size) {
  return weir_safe_copy(reinterpret_cast<void*>(to), from, size);
}
template <typename T>
[[nodiscard]] long from_program(T& to, long from) {
  return from_program(&to, from, sizeof to);
}
template <typename T>
[[nodiscard]] long to_program(long to, const T& from) {
  return to_program(to, &from, sizeof from);
}
// Reads a byte, by which memory comes that is not mapped yet. False: none can be read there.
inline bool read_byte(uint64_t address) {
  uint8_t byte;
  return from_program(byte, static_cast<long>(address)) == 0;
}
// Copies up to and with the NUL. Its length without it; `capacity` where none lies within; -EFAULT.
[[nodiscard]] inline long string_from_program(char* to, long from, uint64_t capacity) {
  return weir_safe_string(to, reinterpret_cast<const char*>(from), capacity);
}
// The first `size` bytes of what `count` iovecs at `vector` name, as writev takes them:
// visit(address, size) for each part.
template <typename Visit>
void each_piece(long vector, long count, uint64_t size, Visit visit) {
  iovec piece;
  for (long i = 0;
       size && i < count && from_program(piece, vector + i * static_cast<long>(sizeof piece)) == 0;
       i++) {
    const uint64_t length = piece.iov_len < size ? piece.iov_len : size;
    visit(reinterpret_cast<uint64_t>(piece.iov_base), length);
    size -= length;
  }
}

}  // namespace weir::trap
