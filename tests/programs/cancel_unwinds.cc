// A thread that is cancelled while it waits, in whatever call, runs the destructors of its objects
// and its handlers for all exceptions.
#include "program.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

static int ends[2], sockets[2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void wait_by_sleep() { sleep(1000); }
static void wait_by_nanosleep() {
  const timespec time{1000, 0};
  nanosleep(&time, nullptr);
}
static void wait_by_moment() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += 1000;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}
static void wait_by_pause() { pause(); }
static void wait_by_sigsuspend() {
  sigset_t none;
  sigemptyset(&none);
  sigsuspend(&none);
}
static void wait_by_sigwait() {
  sigset_t one;
  int signal;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigwait(&one, &signal);
}
static void wait_by_read() {
  char byte;
  (void)!read(ends[0], &byte, 1);
}
static void wait_by_receive() {
  char byte;
  recv(sockets[0], &byte, 1, 0);
}
static void wait_by_poll() {
  pollfd one{ends[0], POLLIN, 0};
  poll(&one, 1, -1);
}
static void wait_by_select() {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  select(ends[0] + 1, &set, nullptr, nullptr, nullptr);
}
static void wait_by_epoll() {
  const int set = epoll_create1(0);
  epoll_event event{};
  epoll_wait(set, &event, 1, -1);
}
static void wait_by_semaphore() { sem_wait(&semaphore); }
static void wait_by_condition() {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push([](void*) { pthread_mutex_unlock(&mutex); }, nullptr);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(0);
}

struct Kind {
  const char* name;
  void (*wait)();
};
static const Kind kinds[] = {{"sleep", wait_by_sleep},
                             {"nanosleep", wait_by_nanosleep},
                             {"moment", wait_by_moment},
                             {"pause", wait_by_pause},
                             {"sigsuspend", wait_by_sigsuspend},
                             {"sigwait", wait_by_sigwait},
                             {"read", wait_by_read},
                             {"receive", wait_by_receive},
                             {"poll", wait_by_poll},
                             {"select", wait_by_select},
                             {"epoll", wait_by_epoll},
                             {"semaphore", wait_by_semaphore},
                             {"condition", wait_by_condition}};

struct Guard {
  const char* name;
  ~Guard() { printf("%s: destroyed, ", name); }
};

static void* body(void* argument) {
  const auto* kind = static_cast<const Kind*>(argument);
  Guard outer{kind->name};
  try {
    kind->wait();
    printf("%s: not cancelled, ", kind->name);
  } catch (...) {
    printf("caught, ");
    throw;
  }
  return nullptr;
}

int main() {
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  CHECK_EQ(sem_init(&semaphore, 0, 0), 0);
  for (const Kind& kind : kinds) {
    pthread_t thread;
    void* result = nullptr;
    CHECK_EQ(pthread_create(&thread, nullptr, body, const_cast<Kind*>(&kind)), 0);
    sleep_ms(5);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    printf("ended %d\n", result == PTHREAD_CANCELED);
  }
  CHECK_EQ(pthread_mutex_trylock(&mutex), 0);
}
