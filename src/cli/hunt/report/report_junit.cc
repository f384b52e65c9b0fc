// JUnit's XML, as CI services read it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/hunt/report/report.h"

namespace weir::cli::hunt {

namespace {

// How many bytes the character has that begins there, in UTF-8; 0: none begins there that XML can
// hold.
size_t length_at(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const uint32_t first = byte(at);
  const size_t length = first < 0x80                     ? 1
                        : first >= 0xc2 && first <= 0xdf ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  if (length <= 1) return length;
  uint32_t code = first & (0xff >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_character = code >= kLeast[length] && code <= 0x10ffff &&
                            (code < 0xd800 || code > 0xdfff) && code != 0xfffe && code != 0xffff;
  return is_character ? length : 0;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = length_at(text, i);
    const char c = text[i];
    if (length != 1) result += length == 0 ? "\ufffd" : text.substr(i, length);
    else if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else if (c == '"') result += "&quot;";
    else result += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::string junit_text(const std::vector<Report>& reports) {
  size_t failing = 0;
  double seconds = 0;
  for (const Report& report : reports) {
    failing += !report.failures.empty();
    seconds += report.state.seconds;
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"weir hunt\" "
      "tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n",
      reports.size(), failing, seconds);
  for (const Report& report : reports) {
    text += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">",
                        escaped(report.program.empty() ? "" : report.program.front()),
                        escaped(report.test.empty() ? quoted(report.program) : report.test),
                        report.state.seconds);
    for (const ReportedFailure& failure : report.failures) {
      text += fmt::format("\n<failure type=\"{}\" message=\"{}\">{}</failure>",
                          word_of(failure.found.finding.kind), escaped(failure.found.finding.what),
                          escaped(failure_text(failure, false)));
    }
    text +=
        fmt::format("\n<system-out>{}</system-out></testcase>\n", escaped(summary_text(report)));
  }
  return text + "</testsuite></testsuites>\n";
}

}  // namespace weir::cli::hunt
