// A run is recorded, which changes little in it, and the recording is replayed: there checking may
// take as long as it likes. The recording is in the way only meanwhile.
#include <fmt/format.h>

#include <memory>

#include "cli/checked_runs/one_run.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/launch/child.h"
#include "cli/races/hazards.h"
#include "cli/recorder/recorded_run.h"
#include "cli/recorder/replayed_run.h"
#include "recording/directory.h"

namespace weir::cli {
namespace {

class Kept {
 public:
  Kept(const RecordedRun& run, bool is_kept) : run_(run), is_kept_(is_kept) {}
  ~Kept() {
    if (!is_kept_) run_.remove();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  const RecordedRun& run_;
  const bool is_kept_;
};

}  // namespace

void require_deep(const CheckOptions& options) {
  if (options.runs > 1 && !options.recording.empty())
    throw Failure(kWeirFailed, "check --recording: one recording is kept; --runs makes several");
}

EndOfRun deep_run(const OneRun& one, uint32_t count, Checker& checker) {
  RecordOptions options;
  options.directory = one.options.recording;
  options.log = one.log;
  options.stat = one.options.stat;
  options.delay = one.plan.delay;
  const Stopwatch watch;
  EndOfRun result;
  RunSurroundings surroundings;
  surroundings.in_child = [&] { one.install(); };
  surroundings.started = [&] { one.input.started(); };
  surroundings.is_over = [&] { return result.is_late = watch.is_over(one.most_seconds); };
  one.begin();
  const RecordedRun run =
      recorded_run(one.program, options, one.log, Child::Signals::kPassOn, surroundings);
  one.input.end();
  result.was_killed = run.child->was_killed();
  result.status = run.child->status();
  result.asked = run.child->asked_to_end();
  if (!run.has_started) {
    result.was_checked = false;
    return result;
  }
  const Kept kept(run, !one.options.recording.empty());
  if (!run.failure.empty())
    say(one.log, fmt::format("the recording does not go to the program's end: {}", run.failure));
  const recording::Recording recording(run.directory);
  if (recording.end && recording.end->streams.empty()) {
    result.was_checked = false;
    return result;
  }
  refuse_other_world(recording);

  FindingsMemory notes;
  const FindingsMemory found;
  notes.findings().pass = findings::Pass::kNotes;
  found.findings().pass = findings::Pass::kChecks;
  found.findings().hazards = kReplayedHazards;
  ReplayOptions replay;
  Replayed replayed{};
  const auto note_end = [&](const Replayed& how) {
    replayed = how;
    return 0;
  };
  replay_once(replay, recording, "/dev/null", {&notes, true, note_end});
  if (!replayed.interrupt) {
    found.take_touched(notes);
    replay.verify = true;
    checker.begin_run(found.reader(), count, options_of(one.plan));
    replay_once(replay, recording, one.log, {&found, true, [&](const Replayed& how) {
                                               checker.take();
                                               checker.end_run(result.words());
                                               return note_end(how);
                                             }});
    result.was_checked = found.reader().attached();
    if (const uint64_t pages = found.reader().untrapped_pages()) {
      say(one.log,
          fmt::format("there was no room to look at {} of the pages that several threads touch",
                      pages));
    }
  }
  if (replayed.interrupt) result.asked = replayed.interrupt;
  else if (!replayed.is_same) result.failure = "its replay differed from it";
  if (!run.failure.empty()) result.failure = run.failure;
  return result;
}

}  // namespace weir::cli
