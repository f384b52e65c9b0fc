// One text file, `hunt`, which is replaced as a whole:
//
//   weir-hunt 1
//   program CONTENT          a sum of the program's file
//   searches N
//   arm WORTH NAME
//   failure SCHEDULE SIGNATURE
//   behaviour HEX
#include "cli/hunt/habit/corpus.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/common/failure.h"
#include "cli/hunt/schedule/schedule.h"
#include "recording/bytes.h"

namespace weir::cli::hunt {
namespace {

constexpr const char* kFirstLine = "weir-hunt 1";

std::string content_of(const std::string& program) {
  const recording::File file = recording::File::reading(program);
  constexpr uint64_t kMost = 64 << 20;
  const uint64_t size = file.is_open() ? file.size() : 0;
  return fmt::format("{:016x}-{}", recording::sum_of(file.read(0, std::min(size, kMost))), size);
}

// A damaged line is none.
bool is_schedule(const std::string& text) {
  try {
    return !text.empty() && !parsed_schedule(text).text().empty();
  } catch (const weir::cli::Failure&) { return false; }
}

std::string text_behind(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

}  // namespace

Corpus::Corpus(const std::string& folder, const std::string& program)
    : path_(folder + "/hunt"), program_(content_of(program)) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw weir::cli::Failure(kWeirFailed, fmt::format("--corpus {}: {}", folder, error.message()));
  // The file is replaced as a whole, so it is the folder that has to be writable.
  if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0 ||
      (access(path_.c_str(), F_OK) == 0 && access(path_.c_str(), R_OK) != 0)) {
    throw weir::cli::Failure(
        kWeirFailed, fmt::format("--corpus {}: {}: what is learned cannot be kept there", folder,
                                 strerror(errno)));
  }
  std::ifstream file(path_);
  std::string line, word;
  if (!std::getline(file, line)) return;
  if (line != kFirstLine) {
    throw weir::cli::Failure(
        kWeirFailed, fmt::format("--corpus {}: {} is not what this version of weir hunt keeps: "
                                 "name another folder, or remove the file",
                                 folder, path_));
  }
  while (std::getline(file, line)) {
    std::istringstream words(line);
    word.clear();
    words >> word;
    if (word == "program") {
      is_of_this_program_ = text_behind(words) == program_;
    } else if (word == "searches") {
      words >> searches_;
    } else if (word == "arm") {
      double worth = 0;
      words >> worth;
      arms_.emplace_back(text_behind(words), worth);
    } else if (word == "failure") {
      Failure one;
      words >> one.schedule;
      one.signature = text_behind(words);
      if (is_schedule(one.schedule)) failures_.push_back(one);
    } else if (word == "behaviour") {
      uint64_t hash = 0;
      words >> std::hex >> hash;
      if (is_of_this_program_) behaviours_.push_back(hash);
    }
  }
}

void Corpus::give(Behaviours& behaviours, Strategies& strategies) const {
  for (const uint64_t hash : behaviours_) behaviours.take_up(hash);
  if (!is_of_this_program_) return;
  for (const auto& [name, worth] : arms_) strategies.take_up(name, worth);
}

std::string Corpus::keep(const Behaviours& behaviours, const Strategies& strategies,
                         const std::vector<Failure>& failures) {
  for (const Failure& one : failures) {
    const bool is_there = std::ranges::any_of(
        failures_, [&](const Failure& other) { return other.schedule == one.schedule; });
    if (!is_there) failures_.push_back(one);
  }
  std::string text =
      fmt::format("{}\nprogram {}\nsearches {}\n", kFirstLine, program_, searches_ + 1);
  for (const Strategies::Arm& arm : strategies.arms())
    text += fmt::format("arm {:.4f} {}\n", arm.worth, arm.name);
  for (const Failure& one : failures_)
    text += fmt::format("failure {} {}\n", one.schedule, one.signature);
  std::vector<uint64_t> sorted(behaviours.seen().begin(), behaviours.seen().end());
  std::ranges::sort(sorted);
  for (const uint64_t hash : sorted) text += fmt::format("behaviour {:016x}\n", hash);
  return recording::replace_file(path_, text)
             ? ""
             : fmt::format("--corpus: {}: {}: what was learned is not kept", path_,
                           strerror(errno));
}

}  // namespace weir::cli::hunt
