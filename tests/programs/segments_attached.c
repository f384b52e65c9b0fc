// System V segments: how often they are attached, by the program and its child; attached over other
// memory, unmapped in part, detached, gone with the last one.
#include "faults.h"

#include <sys/ipc.h>
#include <sys/shm.h>

static long attached(int id) {
  struct shmid_ds status;
  CHECK_EQ(shmctl(id, IPC_STAT, &status), 0);
  return (long)status.shm_nattch;
}

static void counted(void) {
  const int id = shmget(IPC_PRIVATE, 3 * kPage, IPC_CREAT | 0600);
  struct shmid_ds status;
  int ended;
  CHECK_EQ(attached(id), 0);
  char* a = (char*)shmat(id, NULL, 0);
  char* b = (char*)shmat(id, NULL, SHM_RDONLY);
  CHECK_EQ(attached(id), 2);
  a[0] = 5;
  CHECK_EQ(load(b), 5);
  CHECK_EQ(store(b, 3), kSegv);
  const pid_t child = fork();
  if (!child) _exit((int)attached(id));
  CHECK_EQ(waitpid(child, &ended, 0), child);
  CHECK_EQ(WEXITSTATUS(ended), 4);
  CHECK_EQ(attached(id), 2);
  CHECK_EQ(shmdt(b), 0);
  CHECK_FAILS(shmdt(b), EINVAL);
  CHECK_EQ(attached(id), 1);
  CHECK_EQ(load(b), kSegvNone);
  CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
  CHECK_EQ(attached(id), 1);
  CHECK_EQ(load(a), 5);
  CHECK_EQ(shmdt(a), 0);
  CHECK_FAILS(shmctl(id, IPC_STAT, &status), EINVAL);
}

static void placed(void) {
  const int id = shmget(IPC_PRIVATE, 2 * kPage, IPC_CREAT | 0600);
  char* m = map_pages(8, PROT_NONE);
  CHECK(shmat(id, m + kPage, SHM_REMAP) == m + kPage);
  CHECK_EQ(store(m + kPage, 4), 0);
  CHECK_EQ(load(m), kSegv);
  CHECK(shmat(id, m + 4 * kPage, 0) == (void*)-1 && errno == EINVAL);
  CHECK_EQ(munmap(m + kPage, kPage), 0);
  CHECK_EQ(attached(id), 1);
  CHECK_EQ(shmdt(m + kPage), 0);
  CHECK_EQ(attached(id), 0);
  CHECK_EQ(munmap(m, 8 * kPage), 0);
  CHECK_EQ(shmctl(id, IPC_RMID, NULL), 0);
}

static void body(void) {
  counted();
  placed();
}

int main(void) {
  run_everywhere(body);
  printf("attached and detached\n");
  return 0;
}
