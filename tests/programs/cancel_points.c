// A thread that waits in each kind of cancellation point is cancelled out of it, deferred and
// asynchronous: its cleanup handler and the destructor of its thread-specific data run, once each.
// A call that is no cancellation point is not ended, and one that waits with cancellation disabled
// goes on.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "program.h"

static int ends[2], full[2], listener, pair[2], queue, poller, locked;
static sem_t never, ready;
static pthread_t forever;
static pid_t child;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int cleaned, destroyed;
static char byte;

static void in_read(void) { read(ends[0], &byte, 1); }
static void in_write(void) {
  char block[65536] = {0};
  for (;;) write(full[1], block, sizeof block);
}
static void in_open(void) { open("cancel_points.fifo", O_RDONLY); }
static void in_accept(void) { accept(listener, NULL, NULL); }
static void in_recv(void) { recv(pair[0], &byte, 1, 0); }
static void in_recvmsg(void) {
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  recvmsg(pair[0], &message, 0);
}
static void in_poll(void) {
  struct pollfd entry = {ends[0], POLLIN, 0};
  poll(&entry, 1, -1);
}
static void in_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  select(ends[0] + 1, &set, NULL, NULL, NULL);
}
static void in_epoll(void) {
  struct epoll_event event;
  epoll_wait(poller, &event, 1, -1);
}
static void in_sem_wait(void) { sem_wait(&never); }
static void in_sem_timedwait(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1000;
  sem_timedwait(&never, &until);
}
static void in_nanosleep(void) {
  struct timespec time = {1000, 0};
  nanosleep(&time, NULL);
}
static void in_clock_nanosleep(void) {
  struct timespec time = {1000, 0};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
static void in_join(void) { pthread_join(forever, NULL); }
static void unlock(void* unused) { (void)unused, pthread_mutex_unlock(&mutex); }
static void in_cond_wait(void) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
}
static void in_cond_timedwait(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1000;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  for (;;) pthread_cond_timedwait(&condition, &mutex, &until);
  pthread_cleanup_pop(1);
}
static void in_waitpid(void) { waitpid(child, NULL, 0); }
static void in_sigwait(void) {
  sigset_t set;
  int signal;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigwait(&set, &signal);
}
static void in_pause(void) { pause(); }
static void in_msgrcv(void) {
  struct {
    long type;
    char text[8];
  } message;
  msgrcv(queue, &message, sizeof message.text, 0, 0);
}
static void in_lock(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  fcntl(locked, F_OFD_SETLKW, &whole);
}
static void in_testcancel(void) {
  for (;;) {
    pthread_testcancel();
    sleep_ms(1);
  }
}

static void (*const points[])(void) = {in_read,
                                       in_write,
                                       in_open,
                                       in_accept,
                                       in_recv,
                                       in_recvmsg,
                                       in_poll,
                                       in_select,
                                       in_epoll,
                                       in_sem_wait,
                                       in_sem_timedwait,
                                       in_nanosleep,
                                       in_clock_nanosleep,
                                       in_join,
                                       in_cond_wait,
                                       in_cond_timedwait,
                                       in_waitpid,
                                       in_sigwait,
                                       in_pause,
                                       in_msgrcv,
                                       in_lock,
                                       in_testcancel};
enum { kPoints = sizeof points / sizeof *points };

static void on_clean(void* unused) { (void)unused, ++cleaned; }
static void on_destroy(void* unused) { (void)unused, ++destroyed; }
static void* in_forever(void* unused) {
  for (;;) pause();
  return unused;
}

struct work {
  void (*point)(void);
  int type;
};

static void* body(void* argument) {
  const struct work* work = argument;
  CHECK_EQ(pthread_setspecific(key, work), 0);
  pthread_cleanup_push(on_clean, NULL);
  CHECK_EQ(pthread_setcanceltype(work->type, NULL), 0);
  CHECK_EQ(sem_post(&ready), 0);
  work->point();
  puts("a wait ended");
  pthread_cleanup_pop(0);
  return NULL;
}

