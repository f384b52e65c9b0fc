// What the programs about descriptors have in common.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>
static sem_t done;
static int file, ends[2];
static __thread char byte;
static pthread_t begin(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  return thread;
}
static void end(pthread_t thread) { pthread_join(thread, NULL); }
// Later than the other thread's, and ordered by nothing.
static void later(void) { usleep(30000); }
