// Threads take pages from each other all the time, and make system calls of many kinds whose names,
// buffers and structures lie on them. What the runtime looks at for a call, it looks at while the
// task has the pages: to touch one later would be an event that a replay does not come to.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "program.h"

enum {
  kRounds = 8,
  kPages = 2,
  kEvents = 40,
  kLoops = 60000,
  kOpens = 8,
  kPage = 4096,
  kSlot = 1024,
  kSlots = 4,
  kNames = 128
};
static _Alignas(kPage) char shared[kPages + 1][kPage];
static pthread_barrier_t all_there;
static char folder[64];
static __thread long own;
static __thread unsigned turn;

// Other tasks touch these pages meanwhile, and ask for them while this one makes its call.
static void* hot(void) {
  turn = turn * 1103515245 + 12345;
  for (unsigned i = 0; i < 2; ++i)
    ++*(volatile unsigned*)(shared[(turn >> 8) % kPages + i] + own * kSlot + kSlot - 4);
  return shared[(turn >> 8) % kPages] + own * kSlot;
}

static char* name_of(const char* what) {
  char* const name = hot();
  CHECK(snprintf(name, kNames, "%s/%s%ld", folder, what, own) < kNames);
  return name;
}

static void use_files(void) {
  const int file = open(name_of("a"), O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0);
  struct iovec* parts = hot();
  parts[0] = (struct iovec){memcpy(parts + 2, "hot and ", 8), 8};
  parts[1] = (struct iovec){memcpy((char*)(parts + 2) + 8, "cold", 4), 4};
  CHECK_EQ(writev(file, parts, 2), 12);
  parts = hot();
  parts[0] = (struct iovec){parts + 2, 5};
  parts[1] = (struct iovec){(char*)(parts + 2) + 64, 64};
  CHECK_EQ(preadv(file, parts, 2, 0), 12);
  CHECK_EQ(memcmp(parts[0].iov_base, "hot a", 5), 0);
  CHECK_EQ(memcmp(parts[1].iov_base, "nd cold", 7), 0);
  CHECK_EQ(pwrite(file, memcpy(hot(), "HOT", 3), 3, 0), 3);
  char* const read_at = hot();
  CHECK_EQ(pread(file, read_at, 4, 0), 4);
  CHECK_EQ(memcmp(read_at, "HOT ", 4), 0);
  struct stat* status = hot();
  CHECK_EQ(fstat(file, status), 0);
  CHECK_EQ(status->st_size, 12);
  struct statfs* disk = hot();
  CHECK_EQ(fstatfs(file, disk), 0);
  CHECK(disk->f_bsize > 0);
  CHECK_EQ(close(file), 0);
  CHECK_EQ(truncate(name_of("a"), 7), 0);
  char* const name = name_of("a");
  status = (struct stat*)(name + kNames);
  CHECK_EQ(stat(name, status), 0);
  CHECK_EQ(status->st_size, 7);
  CHECK_EQ(access(name_of("a"), R_OK), 0);
  char to[kNames];
  memcpy(to, name_of("b"), kNames);
  char* const from = name_of("a");
  CHECK_EQ(rename(from, memcpy(from + kNames, to, kNames)), 0);
  CHECK_EQ(symlink("hot", name_of("link")), 0);
  char* const link = name_of("link");
  CHECK_EQ(readlink(link, link + kNames, 64), 3);
  CHECK_EQ(unlink(name_of("link")), 0);
  CHECK_EQ(unlink(name_of("b")), 0);
  CHECK(open(name_of("none"), O_RDONLY) < 0);
  const int zeros = open(strcpy(hot(), "/dev/zero"), O_RDONLY);
  char* const bytes = hot();
  bytes[0] = 1;
  CHECK_EQ(read(zeros, bytes, 16), 16);
  CHECK_EQ(bytes[0], 0);
  CHECK_EQ(close(zeros), 0);
}

// The page is not hot, as there are many events between two visits, and it is asked for while the
// task computes.
static void open_after_computing(void) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < kEvents; ++i) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  char* const name = strcpy(hot(), "/dev/null");
  for (volatile int i = 0; i < kLoops; ++i) continue;
  const int file = open(name, O_RDONLY);
  CHECK(file >= 0);
  CHECK_EQ(close(file), 0);
}

