// Calls of the scheduler that name a thread by its id: its own, another's, and that of a thread
// that has ended. GLib's pools of threads name their own in this way.
#include "program.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static pthread_barrier_t barrier;
static _Atomic int ids[2];

struct attributes {
  unsigned size, policy;
  unsigned long flags;
  int nice;
  unsigned priority;
  unsigned long runtime, deadline, period;
};

static void look_at(int id) {
  struct attributes attributes;
  struct timespec interval;
  struct rlimit limit;
  struct sched_param parameter;
  CHECK_EQ(syscall(SYS_sched_getattr, id, &attributes, sizeof attributes, 0), 0);
  CHECK_EQ(attributes.policy, SCHED_OTHER);
  attributes.size = sizeof attributes;
  CHECK_EQ(syscall(SYS_sched_setattr, id, &attributes, 0), 0);
  CHECK_EQ(sched_rr_get_interval(id, &interval), 0);
  CHECK_EQ(sched_getscheduler(id), SCHED_OTHER);
  CHECK_EQ(sched_getparam(id, &parameter), 0);
  CHECK_EQ(sched_setparam(id, &parameter), 0);
  CHECK_EQ(prlimit(id, RLIMIT_NOFILE, NULL, &limit), 0);
  CHECK_EQ(prlimit(id, RLIMIT_CORE, &(struct rlimit){0, 0}, NULL), 0);
  CHECK(syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, id) >= 0);
  CHECK_EQ(setpriority(PRIO_PROCESS, (id_t)id, 3), 0);
  CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)id), 3);
}

static void* body(void* which) {
  ids[(long)which] = (int)syscall(SYS_gettid);
  look_at(ids[(long)which]);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(getpriority(PRIO_PROCESS, 0), 3);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 3), 0);
  for (long i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 2; i++) look_at(ids[i]);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  errno = 0;
  CHECK_EQ(sched_getscheduler(ids[0]), -1);
  CHECK_EQ(errno, ESRCH);
  look_at((int)syscall(SYS_gettid));
  puts("all named");
  return 0;
}
