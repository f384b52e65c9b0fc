// Threads that call the C library all the time, without an event, while others ask for the page
// that each has written: a recording stops them inside the library's functions, and a replay, one
// that is checked too, has to find the places again by the registers.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3, kRounds = 8 };

static struct {
  _Alignas(4096) volatile long count;  // Guarded by: g_lock
  char text[256];
} g_page[2];
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t use_library(const char* text, int rounds) {
  uint64_t sum = 0;
  char copy[256], printed[64], word[64];
  for (int i = 0; i < rounds; i++) {
    sum += (uint64_t)(strchr(text, 'x' - i % 4) - text);
    sum += strlen(text + i % 7) + (uint64_t)(strcmp(text, text + 1) > 0);
    strcpy(copy, text);
    sum += (uint64_t)(unsigned char)copy[i % 20] + (uint64_t)(memcmp(copy, text, 20) == 0);
    sum += (uint64_t)snprintf(printed, sizeof printed, "%d %s", i, "word");
    sum += (uint64_t)strtol(printed, NULL, 10) + (uint64_t)strtod("2.5", NULL);
    sum += (uint64_t)(sscanf(printed, "%d %60s", &(int){0}, word) == 2);
    char* block = strdup(text + i % 20);
    sum += strlen(block) + (uint64_t)(getenv("WEIR_NO_SUCH_NAME") == NULL);
    free(block);
    sum += strspn(text, "abc") + (uint64_t)(strstr(text, "uvw") - text) + strnlen(text, 9);
  }
  return sum;
}

static void* run(void* number) {
  const long me = (long)number;
  char text[] = "abcdefghijklmnopqrstuvwxyz";
  uint64_t sum = 0;
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&g_lock);
    g_page[(i + me) % 2].count++;
    pthread_mutex_unlock(&g_lock);
    sum += use_library(text, 3000);
  }
  return (void*)(uintptr_t)sum;
}

int main(void) {
  pthread_t threads[kThreads];
  uint64_t sum = 0;
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, run, (void*)i);
  for (int i = 0; i < kThreads; i++) {
    void* part;
    pthread_join(threads[i], &part);
    sum += (uintptr_t)part;
  }
  printf("%ld %lu\n", g_page[0].count + g_page[1].count, (unsigned long)sum);
  return 0;
}
