// The racey stress: cells mixed by data-dependent reads and writes, so that one reordered access
// changes the signature.
#ifndef WEIR_TESTS_RACEY_H
#define WEIR_TESTS_RACEY_H
#include "program.h"

enum { kCells = 64 };

static inline void racey_fill(volatile uint32_t* cells) {
  for (uint32_t i = 0; i < kCells; ++i) cells[i] = i * 0x9e3779b9u + 0x7f4a7c15u;
}

// One step of a thread whose private state is `state`; which cells it reads and writes depends on
// what others wrote.
static inline uint32_t racey_step(volatile uint32_t* cells, uint32_t state) {
  volatile uint32_t* from = &cells[state % kCells];
  volatile uint32_t* to = &cells[(state >> 11) % kCells];
  uint32_t mixed = (*from ^ (state << 13 | state >> 19)) * 0x85ebca6bu + *to;
  *to = mixed ^ mixed >> 15;
  return (mixed + *from) * 0xc2b2ae35u ^ state >> 9;
}

static inline uint32_t racey_steps(volatile uint32_t* cells, uint32_t state, int count) {
  while (count-- > 0) state = racey_step(cells, state);
  return state;
}

static inline void racey_print(const volatile uint32_t* cells) {
  uint64_t signature = 0xcbf29ce484222325u;
  for (int i = 0; i < kCells; ++i) signature = (signature ^ cells[i]) * 0x100000001b3u;
  printf("signature %016llx\n", (unsigned long long)signature);
}

#endif
