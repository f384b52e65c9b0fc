#include "cli/common/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/common/failure.h"
#include "cli/common/point.h"
#include "cli/common/terminal.h"
#include "recording/directory.h"

namespace weir::cli {

void say(const std::string& log, const std::string& text) {
  if (!log.empty()) {
    const recording::File file = recording::File::appending(log);
    if (file.is_open() && file.write(fmt::format("weir: {}\n", text))) return;
  }
  fmt::print(stderr, "{} {}\n", painted(Paint::kStrong, "weir:", has_colours(STDERR_FILENO)), text);
}

std::string size_words(uint64_t bytes) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; size >= 999.95 && unit < 3; unit++) size /= 1000;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

void refuse_view(const std::string& view, const char* command) {
  if (std::find(kViews.begin(), kViews.end(), view) != kViews.end()) return;
  throw Failure(kWeirFailed,
                fmt::format("{} --view {}: there is no such view: coherent, isolated or direct",
                            command, view));
}

std::string chosen_recording(const std::string& named) {
  if (!named.empty()) return recording::recording_named(named);
  const std::string place = recording::default_place();
  const std::vector<std::string> all = recording::recordings_in(place);
  if (all.empty())
    throw Failure(kWeirFailed,
                  fmt::format("there is no recording in {}: make one with weir record", place));
  return all.back();
}

}  // namespace weir::cli
