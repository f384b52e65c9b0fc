// One run that is recorded: the program runs beside the command, which keeps what the world tells
// it.
#include "cli/recorder/recorded_run.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/coherent_features.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/identity.h"
#include "cli/launch/launch.h"
#include "cli/launch/processor_x86_64.h"
#include "cli/launch/signal_state.h"
#include "cli/launch/verdict.h"
#include "cli/recorder/recorder.h"
#include "sys/futex.h"

namespace weir::cli {
namespace {

uint32_t left_out(const RecordOptions& options) {
  uint32_t bits = 0;
  for (const std::string& name : options.without) {
    const auto* const end = kOptimizations + kOptimizationCount;
    const auto* const found = std::find(kOptimizations, end, name);
    if (found == end) {
      throw Failure(kWeirFailed,
                    fmt::format("record --without {}: there is no such optimization: {}", name,
                                fmt::join(kOptimizations, ", ")));
    }
    bits |= 1u << (found - kOptimizations);
  }
  if (bits && options.view != "coherent")
    throw Failure(kWeirFailed,
                  "record --without: it is View coherent that has these optimizations");
  return bits;
}

uint64_t random_number() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Failure(kWeirFailed, "getrandom failed");
  return number;
}

recording::Manifest manifest_of(const Program& program, const RecordOptions& options,
                                const RunOptions& run, const Keeping& keeping) {
  recording::Manifest manifest;
  manifest.recording = random_number();
  manifest.weir = WEIR_VERSION;
  manifest.started = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  manifest.order = run.order;
  manifest.view = run.view;
  if (run.order == "serial") manifest.scheduled = {run.schedule, run.step_limit};
  manifest.fingerprint = options.fingerprint;
  manifest.program = program.path;
  manifest.arguments = program.argv;
  manifest.environment = environment_for(run, program);
  std::error_code error;
  manifest.directory = std::filesystem::current_path(error).string();
  manifest.descriptor = run.trace;
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  manifest.stack = stack.rlim_cur;
  manifest.signals = inherited_signals();
  manifest.vdso = vdso_size();
  manifest.user = {getuid(), geteuid(), getgid(), getegid()};
  utsname system;
  uname(&system);
  manifest.system = system.release;
  manifest.processor = this_processor();
  manifest.files = identities(program, manifest.environment, keeping);
  return manifest;
}

// Where contents are kept for all recordings: it must be on the recording's file system. Empty:
// nowhere.
std::string store_folder(const std::string& directory) {
  struct stat there, here;
  const std::string cache = cache_folder();
  if (cache.empty() || stat(cache.c_str(), &here) != 0 || stat(directory.c_str(), &there) != 0 ||
      here.st_dev != there.st_dev)
    return "";
  return cache + "/files";
}

// With an error instead of a signal where a limit on file sizes forbids it.
void write_or_fail(const std::string& path, const std::string& text) {
  struct sigaction ignore = {}, was;
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &was);
  const bool written = recording::replace_file(path, text);
  const int error = errno;
  sigaction(SIGXFSZ, &was, nullptr);
  if (!written) throw Failure(kWeirFailed, fmt::format("{}: {}", path, strerror(error)));
}

// The files of which the programs consist that the recorded one executes. What the system has
// installed before is only named, in the recording's file `images`; of all else there is to be a
// copy, as the program may have made it itself, or make another in its place.
class Images {
 public:
  Images(const std::string& path, const recording::Manifest& manifest, const Keeping& keeping)
      : path_(path), started_(manifest.started), known_(manifest.files), keeping_(keeping) {}

