// Every thread keeps a second account of what it wrote: no write of its own is lost or comes back,
// whatever memory it lies in (heap, stack, thread-local, static, mapped, remapped, forked), and
// however pages are shared with the others.
#include "program.h"

enum { kSlots = 48, kShared = 1 << 12, kSteps = 1500 };

typedef struct {
  unsigned char* at;
  size_t size;
  unsigned char value;
  int is_mapped;
} Slot;

static unsigned int words[kShared];  // word i belongs to thread i % count: each page is everybody's
static unsigned char* arena;         // bytes likewise, in mapped memory
static int count;
static pthread_t threads[kMaxThreads];
static __thread unsigned int thread_words[600];
static __thread volatile sig_atomic_t signals;

static unsigned int next(unsigned int* state) {
  return *state = *state * 1664525u + 1013904223u, *state >> 8;
}

static void on_signal(int number) {
  volatile char deep[9000];
  deep[0] = deep[8999] = 1;
  (void)number;
  signals += deep[0] + deep[8999] - 1;
}

static void check_slot(const Slot* slot) {
  for (size_t i = 0; i < slot->size; i += 61) CHECK_EQ(slot->at[i], slot->value);
  if (slot->size) CHECK_EQ(slot->at[slot->size - 1], slot->value);
}

static void fill(Slot* slot, unsigned char value) {
  slot->value = value;
  memset(slot->at, value, slot->size);
}

static void renew(Slot* slot, unsigned int* state) {
  const size_t page = 4096;
  check_slot(slot);
  if (slot->is_mapped) {
    const size_t size = (next(state) % 6 + 1) * page;
    switch (next(state) % 4) {
      case 0:
        CHECK_EQ(munmap(slot->at, slot->size), 0);
        *slot = (Slot){0};
        return;
      case 1: {
        const size_t kept = size < slot->size ? size : slot->size;
        slot->at = mremap(slot->at, slot->size, size, MREMAP_MAYMOVE);
        CHECK(slot->at != MAP_FAILED);
        slot->size = kept;
        check_slot(slot);
        slot->size = size;
        break;
      }
      case 2:
        CHECK_EQ(mprotect(slot->at, slot->size, PROT_READ), 0);
        check_slot(slot);
        CHECK_EQ(mprotect(slot->at, slot->size, PROT_READ | PROT_WRITE), 0);
        break;
      default:
        CHECK_EQ(madvise(slot->at, slot->size, MADV_DONTNEED), 0);
        slot->value = 0;
        check_slot(slot);
    }
  } else if (slot->at && next(state) % 2) {
    const size_t size = next(state) % 30000 + 1, kept = size < slot->size ? size : slot->size;
    slot->at = realloc(slot->at, size);
    slot->size = kept;
    check_slot(slot);
    slot->size = size;
  } else if (slot->at) {
    free(slot->at);
    *slot = (Slot){0};
    return;
  } else if (next(state) % 3 == 0) {
    slot->is_mapped = 1;
    slot->size = (next(state) % 6 + 1) * page;
    slot->at = mmap(NULL, slot->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(slot->at != MAP_FAILED);
    check_slot(slot);
  } else {
    slot->size = next(state) % 9000 + 1;
    slot->at = malloc(slot->size);
  }
  fill(slot, (unsigned char)next(state));
}

static void* body(void* argument) {
  const int me = (int)(long)argument;
  unsigned int state = (unsigned int)me * 7919 + 1, mine[kShared / 2], on_stack[2000], locals[600];
  unsigned char bytes[kShared / 2];
  Slot slots[kSlots] = {{0}};
  memset(mine, 0, sizeof mine);
  memset(bytes, 0, sizeof bytes);
  memset(locals, 0, sizeof locals);
  for (int i = 0; i < 2000; ++i) on_stack[i] = (unsigned int)(me + i);
  for (int step = 0; step < kSteps; ++step) {
    renew(&slots[next(&state) % kSlots], &state);
    for (int i = 0; i < 20; ++i) {
      const int word = (int)next(&state) % (kShared / count);
      CHECK_EQ(words[word * count + me], mine[word]);
      words[word * count + me] = mine[word] = next(&state);
      CHECK_EQ(arena[word * count + me], bytes[word]);
      arena[word * count + me] = bytes[word] = (unsigned char)next(&state);
    }
    const unsigned int local = next(&state) % 600, deep = next(&state) % 2000;
    CHECK_EQ(thread_words[local], locals[local]);
    thread_words[local] = locals[local] = next(&state);
    CHECK_EQ(on_stack[deep], me + deep);
    if (step % 64 == 0) sched_yield();
    if (step % 200 == 0) CHECK_EQ(pthread_kill(threads[(me + 1) % count], SIGUSR1), 0);
    if (step % 500 == 250) {
      const pid_t child = fork();
      if (child == 0) {
        for (int i = 0; i < kSlots; ++i) check_slot(&slots[i]);
        for (int i = 0; i < kShared / count; ++i) CHECK_EQ(words[i * count + me], mine[i]);
        _exit(0);
      }
      int status = 0;
      while (waitpid(child, &status, 0) == -1) CHECK_EQ(errno, EINTR);
      CHECK_EQ(status, 0);
    }
  }
  for (int i = 0; i < kSlots; ++i) check_slot(&slots[i]);
  for (int i = 0; i < kShared / count; ++i) {
    CHECK_EQ(words[i * count + me], mine[i]);
    CHECK_EQ(arena[i * count + me], bytes[i]);
  }
  for (int i = 0; i < 2000; ++i) CHECK_EQ(on_stack[i], me + i);
  for (int i = 0; i < 600; ++i) CHECK_EQ(thread_words[i], locals[i]);
  return NULL;
}

static pthread_barrier_t all_made;

static void* begin(void* argument) {
  pthread_barrier_wait(&all_made);
  body(argument);
  pthread_barrier_wait(&all_made);  // nobody is signalled after its end
  return NULL;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  count = argument(argc, argv, 1, 4);
  CHECK(count >= 2 && count <= kMaxThreads);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  arena = mmap(NULL, kShared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(arena != MAP_FAILED);
  CHECK_EQ(pthread_barrier_init(&all_made, NULL, (unsigned)count), 0);
  threads[0] = pthread_self();
  for (long i = 1; i < count; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, begin, (void*)i), 0);
  begin(NULL);
  for (int i = 1; i < count; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  puts("every write is where it was put");
  return 0;
}
