// A program that does what its seed says: each thread draws its actions from it, and what an action
// answers does not depend on the schedule. So what it prints is the same in each right run.
#ifndef WEIR_FUZZ_RANDOM_PROGRAM_H
#define WEIR_FUZZ_RANDOM_PROGRAM_H
#include "../../tests/programs/program.h"

enum { kMostThreads = 8, kPages = 4, kPageBytes = 4096, kSlotBytes = 512 };

// What each thread knows of itself.
struct worker {
  int number;
  uint64_t state;  // of its own generator
  uint64_t sum;    // of what its actions have answered
};

// Memory of the program's own: each thread has a slot on each page, so that pages change hands.
extern char g_slots[kPages][kPageBytes];
extern char g_folder[64];

static inline uint64_t draw(struct worker* w) {
  w->state ^= w->state << 13;
  w->state ^= w->state >> 7;
  w->state ^= w->state << 17;
  return w->state * 0x2545f4914f6cdd1d >> 11;
}
static inline unsigned below(struct worker* w, unsigned limit) { return draw(w) % limit; }
// One of the thread's slots, on a page that other threads write to.
static inline char* slot(struct worker* w) {
  return g_slots[below(w, kPages)] + w->number * kSlotBytes;
}

// Answers a number that follows from the draws alone.
typedef uint64_t action(struct worker* w);
struct named_action {
  const char* name;
  action* act;
};
extern const struct named_action g_sync_actions[], g_memory_actions[], g_call_actions[],
    g_signal_actions[], g_process_actions[];  // each ends with an empty one

#endif
