// 1. A run's standard output and error are files in memory, not pipes: a write never waits, so no
//    reader's pace gets into the schedule.
// 2. Each run is a session of its own: nothing of the terminal reaches it, and what it leaves
//    behind is ended by its group, or as a child of the command (PR_SET_CHILD_SUBREAPER).
// 3. A run that takes too long gets SIGTERM, and SIGKILL a while later.
// 4. A run is a child of this process, also where a server has forked it: it is waited for, and
//    ended, alike. What the server cannot do is done from the start, and the reason is kept.
// 5. Signals that ask the command to end are blocked and read where it waits, so that none is lost
//    between two waits. A run has the mask that the command was started with.
#include "cli/hunt/run/process_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "cli/common/failure.h"
#include "cli/hunt/run/fork_server.h"
#include "cli/launch/launch.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {
namespace {

using Clock = std::chrono::steady_clock;
using recording::File;

constexpr uint64_t kMostLogged = 64u << 20;   // bytes of a schedule log that are read
constexpr uint64_t kMaxWritten = 256u << 20;  // a run that writes more is ended
constexpr double kGraceSeconds = 2;           // from SIGTERM to SIGKILL
constexpr const char* kEnded = "the program has ended before it has made a thread";
constexpr int kLookMs = 200;  // how often sizes and times are looked at

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void refuse(const std::string& what) {
  throw Failure(kWeirFailed, fmt::format("{}: {}", what, strerror(errno)));
}

File memory_file(const char* name) {
  File file(memfd_create(name, MFD_CLOEXEC));
  if (!file.is_open()) refuse("memory for a run's output");
  return file;
}

// At most `most` bytes. A buffer of that size would be filled with zeros first.
std::string bytes_of(const File& file, uint64_t most) {
  return file.read(0, std::min(file.size(), most));
}

// Nothing is in the environment that `weir run` with this schedule would not put there: its length
// moves the program's stack.
RunOptions serial_run(const std::string& schedule, const std::string& log, uint64_t steps,
                      bool guards_heap, bool detail, const std::string& findings) {
  RunOptions run;
  run.findings_file = findings;
  run.schedule_detail = detail;
  run.order = "serial";
  run.view = "direct";
  run.schedule = schedule;
  run.schedule_log = log;
  run.step_limit = steps;
  run.processors = 1;
  if (guards_heap) run.heap = "guard";
  return run;
}

}  // namespace

struct ProcessRunner::Slot {
  enum class Stage {
    kFree,
    kRuns,   // `pid` is the run
    kTries,  // likewise; it becomes the server if it can be forked
    kAsked,  // the server has been asked for the run
  };
  Stage stage = Stage::kFree;
  pid_t pid = 0;
  uint64_t ticket = 0;
  std::string schedule;
  // Schedule logs, in memory, which no disk has to keep: of a run from the start, and of a
  // server's.
  File own_log, served_log;
  File own_findings, served_findings;  // --races: what a run has found
  bool is_served = false;              // the log is the server's
  std::string path;                    // by which the run opens it, from its own /proc
  std::string findings;                // likewise; empty: races are not looked for
  std::unique_ptr<ForkServer> server;
  File process, out, err, refusal;
  Clock::time_point start;
  bool is_told = false, is_late = false, is_cut = false, is_given_up = false;

  bool is_busy() const { return stage != Stage::kFree; }
  const File& log() const { return is_served ? served_log : own_log; }
  const File& findings_file() const { return is_served ? served_findings : own_findings; }
  static std::string path_of(const File& file) {
    return fmt::format("/proc/{}/fd/{}", getpid(), file.descriptor());
  }
  std::string log_path() const { return path_of(log()); }
  // What an earlier run has found is gone.
  void empty_findings() {
    const int file = findings_file().descriptor();
    if (ftruncate(file, 0) != 0 ||
        ftruncate(file, static_cast<off_t>(findings::kFindingsSize)) != 0)
      refuse("memory for the races of a run");
    findings = path_of(findings_file());
  }
  void signal(int number) const {
    if (pid != 0) kill(-pid, number), kill(pid, number);
    else if (server && server->is_ready()) kill(server->process(), SIGKILL);
  }
  // Gives a run that takes too long, or writes too much, its end.
  void watch(double timeout) {
    const double seconds = since(start);
    is_cut = is_cut || out.size() + err.size() > kMaxWritten;
    is_late = is_late || seconds > timeout;
    if (is_cut || seconds > timeout + kGraceSeconds) {
      signal(SIGKILL);
    } else if (is_late && !is_told) {
      signal(SIGTERM);
      is_told = true;
    }
  }
};