static void use_sockets(void) {
  int* const ends = hot();
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const int in = ends[0], out = ends[1];
  struct message {
    struct msghdr header;
    struct iovec part;
    char text[16];
  }* message = hot();
  memset(message, 0, sizeof *message);
  message->part = (struct iovec){strcpy(message->text, "message"), 7};
  message->header.msg_iov = &message->part;
  message->header.msg_iovlen = 1;
  CHECK_EQ(sendmsg(out, &message->header, 0), 7);
  struct pollfd* const polled = hot();
  *polled = (struct pollfd){in, POLLIN, 0};
  CHECK_EQ(poll(polled, 1, 1000), 1);
  CHECK_EQ(polled->revents, POLLIN);
  message = hot();
  memset(message, 0, sizeof *message);
  message->part = (struct iovec){message->text, sizeof message->text};
  message->header.msg_iov = &message->part;
  message->header.msg_iovlen = 1;
  CHECK_EQ(recvmsg(in, &message->header, 0), 7);
  CHECK_EQ(memcmp(message->text, "message", 7), 0);
  int* const value = hot();
  value[1] = sizeof *value;
  CHECK_EQ(getsockopt(in, SOL_SOCKET, SO_TYPE, value, (socklen_t*)(value + 1)), 0);
  CHECK_EQ(value[0], SOCK_STREAM);
  const int waits = epoll_create1(0);
  struct epoll_event* const event = hot();
  *event = (struct epoll_event){EPOLLIN, {.fd = in}};
  CHECK_EQ(epoll_ctl(waits, EPOLL_CTL_ADD, in, event), 0);
  CHECK_EQ(send(out, strcpy(hot(), "more"), 4, 0), 4);
  struct epoll_event* const events = hot();
  CHECK_EQ(epoll_wait(waits, events, 4, 1000), 1);
  CHECK_EQ(events->data.fd, in);
  struct choice {
    fd_set readable;
    struct timeval limit;
  }* const choice = hot();
  FD_ZERO(&choice->readable);
  FD_SET(in, &choice->readable);
  choice->limit = (struct timeval){1, 0};
  CHECK_EQ(select(in + 1, &choice->readable, NULL, NULL, &choice->limit), 1);
  char* const text = hot();
  CHECK_EQ(recv(in, text, 16, 0), 4);
  CHECK_EQ(memcmp(text, "more", 4), 0);
  const int counter = eventfd(0, 0);
  uint64_t* count = hot();
  *count = 3;
  CHECK_EQ(write(counter, count, 8), 8);
  count = hot();
  CHECK_EQ(read(counter, count, 8), 8);
  CHECK_EQ(*count, 3);
  CHECK_EQ(close(counter) | close(waits) | close(in) | close(out), 0);
}

static void use_others(void) {
  struct timespec* const time = hot();
  *time = (struct timespec){0, 1000};
  CHECK_EQ(nanosleep(time, time + 1), 0);
  struct timespec* const now = hot();
  CHECK_EQ(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now), 0);
  CHECK(now->tv_sec > 0);
  CHECK_EQ(getrandom(hot(), 32, 0), 32);
  struct utsname* const system = hot();
  CHECK_EQ(uname(system), 0);
  CHECK_EQ(strcmp(system->sysname, "Linux"), 0);
  struct rlimit* const limit = hot();
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, limit), 0);
  struct rusage* const usage = hot();
  CHECK_EQ(getrusage(RUSAGE_SELF, usage), 0);
  cpu_set_t* const processors = hot();
  CHECK_EQ(sched_getaffinity(0, sizeof *processors, processors), 0);
  CHECK(CPU_COUNT(processors) > 0);
  CHECK_EQ(prctl(PR_SET_NAME, strcpy(hot(), "hot")), 0);
  char* const name = hot();
  CHECK_EQ(prctl(PR_GET_NAME, name), 0);
  CHECK_EQ(strcmp(name, "hot"), 0);
  sigset_t* const mask = hot();
  sigemptyset(mask);
  sigaddset(mask, SIGUSR2);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, mask, mask + 1), 0);
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, mask + 1, NULL), 0);
  CHECK(getcwd(hot(), kSlot / 2) != NULL);
}

static void* body(void* number) {
  own = (long)number;
  turn = (unsigned)own;
  pthread_barrier_wait(&all_there);
  for (int round = 0; round < kRounds; ++round) {
    use_files();
    for (int i = 0; i < kOpens; ++i) open_after_computing();
    use_sockets();
    use_others();
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, kSlots);
  CHECK(threads <= kSlots);
  snprintf(folder, sizeof folder, "/tmp/weir-hot-%d", (int)getpid());
  CHECK_EQ(mkdir(folder, 0700), 0);
  CHECK_EQ(pthread_barrier_init(&all_there, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  CHECK_EQ(rmdir(folder), 0);
  unsigned marks = 0;
  for (int i = 0; i < threads; ++i)
    for (int page = 0; page <= kPages; ++page)
      marks += *(unsigned*)(shared[page] + i * kSlot + kSlot - 4);
  printf("marks %u\n", marks);
  return 0;
}
