// SA_RESTART does not begin a wait anew that has a time limit, of a semaphore, of a System V
// semaphore or of a socket (signal(7)); it does begin a read anew.
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "program.h"

static pthread_t waiter;
static sem_t begins, never;
static int sockets[2], semaphores;
static volatile sig_atomic_t handled;

static void on_signal(int signal) { (void)signal, handled = 1; }

static void* sender(void* writes) {
  CHECK_EQ(sem_wait(&begins), 0);
  sleep_ms(50);
  CHECK_EQ(pthread_kill(waiter, SIGUSR1), 0);
  sleep_ms(50);
  if (writes) CHECK_EQ(write(sockets[1], "x", 1), 1);
  return NULL;
}

static int wait_semaphore(void) {
  const struct timespec limit = time_in(CLOCK_REALTIME, 20000);
  return sem_timedwait(&never, &limit);
}
static int wait_clock(void) {
  const struct timespec limit = time_in(CLOCK_MONOTONIC, 20000);
  return sem_clockwait(&never, CLOCK_MONOTONIC, &limit);
}
static int wait_system_v(void) {
  struct sembuf take = {0, -1, 0};
  const struct timespec limit = {20, 0};
  return semtimedop(semaphores, &take, 1, &limit);
}
static int wait_socket(void) {
  char byte;
  return (int)recv(sockets[0], &byte, 1, 0);
}

static void interrupted(int (*wait)(void), int result, int error) {
  pthread_t thread;
  handled = 0;
  CHECK_EQ(pthread_create(&thread, NULL, sender, result == 1 ? &thread : NULL), 0);
  CHECK_EQ(sem_post(&begins), 0);
  errno = 0;
  const int got = wait();
  CHECK_EQ(got, result);
  if (result < 0) CHECK_EQ(errno, error);
  CHECK_EQ(handled, 1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(void) {
  waiter = pthread_self();
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(sem_init(&begins, 0, 0), 0);
  CHECK_EQ(sem_init(&never, 0, 0), 0);
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  CHECK((semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0);
  interrupted(wait_semaphore, -1, EINTR);
  interrupted(wait_clock, -1, EINTR);
  interrupted(wait_system_v, -1, EINTR);
  interrupted(wait_socket, 1, 0);
  const struct timeval limit = {20, 0};
  CHECK_EQ(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  interrupted(wait_socket, -1, EINTR);
  CHECK_EQ(semctl(semaphores, 0, IPC_RMID), 0);
  puts("interrupted");
  return 0;
}