struct ProcessRunner::State {
  Program program;
  ProcessOptions options;
  std::optional<RaceFinder> races;
  File input, signals;
  sigset_t mask;
  std::vector<Slot> slots;
  uint64_t step_limit = 0;
  int interrupt = 0;
  bool has_deadline = false, detail = false;
  Clock::time_point deadline;
  bool forks = true;
  std::string place, refusal;  // where runs are forked; why they are not

  [[noreturn]] void become(const Slot& slot, bool is_served) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    const File here(
        open(options.input.empty() ? "/dev/null" : options.input.c_str(), O_RDONLY | O_CLOEXEC));
    dup2(here.descriptor(), STDIN_FILENO);
    dup2(slot.out.descriptor(), STDOUT_FILENO);
    dup2(slot.err.descriptor(), STDERR_FILENO);
    Failure why(kWeirFailed, "");
    try {
      RunOptions run = serial_run(slot.schedule, slot.path, step_limit, options.guards_heap, detail,
                                  slot.findings);
      std::optional<ServedRun> served;
      if (is_served) run.served = &served.emplace(slot.server->served());
      launch(program, run);
    } catch (const Failure& failure) { why = failure; } catch (const std::exception& failure) {
      why = Failure(kWeirFailed, failure.what());
    }
    const int status = why.status;
    slot.refusal.write(std::string(reinterpret_cast<const char*>(&status), sizeof status) +
                       why.what());
    _exit(kWeirFailed);
  }

  // Runs are made from the start from now on.
  void stop_forking(const std::string& why) {
    if (refusal.empty()) refusal = why;
    forks = false;
  }

  void take_outputs(Slot& slot) {
    slot.out = memory_file("stdout");
    slot.err = memory_file("stderr");
    slot.refusal = memory_file("refusal");
  }

  void follow(Slot& slot, pid_t pid) {
    slot.pid = pid;
    slot.process = File(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!slot.process.is_open()) refuse("pidfd_open (a kernel from Linux 5.3 on has it)");
  }

  void start_process(Slot& slot, bool is_served) {
    slot.is_served = is_served;
    (is_served ? slot.served_log : slot.own_log) = memory_file("log");
    slot.path = slot.log_path();
    if (races) {
      (is_served ? slot.served_findings : slot.own_findings) = memory_file("findings");
      slot.empty_findings();
    }
    take_outputs(slot);
    if (is_served) slot.server = std::make_unique<ForkServer>();
    const pid_t pid = fork();
    if (pid < 0) refuse("fork");
    if (pid == 0) become(slot, is_served);
    if (is_served) slot.server->begun();
    slot.stage = is_served ? Slot::Stage::kTries : Slot::Stage::kRuns;
    follow(slot, pid);
  }

  // By the slot's server, or from the start if that is gone.
  void start_fork(Slot& slot) {
    slot.is_served = true;
    slot.path = slot.log_path();
    if (races) slot.empty_findings();
    take_outputs(slot);
    slot.pid = 0;
    slot.process = File();
    slot.stage = Slot::Stage::kAsked;
    const RunOptions run = serial_run(slot.schedule, slot.path, step_limit, options.guards_heap,
                                      detail, slot.findings);
    if (slot.server->ask(run, slot.out, slot.err)) return;
    lose(slot);
  }

  void lose(Slot& slot) {
    stop_forking("the process that was forked for each run has ended");
    slot.server.reset();
    slot.start = Clock::now();
    slot.is_told = slot.is_late = false;
    start_process(slot, false);
  }

  // The run that the server has been asked for is to be ended: which process it is, is said soon.
  static void await_fork(Slot& slot) {
    pollfd wait{slot.server->descriptor(), POLLIN, 0};
    constexpr int kMostMs = 2000;
    poll(&wait, 1, kMostMs);
    const std::optional<ServerWord> word = slot.server->heard();
    if (word && word->kind == ServerWord::kForked) slot.pid = word->value;
  }

  // The slot's server has said something, or is gone.
  void hear(Slot& slot) {
    const std::optional<ServerWord> word = slot.server->heard();
    if (slot.stage == Slot::Stage::kTries) {
      if (word && word->kind == ServerWord::kReady) {
        place = word->text;
        slot.server->ready(slot.pid, bytes_of(slot.out, kMaxWritten),
                           bytes_of(slot.err, kMaxWritten));
        return start_fork(slot);
      }
      stop_forking(word ? word->text : kEnded);
      slot.server.reset();  // it goes on as a run
      slot.stage = Slot::Stage::kRuns;
    } else if (!word) {
      lose(slot);
    } else if (word->kind == ServerWord::kForked) {
      follow(slot, word->value);
      slot.stage = Slot::Stage::kRuns;
    } else {
      stop_forking(fmt::format("fork: {}", strerror(word->value)));
      slot.server.reset();
      start_process(slot, false);
    }
  }

  Outcome result_of(Slot& slot, int how, double processor_seconds) {
    const std::string said = slot.refusal.read(0, 4096);
    if (int status; said.size() >= sizeof status) {
      memcpy(&status, said.data(), sizeof status);
      throw Failure(status, said.substr(sizeof status));
    }
    Outcome run;
    run.schedule = slot.schedule;
    run.seconds = since(slot.start);
    run.was_killed = WIFSIGNALED(how);
    run.status = run.was_killed ? WTERMSIG(how) : WEXITSTATUS(how);
    run.timed_out = slot.is_late;
    // Who waits does not compute: a hang. Of a run that computes the step limit says what it is.
    constexpr double kBusyPart = 0.2;
    run.is_given_up =
        slot.is_given_up || (slot.is_late && processor_seconds > kBusyPart * run.seconds);
    run.is_cut = slot.is_cut;
    run.out = bytes_of(slot.out, kMostOutput);
    run.err = bytes_of(slot.err, kMostOutput);
    part_words(run);
    run.log = parsed_log(bytes_of(slot.log(), kMostLogged));
    if (races) run.races = races->races_in(slot.findings_file().descriptor());
    return run;
  }

  size_t running() const {
    return static_cast<size_t>(
        std::ranges::count_if(slots, [](const Slot& slot) { return slot.is_busy(); }));
  }

  // Takes the ended run of the slot out of it.
  Outcome reap(Slot& slot) {
    int how = 0;
    rusage used{};
    kill(-slot.pid, SIGKILL);  // what it has left behind
    while (wait4(slot.pid, &how, 0, &used) < 0 && errno == EINTR) {}
    if (slot.stage == Slot::Stage::kTries) {
      stop_forking(slot.is_late ? "the program takes too long to make its first thread" : kEnded);
      slot.server.reset();
    }
    slot.stage = Slot::Stage::kFree;
    slot.pid = 0;
    slot.process = File();
    if (running() == 0) reap_orphans();
    const double processor_seconds =
        static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
        static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    return result_of(slot, how, processor_seconds);
  }

  // REQUIRES: no run is on.
  void reap_orphans() {
    for (pid_t pid; (pid = waitpid(-1, nullptr, WNOHANG)) > 0;) {
      for (Slot& slot : slots)
        if (slot.server && slot.server->process() == pid) slot.server->forget_process();
    }
  }
};

