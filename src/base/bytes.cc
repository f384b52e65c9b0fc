#include "base/bytes.h"

namespace weir {

void copy_bytes(void* to, const void* from, size_t size) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
}

void zero_bytes(void* at, size_t size) {
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(0) : "memory");
}

size_t string_length(const char* text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

bool ends_with(const char* text, const char* suffix) {
  const uint64_t length = string_length(text), least = string_length(suffix);
  return length >= least && equal_strings(text + (length - least), suffix);
}

bool contains_text(const char* text, const char* part) {
  for (;; ++text) {
    if (starts_with(text, part)) return true;
    if (!*text) return false;
  }
}

char* append_text(char* to, const char* text) {
  const size_t length = string_length(text);
  copy_bytes(to, text, length + 1);
  return to + length;
}

char* append_number(char* to, uint64_t number) {
  char digits[21];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number);
  return append_text(to, digits + at);
}

}  // namespace weir

// What the compiler may call by itself. In libweir.so, which exports functions of these names
// (interpose/libc/library.h), the linker gives all who call them the ones here (--wrap).
extern "C" {

__attribute__((visibility("hidden"))) void* __wrap_memcpy(void* to, const void* from, size_t size) {
  weir::copy_bytes(to, from, size);
  return to;
}

__attribute__((visibility("hidden"))) void* __wrap_memmove(void* to, const void* from,
                                                           size_t size) {
  auto* t = static_cast<uint8_t*>(to);
  auto* f = static_cast<const uint8_t*>(from);
  if (t <= f || t >= f + size) {
    weir::copy_bytes(to, from, size);
  } else {
    for (size_t i = size; i > 0; i--) {
      t[i - 1] = f[i - 1];
      asm volatile("" ::: "memory");
    }
  }
  return to;
}

__attribute__((visibility("hidden"))) void* __wrap_memset(void* at, int value, size_t size) {
  void* result = at;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return result;
}

__attribute__((visibility("hidden"))) int __wrap_memcmp(const void* a, const void* b, size_t size) {
  auto* x = static_cast<const uint8_t*>(a);
  auto* y = static_cast<const uint8_t*>(b);
  for (size_t i = 0; i < size; i++) {
    asm volatile("" ::: "memory");
    if (x[i] != y[i]) return x[i] - y[i];
  }
  return 0;
}

__attribute__((visibility("hidden"))) size_t __wrap_strlen(const char* text) {
  return weir::string_length(text);
}
}
