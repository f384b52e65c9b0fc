// A message queue says that an order has been written.
#include <fcntl.h>
#include <mqueue.h>

#include "twin.h"

static struct {
  int item, count;
} order;
static mqd_t queue;

static void* send_order(void* unused) {
  if (RACY && mq_send(queue, "x", 1, 0)) abort();
  order.item = 7, order.count = 2;  // RACE
  if (!RACY && mq_send(queue, "x", 1, 0)) abort();
  return unused;
}

static void* take_order(void* unused) {
  char text[16];
  if (mq_receive(queue, text, sizeof text, NULL) != 1) abort();
  use(order.item + order.count);  // RACE
  return unused;
}

int main(void) {
  char name[64];
  snprintf(name, sizeof name, "/twin_message_%d", (int)getpid());
  struct mq_attr shape = {.mq_maxmsg = 2, .mq_msgsize = 16};
  queue = mq_open(name, O_CREAT | O_RDWR, 0600, &shape);
  if (queue == (mqd_t)-1) return 0;  // there are none here
  mq_unlink(name);
  run_two(send_order, take_order);
  return 0;
}
