// Only somebody outside can change the bytes between execve and the loader's first instruction. So a short-lived child
// traces this process, waits for the stop at execve, writes, lets go and exits.
//
// 1. Its end sends no signal and wait() does not see it; libweir waits for it by pid before the program's first
//    instruction. (An orphan instead of a child would remain as a zombie in containers whose first process reaps
//    nobody.)
// 2. It says when it runs, so that this process can name it as its tracer where only descendants may be traced (Yama).
// 3. It holds no descriptor of ours but two pipes, and no signal from the terminal reaches it.
// 4. Where execve fails, it is killed.
#include "cli/fixed_random.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>

namespace weir::cli {
namespace {

constexpr uint64_t kConstant[2] = {0x5745495257454900,
                                   0x6f6e65206f726465};  // the low byte 0 is what glibc's stack guard has

// A child whose end sends no signal: a SIGCHLD left pending would be seen by the program.
pid_t quiet_fork() { return static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr)); }

uint64_t address_of_random_bytes(pid_t process) {
  char name[32];
  snprintf(name, sizeof name, "/proc/%d/auxv", process);
  int descriptor = open(name, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  uint64_t found = 0;
  Elf64_auxv_t entry;
  while (read(descriptor, &entry, sizeof entry) == sizeof entry && entry.a_type != AT_NULL) {
    if (entry.a_type == AT_RANDOM) found = entry.a_un.a_val;
  }
  close(descriptor);
  return found;
}

// In the child. `ready` is where it reports, `go` where it learns that it may start.
[[noreturn]] void trace(pid_t process, int ready, int go) {
  char answer = 'n';
  if (read(go, &answer, 1) != 1) _exit(0);
  bool seized = ptrace(PTRACE_SEIZE, process, nullptr, PTRACE_O_TRACEEXEC) == 0;
  answer = seized ? 'y' : 'n';
  if (write(ready, &answer, 1) != 1 || !seized) _exit(0);
  close(ready);
  close(go);
  for (;;) {
    int status;
    pid_t changed = waitpid(process, &status, __WALL);
    if (changed < 0 && errno == EINTR) continue;
    if (changed < 0 || !WIFSTOPPED(status)) _exit(0);
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      if (uint64_t address = address_of_random_bytes(process)) {
        ptrace(PTRACE_POKEDATA, process, address, kConstant[0]);
        ptrace(PTRACE_POKEDATA, process, address + 8, kConstant[1]);
      }
      ptrace(PTRACE_DETACH, process, nullptr, nullptr);
      _exit(0);
    }
    int signal = WSTOPSIG(status);
    bool own_stop = status >> 16 == PTRACE_EVENT_STOP;
    if (own_stop && signal != SIGTRAP) {
      ptrace(PTRACE_LISTEN, process, nullptr, nullptr);  // stopped like any process, by SIGSTOP or the terminal
    } else {
      ptrace(PTRACE_CONT, process, nullptr, own_stop ? 0 : signal);
    }
  }
}

}  // namespace

pid_t fix_random_bytes_at_exec() {
  int ready[2], go[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return 0;
  if (pipe2(go, O_CLOEXEC) != 0) {
    close(ready[0]);
    close(ready[1]);
    return 0;
  }
  pid_t process = getpid();
  pid_t tracer = quiet_fork();
  if (tracer == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    setsid();
    int report = fcntl(ready[1], F_DUPFD, 10), start = fcntl(go[0], F_DUPFD, 10);
    if (report < 0 || start < 0 || dup2(report, 0) < 0 || dup2(start, 1) < 0) _exit(0);
    close_range(2, ~0u, 0);
    trace(process, 0, 1);
  }
  close(ready[1]);
  bool fixed = false;
  if (tracer > 0) {
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(tracer), 0, 0, 0);
    char answer = 'n';
    // Our end of `go` stays open for reading meanwhile, so that a child that died early costs no SIGPIPE.
    fixed = write(go[1], &answer, 1) == 1 && read(ready[0], &answer, 1) == 1 && answer == 'y';
    if (!fixed) dismiss_tracer(tracer);
  }
  close(ready[0]);
  close(go[0]);
  close(go[1]);
  return fixed ? tracer : 0;
}

void dismiss_tracer(pid_t tracer) {
  if (tracer == 0) return;
  kill(tracer, SIGKILL);
  while (waitpid(tracer, nullptr, __WALL) < 0 && errno == EINTR) {}
}

}  // namespace weir::cli
