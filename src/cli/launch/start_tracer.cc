// Only another process can change the bytes between execve and the loader's first instruction, and
// replace the results of its rdtsc. So a short-lived child traces this process, waits for the stop
// at execve, writes the bytes, and stays for the time stamps. This process has asked the kernel to
// make rdtsc fault (PR_SET_TSC, which survives execve). The tracer sees each fault as a SIGSEGV,
// puts a value into the registers, steps over the instruction and lets no signal through.
//
// 1. The tracer's end sends no signal, and wait() does not see it. libweir's first constructor
//    allows rdtsc again, kills the tracer and waits for it by pid. (The kernel detaches what a
//    dying tracer traced and lets it run on. An orphan instead of a child would remain as a zombie
//    in containers whose first process reaps nobody.)
// 2. The tracer says when it runs, so that this process can name it as its tracer where only
//    descendants may be traced (Yama).
// 3. It holds no descriptor of this process except two pipes, and no signal from the terminal
//    reaches it.
// 4. If execve fails, it is killed.
// 5. No program runs on with rdtsc disabled and without the tracer. If libweir was not loaded after
//    all, the first rdtsc outside the loader, the first fork or the next execve shows it. Then the
//    tracer makes the program itself allow rdtsc again (a prctl, run on a system call instruction
//    of the vDSO), and lets go.
// 6. Any other signal goes through unchanged.
// 7. It shares this process's memory until execve, since a copy takes a fifth of a millisecond. It
//    allocates nothing, and this process does not look at an errno that it might set.
#include "cli/launch/start_tracer.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "constant/layout.h"
#include "control/options.h"
#include "loader/settle.h"

namespace weir::cli {
namespace {

constexpr uint64_t kFirstTime = uint64_t{1} << 40,
                   kTimeStep = 1 << 10;  // any: somewhere, and it grows
// The loader is smaller, and nothing else is mapped so near above it.
constexpr uint64_t kLoaderRoom = 1 << 20;

// The process that becomes the program, and its children where libweir was not loaded.
class Tracer {
 public:
  Tracer(pid_t process, uint64_t seed, const std::vector<uint64_t>& user, bool places)
      : process_(process), seed_(seed), user_(user), places_(places) {}

  // Until nothing is traced any more.
  [[noreturn]] void run() {
    for (;;) {
      int status;
      pid_t stopped = waitpid(-1, &status, __WALL);
      if (stopped < 0 && errno != EINTR) _exit(0);
      if (stopped > 0 && WIFSTOPPED(status)) on_stop(stopped, WSTOPSIG(status), status >> 16);
    }
  }

 private:
  void on_stop(pid_t stopped, int signal, int event) {
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      ptrace(PTRACE_LISTEN, stopped, nullptr,
             nullptr);  // stopped like any process, by SIGSTOP or the terminal
    } else if (event == PTRACE_EVENT_STOP) {
      if (leaving_ || stopped != process_) {
        let_go(stopped);
      } else {
        proceed(stopped, 0);
      }
    } else if (event == PTRACE_EVENT_EXEC && !started_) {
      started_ = true;
      loader::Traced traced(stopped);
      if (places_ && !loader::settle(traced)) return;
      read_addresses(stopped);
      fix_random_bytes();
      fix_user();
      proceed(stopped, 0);
    } else if (event != 0) {
      if (event == PTRACE_EVENT_EXEC) read_addresses(stopped);
      // In the middle of a system call, where no other could be made: stop once more behind it.
      leaving_ = true;
      ptrace(PTRACE_INTERRUPT, stopped, nullptr, nullptr);
      proceed(stopped, 0);
    } else if (int size = signal == SIGSEGV ? rdtsc_size(stopped) : 0) {
      if (started_ && registers_.rip - loader_ >= kLoaderRoom) {
        let_go(stopped);
      } else {
        answer(stopped, size);
      }
    } else {
      proceed(stopped, signal);
    }
  }

  static void proceed(pid_t stopped, int signal) { ptrace(PTRACE_CONT, stopped, nullptr, signal); }

