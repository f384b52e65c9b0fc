#include "cli/source_text.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

namespace weir::cli {

const std::vector<std::string>& source_lines(const std::string& path) {
  constexpr off_t kMost = 16 << 20;
  static std::map<std::string, std::vector<std::string>> known;
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  std::vector<std::string>& lines = known[path];
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > kMost) return lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::string source_line(const std::string& path, int line) {
  const std::vector<std::string>& lines = source_lines(path);
  return line >= 1 && static_cast<size_t>(line) <= lines.size() ? lines[static_cast<size_t>(line) - 1] : "";
}

}  // namespace weir::cli
