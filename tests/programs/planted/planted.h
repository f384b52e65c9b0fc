// What the planted bugs share: senders in processes of their own, whose messages arrive when they
// like, and the report of a crash.
//
// Each program here has one bug of a kind that tests rarely meet: it needs two messages to arrive
// within a window of time. The windows are real (a message comes in two parts, with a pause
// between), so whether it shows depends on the outside alone. tests/record/planted.py runs a
// program until it fails and replays that run.
#ifndef PLANTED_H_
#define PLANTED_H_

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start, etext;

#define REQUIRE(condition)                                                               \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE_NAME__, __LINE__, #condition); \
      abort();                                                                           \
    }                                                                                    \
  } while (0)

// Says where in the program it crashed, in bytes from its start (for addr2line), and crashes.
static void on_crash(int number, siginfo_t* information, void* context) {
  (void)information;
  const long place = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] - (long)&__executable_start;
  char words[80];
  const int length = place > 0 && place < &etext - &__executable_start
                         ? snprintf(words, sizeof words, "signal %d at +%#lx\n", number, place)
                         : snprintf(words, sizeof words, "signal %d in a library\n", number);
  if (write(STDERR_FILENO, words, length) != length) _exit(3);
  signal(number, SIG_DFL);
  raise(number);
}

static inline void report_crashes(void) {
  struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGABRT, &action, NULL);
}

static inline unsigned random_below(unsigned limit) {
  uint32_t bits;
  REQUIRE(getrandom(&bits, sizeof bits, 0) == sizeof bits);
  return bits % limit;
}

static inline void pause_microseconds(long microseconds) {
  const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

// A message's first part says what it is about, its second part brings what it has to say.
struct first_part {
  uint32_t subject;
};

struct second_part {
  uint32_t amount;
};

// Starts a process that sends `count` messages, with pauses of up to `between` microseconds between
// them and `within` between their parts; subjects are `subject`, or at random below -subject. Gives
// the end to read from.
static inline int start_sender(int count, int subject, unsigned between, unsigned within) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t sender = fork();
  REQUIRE(sender >= 0);
  if (sender > 0) {
    close(ends[1]);
    return ends[0];
  }
  close(ends[0]);
  for (int i = 0; i < count; i++) {
    pause_microseconds(random_below(between));
    const struct first_part first = {subject >= 0 ? (uint32_t)subject : random_below(-subject)};
    const struct second_part second = {1 + random_below(100)};
    if (write(ends[1], &first, sizeof first) != sizeof first) _exit(0);
    pause_microseconds(within);
    if (write(ends[1], &second, sizeof second) != sizeof second) _exit(0);
  }
  _exit(0);
}

// False at the end of the messages.
static inline int receive(int end, void* part, size_t size) {
  return read(end, part, size) == (ssize_t)size;
}

#endif  // PLANTED_H_
