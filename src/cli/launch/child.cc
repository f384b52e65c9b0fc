// The program stays in the command's process group: a shell's pipeline is one group, and what the
// terminal sends (si_code SI_KERNEL) reaches both. So only what somebody sent to this process by
// kill is passed on. Whoever sends a signal to the whole group by kill lets the program have it
// twice: nothing tells the two apart.
//
// 1. The program dies with the command, even by SIGKILL (PR_SET_PDEATHSIG).
// 2. Orphans come to the command (PR_SET_CHILD_SUBREAPER): it ends after the last of them. A signal
//    that was sent to the command and has ended the program is sent to them, too: else nobody could
//    end this command by it who knows of one process only.
// 3. When the terminal stops the program, the command stops after it, so that the shell sees it;
//    both are continued together.
#include "cli/launch/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

#include "cli/common/failure.h"
#include "cli/launch/signal_state.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

constexpr std::array kPassed = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr std::array kStops = {SIGTSTP, SIGTTIN, SIGTTOU};

// Noted by the handler, used by attend().
volatile sig_atomic_t g_sent[NSIG];      // by somebody, to this process
volatile sig_atomic_t g_terminal[NSIG];  // by the terminal, to the group

void on_signal(int signal, siginfo_t* info, void*) {
  if (info->si_code == SI_KERNEL) g_terminal[signal] = 1;
  else g_sent[signal] = 1;
}

// Not where it is ignored: the program ignores it then too, and a shell meant both.
void catch_signal(int signal) {
  struct sigaction now, ours = {};
  sigaction(signal, nullptr, &now);
  if (now.sa_handler == SIG_IGN && signal != SIGCHLD) return;
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO;  // no SA_RESTART: sleeps are to end
  sigaction(signal, &ours, nullptr);
}

// Ended ones included.
std::set<pid_t> children(pid_t of = getpid()) {
  const std::string name =
      "/proc/" + std::to_string(of) + "/task/" + std::to_string(of) + "/children";
  std::istringstream text(recording::rest_of(recording::File::reading(name).descriptor()));
  return {std::istream_iterator<pid_t>(text), {}};
}

// In the child, where `become` failed: the parent says it.
[[noreturn]] void report(int descriptor, const Failure& failure) {
  const recording::File pipe(descriptor);
  const int status = failure.status;
  std::string text(reinterpret_cast<const char*>(&status), sizeof status);
  pipe.write(text + failure.what());
  _exit(kWeirFailed);
}

}  // namespace

std::string stat_of(pid_t pid, const std::string& thread) {
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string text =
      recording::File::reading(process + (thread.empty() ? "" : "/task/" + thread) + "/stat")
          .read(0, 4096);
  return text.substr(std::min(text.rfind(')') + 1, text.size()));
}

Child::Child(const std::function<void()>& become, Signals signals)
    : strangers_(children()), signals_(signals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(kWeirFailed, std::string("pipe: ") + strerror(errno));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fflush(nullptr);
  const pid_t command = getpid();
  // Before there is a program that could say it is ready; what is caught is at its default again in
  // what is executed.
  listen();
  pid_ = fork();
  if (pid_ < 0) throw Failure(kWeirFailed, std::string("fork: ") + strerror(errno));
  if (pid_ == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != command) _exit(kWeirFailed);
    give_back_signals();
    try {
      become();
    } catch (const Failure& failure) {
      report(ends[1], failure);
    } catch (const std::exception& failure) {
      report(ends[1], Failure(kWeirFailed, failure.what()));
    }
    _exit(kWeirFailed);
  }
  close(ends[1]);
  ignore_own_signals();
  const std::string said = recording::rest_of(ends[0]);
  close(ends[0]);
  int status;
  if (said.size() < sizeof status)
    return;  // it is the program now (or was killed, as attend() will see)
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  memcpy(&status, said.data(), sizeof status);
  throw Failure(status, said.substr(sizeof status));
}

void Child::listen() {
  remember_signals();
  for (const int signal : kPassed) catch_signal(signal);
  for (const int signal : kStops) catch_signal(signal);
  catch_signal(SIGCHLD);
}

void Child::kill_all() const {
  for (const pid_t pid : children()) {
    if (!strangers_.contains(pid)) kill(pid, SIGKILL);
  }
}

