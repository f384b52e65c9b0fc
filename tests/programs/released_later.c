// Locks that all tasks use but mostly nobody waits for: nothing is lost, nobody starves at one that
// another takes again and again, and the last user may free it.
#include "program.h"

enum { kLocks = 16, kSteps = 400, kObjects = 40 };
static struct {
  pthread_mutex_t lock;
  long count, again;
  int inside;
  char apart[40];
} locks[kLocks];

static void* strikes(void* number) {
  unsigned x = (unsigned)(long)number * 2654435761u + 3;
  for (int i = 0; i < kSteps; ++i) {
    x = x * 1103515245 + 12345;
    const unsigned which = (x >> 16) % kLocks, next = (which + 1) % kLocks;
    CHECK_EQ(pthread_mutex_lock(&locks[which].lock), 0);
    CHECK_EQ(++locks[which].inside, 1);
    CHECK_EQ(locks[which].count, locks[which].again);
    locks[which].count++;
    if (which < next && x >> 28 == 0) {  // two at a time, in order
      CHECK_EQ(pthread_mutex_lock(&locks[next].lock), 0);
      CHECK_EQ(locks[next].count, locks[next].again);
      CHECK_EQ(pthread_mutex_unlock(&locks[next].lock), 0);
    }
    locks[which].again++;
    --locks[which].inside;
    CHECK_EQ(pthread_mutex_unlock(&locks[which].lock), 0);
  }
  return NULL;
}

// One takes the lock again and again until the other, who comes before or after it in every order,
// has had it.
static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static int had[2];

static void* greedy(void* number) {
  const long me = (long)number;
  for (int done = 0; !done;) {
    CHECK_EQ(pthread_mutex_lock(&wanted), 0);
    done = had[me];
    CHECK_EQ(pthread_mutex_unlock(&wanted), 0);
  }
  CHECK_EQ(pthread_mutex_lock(&wanted), 0);
  had[1 - me] = 1;
  CHECK_EQ(pthread_mutex_unlock(&wanted), 0);
  return NULL;
}

static void starve(void) {
  pthread_t thread;
  for (long first = 0; first < 2; ++first) {
    had[0] = had[1] = 0;
    CHECK_EQ(pthread_create(&thread, NULL, greedy, (void*)first), 0);
    for (int i = 0; i < 3; ++i) sched_yield();
    CHECK_EQ(pthread_mutex_lock(&wanted), 0);
    had[first] = 1;
    CHECK_EQ(pthread_mutex_unlock(&wanted), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
}

// Objects that whoever is last frees, so that the memory of one becomes that of another.
typedef struct {
  pthread_mutex_t lock;
  int users;
  int inside;
} Object;
static Object* objects[kObjects];

static void* drops(void* unused) {
  for (int i = 0; i < kObjects; ++i) {
    Object* object = objects[i];
    CHECK_EQ(pthread_mutex_lock(&object->lock), 0);
    CHECK_EQ(++object->inside, 1);
    const int left = --object->users;
    --object->inside;
    CHECK_EQ(pthread_mutex_unlock(&object->lock), 0);
    if (left) continue;
    CHECK_EQ(pthread_mutex_destroy(&object->lock), 0);
    memset(object, 0x5a, sizeof *object);
    free(object);
    object = malloc(sizeof *object);  // in its place, perhaps
    CHECK_EQ(pthread_mutex_init(&object->lock, NULL), 0);
    CHECK_EQ(pthread_mutex_lock(&object->lock), 0);
    CHECK_EQ(pthread_mutex_trylock(&object->lock), EBUSY);
    CHECK_EQ(pthread_mutex_unlock(&object->lock), 0);
    free(object);
  }
  return unused;
}

// What a task releases and takes again, tries, or holds twice.
static pthread_mutex_t twice;
static long depth;
static void* recurses(void* unused) {
  for (int i = 0; i < 60; ++i) {
    CHECK_EQ(pthread_mutex_lock(&twice), 0);
    CHECK_EQ(pthread_mutex_lock(&twice), 0);
    depth++;
    CHECK_EQ(pthread_mutex_unlock(&twice), 0);
    CHECK_EQ(depth % 2, 1);
    depth++;
    CHECK_EQ(pthread_mutex_unlock(&twice), 0);
    if (pthread_mutex_trylock(&twice) == 0) CHECK_EQ(pthread_mutex_unlock(&twice), 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  CHECK_EQ(pthread_mutex_init(&twice, &attributes), 0);
  for (int i = 0; i < kLocks; ++i) CHECK_EQ(pthread_mutex_init(&locks[i].lock, NULL), 0);
  run_threads(threads, strikes);
  long sum = 0;
  for (int i = 0; i < kLocks; ++i) sum += locks[i].count;
  CHECK_EQ(sum, threads * (long)kSteps);
  starve();
  for (int i = 0; i < kObjects; ++i) {
    objects[i] = malloc(sizeof(Object));
    CHECK_EQ(pthread_mutex_init(&objects[i]->lock, NULL), 0);
    objects[i]->users = threads;
    objects[i]->inside = 0;
  }
  run_threads(threads, drops);
  run_threads(threads, recurses);
  CHECK_EQ(depth, threads * 120L);
  printf("sum %ld depth %ld\n", sum, depth);
  return 0;
}
