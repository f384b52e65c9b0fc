#include "cli/checked_runs/one_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "cli/common/failure.h"
#include "recording/bytes.h"
#include "recording/manifest.h"

namespace weir::cli {

std::string EndOfRun::words() const {
  if (is_stuck) return "a deadlock";
  recording::End end;
  end.reason = was_killed ? recording::kKilled : recording::kExited;
  end.status = status;
  return end.words();
}

RunOutput::RunOutput(bool is_shown) {
  if (is_shown) return;
  descriptor_ = memfd_create("weir-output", MFD_CLOEXEC);
  if (descriptor_ < 0)
    throw Failure(kWeirFailed, fmt::format("no memory for a run's output: {}", strerror(errno)));
  fcntl(descriptor_, F_SETFL, O_APPEND);
}

RunOutput::~RunOutput() {
  if (descriptor_ >= 0) close(descriptor_);
}

void RunOutput::install() const {
  if (is_shown()) return;
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(descriptor_, STDERR_FILENO) < 0)
    throw Failure(kWeirFailed, fmt::format("/dev/null: {}", strerror(errno)));
  close(nothing);
}

std::string RunOutput::text() const {
  constexpr uint64_t kMost = 1 << 20;
  if (is_shown()) return "";
  const recording::File file(dup(descriptor_));
  const uint64_t size = file.size();
  return file.read(size - std::min(size, kMost), kMost);
}

std::string RunOutput::own_words(std::set<std::string>& said) const {
  std::istringstream lines(text());
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("weir: ") && said.insert(line).second) words += line + "\n";
  }
  return words;
}

std::string RunOutput::tail() const {
  constexpr size_t kLines = 20;
  std::string all = text();
  while (!all.empty() && all.back() == '\n') all.pop_back();
  size_t at = all.size();
  for (size_t i = 0; i < kLines && at != std::string::npos && at > 0; i++)
    at = all.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? all : all.substr(at + 1);
}

void OneRun::install() const {
  input.install();
  output.install();
}

double Stopwatch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

}  // namespace weir::cli
