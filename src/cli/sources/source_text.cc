#include "cli/sources/source_text.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

#include "cli/common/terminal.h"

namespace weir::cli {

const std::vector<std::string>& source_lines(const std::string& path) {
  constexpr off_t kMax = 16 << 20;
  static std::map<std::string, std::vector<std::string>> known;
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  std::vector<std::string>& lines = known[path];
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > kMax)
    return lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::string source_line(const std::string& path, int line) {
  const std::vector<std::string>& lines = source_lines(path);
  return line >= 1 && static_cast<size_t>(line) <= lines.size()
             ? lines[static_cast<size_t>(line) - 1]
             : "";
}

SourceLine source_line_shown(const std::string& line, size_t first, size_t marked) {
  constexpr size_t kTab = 8;
  SourceLine shown;
  size_t column = 0, margin = 0;  // of the whole line; where `first` is
  for (size_t at = 0; at < line.size();) {
    if (at == first) margin = column;
    if (at == marked && at >= first) {
      shown.has_mark = true;
      shown.mark = column - margin;
    }
    const Letter letter = first_letter(std::string_view(line).substr(at));
    const unsigned char byte = static_cast<unsigned char>(line[at]);
    const size_t width = byte == '\t' ? kTab - column % kTab : letter.columns;
    if (at >= first) {
      if (byte == '\t') shown.text.append(width, ' ');
      else if (letter.bytes == 1 && (byte < ' ' || byte >= 0x7f))
        shown.text += '?';  // no letter, or one that a terminal obeys
      else shown.text += line.substr(at, letter.bytes);
    }
    column += width;
    at += letter.bytes;
  }
  return shown;
}

SourceLine source_line_cut(const SourceLine& line, size_t columns) {
  constexpr std::string_view kMore = "...";
  if (display_width(line.text) <= columns || columns < 4 * kMore.size()) return line;
  // What is before the mark gets half of the room, or more if there is less behind it.
  const size_t width = display_width(line.text), mark = line.has_mark ? line.mark : 0;
  size_t from = mark > columns / 2 ? std::min(mark - columns / 2, width - columns) : 0;
  if (from > 0) from += kMore.size();
  // The column behind the last one shown.
  const size_t limit = from ? from - kMore.size() + columns : columns;
  const bool has_more = width > limit;
  SourceLine cut;
  if (from > 0) cut.text = kMore;
  size_t column = 0, begin = from;  // where the first letter that is shown begins
  bool is_first = true;
  for (std::string_view rest = line.text; !rest.empty();) {
    const Letter letter = first_letter(rest);
    if (column >= from && column + letter.columns <= limit - (has_more ? kMore.size() : 0)) {
      if (is_first) begin = column;
      is_first = false;
      cut.text += rest.substr(0, letter.bytes);
    }
    column += letter.columns;
    rest.remove_prefix(letter.bytes);
  }
  if (has_more) cut.text += kMore;
  cut.has_mark = line.has_mark;
  cut.mark = mark >= begin ? mark - begin + (from ? kMore.size() : 0) : 0;
  return cut;
}

}  // namespace weir::cli
