// The names of words by which locked instructions order tasks.
//
// Two atomic variables may lie in one word of 8 bytes, and order nothing between them. So each half
// of a word has a name of its own, and the whole has one, too: an operation releases the name of
// what it changes, and acquires all names of what it looks at.
#pragma once

#include <stdint.h>

namespace weir::happens {

constexpr uint64_t kWordSize = 8, kHalfSize = 4;

// `half`: its address. No object that orders begins there, at two bytes from a multiple of four.
constexpr uint64_t name_of_half(uint64_t half) { return half + 2; }

template <typename Acquire>
void acquire_word(uint64_t address, uint64_t size, Acquire acquire) {
  for (uint64_t word = address & ~(kWordSize - 1); word < address + size; word += kWordSize) {
    acquire(word);
    if (address < word + kHalfSize) acquire(name_of_half(word));
    if (address + size > word + kHalfSize) acquire(name_of_half(word + kHalfSize));
  }
}

template <typename Release>
void release_word(uint64_t address, uint64_t size, Release release) {
  for (uint64_t word = address & ~(kWordSize - 1); word < address + size; word += kWordSize) {
    if (address <= word && word + kWordSize <= address + size) {
      release(word);
      continue;
    }
    if (address < word + kHalfSize) release(name_of_half(word));
    if (address + size > word + kHalfSize) release(name_of_half(word + kHalfSize));
  }
}

}  // namespace weir::happens
