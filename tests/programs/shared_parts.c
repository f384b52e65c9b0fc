// Parts of shared memory are unmapped, closed, opened, moved and emptied, while another process
// uses all of it; and what lies behind a file's end is a fault.

#include "program.h"

enum { kPage = 4096, kPages = 8 };
static sigjmp_buf out;
static volatile sig_atomic_t caught;

static void on_fault(int signal) {
  caught = signal;
  siglongjmp(out, 1);
}

static int fault_of(volatile char* at, int writes) {
  caught = 0;
  if (sigsetjmp(out, 1) == 0) {
    if (writes) *at = 1;
    else (void)*at;
  }
  return caught;
}

struct Talk {
  sem_t go, done;
};

int main(void) {
  struct sigaction action = {.sa_handler = on_fault};
  CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGBUS, &action, NULL), 0);
  struct Talk* talk =
      (struct Talk*)mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK_EQ(sem_init(&talk->go, 1, 0), 0);
  CHECK_EQ(sem_init(&talk->done, 1, 0), 0);
  int file = (int)syscall(SYS_memfd_create, "parts", 0);
  CHECK_EQ(ftruncate(file, kPages * kPage), 0);
  char* memory = (char*)mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(memory != MAP_FAILED);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (int round = 1; round <= 3; ++round) {
      CHECK_EQ(sem_wait(&talk->go), 0);
      for (int i = 0; i < kPages; ++i) memory[i * kPage]++;
      CHECK_EQ(sem_post(&talk->done), 0);
    }
    _exit(0);
  }
  CHECK_EQ(sem_post(&talk->go), 0);
  CHECK_EQ(sem_wait(&talk->done), 0);
  for (int i = 0; i < kPages; ++i) CHECK_EQ(memory[i * kPage], 1);
  CHECK_EQ(munmap(memory + kPage, kPage), 0);
  CHECK_EQ(fault_of(memory + kPage, 0), SIGSEGV);
  CHECK_EQ(mprotect(memory + 2 * kPage, 2 * kPage, PROT_READ), 0);
  CHECK_EQ(fault_of(memory + 2 * kPage, 0), 0);
  CHECK_EQ(fault_of(memory + 2 * kPage, 1), SIGSEGV);
  CHECK_EQ(mprotect(memory + 3 * kPage, kPage, PROT_NONE), 0);
  CHECK_EQ(fault_of(memory + 3 * kPage, 0), SIGSEGV);
  CHECK_EQ(sem_post(&talk->go), 0);
  CHECK_EQ(sem_wait(&talk->done), 0);
  CHECK_EQ(memory[2 * kPage], 2);
  CHECK_EQ(mprotect(memory + 2 * kPage, 2 * kPage, PROT_READ | PROT_WRITE), 0);
  CHECK_EQ(memory[3 * kPage], 2);
  memory[3 * kPage] = 10;
  char* moved = (char*)mremap(memory + 4 * kPage, 2 * kPage, 4 * kPage, MREMAP_MAYMOVE);
  CHECK(moved != MAP_FAILED);
  CHECK_EQ(moved[0], 2);
  CHECK_EQ(moved[3 * kPage], 2);
  moved[kPage] = 20;
  CHECK_EQ(sem_post(&talk->go), 0);
  CHECK_EQ(sem_wait(&talk->done), 0);
  CHECK_EQ(memory[3 * kPage], 11);
  CHECK_EQ(moved[kPage], 21);
  CHECK_EQ(moved[3 * kPage], 3);
  CHECK_EQ(madvise(memory + 2 * kPage, kPage, MADV_DONTNEED), 0);
  CHECK_EQ(memory[2 * kPage], 3);
  CHECK_EQ(madvise(memory + 2 * kPage, kPage, MADV_REMOVE), 0);
  CHECK_EQ(memory[2 * kPage], 0);
  CHECK_CHILD(child);
  CHECK_EQ(ftruncate(file, 7 * kPage), 0);
  CHECK_EQ(fault_of(memory + 7 * kPage, 0), SIGBUS);
  CHECK_EQ(pwrite(file, "x", 1, 3 * kPage), 1);
  CHECK_EQ(memory[3 * kPage], 'x');
  int zero = open("/dev/zero", O_RDONLY);  // the kernel writes to it, and reads
  CHECK_EQ(read(zero, memory + 2 * kPage, 2 * kPage), 2 * kPage);
  CHECK_EQ(memory[3 * kPage], 0);
  strcpy(memory, "parts\n");
  CHECK_EQ(write(1, memory, 6), 6);
  return 0;
}
