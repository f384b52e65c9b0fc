// Two variables of four bytes in one aligned word, as of Java's objects: all threads race on one of
// them, and one thread alone counts in the other. The race may lose counts; the neighbour loses
// none, in whichever half of the word it lies.
#include "program.h"

enum { kRounds = 400, kWords = 2 };

struct Pair {
  _Alignas(8) volatile int half[2];
};

static struct Pair g_pair[kWords];
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

static void* count(void* owns) {
  for (int i = 0; i < kRounds; i++) {
    for (int word = 0; word < kWords; word++) {
      g_pair[word].half[word]++;
      if (owns) g_pair[word].half[1 - word]++;
    }
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_t thread[64];
  for (int i = 0; i < threads; i++)
    CHECK_EQ(pthread_create(&thread[i], NULL, count, i == 0 ? &g_pair : NULL), 0);
  for (int i = 0; i < threads; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  for (int word = 0; word < kWords; word++) {
    const int raced = g_pair[word].half[word];
    printf("counted %d, raced within bounds: %d\n", g_pair[word].half[1 - word],
           raced > 0 && raced <= threads * kRounds);
  }
  return 0;
}
