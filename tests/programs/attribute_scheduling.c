// Scheduling attributes are accepted, kept, and told back; what needs privilege may be refused with
// EPERM only.
#include "program.h"

static void* body(void* unused) {
  struct sched_param parameter;
  int policy = -1;
  CHECK_EQ(pthread_getschedparam(pthread_self(), &policy, &parameter), 0);
  CHECK_EQ(policy, SCHED_OTHER);
  CHECK_EQ(parameter.sched_priority, 0);
  CHECK_EQ(pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameter), 0);
  CHECK_EQ(sched_yield(), 0);
  return unused;
}

int main(void) {
  pthread_attr_t attributes;
  struct sched_param parameter = {.sched_priority = 0};
  pthread_t thread;
  int value = -1;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setschedpolicy(&attributes, 12345), EINVAL);
  CHECK_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_OTHER), 0);
  CHECK_EQ(pthread_attr_setschedparam(&attributes, &parameter), 0);
  CHECK_EQ(pthread_attr_setscope(&attributes, PTHREAD_SCOPE_SYSTEM), 0);
  CHECK_EQ(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED), 0);
  CHECK_EQ(pthread_attr_getinheritsched(&attributes, &value), 0);
  CHECK_EQ(value, PTHREAD_EXPLICIT_SCHED);
  CHECK_EQ(pthread_create(&thread, &attributes, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  parameter.sched_priority = sched_get_priority_min(SCHED_FIFO);
  CHECK_EQ(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO), 0);
  CHECK_EQ(pthread_attr_setschedparam(&attributes, &parameter), 0);
  CHECK_EQ(pthread_attr_getschedpolicy(&attributes, &value), 0);
  CHECK_EQ(value, SCHED_FIFO);
  CHECK_EQ(pthread_attr_destroy(&attributes), 0);
  value = pthread_setschedprio(pthread_self(), 0);
  CHECK(value == 0 || value == EPERM);
  puts("scheduling accepted");
  return 0;
}
