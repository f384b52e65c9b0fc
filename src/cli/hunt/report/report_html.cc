// One page that needs nothing else, and JUnit's XML, as CI services read it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/hunt/report/report.h"
#include "cli/races/report.h"

namespace weir::cli::hunt {
namespace {

constexpr size_t kMaxRows = 400;  // of a page's lanes: the last ones are shown

// For HTML and XML alike; control characters, which XML cannot hold, become spaces.
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

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;"
    "color:#222;background:#fff}h1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.92em}"
    "pre{background:#f4f4f2;padding:.7em;overflow:auto;border-radius:4px}"
    "table{border-collapse:collapse;width:100%}th{text-align:left;padding:.3em .5em;"
    "border-bottom:2px solid #888;position:sticky;top:0;background:#fff}"
    "td{vertical-align:top;padding:.3em .5em;border-left:1px solid #ddd}"
    "td.on{background:#dcebf7;border-top:1px solid #fff}"
    "td.chosen{background:#f9dcc4;border-bottom:3px solid #c0392b}"
    ".why{color:#666;font-size:.9em}.bad{color:#b03020}"
    "@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}th{background:#1b1b1b}"
    "pre{background:#282828}td{border-left-color:#444}td.on{background:#23384a;border-top-color:"
    "#1b1b1b}td.chosen{background:#5a3420}.why{color:#aaa}}";

std::string lanes(const ReportedFailure& failure) {
  const Story& story = failure.story;
  if (story.switches.empty()) return "";
  std::string page = "<table><thead><tr>";
  for (const std::string& task : story.tasks) page += fmt::format("<th>{}</th>", escaped(task));
  page += "</tr></thead><tbody>\n";
  const size_t first =
      story.switches.size() > kMaxRows ? story.switches.size() - kMaxRows : size_t{0};
  if (first > 0)
    page += fmt::format("<tr><td colspan=\"{}\">{} switches before</td></tr>\n", story.tasks.size(),
                        first);
  for (size_t i = first; i < story.switches.size(); i++) {
    const ToldSwitch& one = story.switches[i];
    page += "<tr>";
    for (const uint32_t number : story.numbers) {
      if (number != one.logged.at.task) {
        page += "<td></td>";
        continue;
      }
      page += fmt::format("<td class=\"{}\">{}", one.is_chosen ? "chosen" : "on",
                          escaped(stop_words(one)));
      if (!one.source.empty()) page += fmt::format("<br><code>{}</code>", escaped(one.source));
      page +=
          fmt::format("<br><span class=\"why\">&rarr; {} goes on{}</span></td>", escaped(one.to),
                      one.instead.empty() ? "" : "; without this switch " + escaped(one.instead));
    }
    page += "</tr>\n";
  }
  return page + "</tbody></table>\n";
}

std::string failure_section(const ReportedFailure& failure) {
  const Finding& finding = failure.found.finding;
  std::string page = fmt::format("<h2 class=\"bad\">{}</h2>\n", escaped(finding.what));
  if (!finding.said.empty()) page += fmt::format("<pre>{}</pre>\n", escaped(finding.said));
  for (const ToldStack& stack : failure.story.heap) {
    page += fmt::format("<p>{}</p>\n<pre>",
                        escaped(stack.title.empty() ? "It was done here:" : stack.title));
    for (const Frame& call : stack.calls) page += escaped(frame_words(call)) + "\n";
    page += "</pre>\n";
  }
  if (failure.is_default) {
    page += "<p>It fails under the default schedule: no switch is needed.</p>\n";
  } else {
    page += fmt::format(
        "<p>Schedule {}, after {:.1f} s, by {}. {} of its {} switches matter; they are marked "
        "below. Run again {} times, it failed alike {} times.</p>\n",
        failure.found.number, failure.found.seconds, escaped(failure.found.strategy),
        failure.story.chosen().size(), failure.shrunk.before, failure.repeated.runs,
        failure.repeated.alike);
  }
  for (const ToldWait& one : failure.story.waits) {
    page += fmt::format(
        "<p>{} waits for a {}: <code>{}</code>{}</p>\n", escaped(one.task), escaped(one.wait.what),
        one.variable.empty() ? fmt::format("{:#x}", one.wait.address) : escaped(one.variable),
        one.wait.has_holder ? ", which " + escaped(one.holder) + " has" : "");
  }
  page += lanes(failure);
  if (!failure.run.err.empty())
    page += fmt::format("<h3>Standard error</h3><pre>{}</pre>\n", escaped(failure.run.err));
  if (!failure.run.out.empty())
    page += fmt::format("<h3>Standard output</h3><pre>{}</pre>\n", escaped(failure.run.out));
  return page + fmt::format("<h3>To run it again</h3><pre>{}</pre>\n", escaped(failure.command));
}

}  // namespace

std::string html_text(const std::vector<Report>& reports) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>weir hunt</title>"
      "<meta name=\"viewport\" content=\"width=device-width\"><style>{}</style></head><body>\n",
      kStyle);
  for (const Report& report : reports) {
    page += fmt::format("<h1>weir hunt -- {}</h1>\n", escaped(quoted(report.program)));
    if (!report.test.empty()) page += fmt::format("<p>Test {}</p>\n", escaped(report.test));
    page += fmt::format("<p>{}</p>\n", escaped(summary_text(report)));
    for (const ReportedFailure& failure : report.failures) page += failure_section(failure);
  }
  return page + "</body></html>\n";
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
