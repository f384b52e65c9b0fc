// The two ways of a run under `weir hunt`, from the program's start and forked where its first
// thread is made, side by side: is each schedule the same run both ways, and what does a run take?
//
// usage: hunt_both_ways [--runs N] [--refused REASON] [--input FILE] [--rate] PROGRAM [ARGUMENT...]
// --refused REASON: the program is not forked, for a reason with this text in it.
// Exit status 2: from the start, too, the schedule is not one run.
// --rate: no comparison; prints schedules a second of one processor both ways.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cli/common/failure.h"
#include "cli/hunt/run/process_runner.h"
#include "cli/hunt/search/repeat.h"
#include "cli/launch/program.h"

namespace {

using weir::cli::hunt::Begin;
using weir::cli::hunt::Outcome;
using weir::cli::hunt::ProcessRunner;

constexpr int kUnsteady = 2;  // exit status

double processor_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used;
    getrusage(who, &used);
    sum += static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  }
  return sum;
}

std::string schedule_of(size_t i, uint64_t length) {
  switch (i % 6) {
    case 0: return "w3:default";
    case 1: return fmt::format("w3:random:seed={},p=0.05", i);
    case 2: return fmt::format("w3:pct:seed={},depth={},length={}", i, 2 + i % 4, length);
    case 3: return fmt::format("w3:pos:seed={}", i);
    case 4: return fmt::format("w3:pb:seed={},length={},points=all", i, length);
    default: return fmt::format("w3:race:seed={},length={}", i, length);
  }
}

// The kernel's ids of threads are others in each run.
std::string without_ids(std::string text) {
  const std::string kId = "(tid ";
  for (size_t at = 0; (at = text.find(kId, at)) != std::string::npos;) {
    at += kId.size();
    text.erase(at, text.find(')', at) - at);
  }
  return text;
}

std::string words_of(const Outcome& run) {
  return fmt::format("end {} status {} killed {} out <{}> err <{}> words <{}> list {}",
                     static_cast<int>(run.log.end), run.status, run.was_killed, run.out, run.err,
                     without_ids(run.words), run.log.list);
}

// What `differs` in two runs of a schedule; empty: nothing.
std::string compared(const Outcome& forked, const Outcome& whole) {
  if (const std::string differs = difference(whole, forked); !differs.empty()) return differs;
  if (words_of(forked) != words_of(whole)) return "words";
  for (size_t i = 0; i < whole.log.switches.size(); i++) {
    if (forked.log.switches[i].place.address != whole.log.switches[i].place.address)
      return fmt::format("the address of switch {}", i);
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) try {
  size_t runs = 30;
  bool rate = false;
  std::string reason;
  weir::cli::hunt::ProcessOptions options;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    const std::string word = argv[at];
    if (word == "--rate") rate = true;
    else if (word == "--runs") runs = std::stoul(argv[++at]);
    else if (word == "--input") options.input = argv[++at];
    else if (word == "--refused") reason = argv[++at];
  }
  const std::vector<std::string> words(argv + at, argv + argc);
  ProcessRunner runner(weir::cli::locate_program(words), options);
  const Outcome first = runner.one("w3:default", Begin::kFromStart);
  if (rate) {
    double taken[2];
    for (const Begin begin : {Begin::kAnywhere, Begin::kFromStart}) {
      for (int i = 0; i < 10 && begin == Begin::kAnywhere; i++) runner.one("w3:default", begin);
      const double start = processor_seconds();
      const size_t some = begin == Begin::kAnywhere ? runs : std::min<size_t>(runs / 10 + 1, 20);
      for (size_t i = 0; i < some; i++)
        runner.one(fmt::format("w3:random:seed={},p=0.02", i + 1), begin);
      taken[begin == Begin::kFromStart] = (processor_seconds() - start) / static_cast<double>(some);
    }
    fmt::print("{}: {:.0f} schedules a second of a processor forked, {:.0f} from the start ({})\n",
               words.front(), 1 / taken[0], 1 / taken[1], runner.way());
    return 0;
  }
  for (size_t i = 0; i < runs; i++) {
    const std::string schedule = schedule_of(i, first.log.steps);
    const Outcome forked = runner.one(schedule, Begin::kAnywhere);
    const Outcome whole = runner.one(schedule, Begin::kFromStart);
    const std::string differs = compared(forked, whole);
    if (differs.empty()) continue;
    bool is_steady = true;  // from the start it is one run
    for (int again = 0; again < 5 && is_steady; again++)
      is_steady = compared(runner.one(schedule, Begin::kFromStart), whole).empty();
    if (!is_steady) {
      fmt::print("{}: {} is not one run from the start, either: {}\n", words.front(), schedule,
                 differs);
      return kUnsteady;
    }
    fmt::print("{}: {} is another run when it is forked: {}\nforked: {}\nfrom the start: {}\n",
               words.front(), schedule, differs, words_of(forked), words_of(whole));
    return 1;
  }
  const std::string way = runner.way();
  const bool is_right = reason.empty() ? way.starts_with("runs were forked at")
                                       : way.find(reason) != std::string::npos;
  fmt::print("{}: {} schedules, {}\n", words.front(), runs, way);
  return is_right ? 0 : 1;
} catch (const weir::cli::Failure& failure) {
  fmt::print("{}\n", failure.what());
  return 1;
}
