// A new thread sees exactly what its creator wrote before making it: locals and globals changed
// between creations, heap objects made in between; threads make threads beside others that lock; a
// creation that fails; a fork and signals in between.
#include "program.h"

enum { kRounds = 40, kTree = 3, kPage = 4096, kPages = 80 };

static long global;
static __thread long fresh = 7;
static char pages[kPages][kPage];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counted;
static int handled;

struct Order {
  long number, global, local_copy;
  long* local;
  pthread_t id;
  sem_t* signalled;  // NULL: it may be over before its signal comes
};

static void on_signal(int signal) {
  (void)signal, __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void count(void) {
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  ++counted;
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
}

static void* child(void* argument) {
  const struct Order* order = argument;
  CHECK_EQ(fresh, 7);
  fresh = order->number;
  CHECK(global >= order->global);  // later writes of the creator may be seen or not
  CHECK(*order->local >= order->local_copy);
  CHECK_EQ(pages[order->number % kPages][order->number], 1);
  count();
  while (order->signalled && sem_wait(order->signalled) != 0) CHECK_EQ(errno, EINTR);
  CHECK_EQ(fresh, order->number);
  return argument;
}

static void* tree(void* depth_left) {
  const long depth = (long)depth_left;
  pthread_t ids[2];
  long words[2];
  for (long i = 0; i < 2 && depth; ++i) {
    words[i] = depth;
    CHECK_EQ(pthread_create(&ids[i], NULL, tree, (void*)(depth - 1)), 0);
    count();
  }
  for (int i = 0; i < 2 && depth; ++i) {
    CHECK_EQ(words[i], depth);
    CHECK_EQ(pthread_join(ids[i], NULL), 0);
  }
  count();
  return NULL;
}

int main(void) {
  long local = 0;
  struct Order* orders[kRounds];
  pthread_t roots[2];
  pthread_attr_t too_big;
  sem_t signalled;
  CHECK_EQ(sem_init(&signalled, 0, 0), 0);
  signal(SIGUSR1, on_signal);
  CHECK_EQ(pthread_attr_init(&too_big), 0);
  CHECK_EQ(pthread_attr_setstacksize(&too_big, (size_t)1 << 47), 0);
  for (int i = 0; i < 2; ++i)
    CHECK_EQ(pthread_create(&roots[i], NULL, tree, (void*)(long)kTree), 0);
  for (long round = 0; round < kRounds; ++round) {
    struct Order* order = orders[round] = malloc(sizeof *order);
    pages[round % kPages][round] = 1;
    if (round % 8 == 7) {
      for (int page = 0; page < kPages; ++page)
        pages[page][kPage - 1 - round] = 2;  // too many to hand over
    }
    *order =
        (struct Order){.number = round, .global = ++global, .local_copy = ++local, .local = &local};
    if (round % 20 == 3) order->signalled = &signalled;
    pthread_t none;
    CHECK_EQ(pthread_create(&none, &too_big, child, order), EAGAIN);
    CHECK_EQ(pthread_create(&order->id, NULL, child, order), 0);
    ++local, ++global;
    if (round % 10 == 3) CHECK_EQ(pthread_kill(order->id, SIGUSR1), 0);
    if (order->signalled) CHECK_EQ(sem_post(&signalled), 0);
    if (round % 16 == 5) {
      const pid_t forked = fork();
      if (forked == 0) {
        pthread_t id;
        order->global = global, order->local_copy = local;
        CHECK_EQ(pthread_mutex_init(&lock, NULL), 0);
        CHECK_EQ(pthread_create(&id, NULL, child, order), 0);
        CHECK_EQ(pthread_join(id, NULL), 0);
        _exit(5);
      }
      int status = 0;
      CHECK_EQ(waitpid(forked, &status, 0), forked);
      CHECK_EQ(WEXITSTATUS(status), 5);
    }
    if (round % 5 == 4) {
      void* value;
      CHECK_EQ(pthread_join(order->id, &value), 0);
      CHECK(value == order);
      order->id = 0;
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    if (orders[round]->id) CHECK_EQ(pthread_join(orders[round]->id, NULL), 0);
    free(orders[round]);
  }
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(roots[i], NULL), 0);
  for (int page = 0; page < kRounds; ++page) CHECK_EQ(pages[page][page], 1);
  CHECK(handled >= kRounds / 20);
  printf("local %ld global %ld counted %ld\n", local, global, counted);
  return 0;
}
