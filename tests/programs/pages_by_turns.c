// Threads come to random pages of one table, each to words of its own there, so they compete for
// pages and have no race. The first also makes calls that do not wait, now and then, as a program
// does that looks at the clock. A recorder that gives pages out by turns must keep them over those.
#include "program.h"

enum { kPages = 1024, kPage = 4096, kThreads = 8, kSteps = 12000 };
enum { kWords = kPage / sizeof(unsigned) };
static _Alignas(kPage) unsigned table[kPages][kWords];

static void* body(void* number) {
  const unsigned own = (unsigned)(long)number % kThreads;
  unsigned long state = own * 0x9E3779B97F4A7C15u + 1;
  for (int step = 0; step < kSteps; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ++table[state >> 33 & (kPages - 1)][(state >> 45) % (kWords / kThreads) * kThreads + own];
    if (own == 0 && step % 64 == 0) CHECK_EQ(getppid() > 0, 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  unsigned long total = 0;
  run_threads(threads, body);
  for (int page = 0; page < kPages; ++page)
    for (int word = 0; word < kWords; ++word) total += table[page][word];
  CHECK_EQ(total, (unsigned long)threads * kSteps);
  printf("total %lu\n", total);
  return 0;
}
