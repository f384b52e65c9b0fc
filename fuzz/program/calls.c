// Actions that ask the kernel: files, pipes, sockets, polls, times.
#include <dirent.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "random_program.h"

static char* own_name(struct worker* w, char* to) {
  CHECK(snprintf(to, 100, "%s/file%d", g_folder, w->number) < 100);
  return to;
}

static uint64_t write_and_read(struct worker* w) {
  char* const name = own_name(w, slot(w));
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  const unsigned size = 1 + below(w, 300);
  char* const from = slot(w) + 128;
  memset(from, (int)(size & 0x7f), size);
  CHECK_EQ(write(file, from, size), size);
  struct stat status;
  CHECK_EQ(fstat(file, &status), 0);
  CHECK_EQ(status.st_size, size);
  CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
  char* const to = slot(w) + 128;
  memset(to, 0, size);
  CHECK_EQ(read(file, to, size), size);
  for (unsigned i = 0; i < size; ++i) CHECK_EQ(to[i], (char)(size & 0x7f));
  CHECK_EQ(ftruncate(file, 3), 0);
  CHECK_EQ(close(file), 0);
  char path[100];
  CHECK_EQ(stat(own_name(w, path), &status), 0);
  CHECK_EQ(status.st_size, 3);
  CHECK_EQ(unlink(path), 0);
  return size;
}

static uint64_t use_streams(struct worker* w) {
  char path[100];
  FILE* file = fopen(own_name(w, path), "w+");
  CHECK(file != NULL);
  const unsigned lines = 1 + below(w, 50);
  for (unsigned i = 0; i < lines; ++i) CHECK(fprintf(file, "line %u of %u\n", i, lines) > 0);
  rewind(file);
  char* line = NULL;
  size_t room = 0;
  unsigned count = 0;
  while (getline(&line, &room, file) > 0) count += (unsigned)strlen(line);
  free(line);
  CHECK_EQ(fclose(file), 0);
  CHECK_EQ(unlink(path), 0);
  return count;
}

static uint64_t use_pipe(struct worker* w) {
  int ends[2];
  CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
  const unsigned size = 1 + below(w, 200);
  for (unsigned i = 0; i < 5; ++i) {
    memset(slot(w), (int)i, 1);
    char* const from = slot(w);
    memset(from, (int)(i + 1), size);
    CHECK_EQ(write(ends[1], from, size), size);
    char* const to = slot(w);
    CHECK_EQ(read(ends[0], to, size), size);
    CHECK_EQ(to[size - 1], (char)(i + 1));
  }
  CHECK_EQ(close(ends[1]), 0);
  CHECK_EQ(read(ends[0], slot(w), 1), 0);
  CHECK_EQ(close(ends[0]), 0);
  return size;
}

struct feed {
  int to;
  unsigned count;
};
static void* feed_pipe(void* at) {
  const struct feed* const feed = at;
  for (unsigned i = 0; i < feed->count; ++i) CHECK_EQ(write(feed->to, &i, sizeof i), sizeof i);
  CHECK_EQ(close(feed->to), 0);
  return NULL;
}

static uint64_t read_from_thread(struct worker* w) {
  int ends[2];
  if (below(w, 2)) CHECK_EQ(pipe(ends), 0);
  else CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  struct feed feed = {ends[1], 1 + below(w, 60)};
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, feed_pipe, &feed), 0);
  unsigned number, count = 0;
  for (;;) {
    struct pollfd ready = {ends[0], POLLIN, 0};
    CHECK_EQ(poll(&ready, 1, -1), 1);
    const long got = read(ends[0], &number, sizeof number);
    if (got == 0) break;
    CHECK_EQ(got, sizeof number);
    CHECK_EQ(number, count++);
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(close(ends[0]), 0);
  return count;
}