  // Throws Failure where it cannot be read.
  Recorder::Need need(const std::string& path, const struct stat& status, recording::Copy& kept) {
    const auto list = [&](const recording::Identity& file) {
      kept.size = file.size;
      kept.sum = file.sum;
      return file.is_kept ? Recorder::Need::kListed : Recorder::Need::kNothing;
    };
    const auto same = [&](const recording::Identity& file) {
      return file.path == path && file.size == static_cast<uint64_t>(status.st_size) &&
             file.modified == recording::modified(status);
    };
    for (const auto* files : {&known_, &static_cast<const Files&>(files_)}) {
      const auto found = std::ranges::find_if(*files, same);
      if (found != files->end()) return list(*found);
    }
    if (!is_loader(path) && !(is_installed(path) && was_there(status)))
      return Recorder::Need::kCopy;
    files_.push_back(identity_of(path, keeping_));
    write_or_fail(path_, recording::text_of_images(files_));
    return list(files_.back());
  }

 private:
  // The kernel finds it by the name in the program.
  static bool is_loader(const std::string& path) {
    return path.substr(path.rfind('/') + 1).starts_with("ld-linux-");
  }
  bool was_there(const struct stat& status) const {
    constexpr int64_t kSecond = 1'000'000'000;  // the file system's clock may be behind
    return status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec < started_ - kSecond;
  }

  using Files = std::vector<recording::Identity>;

  const std::string path_;
  const int64_t started_;
  const Files& known_;
  const Keeping& keeping_;
  Files files_;
};

// Says once that a signal has waited long: the program may be waiting for its handler in a loop
// that has no event, for ever.
class WaitingSignals {
 public:
  void look(const ChannelMemory& memory, const std::string& log) {
    constexpr uint64_t kMaxWaitNs = 5'000'000'000;
    const channel::WaitingSignal waiting = memory.header().waiting;
    const uint64_t now = sys::monotonic_ns();
    if (told_ || !waiting.since || waiting.since > now || now - waiting.since < kMaxWaitNs) return;
    if (kill(memory.header().pid[waiting.process], 0) != 0) return;  // it ended without an event
    told_ = true;
    say(log, fmt::format("{} has waited 5 s for the next event of task {}-{}, which computes: "
                         "recorded, a signal is handed to a program at the "
                         "end of a system call or an operation of a thread, not in between",
                         recording::signal_name(waiting.signal), waiting.process, waiting.task));
  }

 private:
  bool told_ = false;
};

// It ended before Weir's library was at work in it, or while the library made its preparations:
// nothing of it can be replayed.
bool could_not_start(const ChannelMemory& memory, const Child& child) {
  const channel::Header& header = memory.header();
  if (__atomic_load_n(&header.processes, __ATOMIC_ACQUIRE) == 0) return true;
  const bool is_weirs_end = __atomic_load_n(&header.failed, __ATOMIC_ACQUIRE) != 0 &&
                            !child.was_killed() && child.status() == kWeirFailed;
  return is_weirs_end && __atomic_load_n(&header.starting, __ATOMIC_ACQUIRE) != 0;
}

// Weir has ended the program. What it has made is not to go on without it, for ever perhaps.
bool is_ended_by_weir(const ChannelMemory& memory, const Child& child) {
  return child.has_ended() && !child.was_killed() && child.status() == kWeirFailed &&
         __atomic_load_n(&memory.header().failed, __ATOMIC_ACQUIRE) != 0;
}

// What a replay cannot show though the recording is whole.
void say_what_is_missing(const ChannelMemory& memory, const std::string& log) {
  const channel::Header& header = memory.header();
  if (header.shares) {
    const std::string name = header.shared;
    say(log, fmt::format("its processes share memory ({}): what they tell each other by it is not "
                         "recorded, and a replay may differ",
                         name.empty() ? "anonymous" : name));
  }
  if (header.strangers) {
    say(log, fmt::format("{} is written by others than the recorded program, or by other means "
                         "than its mapping: what they write while the program looks "
                         "at it is not recorded, and a replay may differ",
                         header.strange));
  }
  std::set<std::string> said;
  for (uint32_t i = 0; i < std::min(header.outsiders, channel::kMaxOutsiders); i++) {
    const channel::Outsider& one = header.outsider[i];
    if (!one.name[0] || !said.insert(one.name).second) continue;
    say(log, fmt::format("{} was executed without Weir: it is {}. What it does is not in the "
                         "recording, and a replay shows nothing of it",
                         one.name, one.why));
  }
  if (header.outsiders > channel::kMaxOutsiders) {
    say(log, fmt::format("so were others, {} in all", header.outsiders));
  }
}

}  // namespace

