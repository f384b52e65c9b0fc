// JUnit's XML, as CI services read it.
#include <fmt/format.h>

#include "cli/hunt/report/report.h"

namespace weir::cli::hunt {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
    }
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
