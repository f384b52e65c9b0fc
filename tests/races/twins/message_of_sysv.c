// A pointer goes through a message queue of System V; the racy sender writes behind msgsnd().
#include "twin.h"

#include <sys/ipc.h>
#include <sys/msg.h>

struct order {
  int sum;
};
struct message {
  long type;
  struct order* order;
};
static int queue;

static void* sender(void* unused) {
  struct message message = {1, malloc(sizeof(struct order))};
  struct order* order = message.order;
  order->sum = 1;
  if (msgsnd(queue, &message, sizeof message.order, 0) != 0) abort();
  if (RACY) order->sum = 2;  // RACE
  return unused;
}

static void* receiver(void* unused) {
  struct message message;
  if (msgrcv(queue, &message, sizeof message.order, 0, 0) < 0) abort();
  pause_ms(20);
  message.order->sum += 3;  // RACE
  use(message.order->sum);
  return message.order ? unused : NULL;
}

int main(void) {
  queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
  if (queue < 0) return 0;
  run_two(sender, receiver);
  msgctl(queue, IPC_RMID, NULL);
  return 0;
}