void Child::kill_left_behind(int signal) const {
  for (const pid_t pid : processes()) kill(pid, signal);
}

// Only by what has come to the command, too: somebody who stops the program alone continues it
// alone.
void Child::stop_with_program() {
  bool is_asked = false;
  for (const int stop : kStops) {
    is_asked |= g_terminal[stop] || g_sent[stop];
    g_terminal[stop] = 0;
    g_sent[stop] = 0;
  }
  if (!is_asked) return;
  raise(SIGSTOP);
  kill(pid_, SIGCONT);
}

bool Child::attend() {
  for (const int signal : kPassed) {
    const bool sent = g_sent[signal], by_terminal = g_terminal[signal];
    if (!sent && !by_terminal) continue;
    g_sent[signal] = 0;
    g_terminal[signal] = 0;
    if (signals_ == Signals::kPassOn && signal != SIGUSR1 && signal != SIGUSR2) asked_ = signal;
    if (signals_ == Signals::kEnd) {
      if (signal != SIGUSR1 && signal != SIGUSR2) interrupt_ = signal;
    } else if (sent && pid_ != 0) {
      kill(pid_, signal);
      passed_ = signal;
    } else if (sent) {  // the program has left others behind, for which this command waits
      kill_left_behind(signal);
    }
  }
  if (interrupt_ || ended_here_) kill_all();
  for (;;) {
    if (is_stopped_ && pid_ != 0) stop_with_program();
    int how;
    const pid_t pid = waitpid(-1, &how, WNOHANG | WUNTRACED | WCONTINUED | __WALL);
    if (pid == 0 && pid_ == 0 && !strangers_.empty())
      return std::ranges::any_of(children(), [&](pid_t one) { return !strangers_.contains(one); });
    if (pid == 0 || (pid < 0 && errno == EINTR)) return true;
    if (pid < 0) return false;
    if (pid != pid_) continue;
    if (WIFSTOPPED(how) || WIFCONTINUED(how)) {
      is_stopped_ = WIFSTOPPED(how);
    } else {
      if (!ended_here_) how_ = how;
      pid_ = 0;
      if (passed_ && WIFSIGNALED(how) && WTERMSIG(how) == passed_) kill_left_behind(passed_);
    }
  }
}

bool Child::is_interrupted() const { return interrupt_ != 0; }
bool Child::was_killed() const { return WIFSIGNALED(how_); }
int Child::status() const { return was_killed() ? WTERMSIG(how_) : WEXITSTATUS(how_); }

std::vector<pid_t> Child::processes() const {
  std::vector<pid_t> all;
  for (const pid_t pid : children()) {
    if (!strangers_.contains(pid)) all.push_back(pid);
  }
  for (size_t i = 0; i < all.size(); i++) {
    const std::set<pid_t> more = children(all[i]);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

uint64_t Child::processor_time() const {
  uint64_t sum = 0;
  for (const pid_t pid : children()) {
    std::istringstream fields(stat_of(pid));
    std::string skipped;
    for (int i = 0; i < 11; i++) fields >> skipped;
    uint64_t user = 0, system = 0;
    fields >> user >> system;
    sum += user + system;
  }
  return sum;
}

bool Child::is_runnable() const {
  for (const pid_t pid : processes()) {
    const std::string threads = "/proc/" + std::to_string(pid) + "/task";
    std::error_code gone;
    std::filesystem::directory_iterator thread(threads, gone);
    for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone)) {
      const std::string fields = stat_of(pid, thread->path().filename());
      const size_t state = fields.find_first_not_of(' ');
      if (state != std::string::npos && (fields[state] == 'R' || fields[state] == 'D')) return true;
    }
  }
  return false;
}

void Child::end_here(int how) {
  ended_here_ = true;
  if (pid_ != 0) how_ = how;
  kill_all();
}

int Child::end_alike() const {
  const int signal = interrupt_ ? interrupt_ : was_killed() ? status() : 0;
  return signal == 0 ? status() : end_by(signal);
}

int Child::end_by(int signal) {
  const rlimit none{0, 0};  // the program's core is there already
  setrlimit(RLIMIT_CORE, &none);
  fflush(nullptr);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  return 128 + signal;
}

}  // namespace weir::cli