static uint64_t pass_descriptor(struct worker* w) {
  int ends[2], inner[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  CHECK_EQ(pipe(inner), 0);
  union {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  char byte = 'b';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = sizeof control.room};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &inner[1], sizeof(int));
  CHECK_EQ(sendmsg(ends[0], &message, 0), 1);
  memset(&control, 0, sizeof control);
  CHECK_EQ(recvmsg(ends[1], &message, 0), 1);
  header = CMSG_FIRSTHDR(&message);
  CHECK(header != NULL);
  int passed;
  memcpy(&passed, CMSG_DATA(header), sizeof passed);
  const unsigned value = below(w, 1000);
  CHECK_EQ(write(passed, &value, sizeof value), sizeof value);
  unsigned got = 0;
  CHECK_EQ(read(inner[0], &got, sizeof got), sizeof got);
  CHECK_EQ(got, value);
  CHECK_EQ(close(passed) | close(inner[0]) | close(inner[1]) | close(ends[0]) | close(ends[1]), 0);
  return value;
}

static uint64_t use_epoll(struct worker* w) {
  const int waits = epoll_create1(EPOLL_CLOEXEC);
  const int counter = eventfd(0, EFD_NONBLOCK | (below(w, 2) ? EFD_SEMAPHORE : 0));
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  struct epoll_event event = {EPOLLIN, {.u32 = 1}};
  CHECK_EQ(epoll_ctl(waits, EPOLL_CTL_ADD, counter, &event), 0);
  event.data.u32 = 2;
  CHECK_EQ(epoll_ctl(waits, EPOLL_CTL_ADD, timer, &event), 0);
  CHECK_EQ(epoll_wait(waits, &event, 1, 0), 0);
  const uint64_t one = 1;
  CHECK_EQ(write(counter, &one, sizeof one), sizeof one);
  CHECK_EQ(epoll_wait(waits, &event, 1, 5000), 1);
  CHECK_EQ(event.data.u32, 1);
  uint64_t value;
  CHECK_EQ(read(counter, &value, sizeof value), sizeof value);
  CHECK_EQ(value, 1);
  CHECK(read(counter, &value, sizeof value) < 0 && errno == EAGAIN);
  const struct itimerspec soon = {.it_value = {0, 200000}};
  CHECK_EQ(timerfd_settime(timer, 0, &soon, NULL), 0);
  CHECK_EQ(epoll_wait(waits, &event, 1, 5000), 1);
  CHECK_EQ(event.data.u32, 2);
  CHECK_EQ(read(timer, &value, sizeof value), sizeof value);
  CHECK_EQ(close(timer) | close(counter) | close(waits), 0);
  return value;
}

static uint64_t use_select(struct worker* w) {
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  fd_set readable, writable;
  FD_ZERO(&readable);
  FD_ZERO(&writable);
  FD_SET(ends[0], &readable);
  FD_SET(ends[1], &writable);
  struct timeval limit = {5, 0};
  CHECK_EQ(select(ends[1] + ends[0] + 1, &readable, &writable, NULL, &limit), 1);
  CHECK(!FD_ISSET(ends[0], &readable) && FD_ISSET(ends[1], &writable));
  CHECK_EQ(write(ends[1], slot(w), 2), 2);
  FD_SET(ends[0], &readable);
  limit = (struct timeval){5, 0};
  CHECK_EQ(select(ends[0] + 1, &readable, NULL, NULL, &limit), 1);
  CHECK_EQ(close(ends[0]) | close(ends[1]), 0);
  return 9;
}

