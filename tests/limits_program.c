// What tests/limits_test.sh runs where something is short: threads, descriptors, mappings, memory,
// files.
//   limits_program many N      makes N threads that wait for each other; says how many there were
//   limits_program map N       makes N mappings of a file, at which another thread looks; says
//                              whether all came about
//   limits_program memory N    takes N megabytes in blocks of one; says whether all came about
//   limits_program file N      two threads write N kilobytes into the file "out"; says what came of
//                              it
//   limits_program streams     a thread says on a copy of descriptor 9 which of the standard
//                              streams are open
//   limits_program vector      a thread says how long arguments and environment are
//   limits_program limited N   as many N, after it has set its own limits on address space, data,
//                              files and descriptors
//   limits_program forbid S C  runs the command C where the system call of number S is answered
//                              with EPERM
//   limits_program shares      a process shares the memory, as C libraries without CLONE_THREAD
//   have
//                              their threads; what failed is not looked at
//   limits_program work        works with four threads for ever: locks, memory, new threads, atomic
//                              operations
//   limits_program forks       the same, and forks: the children make threads and end by themselves
// A limit that is reached is told and ends well (status 0), as long as what was got before still
// works.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long started, leaving, sum;

static void* wait_for_all(void* argument) {
  pthread_mutex_lock(&mutex);
  started++;
  pthread_cond_broadcast(&changed);
  while (!leaving) pthread_cond_wait(&changed, &mutex);
  sum += (long)argument;
  pthread_mutex_unlock(&mutex);
  return argument;
}

static int many(long wanted) {
  pthread_t* threads = calloc((size_t)wanted, sizeof *threads);
  long made = 0, expected = 0;
  int error = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  while (made < wanted &&
         !(error = pthread_create(&threads[made], &attributes, wait_for_all, (void*)(made + 1)))) {
    expected += ++made;
  }
  pthread_mutex_lock(&mutex);
  while (started < made) pthread_cond_wait(&changed, &mutex);
  leaving = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (long i = 0; i < made; i++) pthread_join(threads[i], NULL);
  if (sum != expected) return 1;
  if (made == wanted) puts("all threads");
  else printf("fewer threads: %s\n", strerrorname_np(error));
  return 0;
}

static void* nothing(void* argument) { return argument; }

static void with_a_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  int error = pthread_create(&thread, NULL, function, argument);
  if (error) {
    printf("no thread: %s\n", strerrorname_np(error));
    exit(0);
  }
  pthread_join(thread, NULL);
}

static unsigned char** places;
static long mapped;

static void* look_at_all(void* argument) {
  pthread_mutex_lock(&mutex);
  while (!leaving) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  for (long i = 0; i < mapped; i++) sum += *places[i];
  return argument;
}

static int map(long wanted) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, look_at_all, NULL) != 0) return 1;
  int error = 0, program = open("/proc/self/exe", O_RDONLY);
  places = calloc((size_t)wanted, sizeof *places);
  while (mapped < wanted) {
    unsigned char* place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, program, 0);
    if (place == MAP_FAILED) {
      error = errno;
      break;
    }
    places[mapped++] = place;
  }
  if (error)
    munmap(places[--mapped], 4096), munmap(places[--mapped], 4096);  // so that the end has room
  pthread_mutex_lock(&mutex);
  leaving = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  if (sum != 0x7f * mapped) return 2;
  while (mapped > 0) {
    if (munmap(places[--mapped], 4096) != 0) return 3;
  }
  with_a_thread(nothing, NULL);
  if (error) printf("fewer mappings: %s\n", strerrorname_np(error));
  else puts("all mappings");
  return 0;
}

static int memory(long wanted) {
  with_a_thread(nothing, NULL);
  char** blocks = calloc((size_t)wanted, sizeof *blocks);
  long made = 0;
  for (; made < wanted && (blocks[made] = malloc(1 << 20)); made++)
    memset(blocks[made], (int)made + 1, 1 << 20);
  for (long i = 0; i < made; i++) {
    if (blocks[i][12345] != (char)(i + 1)) return 1;
    free(blocks[i]);
  }
  puts(made == wanted ? "all memory" : "less memory: NULL");
  return 0;
}