ProcessRunner::ProcessRunner(Program program, const ProcessOptions& options)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.program = std::move(program);
  state.options = options;
  state.forks = !options.from_start;
  if (options.finds_races) state.races.emplace(options.is_known);
  if (!options.input.empty() && access(options.input.c_str(), R_OK) != 0) {
    throw Failure(kWeirFailed, fmt::format("--stdin {}: {}", options.input, strerror(errno)));
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  sigprocmask(SIG_BLOCK, &ends, &state.mask);
  state.signals = File(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!state.signals.is_open()) refuse("signalfd");
  state.slots.resize(std::max<size_t>(options.jobs, 1));
}

ProcessRunner::~ProcessRunner() {
  for (Slot& slot : state_->slots) {
    if (slot.stage == Slot::Stage::kAsked) state_->await_fork(slot);
    if (slot.pid == 0) continue;
    slot.signal(SIGKILL);
    while (waitpid(slot.pid, nullptr, 0) < 0 && errno == EINTR) {}
  }
  sigprocmask(SIG_SETMASK, &state_->mask, nullptr);
}

size_t ProcessRunner::slots() const { return state_->slots.size(); }
size_t ProcessRunner::running() const { return state_->running(); }

void ProcessRunner::set_step_limit(uint64_t instructions) { state_->step_limit = instructions; }
void ProcessRunner::set_detail(bool detail) { state_->detail = detail; }
void ProcessRunner::give_up_after(double seconds) {
  state_->has_deadline = seconds >= 0;
  state_->deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(std::max(seconds, 0.0)));
}
bool ProcessRunner::is_interrupted() const { return state_->interrupt != 0; }
int ProcessRunner::interrupt() const { return state_->interrupt; }

