// Question: what does a lock and unlock cost that nobody contends for: in a program that has made
// no thread, after its only thread has ended, and beside a thread that is blocked?
// Command:  mutex_uncontended [thousands of pairs]
// Figure:   nanoseconds for a pair; the ratio of the two sides.
#include "workload.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER, g_gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_open = PTHREAD_COND_INITIALIZER;
static int g_opened;
static volatile long g_shared;

static void* blocked(void* argument) {
  pthread_mutex_lock(&g_gate);
  while (!g_opened) pthread_cond_wait(&g_open, &g_gate);
  pthread_mutex_unlock(&g_gate);
  return argument;
}

static void* ended(void* argument) { return argument; }

static void pairs(const char* name, long count) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    const double start = now_ns();
    for (long i = 0; i < count; ++i) {
      pthread_mutex_lock(&g_lock);
      g_shared++;
      pthread_mutex_unlock(&g_lock);
    }
    if (repeat) printf("%s %.2f\n", name, (now_ns() - start) / (double)count);
  }
}

int main(int argc, char** argv) {
  const long count = argument(argc, argv, 1, 2000) * 1000;
  pthread_t thread;
  pairs("no_thread_yet", count);
  must(pthread_create(&thread, NULL, ended, NULL), "pthread_create");
  must(pthread_join(thread, NULL), "pthread_join");
  pairs("thread_ended", count);
  must(pthread_create(&thread, NULL, blocked, NULL), "pthread_create");
  struct timespec moment = {0, 20000000};
  nanosleep(&moment, NULL);
  pairs("other_blocked", count);
  pthread_mutex_lock(&g_gate);
  g_opened = 1;
  pthread_cond_signal(&g_open);
  pthread_mutex_unlock(&g_gate);
  must(pthread_join(thread, NULL), "pthread_join");
  return 0;
}