static void* write_file(void* argument) {
  int file = open("out", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return NULL;
  static char block[1024];
  for (long i = 0; i < (long)argument; i++) {
    ssize_t written = write(file, block, sizeof block);
    if (written == sizeof block) continue;
    printf("less written: %s\n", written < 0 ? strerrorname_np(errno) : "short");
    return NULL;
  }
  puts("all written");
  return NULL;
}

static int file(long kilobytes) {
  signal(SIGXFSZ, SIG_IGN);
  with_a_thread(write_file, (void*)kilobytes);
  with_a_thread(write_file, (void*)kilobytes);
  return 0;
}

static void* say_streams(void* argument) {
  for (int i = 0; i < 3; i++) dprintf(9, "%d %s\n", i, fcntl(i, F_GETFD) < 0 ? "closed" : "open");
  return argument;
}

static char** arguments;

static void* say_vector(void* argument) {
  size_t count = 0, bytes = 0;
  for (char** word = arguments; *word; word++) count++, bytes += strlen(*word);
  printf("%zu arguments, %zu bytes\n", count, bytes);
  count = bytes = 0;
  for (char** word = environ; *word; word++) {
    if (strncmp(*word, "WEIR_", 5) != 0 && strncmp(*word, "LD_PRELOAD=", 11) != 0)
      count++, bytes += strlen(*word);
  }
  printf("%zu variables, %zu bytes\n", count, bytes);
  return argument;
}

static int limited(long wanted) {
  const struct {
    int resource;
    rlim_t most;
  } limits[] = {{RLIMIT_AS, 8ul << 30},
                {RLIMIT_DATA, 1ul << 30},
                {RLIMIT_FSIZE, 1 << 20},
                {RLIMIT_NOFILE, 16}};
  for (int i = 0; i < 4; i++) {
    struct rlimit limit;
    getrlimit(limits[i].resource, &limit);
    limit.rlim_cur = limits[i].most;
    if (setrlimit(limits[i].resource, &limit) != 0) return 1;
  }
  return many(wanted);
}

static int forbid(long number, char** command) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 1;
  execv(command[0], command);
  return 127;
}

static atomic_long turns;

// Whatever becomes of its parent meanwhile.
static void fork_once(void) {
  const pid_t child = fork();
  if (child == 0) {
    with_a_thread(nothing, NULL);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

static void* work(void* argument) {
  for (;;) {
    if (argument) fork_once();
    pthread_mutex_lock(&mutex);
    sum++;
    pthread_mutex_unlock(&mutex);
    char* block = malloc(1 << 16);
    memset(block, (int)turns++, 1 << 16);
    if (turns % 64 == 0) with_a_thread(nothing, block);
    free(block);
  }
  return argument;
}

static int add_one(void* sum_at) {
  ++*(long*)sum_at;
  return 0;
}

static int shares(void) {
  static char stack[65536] __attribute__((aligned(16)));
  const int child = clone(add_one, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, &sum);
  waitpid(child, NULL, 0);
  printf("process %s, sum %ld\n", child > 0 ? "made" : "not made", sum);
  return 0;
}

int main(int argc, char** argv) {
  arguments = argv;
  const char* what = argc > 1 ? argv[1] : "";
  long n = argc > 2 ? atol(argv[2]) : 4;
  if (!strcmp(what, "many")) return many(n);
  if (!strcmp(what, "map")) return map(n);
  if (!strcmp(what, "memory")) return memory(n);
  if (!strcmp(what, "file")) return file(n);
  if (!strcmp(what, "streams")) with_a_thread(say_streams, NULL);
  if (!strcmp(what, "vector")) with_a_thread(say_vector, NULL);
  if (!strcmp(what, "limited")) return limited(n);
  if (!strcmp(what, "shares")) return shares();
  if (!strcmp(what, "forbid") && argc > 3) return forbid(n, argv + 3);
  if (!strcmp(what, "work") || !strcmp(what, "forks")) {
    pthread_t thread;
    void* with_forks = strcmp(what, "work") ? &thread : NULL;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, work, with_forks);
    puts("working");
    fflush(stdout);
    work(with_forks);
  }
  return 0;
}
