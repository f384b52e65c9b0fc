#include "cli/recorder/where.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cli/common/child_output.h"

namespace weir::cli {
namespace {

// What addr2line prints: the function's name and, in a second line, FILE:LINE.
std::string asked(const std::string& object, uint64_t address) {
  const std::string at = fmt::format("{:#x}", address);
  return output_of([&] {
    execlp("addr2line", "addr2line", "-f", "-C", "-e", object.c_str(), at.c_str(),
           static_cast<char*>(nullptr));
  });
}

std::string words(const channel::StackFrame& frame, const KeptFiles& kept) {
  const std::string object(frame.object, strnlen(frame.object, sizeof frame.object));
  const KeptFiles::Shown shown = kept.shown(object);
  const std::string there = fmt::format("{}+{:#x}", shown.name, frame.address);
  const std::string text = asked(shown.file, frame.address - 1);  // in the call, not behind it
  const size_t middle = text.find('\n');
  if (middle == std::string::npos) return there;
  const std::string function = text.substr(0, middle);
  std::string line = text.substr(middle + 1, text.find_first_of("\n ", middle + 1) - middle - 1);
  if (const size_t slash = line.rfind('/'); slash != std::string::npos) line.erase(0, slash + 1);
  const bool has_function = !function.starts_with("?"), has_line = !line.starts_with("?");
  if (!has_function) return there;
  return has_line ? fmt::format("{}, {} ({})", function, line, there)
                  : fmt::format("{} ({})", function, there);
}

}  // namespace

std::vector<std::string> stack_lines(const channel::Header& header, const KeptFiles& kept) {
  std::vector<std::string> all;
  const uint32_t count =
      std::min(__atomic_load_n(&header.stack_frames, __ATOMIC_ACQUIRE), channel::kMaxStackFrames);
  for (uint32_t i = 0; i < count; i++) all.push_back(words(header.stack_frame[i], kept));
  return all;
}

}  // namespace weir::cli