  void read_addresses(pid_t stopped) {
    loader_ = vdso_ = random_ = 0;
    char name[32];
    snprintf(name, sizeof name, "/proc/%d/auxv", stopped);
    int descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    Elf64_auxv_t entries[64];
    ssize_t bytes = read(descriptor, entries, sizeof entries);
    close(descriptor);
    for (ssize_t i = 0; (i + 1) * ssize_t{sizeof entries[0]} <= bytes; i++) {
      uint64_t value = entries[i].a_un.a_val;
      if (entries[i].a_type == AT_BASE) loader_ = value;
      if (entries[i].a_type == AT_SYSINFO_EHDR) vdso_ = value;
      if (entries[i].a_type == AT_RANDOM) random_ = value;
    }
  }

  void fix_random_bytes() {
    if (random_ == 0) return;
    ptrace(PTRACE_POKEDATA, process_, random_, constant::image_random(seed_, kRandomBytes, 0));
    ptrace(PTRACE_POKEDATA, process_, random_ + 8, constant::image_random(seed_, kRandomBytes, 1));
  }

  // The four entries of the auxiliary vector, which lies a little below the random bytes, follow
  // each other (create_elf_tables in the kernel).
  void fix_user() {
    if (user_.empty() || random_ == 0) return;
    constexpr uint64_t kTypes[] = {AT_UID, AT_EUID, AT_GID, AT_EGID}, kRoom = 4096;
    static uint64_t words[kRoom / 8];
    const uint64_t start = (random_ & ~uint64_t{7}) - kRoom;
    if (!loader::Traced(process_).read(start, words, sizeof words)) return;
    for (size_t at = 0; at + 8 <= kRoom / 8; at++) {
      for (size_t i = 0; i < 4 && words[at + 2 * i] == kTypes[i]; i++) {
        if (i < 3) continue;
        for (size_t k = 0; k < 4; k++)
          ptrace(PTRACE_POKEDATA, process_, start + (at + 2 * k + 1) * 8, user_[k]);
        return;
      }
    }
  }

  // Bytes of the rdtsc or rdtscp that has just faulted, or 0. Leaves its registers in registers_.
  int rdtsc_size(pid_t stopped) {
    siginfo_t cause;
    if (ptrace(PTRACE_GETSIGINFO, stopped, nullptr, &cause) != 0 || cause.si_code != SI_KERNEL)
      return 0;
    if (ptrace(PTRACE_GETREGS, stopped, nullptr, &registers_) != 0) return 0;
    unsigned char bytes[3] = {};
    const loader::Traced traced(stopped);
    if (!traced.read(registers_.rip, bytes, sizeof bytes) && !traced.read(registers_.rip, bytes, 2))
      return 0;
    if (bytes[0] == 0x0f && bytes[1] == 0x31) return 2;
    return bytes[0] == 0x0f && bytes[1] == 0x01 && bytes[2] == 0xf9 ? 3 : 0;
  }

  void answer(pid_t stopped, int size) {
    time_ += kTimeStep;
    registers_.rax = time_ & 0xffffffff;
    registers_.rdx = time_ >> 32;
    if (size == 3) registers_.rcx = 0;
    registers_.rip += static_cast<unsigned>(size);
    ptrace(PTRACE_SETREGS, stopped, nullptr, &registers_);
    proceed(stopped, 0);
  }

  // REQUIRES: `stopped` is between two instructions of its own, not inside a system call.
  void let_go(pid_t stopped) {
    leaving_ = true;
    int late = 0;
    user_regs_struct saved;
    uint64_t instruction = system_call_instruction(stopped);
    if (instruction != 0 && ptrace(PTRACE_GETREGS, stopped, nullptr, &saved) == 0) {
      user_regs_struct call = saved;
      call.orig_rax = ~0ull;  // not to be taken for an interrupted call
      call.rax = SYS_prctl;
      call.rdi = PR_SET_TSC;
      call.rsi = PR_TSC_ENABLE;
      call.rip = instruction;
      ptrace(PTRACE_SETREGS, stopped, nullptr, &call);
      late = step(stopped);
      ptrace(PTRACE_SETREGS, stopped, nullptr, &saved);
    }
    ptrace(PTRACE_DETACH, stopped, nullptr, late);
  }

  // One instruction that cannot fault. Returns a signal that arrived meanwhile, or 0.
  static int step(pid_t stopped) {
    int late = 0, status;
    while (ptrace(PTRACE_SINGLESTEP, stopped, nullptr, 0) == 0) {
      while (waitpid(stopped, &status, __WALL) < 0 && errno == EINTR) {}
      if (!WIFSTOPPED(status) || status >> 8 == SIGTRAP) break;
      if (status >> 16 == 0) late = WSTOPSIG(status);
    }
    return late;
  }

