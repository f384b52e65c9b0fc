// Waiting for groups, for children that stop and go on, without taking the news, and for none; all
// from threads.
#include "program.h"

static volatile int last_code;

static void on_child(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  last_code = information->si_code;
}

// A child that pauses until it is killed.
static pid_t sleeper(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(15);  // whatever becomes of the parent
    for (;;) pause();
  }
  return child;
}

static pid_t leaver(int code) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(code);
  return child;
}

static void groups(void) {
  int status;
  pid_t own = sleeper(), first = sleeper(), second = sleeper();
  CHECK_EQ(setpgid(first, 0), 0);
  CHECK_EQ(setpgid(second, first), 0);
  CHECK_EQ(getpgid(second), first);
  CHECK_EQ(getpgid(own), getpgrp());
  CHECK_EQ(waitpid(0, &status, WNOHANG), 0);
  CHECK_EQ(waitpid(-first, &status, WNOHANG), 0);
  CHECK_EQ(waitpid(-own, &status, WNOHANG), -1);
  CHECK_EQ(errno, ECHILD);
  CHECK_EQ(kill(second, SIGKILL), 0);
  CHECK_EQ(waitpid(-first, &status, 0), second);
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGKILL);
  CHECK_EQ(kill(own, SIGTERM), 0);
  CHECK_EQ(waitpid(0, &status, 0), own);
  CHECK_EQ(WTERMSIG(status), SIGTERM);
  CHECK_EQ(waitpid(0, &status, 0), -1);
  CHECK_EQ(errno, ECHILD);
  siginfo_t information;
  CHECK_EQ(kill(-first, SIGKILL), 0);
  CHECK_EQ(waitid(P_PGID, (id_t)first, &information, WEXITED | WNOWAIT), 0);
  CHECK_EQ(information.si_pid, first);
  CHECK_EQ(information.si_code, CLD_KILLED);
  CHECK_EQ(waitpid(-first, NULL, 0), first);
  CHECK_EQ(waitpid(-first, NULL, 0), -1);
  puts("groups");
}

static void stops(void) {
  int status;
  siginfo_t information;
  pid_t child = sleeper();
  CHECK_EQ(kill(child, SIGSTOP), 0);
  CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
  CHECK(WIFSTOPPED(status));
  CHECK_EQ(WSTOPSIG(status), SIGSTOP);
  CHECK_EQ(waitpid(child, &status, WUNTRACED | WNOHANG), 0);
  CHECK_EQ(kill(child, SIGCONT), 0);
  CHECK_EQ(waitid(P_PID, (id_t)child, &information, WCONTINUED | WNOWAIT), 0);
  CHECK_EQ(information.si_code, CLD_CONTINUED);
  CHECK_EQ(information.si_status, SIGCONT);
  CHECK_EQ(waitpid(child, &status, WCONTINUED), child);
  CHECK(WIFCONTINUED(status));
  CHECK_EQ(waitpid(child, &status, WCONTINUED | WUNTRACED | WNOHANG), 0);
  CHECK_EQ(kill(child, SIGSTOP), 0);
  CHECK_EQ(waitid(P_ALL, 0, &information, WSTOPPED), 0);
  CHECK_EQ(information.si_pid, child);
  CHECK_EQ(information.si_uid, getuid());
  CHECK_EQ(information.si_code, CLD_STOPPED);
  CHECK_EQ(information.si_status, SIGSTOP);
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT), 0);
  CHECK_EQ(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT), 0);
  CHECK_EQ(information.si_code, CLD_KILLED);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(waitpid(child, &status, 0), -1);
  CHECK_EQ(errno, ECHILD);
  puts("stops");
}

static void notices(void) {
  struct sigaction action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
  int status;
  CHECK_EQ(sigaction(SIGCHLD, &action, NULL), 0);
  pid_t child = sleeper();
  CHECK_EQ(kill(child, SIGSTOP), 0);
  while (last_code != CLD_STOPPED) sleep_ms(1);
  CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
  action.sa_flags |= SA_NOCLDSTOP;
  CHECK_EQ(sigaction(SIGCHLD, &action, NULL), 0);
  CHECK_EQ(kill(child, SIGCONT), 0);
  CHECK_EQ(waitpid(child, &status, WCONTINUED), child);
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  while (last_code != CLD_KILLED) sleep_ms(1);
  puts("notices");
}

static void refusals(void) {
  siginfo_t information;
  CHECK_EQ(waitpid(-1, NULL, 0x100), -1);
  CHECK_EQ(errno, EINVAL);
  CHECK_EQ(waitid(P_ALL, 0, &information, WNOHANG), -1);
  CHECK_EQ(errno, EINVAL);
  CHECK_EQ(signal(SIGCHLD, SIG_IGN) == SIG_ERR, 0);
  for (int i = 0; i < 3; ++i) leaver(i);
  CHECK_EQ(waitpid(-1, NULL, 0), -1);  // when all have ended
  CHECK_EQ(errno, ECHILD);
  CHECK_EQ(signal(SIGCHLD, SIG_DFL) == SIG_ERR, 0);
  puts("refusals");
}

static void* all(void* unused) {
  groups();
  stops();
  notices();
  refusals();
  fflush(stdout);
  return unused;
}

static void* new_group(void* unused) {
  int status;
  CHECK_EQ(setpgid(0, 0), 0);
  CHECK_EQ(getpgrp(), getpid());
  pid_t child = leaver(9);
  CHECK_EQ(waitpid(0, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), 9);
  return unused;
}

int main(void) {
  pthread_t thread;
  all(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, all, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  // The group is the whole program's.
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(pthread_create(&thread, NULL, new_group, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(getpgrp(), getpid());
    CHECK_EQ(getpgid(getpid()), getpid());
    _exit(0);
  }
  CHECK_CHILD(child);
  return 0;
}