static uint64_t list_folder(struct worker* w) {
  char path[100], inner[120];
  snprintf(path, sizeof path, "%s/dir%d", g_folder, w->number);
  CHECK_EQ(mkdir(path, 0700), 0);
  const unsigned files = below(w, 6);
  for (unsigned i = 0; i < files; ++i) {
    snprintf(inner, sizeof inner, "%s/%u", path, i);
    const int file = open(inner, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    CHECK_EQ(close(file), 0);
  }
  DIR* const folder = opendir(path);
  CHECK(folder != NULL);
  unsigned count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  CHECK_EQ(closedir(folder), 0);
  CHECK_EQ(count, files);
  for (unsigned i = 0; i < files; ++i) {
    snprintf(inner, sizeof inner, "%s/%u", path, i);
    CHECK_EQ(unlink(inner), 0);
  }
  CHECK_EQ(rmdir(path), 0);
  return files;
}

static uint64_t send_file(struct worker* w) {
  char path[100];
  const int file = open(own_name(w, path), O_RDWR | O_CREAT | O_TRUNC, 0600);
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(write(file, "0123456789", 10), 10);
  off_t offset = 2;
  CHECK_EQ(sendfile(ends[1], file, &offset, 5), 5);
  CHECK_EQ(offset, 7);
  char text[8];
  CHECK_EQ(read(ends[0], text, sizeof text), 5);
  CHECK_EQ(memcmp(text, "23456", 5), 0);
  CHECK_EQ(close(ends[0]) | close(ends[1]) | close(file) | unlink(path), 0);
  return 10;
}

static uint64_t watch_folder(struct worker* w) {
  char path[100], inner[120];
  snprintf(path, sizeof path, "%s/watched%d", g_folder, w->number);
  snprintf(inner, sizeof inner, "%s/new", path);
  CHECK_EQ(mkdir(path, 0700), 0);
  const int watch = inotify_init1(IN_CLOEXEC);
  CHECK(inotify_add_watch(watch, path, IN_CREATE | IN_DELETE) >= 0);
  const int file = open(inner, O_CREAT | O_WRONLY, 0600);
  CHECK_EQ(close(file) | unlink(inner), 0);
  char events[512] __attribute__((aligned(8)));
  const long got = read(watch, events, sizeof events);
  CHECK(got >= (long)sizeof(struct inotify_event));
  CHECK_EQ(((struct inotify_event*)events)->mask, IN_CREATE);
  CHECK_EQ(close(watch) | rmdir(path), 0);
  return 11;
}

static uint64_t pass_time(struct worker* w) {
  struct timespec before, after, pause = {0, 1000 * below(w, 300)};
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &before), 0);
  CHECK_EQ(nanosleep(&pause, NULL), 0);
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &after), 0);
  CHECK(after.tv_sec > before.tv_sec ||
        (after.tv_sec == before.tv_sec && after.tv_nsec >= before.tv_nsec));
  struct utsname system;
  CHECK_EQ(uname(&system), 0);
  CHECK_EQ(getrandom(slot(w), 16, 0), 16);
  return 12;
}

static uint64_t move_descriptors(struct worker* w) {
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const int copy = fcntl(zero, F_DUPFD_CLOEXEC, 100 + 10 * w->number);
  CHECK(copy >= 100 + 10 * w->number);
  CHECK_EQ(fcntl(copy, F_GETFD), FD_CLOEXEC);
  CHECK_EQ(close(zero), 0);
  char* const at = slot(w);
  at[0] = 1;
  struct iovec parts[2] = {{at, 4}, {at + 64, 4}};
  CHECK_EQ(readv(copy, parts, 2), 8);
  CHECK_EQ(at[0], 0);
  CHECK_EQ(close(copy), 0);
  CHECK(close(copy) < 0 && errno == EBADF);
  return 13;
}

const struct named_action g_call_actions[] = {{"write_and_read", write_and_read},
                                              {"use_streams", use_streams},
                                              {"use_pipe", use_pipe},
                                              {"read_from_thread", read_from_thread},
                                              {"pass_descriptor", pass_descriptor},
                                              {"use_epoll", use_epoll},
                                              {"use_select", use_select},
                                              {"list_folder", list_folder},
                                              {"send_file", send_file},
                                              {"watch_folder", watch_folder},
                                              {"pass_time", pass_time},
                                              {"move_descriptors", move_descriptors},
                                              {NULL, NULL}};
