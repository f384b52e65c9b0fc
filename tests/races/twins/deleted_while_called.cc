// An object is deleted while a thread runs one of its functions.
#include "twin.h"

struct Job {
  int done = 0;
  void run() { done++; }  // RACE
};

static void* body(void* job) {
  static_cast<Job*>(job)->run();
  return nullptr;
}

int main() {
  Job* job = new Job;
  pthread_t thread = start(body, job);
  if (!RACY) join(thread);
  delete job;  // RACE
  if (RACY) join(thread);
  return 0;
}
