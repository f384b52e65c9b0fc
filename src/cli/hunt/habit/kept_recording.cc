#include "cli/hunt/habit/kept_recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "cli/common/failure.h"
#include "cli/hunt/schedule/schedule_log.h"
#include "cli/hunt/search/repeat.h"
#include "cli/recorder/recorded_run.h"
#include "recording/bytes.h"
#include "recording/directory.h"

namespace weir::cli::hunt {
namespace {

using recording::File;

constexpr uint64_t kMostOfLog = 64u << 20;  // bytes of a schedule log that are read

Outcome outcome_of(const RecordedRun& run, const std::string& schedule, const File& out,
                   const File& err, const std::string& log) {
  Outcome outcome;
  outcome.schedule = schedule;
  outcome.was_killed = run.child->was_killed();
  outcome.status = run.child->status();
  outcome.out = out.read(0, std::min(out.size(), kMostOutput));
  outcome.err = err.read(0, std::min(err.size(), kMostOutput));
  part_words(outcome);
  const File file = File::reading(log);
  outcome.log = parsed_log(file.read(0, std::min(file.size(), kMostOfLog)));
  return outcome;
}

}  // namespace

WorkFolder::WorkFolder() {
  const char* const where = getenv("TMPDIR");
  path_ = fmt::format("{}/weir-hunt-XXXXXX", where && *where == '/' ? where : "/tmp");
  if (!mkdtemp(path_.data())) path_.clear();
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

KeptRecording keep_recording(const Program& program, const KeepOptions& options,
                             const std::string& schedule, const Outcome& found,
                             const std::function<bool(const Outcome&)>& is_alike) {
  const WorkFolder folder;
  const std::string log = folder.path() + "/log";
  const File out(memfd_create("stdout", MFD_CLOEXEC)), err(memfd_create("stderr", MFD_CLOEXEC));
  if (folder.path().empty() || !out.is_open() || !err.is_open())
    return {"", "there is no room for what the run writes"};
  RecordOptions record;
  record.directory = options.directory;
  record.quiet = true;
  record.schedule = schedule;
  record.schedule_log = log;
  record.step_limit = options.step_limit;
  record.guards_heap = options.guards_heap;
  RunSurroundings surroundings;
  surroundings.in_child = [&] {
    setsid();
    sigset_t heard;  // the command may have blocked these while it searches
    sigemptyset(&heard);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&heard, signal);
    sigprocmask(SIG_UNBLOCK, &heard, nullptr);
    const char* const name = options.input.empty() ? "/dev/null" : options.input.c_str();
    const File in(open(name, O_RDONLY | O_CLOEXEC));
    dup2(in.descriptor(), STDIN_FILENO);
    dup2(out.descriptor(), STDOUT_FILENO);
    dup2(err.descriptor(), STDERR_FILENO);
  };
  const auto begin = std::chrono::steady_clock::now();
  surroundings.is_over = [&] {
    return std::chrono::steady_clock::now() - begin >
           std::chrono::duration<double>(options.timeout);
  };
  try {
    const RecordedRun run = recorded_run(program, record, "", Child::Signals::kEnd, surroundings);
    if (!run.has_started) return {"", "the run ended before it was at work under Weir"};
    const auto refuse = [&](const std::string& why) {
      run.remove();
      return KeptRecording{"", why, run.child->interrupt()};
    };
    if (run.child->is_interrupted()) return refuse("interrupted");
    if (!run.failure.empty()) return refuse(run.failure);
    const Outcome outcome = outcome_of(run, schedule, out, err, log);
    if (!is_alike(outcome)) {
      const std::string other = difference(found, outcome);
      return refuse("recorded, the run does not fail alike" + (other.empty() ? "" : ": " + other));
    }
    return {run.directory, ""};
  } catch (const Failure& failure) {
    return {"", failure.what()};
  } catch (const recording::Damage& damage) { return {"", damage.what()}; }
}

std::string name_of_recording(const std::string& directory) {
  namespace fs = std::filesystem;
  const std::string name = fs::path(directory).filename().string();
  try {
    if (fs::path(recording::recording_named(name)) == fs::path(directory)) return name;
  } catch (const recording::Damage&) {}
  return directory;
}

}  // namespace weir::cli::hunt
