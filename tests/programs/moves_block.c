// More calls that wait for another thread: vmsplice into a full pipe and from an empty one, tee of
// an empty pipe and into a full one, openat2 of a fifo. Where they are asked not to wait, they do
// not.
#include "program.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { kBytes = 200000, kDoesNotWait = 2, kCopies = 60 };  // SPLICE_F_NONBLOCK

static int g_full[2], g_empty[2], g_from[2], g_to[2];
static sem_t g_next;
static char g_fifo[] = "/tmp/weir-moves-XXXXXX", g_bytes[kBytes];

static long read_all(int from, char* to, long most) {
  long done = 0, got;
  while (done < most && (got = read(from, to + done, (size_t)(most - done))) > 0) done += got;
  return done;
}

static void* other_side(void* unused) {
  static char got[kBytes];
  sleep_ms(20);
  CHECK_EQ(read_all(g_full[0], got, kBytes), kBytes);
  CHECK_EQ(memcmp(got, g_bytes, kBytes), 0);
  CHECK_EQ(sem_wait(&g_next), 0);
  sleep_ms(20);
  CHECK_EQ(write(g_empty[1], "empty", 5), 5);
  CHECK_EQ(sem_wait(&g_next), 0);
  sleep_ms(20);
  CHECK_EQ(write(g_from[1], "from", 4), 4);
  // Each copy takes a page of the pipe, so that it is full before all have been made.
  CHECK_EQ(read_all(g_to[0], got, 4 * kCopies), 4 * kCopies);
  CHECK_EQ(memcmp(got + 4 * kCopies - 8, "fromfrom", 8), 0);
  sleep_ms(20);
  const int fifo = open(g_fifo, O_WRONLY);
  CHECK(fifo >= 0);
  CHECK_EQ(write(fifo, "fifo", 4), 4);
  close(fifo);
  return unused;
}

static void move_out(void) {
  long done = 0;
  while (done < kBytes) {
    const struct iovec rest = {g_bytes + done, (size_t)(kBytes - done)};
    const long moved = vmsplice(g_full[1], &rest, 1, 0);
    CHECK(moved > 0);
    done += moved;
  }
  puts("vmsplice: out");
}

static void move_in(void) {
  char text[8] = "";
  const struct iovec parts[2] = {{text, 2}, {text + 2, 6}};
  CHECK_EQ(vmsplice(g_empty[0], parts, 2, kDoesNotWait), -1);
  CHECK_EQ(errno, EAGAIN);
  CHECK_EQ(sem_post(&g_next), 0);
  CHECK_EQ(vmsplice(g_empty[0], parts, 2, 0), 5);
  CHECK_EQ(strcmp(text, "empty"), 0);
  puts("vmsplice: in");
}

static void copy(void) {
  CHECK_EQ(tee(g_from[0], g_to[1], 4, kDoesNotWait), -1);
  CHECK_EQ(errno, EAGAIN);
  CHECK_EQ(sem_post(&g_next), 0);
  for (int i = 0; i < kCopies; i++) CHECK_EQ(tee(g_from[0], g_to[1], 4, 0), 4);
  puts("tee");
}

static void open_fifo(void) {
  struct open_how how = {.flags = O_RDONLY};
  const int fifo = (int)syscall(SYS_openat2, AT_FDCWD, g_fifo, &how, sizeof how);
  char text[8] = "";
  CHECK(fifo >= 0);
  CHECK_EQ(read(fifo, text, sizeof text), 4);
  CHECK_EQ(strcmp(text, "fifo"), 0);
  close(fifo);
  puts("openat2");
}

int main(void) {
  CHECK(pipe(g_full) == 0 && pipe(g_empty) == 0 && pipe(g_from) == 0 && pipe(g_to) == 0);
  for (int i = 0; i < kBytes; i++) g_bytes[i] = (char)(i * 31 >> 5);
  CHECK(mkdtemp(g_fifo) != NULL);
  CHECK_EQ(rmdir(g_fifo), 0);
  CHECK_EQ(mkfifo(g_fifo, 0600), 0);
  CHECK_EQ(sem_init(&g_next, 0, 0), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, other_side, NULL), 0);
  move_out();
  move_in();
  copy();
  open_fifo();
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(unlink(g_fifo), 0);
  return 0;
}
