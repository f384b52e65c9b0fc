// Calls that sleep in the kernel, each in a thread of its own, and no signal: none ends by EINTR,
// before its time, or with a part of what it has to move.
#include "../programs/program.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

enum { kWait = 150, kMuch = 400000 };  // milliseconds, bytes

typedef void* (*Body)(void*);

static pthread_t start(Body body, void* argument) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, body, argument), 0);
  return thread;
}

static void join(pthread_t thread) { CHECK_EQ(pthread_join(thread, NULL), 0); }

static char out[kMuch];

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void slowly(int to) {
  usleep(kWait * 1000);
  CHECK(write(to, "x", 1) == 1);
}

// A pair of ends of which another thread writes to the second after a while.
static void* write_later(void* end) {
  slowly(*(int*)end);
  return NULL;
}

static void* read_slowly(void* end) {
  static __thread char part[8192];
  usleep(kWait * 1000);
  for (long done = 0; done < kMuch;) {
    const ssize_t got = read(*(int*)end, part, sizeof part);
    CHECK(got > 0);
    done += got;
    usleep(1000);
  }
  return NULL;
}

#define IN_TIME(began) CHECK(now() - (began) >= kWait - 1)

static void* poll_nothing(void* unused) {
  const long began = now();
  CHECK(poll(NULL, 0, kWait) == 0);
  IN_TIME(began);
  return unused;
}

static void* ppoll_nothing(void* unused) {
  const struct timespec time = {0, kWait * 1000000};
  const long began = now();
  CHECK(ppoll(NULL, 0, &time, NULL) == 0);
  IN_TIME(began);
  return unused;
}

static void* select_nothing(void* unused) {
  struct timeval time = {0, kWait * 1000};
  const long began = now();
  CHECK(select(0, NULL, NULL, NULL, &time) == 0);
  IN_TIME(began);
  return unused;
}

static void* epoll_nothing(void* unused) {
  struct epoll_event event;
  const int epoll = epoll_create1(0);
  const long began = now();
  CHECK(epoll_wait(epoll, &event, 1, kWait) == 0);
  IN_TIME(began);
  close(epoll);
  return unused;
}

static void* sleep_shortly(void* unused) {
  const struct timespec time = {0, kWait * 1000000};
  const long began = now();
  CHECK(nanosleep(&time, NULL) == 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
  IN_TIME(began + kWait);
  return unused;
}

static void* receive(void* unused) {
  int ends[2];
  char byte;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pthread_t other = start(write_later, &ends[1]);
  CHECK(recv(ends[0], &byte, 1, 0) == 1);
  join(other);
  const struct timeval limit = {0, kWait * 1000};
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  const long began = now();
  CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
  IN_TIME(began);
  return unused;
}

static void* read_pipe(void* unused) {
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  pthread_t other = start(write_later, &ends[1]);
  CHECK(read(ends[0], &byte, 1) == 1);
  join(other);
  return unused;
}

static void* poll_pipe(void* unused) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t other = start(write_later, &ends[1]);
  struct pollfd one = {ends[0], POLLIN, 0};
  CHECK(poll(&one, 1, -1) == 1);
  join(other);
  return unused;
}

static void* write_much(void* unused) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t other = start(read_slowly, &ends[0]);
  CHECK(write(ends[1], out, kMuch) == kMuch);
  join(other);
  return unused;
}

static void* write_parts(void* unused) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t other = start(read_slowly, &ends[0]);
  const struct iovec parts[] = {{out, kMuch / 4}, {out + kMuch / 4, kMuch - kMuch / 4}};
  CHECK(writev(ends[1], parts, 2) == kMuch);
  join(other);
  return unused;
}

static void* send_much(void* unused) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pthread_t other = start(read_slowly, &ends[0]);
  CHECK(send(ends[1], out, kMuch, 0) == kMuch);
  join(other);
  return unused;
}

static void* send_message(void* unused) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pthread_t other = start(read_slowly, &ends[0]);
  struct iovec parts[] = {{out, 100}, {out + 100, kMuch - 100}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  CHECK(sendmsg(ends[1], &message, 0) == kMuch);
  join(other);
  return unused;
}

static void* wait_for_time(void* unused) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  struct timespec until;
  sem_init(&semaphore, 0, 0);
  const long began = now();
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kWait * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  IN_TIME(began);
  pthread_mutex_lock(&mutex);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* wait_in_system_v(void* unused) {
  struct message {
    long type;
    char text[8];
  } message;
  const int set = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
  struct sembuf take = {0, -1, 0};
  const struct timespec time = {0, kWait * 1000000};
  CHECK(set >= 0 && queue >= 0);
  const long began = now();
  CHECK(semtimedop(set, &take, 1, &time) == -1 && errno == EAGAIN);
  IN_TIME(began);
  CHECK(msgrcv(queue, &message, 8, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
  semctl(set, 0, IPC_RMID);
  msgctl(queue, IPC_RMID, NULL);
  return unused;
}

static void* wait_for_signal(void* unused) {
  sigset_t set;
  const struct timespec time = {0, kWait * 1000000};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  const long began = now();
  CHECK(sigtimedwait(&set, NULL, &time) == -1 && errno == EAGAIN);
  IN_TIME(began);
  return unused;
}

static void* wait_for_child(void* unused) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    usleep(kWait * 1000);
    _exit(3);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
  return unused;
}

static void* lock_file(void* unused) {
  char name[] = "/tmp/kernel_sleeps-XXXXXX";
  const int file = mkstemp(name), again = open(name, O_RDWR);
  unlink(name);
  CHECK(file >= 0 && again >= 0 && flock(file, LOCK_EX) == 0);
  pthread_t other = start(write_later, (int[]){file});
  CHECK(flock(again, LOCK_EX | LOCK_NB) == -1);
  join(other);
  close(file);
  CHECK(flock(again, LOCK_EX) == 0);
  return unused;
}

int main(void) {
  static const Body bodies[] = {poll_nothing,  ppoll_nothing,    select_nothing,  epoll_nothing,
                                sleep_shortly, receive,          read_pipe,       poll_pipe,
                                write_much,    write_parts,      send_much,       send_message,
                                wait_for_time, wait_in_system_v, wait_for_signal, lock_file};
  enum { kBodies = sizeof bodies / sizeof *bodies };
  pthread_t threads[kBodies];
  for (int i = 0; i < kBodies; i++) threads[i] = start(bodies[i], NULL);
  for (int i = 0; i < kBodies; i++) join(threads[i]);
  wait_for_child(NULL);
  puts("all calls ended as they should");
  return 0;
}
