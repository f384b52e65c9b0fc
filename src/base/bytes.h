// Byte and string primitives for code that may not call libc. The compiler's own calls to memcpy,
// memmove, memset and memcmp also end here: bytes.cc defines them hidden, so that nothing in
// libweir.so is bound to the program's libc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

namespace weir {

void copy_bytes(void* to, const void* from, size_t size);
void zero_bytes(void* at, size_t size);
size_t string_length(const char* text);
inline bool starts_with(const char* text, const char* prefix) {
  while (*prefix && *text == *prefix) text++, prefix++;
  return *prefix == 0;
}
bool ends_with(const char* text, const char* suffix);
bool contains_text(const char* text, const char* part);
inline bool equal_strings(const char* a, const char* b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}
// Write at `to`, with a NUL behind, and return where the NUL is. REQUIRES: there is room.
char* append_text(char* to, const char* text);
char* append_number(char* to, uint64_t number);  // decimal

// A hash of what `hash` is a hash of and `count` words more.
inline uint64_t hash_words(uint64_t hash, const uint64_t* words, size_t count) {
  for (size_t i = 0; i < count; i++) hash = mix(hash ^ words[i]) ^ hash >> 29;
  return hash;
}

}  // namespace weir
