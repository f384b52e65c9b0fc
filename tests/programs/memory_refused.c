// Memory that the program may not write to, or has given back: atomic operations, process_vm_readv
// and process_vm_writev of its own memory, and system calls refuse it as the kernel does.
#include "faults.h"

#include <stdatomic.h>
#include <sys/uio.h>

static int add(char* at) {
  return sigsetjmp(fault_back, 1) ? fault_kind : atomic_fetch_add((_Atomic int*)at, 1);
}
static int exchange(char* at) {
  int expected = 77;
  if (sigsetjmp(fault_back, 1)) return fault_kind;
  return atomic_compare_exchange_strong((_Atomic int*)at, &expected, 1);
}

static long copy(int reads, void* local, size_t local_size, void* remote, size_t remote_size) {
  const struct iovec here = {local, local_size}, there = {remote, remote_size};
  return reads ? process_vm_readv(getpid(), &here, 1, &there, 1, 0)
               : process_vm_writev(getpid(), &here, 1, &there, 1, 0);
}

static void body(void) {
  static _Thread_local char bytes[4 * kPage];
  int ends[2];
  memset(bytes, 8, sizeof bytes);
  char* m = map_pages(6, PROT_READ | PROT_WRITE);
  memset(m, 1, 6 * kPage);
  CHECK_EQ(munmap(m + 2 * kPage, kPage), 0);
  CHECK_EQ(mprotect(m + 4 * kPage, kPage, PROT_READ), 0);
  CHECK_EQ(mprotect(m + 5 * kPage, kPage, PROT_NONE), 0);

  CHECK_EQ(add(m + 4 * kPage), kSegv);
  CHECK_EQ(add(m + 5 * kPage), kSegv);
  CHECK_EQ(add(m + 2 * kPage), kSegvNone);
  CHECK_EQ(exchange(m + 4 * kPage), kSegv);
  CHECK_EQ(add(NULL), kSegvNone);
  CHECK_EQ(add(m + 3 * kPage), 0x01010101);
  CHECK_EQ(load(m + 3 * kPage), 2);
  m[3 * kPage] = 1;

  CHECK_EQ(copy(1, bytes, 3 * kPage, m, 3 * kPage), 2 * kPage);
  CHECK_EQ(bytes[kPage], 1);
  CHECK_FAILS(copy(1, bytes, kPage, m + 2 * kPage, kPage), EFAULT);
  CHECK_FAILS(copy(1, bytes, kPage, m + 5 * kPage, kPage), EFAULT);
  CHECK_EQ(copy(0, bytes + 2 * kPage, kPage, m + kPage, kPage), kPage);
  CHECK_EQ(load(m + kPage), 8);
  CHECK_FAILS(copy(0, bytes, kPage, m + 4 * kPage, kPage), EFAULT);
  CHECK_EQ(copy(0, bytes, 2 * kPage, m + 3 * kPage, 2 * kPage), kPage);
  CHECK_FAILS(copy(1, m + 4 * kPage, kPage, m, kPage), EFAULT);

  CHECK_EQ(pipe(ends), 0);
  CHECK_FAILS(write(ends[1], m + 5 * kPage, 5), EFAULT);
  CHECK_EQ(write(ends[1], m, 5), 5);
  CHECK_FAILS(read(ends[0], m + 4 * kPage, 5), EFAULT);
  CHECK_EQ(close(ends[0]), 0);
  CHECK_EQ(close(ends[1]), 0);
  CHECK_EQ(munmap(m, 6 * kPage), 0);
}

int main(void) {
  run_everywhere(body);
  printf("refused\n");
  return 0;
}