void RecordedRun::remove() const {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
}

RecordedRun recorded_run(const Program& program, const RecordOptions& options,
                         const std::string& log, Child::Signals signals,
                         const RunSurroundings& surroundings) {
  RunOptions run;
  run.order = options.schedule ? "serial" : options.view == "isolated" ? "token" : "record";
  run.view = options.schedule ? "direct" : options.view;
  run.left_out = left_out(options);
  run.delay = options.delay;
  run.sparse_delays = options.delay != 0;
  run.trace = descriptor_number();
  if (options.schedule) {
    run.schedule = *options.schedule;
    run.schedule_log = options.schedule_log;
    run.step_limit = options.step_limit;
    if (options.guards_heap) run.heap = "guard";
    plan_recorded_schedule(run);
  }
  require(run);  // before anything is made
  ChannelMemory memory(channel::Mode::kRecord);
  RecordedRun result;
  const std::string directory = result.directory =
      recording::make_directory(program.path, options.directory);
  const Keeping keeping{
      recording::Store(store_folder(directory)),
      options.files == "keep" ? directory + "/" + recording::kKept : std::string()};
  recording::Manifest manifest;
  memory.set_run(directory, log, options.fingerprint, options.stat);

  const auto started = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  try {
    manifest = manifest_of(program, options, run, keeping);
    write_or_fail(directory + "/" + recording::kManifest, manifest.text());
    result.child = std::make_unique<Child>(
        [&] {
          if (surroundings.in_child) surroundings.in_child();
          const InheritedMemories memories = inherit_memories(run);
          execute(program, manifest.environment, run, [&] {
            if (!memory.pass_on(run.trace))
              throw Failure(kWeirFailed,
                            fmt::format("descriptor {}: {}", run.trace, strerror(errno)));
          });
        },
        signals);
    if (surroundings.started) surroundings.started();
  } catch (const Failure&) {
    result.remove();
    throw;
  }
  Child& child = *result.child;
  Images images(directory + "/" + recording::kImages, manifest, keeping);
  Recorder recorder(
      memory, directory, manifest.recording,
      [&](const std::string& path, const struct stat& status, recording::Copy& kept) {
        return images.need(path, status, kept);
      },
      &keeping);
  recording::End end;
  WaitingSignals waiting;
  for (;;) {
    const uint32_t seen = memory.bell();
    recorder.take();
    recorder.age(static_cast<uint64_t>(elapsed() * 1e9) + 1);
    if (!child.attend()) break;
    if (is_ended_by_weir(memory, child)) child.end_here(0);
    if (surroundings.is_over && surroundings.is_over()) child.end_here(SIGKILL);
    waiting.look(memory, log);
    memory.sleep(seen);
  }
  result.seconds = end.seconds = elapsed();
  recorder.finish(end);
  if (could_not_start(memory, child)) {
    result.remove();
    return result;
  }
  result.has_started = true;
  result.failure = recorder.failure();
  if (is_ended_by_weir(memory, child) && result.failure.empty())
    result.failure = "Weir itself failed in the program";
  end.reason = !result.failure.empty() ? result.failure
               : child.was_killed()    ? recording::kKilled
                                       : recording::kExited;
  end.status = child.status();
  if (!recording::replace_file(directory + "/" + recording::kEndFile, end.text()) &&
      result.failure.empty()) {
    result.failure = fmt::format("{}/{}: {}", directory, recording::kEndFile, strerror(errno));
  }
  result.words = end.words();
  if (!options.quiet) say_what_is_missing(memory, log);
  return result;
}

}  // namespace weir::cli
