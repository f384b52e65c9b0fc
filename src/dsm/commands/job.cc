// Problem: a launcher that gets a signal ends its job, as a rule; one that is stuck, or that a node
// outlives, leaves processes behind. And a process that the program leaves in the background, with
// stderr open, is no part of the job.
//
// Mechanism: processes whose parent ends become children of this one (PR_SET_CHILD_SUBREAPER), so
// all of the job on this machine are found, whichever sessions they are in. The job is over when
// the launcher has ended, not when stderr is closed. What a process of the background says later is
// passed on by a process that stays for it. Nodes on other hosts are the launcher's concern: it
// ends, and they see that their connections close.
//
// A key (^C) sends its signal to the launcher as well as to this process, so only what another
// process has sent is passed on. Slurm's srun answers a first SIGINT by a report: it gets SIGTERM.
#include "dsm/commands/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace weir::dsm {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptBytes = 256 << 10;  // of what a run says on stderr, to be explained
constexpr int64_t kGraceMs = 10'000;      // from the first signal on
constexpr int64_t kLeftMs = 1000;         // for processes that the launcher has left behind

int64_t milliseconds_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

pid_t parent_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');  // a name may have anything in it
  char state = 0;
  int parent = 0;
  if (name_end == std::string::npos ||
      sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
    return 0;
  return parent;
}

// All processes that come from this one and live.
std::vector<pid_t> descendants() {
  std::map<pid_t, pid_t> parents;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (const pid_t parent = parent_of(name)) parents[std::stoi(name)] = parent;
  }
  std::vector<pid_t> found;
  for (const auto& [process, parent] : parents) {
    pid_t above = parent;
    for (size_t steps = 0; above > 1 && above != getpid() && steps < parents.size(); steps++) {
      const auto its = parents.find(above);
      above = its == parents.end() ? 0 : its->second;
    }
    if (above == getpid()) found.push_back(process);
  }
  return found;
}

class Job {
 public:
  explicit Job(const Launch& launch) : launch_(launch) {}
  Ended run();

 private:
  void start(int stderr_end);
  void on_signal();
  void on_child();
  void end_what_is_left();
  bool pass_text(std::string& said);  // false: nobody has the other end any more
  void leave_to_another_process();

  const Launch& launch_;
  sigset_t before_;
  pid_t child_ = 0;
  int text_ = -1, signals_ = -1;
  int status_ = 0;
  bool is_over_ = false;
  int signal_ = 0;       // the last that ends the job
  int64_t kill_at_ = 0;  // 0: never
};

void Job::start(int stderr_end) {
  child_ = fork();
  if (child_ < 0) throw std::runtime_error(std::string("no process: ") + strerror(errno));
  if (child_ > 0) return;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  for (const auto& [name, value] : launch_.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : launch_.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  dup2(stderr_end, 2);
  execv(words[0], words.data());
  fprintf(stderr, "weir-dsm-run: %s: %s\n", words[0], strerror(errno));
  _exit(125);
}

void Job::on_child() {
  for (;;) {  // also those that have become ours
    int status;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended <= 0) return;
    if (ended != child_) continue;
    status_ = status;
    is_over_ = true;
  }
}

void Job::on_signal() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      on_child();
      continue;
    }
    if (is_over_) continue;
    if (info.ssi_code <= 0) {  // a process has sent it
      const bool is_slurm = fs::path(launch_.words[0]).filename() == "srun";
      kill(child_, is_slurm && number == SIGINT ? SIGTERM : number);
    }
    if (number == SIGQUIT) continue;  // nodes report what they wait for, and go on
    kill_at_ = signal_ ? 1 : milliseconds_now() + kGraceMs;
    signal_ = number;
  }
}

// Of a job that a signal has ended: nothing of it stays.
void Job::end_what_is_left() {
  const int64_t limit = milliseconds_now() + kLeftMs;
  while (!descendants().empty() && milliseconds_now() < limit) {
    usleep(20'000);
    on_child();
  }
  for (int tries = 0; tries < 50; tries++) {  // what they begin meanwhile, too
    const std::vector<pid_t> left = descendants();
    if (left.empty()) break;
    for (const pid_t process : left) kill(process, SIGKILL);
    usleep(10'000);
    on_child();
  }
}

bool Job::pass_text(std::string& said) {
  char buffer[4096];
  const ssize_t got = read(text_, buffer, sizeof buffer);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  for (ssize_t done = 0; done < got;) {
    const ssize_t wrote = write(2, buffer + done, static_cast<size_t>(got - done));
    if (wrote < 0 && errno != EINTR && errno != EAGAIN) break;
    if (wrote > 0) done += wrote;
  }
  if (said.size() < kKeptBytes) said.append(buffer, static_cast<size_t>(got));
  return true;
}

void Job::leave_to_another_process() {
  if (fork() != 0) return;
  setsid();  // no key is meant for it
  fcntl(text_, F_SETFL, 0);
  for (const int end : {0, 1}) dup2(open("/dev/null", O_RDWR | O_CLOEXEC), end);
  std::string nothing(kKeptBytes, '\0');
  while (pass_text(nothing)) continue;
  _exit(0);
}

Ended Job::run() {
  std::string said;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("no pipe: ") + strerror(errno));
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGCHLD}) sigaddset(&ours, number);
  struct sigaction hang_up = {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN)
    sigaddset(&ours, SIGHUP);  // else nohup started this
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &ours, &before_);
  signals_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  start(ends[1]);
  close(ends[1]);
  text_ = ends[0];
  fcntl(text_, F_SETFL, O_NONBLOCK);
  bool is_open = true;
  while (!is_over_) {
    pollfd wanted[] = {{signals_, POLLIN, 0}, {is_open ? text_ : -1, POLLIN, 0}};
    const int64_t wait = kill_at_ ? std::max<int64_t>(kill_at_ - milliseconds_now(), 0) : -1;
    poll(wanted, 2, static_cast<int>(std::min<int64_t>(wait, kGraceMs)));
    if (wanted[1].revents) is_open = pass_text(said);
    on_signal();
    if (kill_at_ && milliseconds_now() >= kill_at_ && !is_over_) {
      for (const pid_t process : descendants()) kill(process, SIGKILL);
      kill_at_ = milliseconds_now() + 100;
    }
  }
  if (signal_) end_what_is_left();
  for (pollfd left = {text_, POLLIN, 0}; is_open && poll(&left, 1, 0) > 0;) {
    is_open = pass_text(said);
  }
  if (is_open) leave_to_another_process();
  close(text_);
  close(signals_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  // A launcher that ends well although it was told to stop does not make the job whole.
  if (signal_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0) status_ = signal_;
  return {status_, signal_, std::move(said)};
}

}  // namespace

Ended run_to_end(const Launch& launch) { return Job(launch).run(); }

}  // namespace weir::dsm