  // The vDSO is readable and executable as a whole, so that the bytes alone decide.
  uint64_t system_call_instruction(pid_t stopped) const {
    constexpr uint64_t kMost = 16 << 10;
    unsigned char bytes[4096];
    const loader::Traced traced(stopped);
    for (uint64_t at = vdso_; at < vdso_ + kMost && traced.read(at, bytes, sizeof bytes);
         at += sizeof bytes) {
      const void* found = memmem(bytes, sizeof bytes, "\x0f\x05", 2);
      if (found)
        return at + static_cast<uint64_t>(static_cast<const unsigned char*>(found) - bytes);
    }
    return 0;
  }

  const pid_t process_;
  const uint64_t seed_;
  const std::vector<uint64_t>& user_;
  const bool places_;
  bool started_ = false;  // the program is there: execve has succeeded
  bool leaving_ = false;
  uint64_t loader_ = 0, vdso_ = 0, random_ = 0;  // where they lie in the program
  uint64_t time_ = kFirstTime;
  user_regs_struct registers_;
};

struct Beginning {
  pid_t process;
  uint64_t seed;
  const std::vector<uint64_t>& user;
  bool places;
  int ready, go;  // where it reports, and where it learns that it may start
};

// The child.
int trace(void* at) {
  const Beginning begin = *static_cast<const Beginning*>(at);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  // No descriptor more than the pipes' is needed, unless standard input or output was closed.
  const int start = begin.go < 2 ? fcntl(begin.go, F_DUPFD, 2) : begin.go;
  if (start < 0 || dup2(begin.ready, 0) < 0 || dup2(start, 1) < 0) _exit(0);
  close_range(2, ~0u, 0);
  constexpr int kReady = 0, kGo = 1;
  char answer = 'n';
  if (read(kGo, &answer, 1) != 1) _exit(0);
  const long events =
      PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  const bool seized = ptrace(PTRACE_SEIZE, begin.process, nullptr, events) == 0;
  answer = seized ? 'y' : 'n';
  Tracer tracer(begin.process, begin.seed, begin.user, begin.places);
  // Here this process goes on, and leaves what `at` points to.
  if (write(kReady, &answer, 1) != 1 || !seized) _exit(0);
  close(kReady);
  close(kGo);
  tracer.run();
}

// A child in the same memory. Its end sends no signal: a SIGCHLD left pending would be seen by the
// program.
pid_t start_beside(const Beginning& begin) {
  alignas(16) static char stack[256 << 10];
  return clone(trace, stack + sizeof stack, CLONE_VM, const_cast<Beginning*>(&begin));
}

// A fault whose signal is blocked or ignored makes the kernel change that, and the program would
// inherit the change.
bool faults_leave_no_mark() {
  sigset_t blocked;
  struct sigaction action;
  return sigprocmask(SIG_SETMASK, nullptr, &blocked) == 0 && !sigismember(&blocked, SIGSEGV) &&
         sigaction(SIGSEGV, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

pid_t start_tracer(uint64_t seed, const std::vector<uint64_t>& user, bool places) {
  int ready[2], go[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return 0;
  if (pipe2(go, O_CLOEXEC) != 0) {
    close(ready[0]);
    close(ready[1]);
    return 0;
  }
  const Beginning begin{getpid(), seed, user, places, ready[1], go[0]};
  const pid_t tracer = start_beside(begin);
  close(ready[1]);
  bool traced = false;
  if (tracer > 0) {
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(tracer), 0, 0, 0);
    char answer = 'n';
    // Our end of `go` stays open for reading meanwhile, so that a child that died early costs no
    // SIGPIPE.
    traced = write(go[1], &answer, 1) == 1 && read(ready[0], &answer, 1) == 1 && answer == 'y';
    if (!traced) dismiss_tracer(tracer);
  }
  close(ready[0]);
  close(go[0]);
  close(go[1]);
  return traced ? tracer : 0;
}

void hide_time(pid_t tracer) {
  if (tracer == 0 || getauxval(AT_SYSINFO_EHDR) == 0 || !faults_leave_no_mark()) return;
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

void dismiss_tracer(pid_t tracer) {
  if (tracer == 0) return;
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  kill(tracer, SIGKILL);
  while (waitpid(tracer, nullptr, __WALL) < 0 && errno == EINTR) {}
}

}  // namespace weir::cli
