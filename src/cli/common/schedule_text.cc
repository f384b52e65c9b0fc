#include "cli/common/schedule_text.h"

#include <fmt/format.h>

#include "cli/common/failure.h"
#include "control/schedule_memory.h"

namespace weir::cli {

std::string with_memory(const std::string& schedule, const std::string& memory) {
  const std::string key = "memory=";
  if (memory.empty()) return schedule;
  if (const size_t said = schedule.find(key); said != std::string::npos) {
    if (schedule.compare(said + key.size(), memory.size(), memory) == 0) return schedule;
    throw Failure(kWeirFailed, fmt::format("--memory {}: the schedule says something else: {}",
                                           memory, schedule));
  }
  if (memory == "sc") return schedule;
  std::string text = schedule.empty() ? WEIR_SCHEDULE_VERSION ":default" : schedule;
  const size_t name = text.find(':');
  const size_t end = name == std::string::npos ? name : text.find(':', name + 1);
  if (end == std::string::npos) return text + ":" + key + memory;
  const bool has_keys = end + 1 < text.size() && (text[end + 1] < '0' || text[end + 1] > '9');
  return has_keys ? text.insert(end + 1, key + memory + ",") : text.insert(end, ":" + key + memory);
}

}  // namespace weir::cli
