// options: rehash=0
// What a signal's handler locks and unlocks holds for the code that it has interrupted, whatever the kernel does with the register.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *object, *mine;
static void take(int signal) { (void)signal, pthread_mutex_lock(&lock), *object += 1, *mine += 1; }
static void in_child(int signal);
static void give(int signal) { (void)signal, *object += 1, pthread_mutex_unlock(&lock); }
static long *of_main;
static pid_t child;
static void split(int signal) {
  (void)signal;
  child = fork();
  if (child == 0) *object = *of_main = *mine = 1; /* nothing is checked in a child */
}
static void in_child(int signal) { (void)signal, *of_main += 4; }
static void *use(void *argument) {
  int status;
  (void)argument;
  mine = (long *)weir_alloc(sizeof *mine, WEIR_PRIVATE);
  *mine = 0;
  pthread_kill(pthread_self(), SIGUSR1);
  *object += 10;
  *mine += 10;
  pthread_kill(pthread_self(), SIGUSR2);
  *object += 100;  // REPORT policy lock-not-held access
  *mine += 100;
  if (*mine != 111) exit(5);
  pthread_kill(pthread_self(), SIGHUP);
  if (child == 0) {
    *of_main += 1;
    child = 1;
    pthread_kill(pthread_self(), SIGTERM);
    _exit((int)(*object + *of_main + *mine));
  }
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 8) exit(7);
  return NULL;
}
int main(void) {
  struct sigaction action = {0};
  object = (long *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 0;
  weir_set_locked(object, &lock);
  action.sa_handler = take;
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = give;
  sigaction(SIGUSR2, &action, NULL);
  action.sa_handler = split;
  sigaction(SIGHUP, &action, NULL);
  action.sa_handler = in_child;
  sigaction(SIGTERM, &action, NULL);
  of_main = (long *)weir_alloc(sizeof *of_main, WEIR_PRIVATE);
  *of_main = 0;
  alone(use, NULL);
  pthread_mutex_lock(&lock);
  if (*object != 112) return 6;
  pthread_mutex_unlock(&lock);
  return ok();
}
