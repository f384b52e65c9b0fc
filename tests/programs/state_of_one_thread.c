// What a thread has for itself: a folder and a mask of its own after unshare(CLONE_FS), which later
// threads do not find. What the program has: the signal at its parent's end, whichever thread sets
// it; the pid that a signal was sent by, through a descriptor of itself, too.
#include <sys/prctl.h>
#include <sys/stat.h>

#include "program.h"

static sem_t changed, looked;

static void folder_is(const char* wanted) {
  char folder[64];
  CHECK(getcwd(folder, sizeof folder) != NULL);
  CHECK_EQ(strcmp(folder, wanted), 0);
}

static void* alone(void* argument) {
  CHECK_EQ(unshare(CLONE_FS), 0);
  CHECK_EQ(chdir("/usr"), 0);
  umask(0777);
  CHECK_EQ(sem_post(&changed), 0);
  CHECK_EQ(sem_wait(&looked), 0);
  folder_is("/usr");
  CHECK_EQ(access("bin", F_OK), 0);
  CHECK_EQ(umask(022), 0777);
  return argument;
}

static void* together(void* argument) {
  CHECK_EQ(chdir("/tmp"), 0);
  CHECK_EQ(umask(027), 022);
  CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR2), 0);
  return argument;
}

static void sent_by_itself(void) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set), sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  CHECK(self >= 0);
  CHECK_EQ(syscall(SYS_pidfd_send_signal, self, SIGUSR1, NULL, 0), 0);
  CHECK_EQ(sigwaitinfo(&set, &info), SIGUSR1);
  CHECK_EQ(info.si_code, SI_USER);
  CHECK_EQ(info.si_pid, getpid());
  CHECK_EQ(close(self), 0);
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(sem_init(&changed, 0, 0), 0);
  CHECK_EQ(sem_init(&looked, 0, 0), 0);
  CHECK_EQ(chdir("/"), 0);
  umask(022);
  CHECK_EQ(pthread_create(&thread, NULL, alone, NULL), 0);
  CHECK_EQ(sem_wait(&changed), 0);
  folder_is("/");
  CHECK_EQ(umask(022), 022);
  CHECK_EQ(chdir("/etc"), 0);
  CHECK_EQ(sem_post(&looked), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  folder_is("/etc");
  CHECK_EQ(pthread_create(&thread, NULL, together, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  folder_is("/tmp");
  CHECK_EQ(umask(022), 027);
  sent_by_itself();
  int signal = 0;
  CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGUSR1), 0);
  CHECK_EQ(prctl(PR_GET_PDEATHSIG, &signal), 0);
  CHECK_EQ(signal, SIGUSR1);
  CHECK_EQ(prctl(PR_SET_PDEATHSIG, 0), 0);
  puts("each its own");
  return 0;
}
