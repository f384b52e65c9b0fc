// A timer's signals meet repeated string instructions, in a program of one thread and beside
// another: fills, copies up, down and over themselves, comparisons and searches. Each does all of
// its work.
#include <sys/time.h>

#include "program.h"

enum { kSize = 16384 };
static volatile sig_atomic_t alarms;
static sem_t is_there;
static unsigned char from[kSize + 64], to[kSize + 64];

static void on_alarm(int number) { (void)number, ++alarms; }

static void fill(void* at, int with, size_t count) {
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(with) : "memory");
  CHECK_EQ(count, 0);
}

static void fill_words(void* at, uint64_t with, size_t count) {
  __asm__ volatile("rep stosq" : "+D"(at), "+c"(count) : "a"(with) : "memory");
}

static void copy_up(void* at, const void* source, size_t count) {
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(count) : : "memory");
}

static void copy_down(unsigned char* at, const unsigned char* source, size_t count) {
  at += count - 1, source += count - 1;
  __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(at), "+S"(source), "+c"(count) : : "memory");
  CHECK_EQ(count, 0);
}

// Where the two differ first, or `count`.
static size_t same(const unsigned char* one, const unsigned char* other, size_t count) {
  const unsigned char* const first = one;
  unsigned char is_same;
  __asm__ volatile("cmp %%eax,%%eax\n\trepe cmpsb\n\tsete %0"
                   : "=q"(is_same), "+D"(one), "+S"(other), "+c"(count)
                   :
                   : "memory", "cc");
  return (size_t)(one - first) - !is_same;
}

static size_t find(const unsigned char* at, unsigned char wanted, size_t count) {
  const unsigned char* const first = at;
  unsigned char is_found;
  __asm__ volatile("test %%esp,%%esp\n\trepne scasb\n\tsete %0"
                   : "=q"(is_found), "+D"(at), "+c"(count)
                   : "a"(wanted)
                   : "memory", "cc");
  return (size_t)(at - first) - is_found;
}

static void all(void) {
  struct itimerval never = {{0, 0}, {0, 0}};
  alarms = 0;
  for (int i = 0; i < 400 || alarms < 50; ++i) {
    const unsigned place = (unsigned)(i * 37) % kSize;
    const int with = 1 + i % 200;
    struct itimerval soon = {{0, 0}, {0, 1 + i % 60}};
    CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
    fill(from, with, kSize);
    from[place] = 250;
    copy_up(to, from, kSize);
    CHECK_EQ(same(from, to, kSize), kSize);
    CHECK_EQ(find(to, 250, kSize), place);
    copy_down(to + 8, to, kSize);
    CHECK_EQ(find(to + 8, 250, kSize), place);
    to[8 + place] ^= 1;
    CHECK_EQ(same(from, to + 8, kSize), place);
    // Over itself upwards: the first eight bytes again and again.
    fill_words(to, (uint64_t)i * 0x0101, 1);
    copy_up(to + 8, to, kSize);
    for (int k = 0; k < kSize; k += 1024) CHECK_EQ(memcmp(to + k, to, 8), 0);
    fill_words(to, (uint64_t)i, kSize / 8);
    CHECK_EQ(((uint64_t*)to)[kSize / 8 - 1], (uint64_t)i);
  }
  CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
}

static void* waits(void* unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(sem_post(&is_there), 0);
  for (;;) pause();
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  pthread_t thread;
  CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
  all();
  CHECK_EQ(sem_init(&is_there, 0, 0), 0);
  CHECK_EQ(pthread_create(&thread, NULL, waits, NULL), 0);
  CHECK_EQ(sem_wait(&is_there), 0);
  all();
  puts("all of it");
  return 0;
}
