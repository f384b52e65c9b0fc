#include "cli/hunt/run/judge.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "cli/common/failure.h"
#include "cli/hunt/run/heap_words.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {
namespace {

using End = ScheduleLog::End;
using Kind = Finding::Kind;

// So many runs before one of them is an exception.
constexpr uint64_t kRunsToCompare = 12;

constexpr std::array kSanitizers = {"ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                    "WARNING: ThreadSanitizer", "WARNING: MemorySanitizer",
                                    ": runtime error: "};  // the last: UBSan

std::string line_with(const std::string& text, const char* words) {
  const size_t at = text.find(words);
  if (at == std::string::npos) return "";
  const size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

// What a program says before it ends: its last line that says anything.
std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line, last;
  while (std::getline(lines, line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

// A line that names a failed check is better than the last one.
std::string telling_line(const Outcome& run) {
  for (const std::string* text : {&run.err, &run.out}) {
    for (const char* words :
         {"Assertion `", "assertion failed", "Assertion failed", "panicked at", "terminate called",
          "double free", "corrupted", ": Failure", "FAILED:"}) {
      if (const std::string line = line_with(*text, words); !line.empty()) return line;
    }
  }
  const std::string line = last_line(run.err);
  return line.empty() ? last_line(run.out) : line;
}

Finding finding(Kind kind, const std::string& what, const std::string& said,
                const std::string& detail) {
  return {kind, what, said, fmt::format("{}: {}", word_of(kind), detail)};
}

Finding deadlock(const Outcome& run) {
  const size_t tasks = run.log.waits.size();
  std::string what = fmt::format("deadlock of {} {}", tasks, tasks == 1 ? "thread" : "threads");
  if (tasks == 0) what = "deadlock";
  std::vector<std::string> waits;  // not by whom: threads of one kind deadlock in one way
  for (const Wait& wait : run.log.waits) waits.push_back(wait.what);
  std::ranges::sort(waits);
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  return finding(Kind::kDeadlock, what, "", fmt::format("{}", fmt::join(waits, ", ")));
}

std::string signal_words(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// The oracle's own exit status; it reads the run's standard output.
int asked(const std::string& oracle, const Outcome& run) {
  const recording::File output(memfd_create("output", MFD_CLOEXEC));
  output.write(run.out);
  lseek(output.descriptor(), 0, SEEK_SET);
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw Failure(kWeirFailed, fmt::format("--oracle: fork: {}", strerror(errno)));
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(output.descriptor(), STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setenv("WEIR_HUNT_STATUS", std::to_string(run.status).c_str(), 1);
    setenv("WEIR_HUNT_SIGNAL", run.was_killed ? signal_words(run.status).c_str() : "", 1);
    setenv("WEIR_HUNT_STDERR", run.err.substr(0, 64 << 10).c_str(), 1);
    setenv("WEIR_HUNT_SCHEDULE", run.schedule.c_str(), 1);
    execl("/bin/sh", "sh", "-c", oracle.c_str(), static_cast<char*>(nullptr));
    _exit(kNotFound);
  }
  int how = 0;
  while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {}
  const int status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
  if (status == kNotFound || status == kCannotRun) {
    throw Failure(kWeirFailed,
                  fmt::format("--oracle '{}': it could not be run (status {})", oracle, status));
  }
  return status;
}

}  // namespace

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::kExit: return "exit";
    case Kind::kSignal: return "signal";
    case Kind::kDeadlock: return "deadlock";
    case Kind::kLimit: return "livelock";
    case Kind::kTimeout: return "timeout";
    case Kind::kOutput: return "output";
    case Kind::kOracle: return "oracle";
    case Kind::kSanitizer: return "sanitizer";
    case Kind::kHeap: return "heap";
    case Kind::kRace: return "race";
  }
  return "";
}

std::string without_numbers(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size();) {
    const bool starts = i == 0 || !isalnum(static_cast<unsigned char>(line[i - 1]));
    size_t end = i;
    const bool is_hex = starts && line.compare(i, 2, "0x") == 0;
    if (is_hex) {
      for (end = i + 2; end < line.size() && isxdigit(static_cast<unsigned char>(line[end]));)
        end++;
    } else {
      while (end < line.size() && isdigit(static_cast<unsigned char>(line[end]))) end++;
    }
    if (is_hex || (starts && end - i >= 5)) {
      text += '#';
      i = end;
    } else {
      text += line.substr(i, std::max<size_t>(end - i, 1));
      i = std::max(end, i + 1);
    }
  }
  return text;
}

Finding race_finding(const FoundRace& race) {
  return finding(Kind::kRace, "data race: " + race.title, "", race.signature);
}

namespace {

std::optional<Finding> race_of(const Outcome& run) {
  if (run.races.empty()) return std::nullopt;
  return race_finding(run.races.front());
}

}  // namespace

std::optional<Finding> Judge::failure(const Outcome& run) const {
  for (const char* const words : kSanitizers) {
    std::string line = line_with(run.err, words);
    if (line.empty()) continue;
    if (const size_t marks = line.find("=="); line.starts_with("==") && marks != std::string::npos)
      line = line.substr(std::min(line.find("==", 2) + 2, line.size()));
    // The first words alone: what follows are addresses and threads.
    const size_t name = line.find("Sanitizer: ");
    const std::string type =
        name == std::string::npos ? line : line.substr(0, line.find(' ', name + 11));
    return finding(Kind::kSanitizer, "a sanitizer's report", line, without_numbers(type));
  }
  if (const HeapMisuse heap = heap_misuse_in(run.words); heap.is_there())
    return finding(Kind::kHeap, heap.kind, heap.said, heap.signature());
  if (run.log.end == End::kDeadlock) return deadlock(run);
  if (run.log.end == End::kLimit) {
    return finding(Kind::kLimit,
                   fmt::format("livelock: no end after {} instructions", run.log.instructions), "",
                   "limit");
  }
  if (run.timed_out)
    return finding(Kind::kTimeout, fmt::format("no end after {:.0f} s", run.seconds), "", "time");
  if (run.is_cut) return finding(Kind::kLimit, "it writes without end", "", "output");
  if (!options_.oracle.empty()) {
    const int status = asked(options_.oracle, run);
    if (status == 0) return race_of(run);
    return finding(Kind::kOracle, fmt::format("the oracle says so (status {})", status),
                   last_line(run.out), std::to_string(status));
  }
  if (run.was_killed) {
    const std::string line = telling_line(run), name = signal_words(run.status);
    return finding(Kind::kSignal, fmt::format("killed by {}", name), line,
                   fmt::format("{} {}", name, without_numbers(line)));
  }
  if (run.status != options_.expected_status) {
    const std::string line = telling_line(run);
    return finding(Kind::kExit, fmt::format("exit status {}", run.status), line,
                   fmt::format("{}", run.status));
  }
  return race_of(run);
}

const std::string* Judge::usual(bool& is_most) const {
  is_most = true;
  if (!options_.compares_output || counted_ < kRunsToCompare) return nullptr;
  for (const auto& [output, count] : outputs_)
    if (count * 2 > counted_) return &output;
  is_most = false;
  return &*first_;
}

std::optional<Finding> Judge::other_output_now(const Outcome& run) const {
  bool is_most = true;
  const std::string* const most = usual(is_most);
  if (!most || *most == run.out) return std::nullopt;
  size_t line = 1, at = 0;
  while (at < most->size() && at < run.out.size() && (*most)[at] == run.out[at])
    line += run.out[at++] == '\n';
  const size_t start = at == 0 ? 0 : run.out.rfind('\n', at - 1) + 1;
  std::string said = run.out.substr(start, run.out.find('\n', start) - start);
  return finding(Kind::kOutput,
                 fmt::format("other output than {}, from line {} on",
                             is_most ? "most runs have" : "the default schedule has", line),
                 said, "differs");
}

std::optional<Finding> Judge::other_output(const Outcome& run) {
  if (!options_.compares_output) return std::nullopt;
  std::optional<Finding> found = other_output_now(run);
  if (!first_) first_ = run.out;
  outputs_[run.out]++;
  counted_++;
  return found;
}

std::optional<Finding> Judge::judge(const Outcome& run) {
  if (std::optional<Finding> found = failure(run)) return found;
  return other_output(run);
}

std::optional<Finding> Judge::judge_again(const Outcome& run) const {
  if (std::optional<Finding> found = failure(run)) return found;
  return other_output_now(run);
}

bool Judge::fails_so(const Outcome& run, const std::string& signature) const {
  for (const FoundRace& race : run.races)
    if (race_finding(race).signature == signature) return true;
  const std::optional<Finding> found = judge_again(run);
  return found && found->signature == signature;
}

}  // namespace weir::cli::hunt
