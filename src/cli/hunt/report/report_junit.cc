// JUnit's XML, as CI services read it.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "cli/hunt/report/report.h"

namespace weir::cli::hunt {

namespace {

// How many bytes the character has that begins there; 0: none begins there that XML can hold.
size_t length_at(const std::string& text, size_t at) {
  const size_t length = utf8_length(text.c_str() + at);
  const std::string_view character = std::string_view(text).substr(at, length);
  return character == "\ufffe" || character == "\uffff" ? 0 : length;
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
