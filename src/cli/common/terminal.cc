#include "cli/common/terminal.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cwchar>

namespace weir::cli {
namespace {

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

const char* code_of(Paint paint) {
  switch (paint) {
    case Paint::kPlain: break;
    case Paint::kStrong: return "1";
    case Paint::kGood: return "32";
    case Paint::kBad: return "1;31";
    case Paint::kWarning: return "33";
    case Paint::kMark: return "1;32";
  }
  return "0";
}

// The C library knows how wide letters are, in a locale that has UTF-8. Null: there is none.
locale_t utf8() {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

class InLocale {
 public:
  explicit InLocale(locale_t locale) : was_(locale ? uselocale(locale) : nullptr) {}
  ~InLocale() {
    if (was_) uselocale(was_);
  }
  InLocale(const InLocale&) = delete;
  InLocale& operator=(const InLocale&) = delete;

 private:
  locale_t was_;
};

}  // namespace

bool has_colours(int descriptor) {
  if (!variable("NO_COLOR").empty()) return false;
  const std::string force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return isatty(descriptor) == 1 && variable("TERM") != "dumb";
}

std::string painted(Paint paint, std::string_view text, bool is_on) {
  if (!is_on || paint == Paint::kPlain || text.empty()) return std::string(text);
  return std::string("\033[") + code_of(paint) + "m" + std::string(text) + "\033[0m";
}

size_t columns_of(int descriptor) {
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

size_t help_columns() {
  constexpr size_t kUsual = 80, kMin = 40;
  size_t columns = columns_of(STDOUT_FILENO);
  if (columns == 0)
    columns = static_cast<size_t>(std::strtoul(variable("COLUMNS").c_str(), nullptr, 10));
  if (columns == 0 || columns > 10000) columns = kUsual;
  return std::max(columns, kMin);
}

Letter first_letter(std::string_view text) {
  const InLocale in(utf8());
  wchar_t letter = 0;
  mbstate_t state{};
  const size_t bytes = mbrtowc(&letter, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {1, 1};
  const int columns = wcwidth(letter);
  return {bytes, columns < 0 ? 1 : static_cast<size_t>(columns)};
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Letter letter = first_letter(text);
    width += letter.columns;
    text.remove_prefix(letter.bytes);
  }
  return width;
}

std::string wrapped(std::string_view text, size_t columns, size_t indent) {
  const std::string begin(indent, ' ');
  std::string result;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (at != 0) result += line.empty() ? "\n" : "\n" + begin;
    if (line.starts_with(" ")) {
      result += line;
      line = "";
    }
    size_t width = indent;
    bool is_first = true;
    while (!line.empty()) {
      const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      const size_t more = display_width(word);
      if (!is_first && width + 1 + more > columns) {
        result += "\n" + begin;
        width = indent;
      } else if (!is_first) {
        result += " ";
        width++;
      }
      result += word;
      width += more;
      is_first = false;
    }
    at = end + 1;
  }
  return result;
}

}  // namespace weir::cli
