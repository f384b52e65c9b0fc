// A lost update, in a program that says where schedules begin: once, twice, never, late (a thread
// was there before), pipe (what cannot be copied comes behind it), alone (no thread is made).
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weir/weir.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void* nothing(void* unused) { return unused; }

static void* withdraw(void* unused) {
  pthread_mutex_lock(&lock);
  const int read = balance;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  balance = read - 10;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "once";
  pthread_t threads[2];
  int ends[2];
  if (!strcmp(how, "late")) {
    pthread_create(threads, NULL, nothing, NULL);
    pthread_join(*threads, NULL);
  }
  if (strcmp(how, "never")) weir_hunt_start();
  if (!strcmp(how, "twice")) weir_hunt_start();
  if (!strcmp(how, "alone")) return 0;
  if (!strcmp(how, "pipe") && pipe(ends) != 0) return 2;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, withdraw, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (balance == 80) return 0;
  puts("lost");
  return 1;
}
