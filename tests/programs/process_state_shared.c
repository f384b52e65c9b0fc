// Working directory, umask, descriptors, environment, limits and signal actions belong to the
// process, not to a thread.
#include <sys/resource.h>
#include <sys/stat.h>
#include "program.h"

static char directory[] = "/tmp/program-XXXXXX";
static int file;
static struct rlimit limit;

static void on_signal(int number) { (void)number; }

static void* changes(void* unused) {
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(chdir(directory), 0);
  umask(0027);
  CHECK((file = open("file", O_CREAT | O_RDWR | O_TRUNC, 0666)) >= 0);
  CHECK_EQ(write(file, "0123456789", 10), 10);
  CHECK_EQ(lseek(file, 4, SEEK_SET), 4);
  CHECK_EQ(setenv("PROGRAM_WORD", "from a thread", 1), 0);
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur -= 1;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  return unused;
}

static void* sees(void* unused) {
  char where[4096], bytes[4] = "";
  struct stat status;
  struct rlimit now;
  struct sigaction action;
  CHECK(getcwd(where, sizeof where) && strcmp(where, directory) == 0);
  CHECK_EQ(stat("file", &status), 0);
  CHECK_EQ(status.st_mode & 0777, 0640);
  CHECK_EQ(umask(0027), 0027);
  CHECK_EQ(read(file, bytes, 3), 3);
  CHECK(strcmp(bytes, "456") == 0);
  CHECK(strcmp(getenv("PROGRAM_WORD"), "from a thread") == 0);
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
  CHECK_EQ(now.rlim_cur, limit.rlim_cur);
  CHECK_EQ(sigaction(SIGUSR2, NULL, &action), 0);
  CHECK(action.sa_handler == on_signal);
  return unused;
}

int main(void) {
  CHECK(mkdtemp(directory));
  run_threads(1, changes);
  run_threads(1, sees);
  CHECK_EQ(lseek(file, 0, SEEK_CUR), 7);
  CHECK_EQ(lseek(file, 4, SEEK_SET), 4);
  sees(NULL);
  CHECK_EQ(dup2(file, 77), 77);
  CHECK_EQ(close(file), 0);
  CHECK_EQ(fcntl(77, F_GETFD), 0);
  CHECK_EQ(unlink("file"), 0);
  CHECK_EQ(chdir("/"), 0);
  CHECK_EQ(rmdir(directory), 0);
  puts("state shared");
  return 0;
}
