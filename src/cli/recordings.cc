// weir ls, weir verify, weir rm: recordings as things on a disk.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command_line/commands.h"
#include "cli/common/failure.h"
#include "cli/common/messages.h"
#include "cli/common/terminal.h"
#include "cli/launch/launch.h"
#include "recording/directory.h"
#include "recording/store.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using recording::Recording;

struct Line {
  std::string name, program, when, duration, size, end;
};

std::string folder_name(const std::string& path) { return fs::path(path).filename().string(); }

std::string when(int64_t started) {
  const time_t seconds = started / 1'000'000'000;
  tm parts;
  localtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

Line line_of(const std::string& path) {
  Line line{folder_name(path), "-", "-", "-", "-", ""};
  try {
    const Recording recording(path);
    line.program = folder_name(recording.manifest.program);
    line.when = when(recording.manifest.started);
    line.size = size_words(recording::size_of(path));
    line.end = recording.end ? recording.end->words() : recording.damages.front();
    if (recording.end) line.duration = fmt::format("{:.1f} s", recording.end->seconds);
  } catch (const recording::Damage& damage) {
    line.end = damage.what();
    if (line.end.starts_with(path + ": ")) line.end.erase(0, path.size() + 2);
  }
  return line;
}

bool is_default(const std::string& place) {
  try {
    std::error_code error;
    return fs::equivalent(place, recording::default_place(), error);
  } catch (const recording::Damage&) { return false; }
}

int list(const std::string& named) {
  const std::string one = named.empty() ? "" : recording::recording_named(named);
  const bool is_one = !one.empty() && recording::is_recording(one);
  const std::string place = named.empty() ? recording::default_place() : named;
  if (!named.empty() && !is_one && !fs::is_directory(named))
    throw Failure(kWeirFailed, fmt::format("{}: there is no such directory", named));
  std::vector<Line> lines = {{"NAME", "PROGRAM", "WHEN", "DURATION", "SIZE", "END"}};
  if (is_one) {
    lines.push_back(line_of(one));
    lines.back().name = named;
  } else {
    for (const std::string& path : recording::recordings_in(place)) lines.push_back(line_of(path));
  }
  if (lines.size() == 1) {
    say("", fmt::format("there is no recording in {}", place));
    return 0;
  }
  // What is listed is what other subcommands take: a name for what lies in the usual place or here,
  // else a path.
  std::error_code error;
  if (!is_one && !fs::equivalent(place, ".", error) && !is_default(place)) {
    for (size_t i = 1; i < lines.size(); i++)
      lines[i].name = (fs::path(place) / lines[i].name).string();
  }
  size_t name = 0, program = 0;
  for (const Line& line : lines)
    name = std::max(name, line.name.size()), program = std::max(program, line.program.size());
  const bool has_paint = has_colours(STDOUT_FILENO);
  for (const Line& line : lines) {
    const std::string text =
        fmt::format("{:{}}  {:{}}  {:19}  {:>9}  {:>9}  ", line.name, name, line.program, program,
                    line.when, line.duration, line.size);
    const bool is_head = &line == &lines.front();
    fmt::print("{}{}\n", painted(is_head ? Paint::kStrong : Paint::kPlain, text, has_paint),
               painted(is_head                ? Paint::kStrong
                       : line.end == "exit 0" ? Paint::kGood
                                              : Paint::kWarning,
                       line.end, has_paint));
  }
  return 0;
}

int verify(const std::string& named) {
  const Recording recording(chosen_recording(named));
  const recording::Report report = recording::verify(recording);
  for (const std::string& damage : report.damages) fmt::print("{}\n", damage);
  if (!report.damages.empty()) return 1;
  fmt::print("{} is whole: {} entries in {} chunks of {} streams, {}\n", recording.directory,
             report.entries, report.chunks, recording.streams.size(), size_words(report.bytes));
  return 0;
}

// All are looked at before the first is removed.
int remove(const std::vector<std::string>& named, bool is_all) {
  std::vector<std::string> paths;
  for (const std::string& name : named) paths.push_back(recording::recording_named(name));
  if (is_all) {
    const std::string place = recording::default_place();
    paths = recording::recordings_in(place);
    if (paths.empty()) say("", fmt::format("there is no recording in {}", place));
  } else if (paths.empty()) {
    throw Failure(kWeirFailed, "rm: name the recordings, or say --all");
  }
  for (const std::string& path : paths) {
    if (fs::is_symlink(path))
      throw Failure(kWeirFailed,
                    fmt::format("{} is a symbolic link: name the recording itself", path));
    if (!fs::exists(path))
      throw Failure(kWeirFailed, fmt::format("{}: there is no such directory", path));
    if (!recording::is_recording(path))
      throw Failure(kWeirFailed, fmt::format("{} is no recording: it stays", path));
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      const bool ours = name == recording::kManifest || name == recording::kEndFile ||
                        name == recording::kImages || name == recording::kStreams ||
                        name == recording::kFiles || name == recording::kKept ||
                        name.ends_with(".part");
      if (!ours)
        throw Failure(
            kWeirFailed,
            fmt::format("{} holds {}, which belongs to no recording: it stays", path, name));
    }
  }
  for (const std::string& path : paths) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) throw Failure(kWeirFailed, fmt::format("{}: {}", path, error.message()));
  }
  if (const std::string cache = cache_folder(); !cache.empty())
    recording::Store(cache + "/files").prune();
  return 0;
}

}  // namespace

Command add_ls(CLI::App& app) {
  auto place = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("ls", "List the recordings");
  command->add_option("DIR", *place,
                      "Where to look, or one recording; default: where weir record puts them");
  return {command, false, [place](const Words&) { return list(*place); }};
}

Command add_verify(CLI::App& app) {
  auto named = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("verify", "Check a recording: exit 0 if it is whole, 1 if it is damaged");
  command->add_option("RECORDING", *named,
                      "The recording, by its path or as weir ls names it; default: the newest one");
  return {command, false, [named](const Words&) { return verify(*named); }};
}

Command add_rm(CLI::App& app) {
  auto named = std::make_shared<std::vector<std::string>>();
  auto is_all = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("rm", "Remove recordings");
  CLI::Option* const names = command->add_option(
      "RECORDING", *named, "The recordings: paths, or names as weir ls prints them");
  command
      ->add_flag("--all", *is_all, "Remove all recordings in the place where weir record puts them")
      ->excludes(names);
  return {command, false, [named, is_all](const Words&) { return remove(*named, *is_all); }};
}

}  // namespace weir::cli
