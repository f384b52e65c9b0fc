// One replay of a recording: the program starts beside the command as it started then, is told what
// it was told, and is watched until it stands at the recording's end.
#include "cli/recorder/replayed_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/child.h"
#include "cli/launch/identity.h"
#include "cli/launch/kept_files.h"
#include "cli/launch/launch.h"
#include "cli/launch/loader_files.h"
#include "cli/launch/processor_x86_64.h"
#include "cli/launch/program.h"
#include "cli/launch/signal_state.h"
#include "cli/launch/verdict.h"
#include "cli/recorder/debugger.h"
#include "cli/recorder/feeder.h"
#include "cli/recorder/progress.h"
#include "cli/recorder/where.h"
#include "sys/signal.h"

namespace weir::cli {

void refuse_other_world(const recording::Recording& recording) {
  const recording::Manifest& manifest = recording.manifest;
  const auto refuse = [&](const std::string& why) {
    throw Failure(kWeirFailed, fmt::format("{}: {}", recording.directory, why));
  };
  const recording::Processor processor = this_processor();
  if (!(processor == manifest.processor)) {
    refuse(fmt::format("it was recorded on another kind of processor ({}; this is {})",
                       manifest.processor.name, processor.name));
  }
  if (const uint64_t vdso = vdso_size(); manifest.vdso != 0 && manifest.vdso != vdso) {
    refuse(
        fmt::format("it was recorded with another vDSO, that of Linux {}, which takes {} bytes; "
                    "that of this kernel takes {}, so that libraries lie elsewhere: replay it "
                    "on that kernel",
                    manifest.system, manifest.vdso, vdso));
  }
  if (manifest.order != "token" && manifest.order != "record" && manifest.order != "serial")
    refuse(fmt::format("order {}: this version does not replay it", manifest.order));
  refuse_view(manifest.view, "replay");
  if ((manifest.order == "token") != (manifest.view == "isolated") ||
      (manifest.order == "serial" && manifest.view != "direct"))
    refuse(fmt::format("order {} with view {}: no recording is made so", manifest.order,
                       manifest.view));
  std::vector<std::string> damages;
  recording::verify_copies(recording, &damages);
  if (!damages.empty()) refuse(damages.front());
}

namespace {

// In the child, before it becomes the program: what of a process's state the program can see, or
// its addresses depend on.
void restore(const recording::Manifest& manifest, bool is_kept) {
  if (chdir(manifest.directory.c_str()) != 0 && !manifest.program.starts_with("/") && !is_kept) {
    throw Failure(kWeirFailed, fmt::format("the recorded working directory {}: {}",
                                           manifest.directory, strerror(errno)));
  }
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = manifest.stack;
  if (setrlimit(RLIMIT_STACK, &stack) != 0) {
    throw Failure(
        kWeirFailed,
        fmt::format(
            "the stack limit was {} when this was recorded, and cannot be set now: {}",
            manifest.stack == RLIM_INFINITY ? "unlimited" : fmt::format("{} bytes", manifest.stack),
            strerror(errno)));
  }
  if (manifest.signals) inherit(*manifest.signals);
}

// One of its processes, whichever, has said that it differs.
bool has_differed(const ChannelMemory& memory) {
  return __atomic_load_n(&memory.header().differs, __ATOMIC_ACQUIRE) != 0;
}

// Empty: the replay went to the recording's end and ended as that did, as far as that is recorded.
std::string end_that_differs(const recording::Recording& recording, const Child& child,
                             const Feeder& feeder) {
  if (!recording.end) return "";
  recording::End now;
  now.reason = child.was_killed() ? recording::kKilled : recording::kExited;
  now.status = child.status();
  const recording::End& then = *recording.end;
  if (!then.is_whole()) return "";
  if (now.reason != then.reason || now.status != then.status) {
    return fmt::format("the replay ended differently: {} instead of {}", now.words(), then.words());
  }
  std::string stream;
  // A program that is killed dies in the middle of what its other tasks do: they may have put more
  // than the order has place for.
  if (then.reason != recording::kKilled && !feeder.is_used_up(&stream))
    return fmt::format("the replay ended before the recording did (stream {})", stream);
  return "";
}

// Empty: there is none. Where something of the recording is missing, that has been said.
std::string difference(const recording::Recording& recording, const ChannelMemory& memory,
                       const Child& child, const Feeder& feeder, bool is_damaged) {
  const std::string end = is_damaged ? "" : end_that_differs(recording, child, feeder);
  return end.empty() && has_differed(memory) ? "the replay ended where it differed" : end;
}

// The program was to die by itself, or to ask for something, and computes.
std::string what_is_missing(const Feeder& feeder) {
  std::string stream;
  int signal = 0;
  if (!feeder.awaits_death(&stream, &signal)) {
    feeder.is_used_up(&stream);
    return fmt::format(
        "the replay differs from the recording: the program computes for much "
        "longer than it was recorded, and stream {} goes on",
        stream);
  }
  return fmt::format(
      "the replay differs from the recording: task {} was to end the program by {} "
      "here, and does not",
      stream, recording::signal_name(signal));
}

// Sees that the replay goes on no more though no process ends.
class Standing {
 public:
  // kLives: it has not died as it was to, or computes for much longer than it was recorded.
  enum class State { kGoesOn, kAtEnd, kStuck, kLives };

