// Deadlock by lock order: two threads transfer between two accounts, one this way, one the other.
// Each locks the account that a message's first part names, waits for the amount, and locks the
// other one.
#include "planted.h"

enum { kTransfers = 3 };

static struct account {
  pthread_mutex_t lock;
  long balance;
} accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 1000}, {PTHREAD_MUTEX_INITIALIZER, 1000}};

static void* transfer(void* argument) {
  struct first_part first;
  struct second_part second;
  const int requester = (int)(intptr_t)argument;
  while (receive(requester, &first, sizeof first)) {
    struct account *from = &accounts[first.subject], *to = &accounts[1 - first.subject];
    pthread_mutex_lock(&from->lock);
    if (receive(requester, &second, sizeof second)) {
      pthread_mutex_lock(&to->lock);  // the bug: the other thread takes them the other way round
      from->balance -= second.amount;
      to->balance += second.amount;
      pthread_mutex_unlock(&to->lock);
    }
    pthread_mutex_unlock(&from->lock);
  }
  return NULL;
}

int main(void) {
  report_crashes();
  int requesters[2];
  for (int i = 0; i < 2; i++) requesters[i] = start_sender(kTransfers, i, 30000, 300);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, transfer, (void*)(intptr_t)requesters[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", accounts[0].balance + accounts[1].balance);
  return 0;
}
