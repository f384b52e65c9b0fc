/* Everything that weir det --virtual random,time,pid makes constant, printed; what must hold in any
 * run is checked. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      printf("line %d: not true: %s (errno %d)\n", __LINE__, #condition, errno); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

static int64_t now(clockid_t clock) {
  struct timespec time;
  CHECK(clock_gettime(clock, &time) == 0);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void print_bytes(const char* name, const unsigned char* bytes, int size) {
  printf("%s ", name);
  for (int i = 0; i < size; i++) printf("%02x", bytes[i]);
  printf("\n");
}

static void random_bytes(void) {
  unsigned char bytes[64];
  CHECK(getrandom(bytes, 16, 0) == 16);
  print_bytes("getrandom", bytes, 16);
  CHECK(getentropy(bytes, 16) == 0);
  print_bytes("getentropy", bytes, 16);
  print_bytes("AT_RANDOM", (const unsigned char*)getauxval(AT_RANDOM), 16);
  const char* const devices[] = {"/dev/urandom", "/dev/random"};
  for (int i = 0; i < 2; i++) {
    const int device = open(devices[i], O_RDONLY);
    const int copy = dup(device);
    CHECK(device >= 0 && read(device, bytes, 16) == 16);
    print_bytes(devices[i], bytes, 16);
    struct iovec parts[2] = {{bytes, 5}, {bytes + 16, 7}};
    CHECK(readv(copy, parts, 2) == 12 && pread(copy, bytes + 32, 8, 3) == 8);
    print_bytes("parts", bytes, 40);
    char* volatile nowhere = (char*)8;
    CHECK(read(device, nowhere, 16) == -1 && errno == EFAULT);
    close(device);
    close(copy);
  }
  FILE* uuid = fopen("/proc/sys/kernel/random/uuid", "r");
  char text[64] = "";
  CHECK(uuid && fgets(text, sizeof text, uuid) && strlen(text) == 37);
  printf("uuid %s", text);
  fclose(uuid);
  char name[] = "../place/name-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  unlink(name);
  close(file);
  printf("mkstemp %s\n", name);
}

static void clocks(void) {
  for (int clock = 0; clock < 12; clock++) {
    if (clock == 10) continue;
    const int64_t first = now(clock), second = now(clock);
    CHECK(second > first);
    printf("clock %d %lld\n", clock, (long long)first);
  }
  struct timeval day;
  CHECK(gettimeofday(&day, NULL) == 0);
  printf("gettimeofday %ld.%06ld time %ld clock %ld\n", day.tv_sec, day.tv_usec, time(NULL),
         clock());
  struct tms used;
  const clock_t ticks = times(&used);
  printf("times %ld %ld\n", ticks, used.tms_utime);
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  printf("rusage %ld.%06ld %ld\n", usage.ru_utime.tv_sec, usage.ru_utime.tv_usec, usage.ru_minflt);
  unsigned processor;
  const uint64_t cycles = __rdtsc(), later = __rdtscp(&processor);
  CHECK(later > cycles);
  printf("rdtsc %llu %u\n", (unsigned long long)cycles, processor);
  struct stat status;
  CHECK(stat("/dev/null", &status) == 0);
  printf("device %ld\n", status.st_mtime);
  clockid_t own;
  CHECK(clock_getcpuclockid(getpid(), &own) == 0);
  printf("processor time %lld\n", (long long)now(own));
}

/* Each takes 10 ms, which the clock must show; and not much more, where nothing else goes on. */
static void took(const char* what, int64_t begin) {
  const int64_t gone = now(CLOCK_MONOTONIC) - begin;
  printf("%s: %lld ns\n", what, (long long)gone);
  CHECK(gone >= 10000000 && gone < 20000000);
}

static struct timespec in_10_ms(clockid_t clock) {
  const int64_t then = now(clock) + 10000000;
  return (struct timespec){then / 1000000000, then % 1000000000};
}

