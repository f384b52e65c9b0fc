// Threads ask for their capabilities by their own id and by the first thread's, and drop one for
// themselves alone. A version that the kernel does not know is answered by one that it knows.
#include <linux/capability.h>
#include <sys/syscall.h>
#include "program.h"

enum { kDropped = CAP_SYS_CHROOT };

static pid_t first;
static pthread_barrier_t barrier;

static unsigned rights_of(pid_t thread) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, thread};
  struct __user_cap_data_struct data[2];
  CHECK_EQ(syscall(SYS_capget, &head, data), 0);
  CHECK_EQ(head.pid, thread);
  return data[0].effective;
}

static void drop(pid_t thread, int error) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, thread};
  struct __user_cap_data_struct data[2];
  CHECK_EQ(syscall(SYS_capget, &head, data), 0);
  data[0].effective &= ~(1u << kDropped);
  const long result = syscall(SYS_capset, &head, data);
  CHECK_EQ(result, error ? -1 : 0);
  if (error) CHECK_EQ(errno, error);
}

static void* body(void* number) {
  const pid_t self = gettid();
  const unsigned before = rights_of(0);
  CHECK_EQ(rights_of(self), before);
  CHECK_EQ(rights_of(first), before);
  pthread_barrier_wait(&barrier);
  if (number) drop(self, 0);
  drop(first, EPERM);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(rights_of(self), number ? before & ~(1u << kDropped) : before);
  CHECK_EQ(rights_of(first), before);
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  first = gettid();
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  for (long i = 0; i < 2; i++) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < 2; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  struct __user_cap_header_struct head = {1, first};
  CHECK_EQ(syscall(SYS_capget, &head, NULL), 0);
  CHECK_EQ(head.version, _LINUX_CAPABILITY_VERSION_3);
  puts("asked, and dropped by one");
  return 0;
}
