// A ring whose memory, of a memfd, is mapped twice, one mapping behind the other. A value may lie
// across the border: then one instruction needs the last page and the first one, which may be the
// same page. A thread of the program writes such values and main reads them; so does a forked
// child, which has the ring too. One of the two mappings goes, and the other stays.
#include "program.h"

enum { kPage = 4096, kValues = 300 };

struct ring {
  sem_t written, read;
  char* bytes;
  size_t size;
};

static struct ring* g_ring;

static void map_ring(size_t size) {
  const int file = memfd_create("ring", MFD_CLOEXEC);
  CHECK(file >= 0);
  CHECK_EQ(ftruncate(file, (off_t)size), 0);
  char* const at = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  for (int i = 0; i < 2; i++)
    CHECK(mmap(at + (size_t)i * size, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
               0) == at + (size_t)i * size);
  close(file);
  g_ring->bytes = at;
  g_ring->size = size;
}

// Ten bytes apart, each value is eight bytes, at any place of the ring.
static size_t place(int i) { return (size_t)i * 10 % g_ring->size; }

static void write_values(void) {
  for (int i = 0; i < kValues; i++) {
    const uint64_t value = 0x0101010101010101u * (unsigned)(i % 251) + (unsigned)i;
    const size_t at = g_ring->size - 1000 + place(i) % 2000;
    __builtin_memcpy(g_ring->bytes + at % g_ring->size, &value, sizeof value);
    CHECK_EQ(sem_post(&g_ring->written), 0);
    CHECK_EQ(sem_wait(&g_ring->read), 0);
  }
}

static uint64_t read_values(void) {
  uint64_t sum = 0;
  for (int i = 0; i < kValues; i++) {
    CHECK_EQ(sem_wait(&g_ring->written), 0);
    uint64_t value;
    const size_t at = (g_ring->size - 1000 + place(i) % 2000) % g_ring->size;
    // The same bytes by the other mapping, where it has all of them.
    const size_t other = at + 8 <= g_ring->size ? at + g_ring->size : at;
    __builtin_memcpy(&value, g_ring->bytes + other, sizeof value);
    sum = sum * 31 + value;
    CHECK_EQ(sem_post(&g_ring->read), 0);
  }
  return sum;
}

static void* writer(void* unused) {
  write_values();
  return unused;
}

static void use_ring(size_t size) {
  map_ring(size);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, writer, NULL), 0);
  printf("thread: %016llx\n", (unsigned long long)read_values());
  CHECK_EQ(pthread_join(thread, NULL), 0);
  fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    write_values();
    _exit(0);
  }
  printf("child: %016llx\n", (unsigned long long)read_values());
  CHECK_CHILD(child);
  uint64_t last = 0, again = 0;
  __builtin_memcpy(&last, g_ring->bytes + size - 4, 8);
  char* const second = g_ring->bytes + size;
  second[1] = 77;
  CHECK_EQ(g_ring->bytes[1], 77);
  CHECK_EQ(munmap(g_ring->bytes, size), 0);
  __builtin_memcpy(&again, second, 4);
  CHECK_EQ(second[1], 77);
  second[1] = (char)(last >> 40);
  __builtin_memcpy(&again, second, 4);
  CHECK_EQ(again, last >> 32);
  CHECK_EQ(munmap(second, size), 0);
}

static void* sleeper(void* end) {
  CHECK_EQ(sem_wait(end), 0);
  return NULL;
}

int main(void) {
  g_ring = mmap(NULL, sizeof *g_ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(g_ring != MAP_FAILED);
  CHECK_EQ(sem_init(&g_ring->written, 1, 0), 0);
  CHECK_EQ(sem_init(&g_ring->read, 1, 0), 0);
  sem_t end;
  CHECK_EQ(sem_init(&end, 0, 0), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, sleeper, &end), 0);
  use_ring(kPage);
  use_ring(2 * kPage);
  CHECK_EQ(sem_post(&end), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
