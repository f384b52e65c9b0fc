// POSIX's message queues between threads: priorities, waiting receivers, and limits of time, which
// are moments that may have passed already.
#include "program.h"

#include <mqueue.h>

static mqd_t queue;

static struct timespec in(long ms) {
  struct timespec time;
  CHECK_EQ(clock_gettime(CLOCK_REALTIME, &time), 0);
  time.tv_nsec += ms * 1000000;
  time.tv_sec += time.tv_nsec / 1000000000, time.tv_nsec %= 1000000000;
  return time;
}

static void* receive(void* unused) {
  char text[64];
  unsigned priority;
  struct timespec time = in(5);
  CHECK(mq_timedreceive(queue, text, sizeof text, &priority, &time) == -1 && errno == ETIMEDOUT);
  time.tv_sec = 1;
  CHECK(mq_timedreceive(queue, text, sizeof text, &priority, &time) == -1 && errno == ETIMEDOUT);
  time.tv_nsec = -1;
  CHECK(mq_timedreceive(queue, text, sizeof text, &priority, &time) == -1 && errno == EINVAL);
  CHECK_EQ(mq_send(queue, "low", 4, 1), 0);
  CHECK_EQ(mq_send(queue, "high", 5, 9), 0);
  time = in(100000);
  CHECK_EQ(mq_timedreceive(queue, text, sizeof text, &priority, &time), 5);
  CHECK_EQ(priority, 9);
  CHECK_EQ(mq_timedreceive(queue, text, sizeof text, &priority, &time), 4);
  CHECK_EQ(mq_timedreceive(queue, text, sizeof text, &priority, &time), 6);
  CHECK_EQ(mq_receive(queue, text, sizeof text, &priority), 5);
  return unused;
}

int main(void) {
  char name[32];
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 64};
  snprintf(name, sizeof name, "/weir-%d", (int)getpid());
  queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
  if (queue == (mqd_t)-1) {  // where the system has none
    puts("received");
    return 0;
  }
  CHECK_EQ(mq_unlink(name), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, receive, NULL), 0);
  sleep_ms(50);
  CHECK_EQ(mq_send(queue, "later", 6, 1), 0);
  sleep_ms(10);
  CHECK_EQ(mq_send(queue, "last", 5, 1), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("received");
  return 0;
}