static void limits(void) {
  const struct timespec ten = {0, 10000000};
  int64_t begin = now(CLOCK_MONOTONIC);
  CHECK(nanosleep(&ten, NULL) == 0);
  took("nanosleep", begin);
  begin = now(CLOCK_MONOTONIC);
  struct timespec until = in_10_ms(CLOCK_REALTIME);
  CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
  took("clock_nanosleep", begin);
  begin = now(CLOCK_MONOTONIC);
  CHECK(poll(NULL, 0, 10) == 0);
  took("poll", begin);
  begin = now(CLOCK_MONOTONIC);
  CHECK(ppoll(NULL, 0, &ten, NULL) == 0);
  took("ppoll", begin);
  begin = now(CLOCK_MONOTONIC);
  struct timeval left = {0, 10000};
  CHECK(select(0, NULL, NULL, NULL, &left) == 0 && left.tv_usec == 0);
  took("select", begin);
  begin = now(CLOCK_MONOTONIC);
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  until = in_10_ms(CLOCK_REALTIME);
  CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
  took("sem_timedwait", begin);
  begin = now(CLOCK_MONOTONIC);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  until = in_10_ms(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  took("pthread_cond_timedwait", begin);
  begin = now(CLOCK_MONOTONIC);
  int word = 0;
  CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ten, NULL, 0) == -1 && errno == ETIMEDOUT);
  took("futex", begin);
  begin = now(CLOCK_MONOTONIC);
  until = in_10_ms(CLOCK_MONOTONIC);
  CHECK(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &until, NULL, ~0) == -1 &&
        errno == ETIMEDOUT);
  took("futex, a moment", begin);
  begin = now(CLOCK_MONOTONIC);
  sigset_t none;
  sigemptyset(&none);
  sigaddset(&none, SIGUSR2);
  CHECK(sigtimedwait(&none, NULL, &ten) == -1 && errno == EAGAIN);
  took("sigtimedwait", begin);
  begin = now(CLOCK_MONOTONIC);
  while (now(CLOCK_MONOTONIC) - begin < 10000000) {}
  took("a loop", begin);
  const int timer = timerfd_create(CLOCK_REALTIME, 0);
  struct itimerspec at = {{0, 0}, in_10_ms(CLOCK_REALTIME)};
  uint64_t times = 0;
  CHECK(timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) == 0 && read(timer, &times, 8) == 8 &&
        times == 1);
  close(timer);
}

static volatile pid_t g_sender;
static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)context;
  (void)signal;
  g_sender = info->si_pid;
}

/* Waited for, since a signal of another process may come later than what else it did. */
static void sender_is(int signal, pid_t expected) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, signal);
  while (sigwaitinfo(&set, &info) != signal) CHECK(errno == EINTR);
  if (info.si_pid != expected) printf("signal %d is of %d\n", signal, info.si_pid);
  CHECK(info.si_pid == expected);
}