  Standing(const std::optional<recording::End>& end, bool is_checked)
      : end_(end), slower_(is_checked ? 10 : 1) {}

  State look(const ChannelMemory& memory, const Feeder& feeder, const Child& child) {
    // A process whose last entry says that it ends is about to.
    constexpr auto kGrace = std::chrono::milliseconds(100);
    constexpr auto kToShow = std::chrono::seconds(1);  // what it has taken may be output
    constexpr auto kMaxWait = std::chrono::seconds(3), kGap = kMaxWait;
    const auto now = std::chrono::steady_clock::now();
    const uint64_t taken = feeder.taken();
    if (taken != taken_) {
      taken_ = taken;
      taken_since_ = since_ = now;
      taken_time_ = time_ = child.processor_time();
    }
    if (now - looked_ > kGap) taken_since_ = since_ = now;  // this command was stopped meanwhile
    looked_ = now;
    const bool waits = __atomic_load_n(&memory.header().at_end, __ATOMIC_ACQUIRE) != 0;
    std::string stream;
    if (feeder.is_used_up(&stream)) {
      const std::chrono::duration<double> grace = waits                ? kGrace
                                                  : computes_on(child) ? longest_end()
                                                                       : kToShow;
      return now - since_ > grace ? State::kAtEnd : State::kGoesOn;
    }
    int signal;
    const std::chrono::duration<double> idle = now - taken_since_;
    if (idle > slower_ * longest_end() &&
        (feeder.awaits_death(&stream, &signal) || computes_too_long(child)))
      return State::kLives;
    if (!waits || now - since_ < kMaxWait) return State::kGoesOn;
    constexpr uint64_t kIdle = 30;  // ticks: looking whether there is anything to do
    const uint64_t time = child.processor_time();
    if (time - time_ < kIdle && !child.is_runnable())
      return feeder.awaits_death(&stream, &signal) ? State::kLives : State::kStuck;
    time_ = time;  // somebody computes
    since_ = now;
    return State::kGoesOn;
  }

 private:
  // It has gone another way, and asks for nothing more: by its own time, which neither load nor a
  // stop adds to.
  bool computes_too_long(const Child& child) const {
    constexpr double kTicks = 100, kAtLeast = 60, kTimes = 100;
    if (!end_) return false;
    const double limit = kTicks * slower_ * (kAtLeast + kTimes * end_->seconds);
    return static_cast<double>(child.processor_time()) > static_cast<double>(taken_time_) + limit;
  }
  // With all that was recorded used up, and none who wants more: whether the program may still have
  // to come to its end by itself.
  bool computes_on(const Child& child) const {
    if (child.has_ended()) return false;  // others of its processes compute, and were ended
    return !end_ || end_->reason != recording::kKilled || sys::is_own_end(end_->status);
  }
  // How long it may take to.
  std::chrono::duration<double> longest_end() const {
    return std::chrono::duration<double>(10 + 10 * (end_ ? end_->seconds : 0));
  }

  const std::optional<recording::End>& end_;
  const int slower_;  // so many times
  uint64_t taken_ = ~uint64_t{0}, taken_time_ = 0;
  uint64_t time_ = 0;
  std::chrono::steady_clock::time_point since_, taken_since_, looked_;
};

// As a wait status; 125 where the recording does not say.
int how_recorded(const recording::Recording& recording) {
  if (recording.end && recording.end->reason == recording::kKilled) return recording.end->status;
  return (recording.end ? recording.end->status : kWeirFailed) << 8;
}

// The task has come to where it was to stand: says where that is, and starts gdb, or the replay
// ends there.
void look(Look& look, const ChannelMemory& memory, Child& child, const std::string& log,
          const ReplayOptions& options, const KeptFiles& kept) {
  const channel::Stop& stop = memory.header().stop;
  const bool goes_to_begin = options.gdb && options.stop.empty();
  if (!goes_to_begin) {
    say(log, fmt::format("task {} is at event {}", name_of(stop), stop.at));
    for (const std::string& line : stack_lines(memory.header(), kept)) say(log, "  in " + line);
  }
  memory.header().stack_frames = memory.header().stack_is_taken = 0;  // for one that differs later
  if (!options.gdb) {
    child.end_here(0);
    return;
  }
  std::vector<pid_t> processes = child.processes();
  std::erase_if(processes, [&](pid_t pid) {
    return pid == memory.header().pid[stop.process] && pid != stop.pid;
  });  // its monitor
  look.start_gdb(processes, goes_to_begin,
                 [&] { return child.attend() && !child.is_interrupted(); });
}

void hide_output() {
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0)
    throw Failure(kWeirFailed, fmt::format("/dev/null: {}", strerror(errno)));
  close(nothing);
}

}  // namespace

