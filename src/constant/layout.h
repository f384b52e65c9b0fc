// The memory in which all processes of a run of `weir det --virtual` know each other, and what it
// makes constant. The command makes it; programs that are executed inherit its descriptor.
#pragma once

#include <stdint.h>

namespace weir::constant {

// Bits of Options::constant.
inline constexpr uint32_t kRandom = 1, kTime = 2, kPid = 4;

// Ids that the program sees: above those of the kernel, below those of tasks (task/spawn.h).
inline constexpr int32_t kMaxRealIds = 1 << 22;  // the kernel's PID_MAX_LIMIT
inline constexpr int32_t kFirstId = 5'000'000;
inline constexpr int32_t kIds = 60'000'000;

inline constexpr uint64_t kMagic = 0x74736e6f63726977;

// One process of the run. Layout: all zero where there is none.
struct Record {
  int32_t id;          // that the program sees, 0: none
  uint32_t children;   // that it has made
  uint32_t images;     // programs that it has executed, the first one counted
  int32_t stands_for;  // the id by which it knows itself, of a run that was forked; 0: its own
  uint64_t identity;   // a hash of its place among the processes of the run
  uint64_t elapsed;    // its virtual time, nanoseconds
};
static_assert(sizeof(Record) == 32);

// Shared: by all processes of the run, one writer a record, except `ids`, which are taken by an
// exchange. Sparse.
struct Memory {
  uint64_t magic;
  uint64_t pad[3];
  Record records[kMaxRealIds];  // by the kernel's id
  int32_t ids[kIds];            // the kernel's id of the process that is shown as kFirstId + index
};

// splitmix64's finish.
constexpr uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// What a static glibc asks for at its first allocation.
inline constexpr uint64_t kHeapKey[2] = {0x5765697248656170, 0};

// Returns what a program finds in place of AT_RANDOM's bytes; `usual` if no seed is given.
constexpr uint64_t image_random(uint64_t seed, const uint64_t (&usual)[2], int word) {
  constexpr uint64_t kNulByte = 0xff;  // the low byte of glibc's stack guard is 0
  if (!seed) return usual[word];
  return word == 0 ? mixed(seed) & ~kNulByte : mixed(seed + 1);
}

}  // namespace weir::constant
