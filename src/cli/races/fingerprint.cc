// Two runs, builds or machines have other addresses, folders and numbers of lines, and threads that
// come in another order. What stays is the text of a line, and who stands in which function.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/races/report.h"
#include "cli/sources/source_text.h"

namespace weir::cli {
namespace {

class Hash {  // two FNV-1a, with different starts
 public:
  void add(std::string_view text) {
    for (const char c : text) add(c);
    add('\0');
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", one_, other_); }

 private:
  void add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    one_ = (one_ ^ byte) * 0x100000001b3;
    other_ = (other_ ^ byte) * 0x100000001b3;
    other_ ^= other_ >> 29;
  }
  uint64_t one_ = 0xcbf29ce484222325, other_ = 0x84222325cbf29ce4;
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Without what a formatter may change.
std::string without_spaces(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
  }
  return text;
}

// Not whether it reads or writes: of `x++` any of its accesses may be met first. The place in the
// program's own source, or where there is none the innermost one.
std::string place(const ReportedSide& side) {
  if (!side.exists || side.frames.empty()) return "";
  const auto own = std::ranges::find_if(side.frames, is_of_program);
  const Frame& frame = own == side.frames.end() ? side.frames.front() : *own;
  std::string text = frame.function + "\n";
  if (!frame.file.empty())
    return text + base_name(frame.file) + "\n" +
           without_spaces(source_line(frame.file, frame.line));
  text += base_name(frame.module);
  return frame.function.empty() ? text + fmt::format("+{:#x}", frame.offset) : text;
}

}  // namespace

std::string fingerprint_of(const ReportedRace& race) {
  std::string first = place(race.sides[0]), second = place(race.sides[1]);
  if (race.change.empty() && second < first) std::swap(first, second);
  std::string object = without_indices(race.object.name());
  if (object.empty() && !race.object.allocated_at.empty())
    object = race.object.allocated_at.front().function;
  Hash hash;
  hash.add(race.rule);
  hash.add(race.change);
  hash.add(object);
  hash.add(first);
  hash.add(second);
  return hash.text();
}

}  // namespace weir::cli
