// All ways to share memory: a file without a name, one with a name, a file of shm_open, a System V
// segment, and one object at two addresses. What comes out depends on who came first.
#include <sys/ipc.h>
#include <sys/shm.h>

#include "program.h"

enum { kSize = 3 * 4096 };
struct Shared {
  sem_t full, empty, lock;
  long value, sum, mixed;
  char rest[4096];
  long far;
};

static void add(struct Shared* shared, long value) {
  CHECK_EQ(sem_wait(&shared->lock), 0);
  shared->mixed = shared->mixed * 31 + value;
  shared->far += value;
  CHECK_EQ(sem_post(&shared->lock), 0);
}

static long talk(struct Shared* mine, struct Shared* theirs) {
  CHECK_EQ(sem_init(&mine->full, 1, 0), 0);
  CHECK_EQ(sem_init(&mine->empty, 1, 1), 0);
  CHECK_EQ(sem_init(&mine->lock, 1, 1), 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    for (int i = 1; i <= 50; ++i) {
      CHECK_EQ(sem_wait(&theirs->full), 0);
      theirs->sum += theirs->value;
      CHECK_EQ(sem_post(&theirs->empty), 0);
      add(theirs, i);
    }
    _exit(0);
  }
  for (int i = 1; i <= 50; ++i) {
    CHECK_EQ(sem_wait(&mine->empty), 0);
    mine->value = i;
    CHECK_EQ(sem_post(&mine->full), 0);
    add(mine, -i);
  }
  CHECK_CHILD(child);
  CHECK_EQ(mine->sum, 50L * 51 / 2);
  CHECK_EQ(mine->far, 0);
  return mine->mixed & 0xffff;
}

static long with_descriptor(int file) {
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, kSize), 0);
  void* one = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* other = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(one != MAP_FAILED && other != MAP_FAILED && one != other);
  long result = talk((struct Shared*)one, (struct Shared*)other);
  ((struct Shared*)one)->value = 7;
  CHECK_EQ(((struct Shared*)other)->value, 7);
  ((struct Shared*)other)->value = 8;
  CHECK_EQ(((struct Shared*)one)->value, 8);
  const struct Shared* read_only =
      (const struct Shared*)mmap(NULL, kSize, PROT_READ, MAP_SHARED, file, 0);
  CHECK(read_only != MAP_FAILED);
  CHECK_EQ(read_only->value, 8);
  CHECK_EQ(munmap(one, kSize), 0);
  CHECK_EQ(munmap(other, kSize), 0);
  CHECK_EQ(close(file), 0);
  return result;
}

int main(void) {
  char name[64];
  long results[4];
  results[0] = with_descriptor((int)syscall(SYS_memfd_create, "talk", 0));
  snprintf(name, sizeof name, "talk-%d", (int)getpid());
  results[1] = with_descriptor(open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  CHECK_EQ(unlink(name), 0);
  snprintf(name, sizeof name, "/talk-%d", (int)getpid());
  results[2] = with_descriptor(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  CHECK_EQ(shm_unlink(name), 0);
  int segment = shmget(IPC_PRIVATE, kSize, IPC_CREAT | 0600);
  CHECK(segment >= 0);
  void* one = shmat(segment, NULL, 0);
  void* other = shmat(segment, NULL, 0);
  CHECK(one != (void*)-1 && other != (void*)-1);
  results[3] = talk((struct Shared*)one, (struct Shared*)other);
  CHECK_EQ(shmdt(one), 0);
  CHECK_EQ(shmctl(segment, IPC_RMID, NULL), 0);
  CHECK_EQ(((struct Shared*)other)->sum, 50L * 51 / 2);
  CHECK_EQ(shmdt(other), 0);
  CHECK(shmdt(other) == -1 && errno == EINVAL);
  if (getenv("TALK_SHOWS")) {
    for (int i = 0; i < 4; ++i) printf("%ld\n", results[i]);
  }
  printf("all kinds\n");
  return 0;
}
