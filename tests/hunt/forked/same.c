// What a program has before its first thread and what the kernel has of it: a run that is forked
// there must find it as a run from the start does. same WHAT; a difference is an exit status, or
// shows in what is printed.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(what)                                                        \
  do {                                                                       \
    if (!(what)) {                                                           \
      fprintf(stderr, "same.c:%d: %s (errno %d)\n", __LINE__, #what, errno); \
      exit(9);                                                               \
    }                                                                        \
  } while (0)

static pthread_mutex_t checked, recursive, robust;
static pid_t pid, tid, parent, group, session;
static pthread_t first;
static int file = -1;
static const char* what;
static volatile sig_atomic_t signals;
static int counter;

static int is(const char* name) { return strcmp(what, name) == 0; }

static void make(pthread_mutex_t* mutex, int type, int robustness) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robustness);
  pthread_mutex_init(mutex, &attributes);
  REQUIRE(pthread_mutex_lock(mutex) == 0);
}

static void on_signal(int signal) {
  (void)signal;
  signals++;
}

static void look_at_ids(void) {
  char link[32] = "";
  REQUIRE(getpid() == pid && syscall(SYS_getpid) == pid);
  REQUIRE(getppid() == parent && getpgrp() == group && getsid(0) == session);
  REQUIRE(getpgid(pid) == group && getsid(pid) == session);
  REQUIRE(kill(pid, 0) == 0);
  REQUIRE(readlink("/proc/self", link, sizeof link - 1) > 0 && atoi(link) == pid);
  sprintf(link, "/proc/%d/stat", (int)pid);
  char line[64] = "";
  const int stat = open(link, O_RDONLY);
  REQUIRE(stat >= 0 && read(stat, line, sizeof line - 1) > 0);
  close(stat);
}

static void* work(void* unused) {
  int read_before = counter;
  counter = read_before + 1;
  if (is("ids")) {
    look_at_ids();
    REQUIRE(syscall(SYS_gettid) != tid);
    REQUIRE(kill(pid, 0) == 0 && pthread_kill(first, 0) == 0);
  } else if (is("mutexes")) {
    REQUIRE(pthread_mutex_unlock(&checked) == EPERM);
    REQUIRE(pthread_mutex_trylock(&robust) == EBUSY);
  } else if (is("file") || is("stdin")) {
    char text[8] = "";
    REQUIRE(read(file, text, 3) == 3);
    printf("<%s>", text);
  }
  return unused;
}

static void before(void) {
  pid = getpid();
  tid = (pid_t)syscall(SYS_gettid);
  parent = getppid();
  group = getpgrp();
  session = getsid(0);
  first = pthread_self();
  signal(SIGUSR1, on_signal);
  signal(SIGUSR2, on_signal);
  if (is("mutexes")) {
    make(&checked, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    make(&robust, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST);
  } else if (is("file")) {
    char text[8] = "";
    REQUIRE((file = open("numbers", O_RDONLY)) >= 0 && read(file, text, 4) == 4);
    printf("[%s]", text);
  } else if (is("stdin")) {
    char text[8] = "";
    file = 0;
    REQUIRE(read(file, text, 5) == 5);
    printf("[%s]", text);
  } else if (is("output")) {
    REQUIRE(write(1, "written ", 8) == 8 && write(2, "to stderr ", 10) == 10);
    REQUIRE((file = dup(1)) >= 0);
    printf("not flushed ");
  } else if (is("names")) {
    prctl(PR_SET_NAME, "renamed");
    REQUIRE(chdir("/") == 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  } else if (is("mask")) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
  }
}

static void after(void) {
  if (is("ids")) {
    look_at_ids();
    REQUIRE(syscall(SYS_gettid) == tid && syscall(SYS_tgkill, pid, tid, SIGUSR1) == 0);
    REQUIRE(raise(SIGUSR2) == 0);
    printf("%d signals", (int)signals);
  } else if (is("mutexes")) {
    REQUIRE(pthread_mutex_lock(&checked) == EDEADLK);
    REQUIRE(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    REQUIRE(pthread_mutex_lock(&robust) == EDEADLK);
    REQUIRE(pthread_mutex_unlock(&checked) == 0 && pthread_mutex_unlock(&recursive) == 0 &&
            pthread_mutex_unlock(&robust) == 0);
  } else if (is("output")) {
    REQUIRE(write(file, "by another descriptor ", 22) == 22);
  } else if (is("clock")) {
    struct timespec now;
    unsigned long random = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    REQUIRE(getrandom(&random, sizeof random, 0) == sizeof random);
    printf("%ld.%09ld %lx %p", (long)now.tv_sec, now.tv_nsec, random,
           mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  } else if (is("child")) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(getppid() == pid ? 5 : 6);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    printf("child %d", WEXITSTATUS(status));
  } else if (is("exec")) {
    char number[16];
    sprintf(number, "%d", (int)pid);
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "[ $$ = $0 ] && echo the same process", number, (char*)NULL);
  } else if (is("names")) {
    char name[32] = "", folder[64] = "";
    int subreaper = 0;
    prctl(PR_GET_NAME, name);
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    printf("%s %s %d", name, getcwd(folder, sizeof folder), subreaper);
  } else if (is("mask")) {
    raise(SIGUSR1);
    sigset_t waits;
    sigpending(&waits);
    printf("%d %d", (int)signals, sigismember(&waits, SIGUSR1));
  } else if (is("abort")) {
    abort();
  } else if (is("exit")) {
    pthread_exit(NULL);
  }
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "";
  before();
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf(" %d ", counter);
  after();
  return 0;
}