std::string ProcessRunner::way() const {
  const State& state = *state_;
  if (state.options.from_start) return "";
  if (!state.refusal.empty()) return "each run from the start: " + state.refusal;
  return state.place.empty() ? "" : "runs were forked at " + state.place;
}

std::string ProcessRunner::unseen() const { return state_->races ? state_->races->unseen() : ""; }

bool ProcessRunner::forks() const { return state_->forks; }
void ProcessRunner::begin_at_start(const std::string& why) { state_->stop_forking(why); }

void ProcessRunner::start(uint64_t ticket, const std::string& schedule, Begin begin) {
  Slot& slot = *std::ranges::find_if(state_->slots, [](const Slot& one) { return !one.is_busy(); });
  slot.ticket = ticket;
  slot.schedule = schedule;
  slot.is_told = slot.is_late = slot.is_cut = slot.is_given_up = false;
  slot.start = Clock::now();
  const bool forks = state_->forks && begin == Begin::kAnywhere;
  if (!state_->forks) slot.server.reset();
  if (forks && slot.server) state_->start_fork(slot);
  else state_->start_process(slot, forks);
}

std::pair<uint64_t, Outcome> ProcessRunner::finished() {
  State& state = *state_;
  std::vector<pollfd> waits;
  std::vector<std::pair<Slot*, bool>> whose;  // whether it is the server's
  for (;;) {
    waits.assign({{state.signals.descriptor(), POLLIN, 0}});
    whose.assign({{nullptr, false}});
    for (Slot& slot : state.slots) {
      const auto wait = [&](int descriptor, bool is_server) {
        waits.push_back({descriptor, POLLIN, 0});
        whose.emplace_back(&slot, is_server);
      };
      if (slot.stage == Slot::Stage::kTries || slot.stage == Slot::Stage::kAsked)
        wait(slot.server->descriptor(), true);
      if (slot.stage == Slot::Stage::kTries || slot.stage == Slot::Stage::kRuns)
        wait(slot.process.descriptor(), false);
    }
    poll(waits.data(), waits.size(), kLookMs);
    signalfd_siginfo sent;
    if (waits[0].revents && read(waits[0].fd, &sent, sizeof sent) == sizeof sent) {
      state.interrupt = static_cast<int>(sent.ssi_signo);
      throw Interrupted();
    }
    for (size_t i = 1; i < waits.size(); i++) {
      auto& [slot, is_server] = whose[i];
      if (waits[i].revents & (POLLIN | POLLHUP)) {
        if (!is_server) {
          const uint64_t ticket = slot->ticket;
          return {ticket, state.reap(*slot)};
        }
        state.hear(*slot);
        break;  // its descriptors are others now
      }
      slot->watch(state.options.timeout);
      if (state.has_deadline && Clock::now() > state.deadline) {
        slot->is_late = slot->is_given_up = true;
        slot->signal(SIGKILL);
      }
    }
  }
}

}  // namespace weir::cli::hunt