static void ids(void) {
  const pid_t own = getpid();
  printf("ids %d %d %d group %d\n", own, gettid(), getppid(), getpgrp() == getpgid(own));
  CHECK(gettid() == own || syscall(SYS_gettid) != own);
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGCHLD, &action, NULL) == 0);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGUSR1);
  sigaddset(&children, SIGCHLD);
  CHECK(kill(own, SIGUSR1) == 0 && g_sender == own);
  g_sender = 0;
  CHECK(syscall(SYS_tgkill, own, gettid(), SIGUSR1) == 0 && g_sender == own);
  g_sender = 0;
  CHECK(sigqueue(own, SIGUSR1, (union sigval){1}) == 0 && g_sender == own);
  CHECK(kill(own, 0) == 0 && getpgid(own) == getpgrp() && getsid(own) == getsid(0));
  // Capabilities name the thread in memory, and an unknown version is answered by a known one.
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, gettid()};
  struct __user_cap_data_struct rights[2], same[2];
  CHECK(syscall(SYS_capget, &head, rights) == 0 && head.pid == gettid());
  CHECK(syscall(SYS_capset, &head, rights) == 0);
  head.pid = 0;
  CHECK(syscall(SYS_capget, &head, same) == 0 && memcmp(rights, same, sizeof same) == 0);
  head = (struct __user_cap_header_struct){1, gettid()};
  CHECK(syscall(SYS_capget, &head, NULL) == 0 && head.version == _LINUX_CAPABILITY_VERSION_3);
  char path[64], target[64] = "";
  snprintf(path, sizeof path, "/proc/%d/comm", own);
  CHECK(access(path, R_OK) == 0);
  if (readlink("/proc/self", target, sizeof target - 1) > 0) CHECK(atoi(target) == own);
  int pair[2];
  struct ucred who;
  socklen_t size = sizeof who;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  CHECK(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid == own);
  CHECK(sigprocmask(SIG_BLOCK, &children, NULL) == 0);
  for (int i = 0; i < 3; i++) {
    fflush(stdout);
    const pid_t parent = own, child = i == 1 ? vfork() : fork();
    if (child == 0) {
      if (i == 1) _exit(getpid() != parent && getppid() == parent ? 7 : 1);
      unsigned char bytes[4];
      const int is_good = getpid() != parent && getppid() == parent && getrandom(bytes, 4, 0) == 4;
      printf("child %d of %d, at %lld, draws %02x%02x%02x%02x\n", getpid(), getppid(),
             (long long)now(CLOCK_MONOTONIC), bytes[0], bytes[1], bytes[2], bytes[3]);
      fflush(stdout);
      kill(parent, SIGUSR1);
      _exit(is_good ? 7 : 1);
    }
    int status;
    CHECK(child > 0 && child != own);
    if (i == 2) {
      siginfo_t info;
      while (waitid(P_PID, child, &info, WEXITED) == -1) CHECK(errno == EINTR);
      CHECK(info.si_pid == child && info.si_status == 7);
    } else {
      CHECK(waitpid(i ? child : -1, &status, 0) == child && WEXITSTATUS(status) == 7);
    }
    sender_is(SIGCHLD, child);
    if (i != 1) sender_is(SIGUSR1, child);
    CHECK(kill(child, 0) == -1 && errno == ESRCH);
    printf("ended %d, at %lld\n", child, (long long)now(CLOCK_MONOTONIC));
  }
  fflush(stdout);
  pid_t spawned;
  char* words[] = {"sh", "-c", "echo shell $$ of $PPID; kill -USR1 $PPID; date +%s.%N; kill -9 $$",
                   NULL};
  extern char** environ;
  int status;
  CHECK(posix_spawn(&spawned, "/bin/sh", NULL, NULL, words, environ) == 0);
  CHECK(waitpid(spawned, &status, 0) == spawned && WTERMSIG(status) == 9);
  sender_is(SIGCHLD, spawned);
  sender_is(SIGUSR1, spawned);
  CHECK(sigprocmask(SIG_UNBLOCK, &children, NULL) == 0);
}

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t g_last;
static void* thread(void* argument) {
  unsigned char bytes[4];
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&g_mutex);
    const int64_t time = now(CLOCK_MONOTONIC);
    CHECK(time > g_last); /* never backwards, in whichever thread */
    g_last = time;
    pthread_mutex_unlock(&g_mutex);
  }
  getrandom(bytes, 4, 0);
  pthread_mutex_lock(&g_mutex);
  printf("thread %ld %d draws %02x%02x%02x%02x\n", (long)argument, gettid(), bytes[0], bytes[1],
         bytes[2], bytes[3]);
  pthread_mutex_unlock(&g_mutex);
  return NULL;
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  random_bytes();
  clocks();
  limits();
  ids();
  if (count > 1) {
    pthread_t threads[4];
    for (long i = 0; i < atoi(words[1]); i++) pthread_create(&threads[i], NULL, thread, (void*)i);
    limits(); /* beside others */
    for (int i = 0; i < atoi(words[1]); i++) pthread_join(threads[i], NULL);
    random_bytes();
    clocks();
    limits();
    ids();
  }
  printf("end\n");
  return 0;
}