int replay_once(const ReplayOptions& options, const recording::Recording& recording,
                const std::string& log, const ReplayRun& this_run) {
  const recording::Manifest& manifest = recording.manifest;
  RunOptions run;
  run.order = manifest.order;
  run.view = manifest.view;
  run.trace = manifest.descriptor;
  if (manifest.scheduled) {
    run.schedule = manifest.scheduled->schedule;
    run.step_limit = manifest.scheduled->step_limit;
    plan_recorded_schedule(run);
  }
  require(run, "replay");
  ChannelMemory memory(channel::Mode::kReplay);
  memory.set_run(recording.directory, log, options.fingerprint || manifest.fingerprint,
                 options.stat);
  if (this_run.findings) memory.header().findings = this_run.findings->descriptor();
  const channel::Stop wanted = options.stop.empty() && !options.gdb
                                   ? channel::Stop{}
                                   : place_to_stop(options.stop.empty() ? "1" : options.stop);
  std::optional<Look> stand;
  KeptFiles kept(recording);
  if (wanted.progress) {
    stand.emplace(memory, wanted, kept.program_file(), options.gdb ? kept.debugger_root() : "");
  }
  std::vector<std::string> damages = recording.damages;
  // A file for each stream: as many as may be, but the program has what it had.
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const rlimit most{descriptors.rlim_max, descriptors.rlim_max};
  setrlimit(RLIMIT_NOFILE, &most);
  Feeder feeder(memory, recording, &damages);
  for (const std::string& damage : damages)
    say(log, fmt::format("{}: {}; replayed up to there", recording.directory, damage));
  const size_t told = damages.size();
  feeder.put();
  const Program program{manifest.program, manifest.arguments};
  LoaderFiles loader_files(memory, recording, kept);
  Child child(
      [&] {
        restore(manifest, kept.is_used());
        if (this_run.is_quiet) hide_output();
        setrlimit(RLIMIT_NOFILE, &descriptors);
        const InheritedMemories memories = inherit_memories(run);
        loader_files.install();
        const auto pass_on = [&] {
          if (memory.pass_on(run.trace)) return;
          throw Failure(
              kWeirFailed,
              fmt::format("descriptor {}, which was used when this was recorded: {} (ulimit -Hn?)",
                          run.trace, strerror(errno)));
        };
        execute(kept.is_used() ? kept.program() : program, manifest.environment, run, pass_on,
                manifest.user);
      },
      Child::Signals::kEnd);
  Standing stands(recording.end, this_run.findings != nullptr);
  bool stuck = false, lives = false, looked = false;
  std::optional<Progress> progress(std::in_place, recording.end ? recording.end->raw : 0,
                                   recording.end ? recording.end->seconds : 0);
  for (;;) {
    const uint32_t seen = memory.bell();
    feeder.put();
    if (!child.attend()) break;
    if (stand && !looked && stand->is_there()) {
      progress.reset();
      look(*stand, memory, child, log, options, kept);
      looked = true;
    }
    if (stand && stand->is_over()) child.end_here(0);
    if (progress) progress->show(feeder.taken());
    if (child.is_interrupted()) memory.set_gone("the replay was interrupted");
    if (stand && stand->has_gdb()) {  // who waits there waits for the user
      memory.sleep(seen);
      continue;
    }
    if (has_differed(memory)) child.end_here(kWeirFailed << 8);
    switch (stands.look(memory, feeder, child)) {
      case Standing::State::kGoesOn: break;
      case Standing::State::kAtEnd: child.end_here(how_recorded(recording)); break;
      case Standing::State::kLives:
        lives = damages.empty();
        child.end_here(kWeirFailed << 8);
        break;
      case Standing::State::kStuck:
        stuck = recording.end && recording.end->reason != recording::kKilled && damages.empty();
        child.end_here(stuck || !damages.empty() ? kWeirFailed << 8 : how_recorded(recording));
    }
    memory.sleep(seen);
  }
  progress.reset();
  if (looked) return child.is_interrupted() ? child.end_alike() : 0;
  if (stand)
    say(log, fmt::format("task {} never came to event {}", name_of(wanted), wanted.progress));
  for (const std::string& line : stack_lines(memory.header(), kept)) say(log, "  in " + line);
  for (size_t i = told; i < damages.size(); i++)
    say(log, fmt::format("{}: {}; replayed up to there", recording.directory, damages[i]));
  const std::string different =
      child.is_interrupted() ? "the replay was interrupted"
      : lives                ? what_is_missing(feeder)
      : stuck ? "the replay differs from the recording: a task has come to the end of what is "
                "recorded of it, and the others wait for it"
              : difference(recording, memory, child, feeder, !damages.empty());
  if (!different.empty()) say(log, different);
  if (options.verify && different.empty() && damages.empty() && !this_run.is_quiet)
    say(log, fmt::format("replayed as recorded ({})", recording.end->words()));
  const bool is_same = different.empty() && damages.empty();
  const int before = options.verify           ? (is_same ? 0 : 1)
                     : child.is_interrupted() ? -1
                     : !different.empty()     ? kWeirFailed
                     : child.was_killed()     ? -1
                                              : child.status();
  const int status =
      this_run.at_end ? this_run.at_end({before, is_same, child.interrupt()}) : before;
  return status >= 0 || this_run.is_quiet ? status : child.end_alike();
}

}  // namespace weir::cli