// Cancellation comes while it is disabled, in a wait; then it is enabled.
static void* disabled_body(void* unused) {
  int old;
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
  CHECK_EQ(sem_post(&ready), 0);
  CHECK_EQ(read(pair[1], &byte, 1), 1);
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0);
  pthread_testcancel();
  puts("not cancelled");
  return unused;
}

// Waits in a call that is no cancellation point: it is not ended.
static void* no_point_body(void* unused) {
  CHECK_EQ(sem_post(&ready), 0);
  CHECK_EQ(flock(locked, LOCK_EX), 0);
  for (;;) pthread_testcancel();
  return unused;
}

static void cancelled(pthread_t thread) {
  void* value = NULL;
  CHECK_EQ(pthread_join(thread, &value), 0);
  CHECK(value == PTHREAD_CANCELED);
}

int main(void) {
  char name[] = "/tmp/cancel_points.XXXXXX";
  struct sockaddr_un {
    unsigned short family;
    char path[8];
  } nobody = {AF_UNIX, ""};
  CHECK(mkdtemp(name) != NULL);
  CHECK_EQ(chdir(name), 0);
  CHECK_EQ(pthread_key_create(&key, on_destroy), 0);
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(pipe(full), 0);
  CHECK_EQ(mkfifo("cancel_points.fifo", 0600), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK_EQ(bind(listener, (struct sockaddr*)&nobody, sizeof nobody.family), 0);
  CHECK_EQ(listen(listener, 1), 0);
  queue = msgget(IPC_PRIVATE, 0600);
  CHECK(queue >= 0);
  poller = epoll_create1(0);
  CHECK_EQ(sem_init(&never, 0, 0), 0);
  CHECK_EQ(sem_init(&ready, 0, 0), 0);
  const int holder = open("locked", O_RDWR | O_CREAT, 0600);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  CHECK_EQ(fcntl(holder, F_OFD_SETLK, &whole), 0);
  CHECK_EQ(flock(holder, LOCK_EX), 0);
  locked = open("locked", O_RDWR);
  child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  CHECK_EQ(pthread_create(&forever, NULL, in_forever, NULL), 0);

  for (int type = PTHREAD_CANCEL_DEFERRED; type <= PTHREAD_CANCEL_ASYNCHRONOUS; ++type) {
    cleaned = destroyed = 0;
    for (int i = 0; i < kPoints; ++i) {
      // Locked by its cleanup handler's rules only where it is cancelled inside the wait.
      const int is_condition = points[i] == in_cond_wait || points[i] == in_cond_timedwait;
      struct work work = {points[i], is_condition ? PTHREAD_CANCEL_DEFERRED : type};
      pthread_t thread;
      CHECK_EQ(pthread_create(&thread, NULL, body, &work), 0);
      CHECK_EQ(sem_wait(&ready), 0);
      sleep_ms(i % 4 ? 2 : 0);
      CHECK_EQ(pthread_cancel(thread), 0);
      cancelled(thread);
    }
    printf("%d points, %d cleaned, %d destroyed\n", kPoints, cleaned, destroyed);
  }

  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, disabled_body, NULL), 0);
  CHECK_EQ(sem_wait(&ready), 0);
  sleep_ms(2);
  CHECK_EQ(pthread_cancel(thread), 0);
  sleep_ms(2);
  CHECK_EQ(write(pair[0], "x", 1), 1);
  cancelled(thread);
  CHECK_EQ(pthread_create(&thread, NULL, no_point_body, NULL), 0);
  CHECK_EQ(sem_wait(&ready), 0);
  sleep_ms(2);
  CHECK_EQ(pthread_cancel(thread), 0);
  sleep_ms(2);
  CHECK_EQ(flock(holder, LOCK_UN), 0);
  cancelled(thread);

  CHECK_EQ(pthread_cancel(forever), 0);
  cancelled(forever);
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitpid(child, NULL, 0), child);
  CHECK_EQ(msgctl(queue, IPC_RMID, NULL), 0);
  CHECK_EQ(unlink("locked"), 0);
  CHECK_EQ(unlink("cancel_points.fifo"), 0);
  CHECK_EQ(rmdir(name), 0);
  puts("all cancelled");
  return 0;
}
