// Signals that come one upon another: often the next is there when the handler of the one before
// has only just begun. This handler leaves alone the flags and all registers but one, so what it
// began with is seen in the frames that are left on the stack: a replay must leave the same.
#include "program.h"

enum { kSignals = 2500 };

static pthread_t receiver;
static char handled[kSignals];  // in the page with what the sender reads: where the handler stores,
                                // it often has to wait for it
static sem_t sent;

static void on_signal(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  *(volatile char*)information->si_value.sival_ptr = 1;
}

static void* receive(void* unused) {
  int count = 0;
  while (sem_wait(&sent) == -1) CHECK_EQ(errno, EINTR);
  for (int i = 0; i < kSignals; ++i) count += handled[i];
  printf("handled %d\n", count);
  return unused;
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  CHECK_EQ(sem_init(&sent, 0, 0), 0);
  CHECK_EQ(pthread_create(&receiver, NULL, receive, NULL), 0);
  for (int i = 0; i < kSignals; ++i) {
    const union sigval value = {.sival_ptr = &handled[i]};
    CHECK_EQ(pthread_sigqueue(receiver, SIGRTMIN, value), 0);
  }
  CHECK_EQ(sem_post(&sent), 0);
  CHECK_EQ(pthread_join(receiver, NULL), 0);
  return 0;
}
