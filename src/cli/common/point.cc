#include "cli/common/point.h"

#include <fmt/format.h>

namespace weir::cli {
namespace {

void add_path(std::string& text, const char* key, const std::string& path) {
  if (path.empty()) return;
  text += key;
  for (char c : path) {
    if (c == ',') text += "%2c";
    else if (c == '%') text += "%25";
    else text += c;
  }
}

}  // namespace

std::string to_environment(const RunOptions& options, int tracer) {
  std::string text = fmt::format(
      "order={},view={},stat={:d},fingerprint={:d},delay={:020},tracer={:010}", options.order,
      options.view, options.stat, options.fingerprint, options.delay, tracer);
  if (options.trace >= 0)
    text += fmt::format(",trace={:06},without={:05}", options.trace, options.left_out);
  if (options.findings >= 0) {
    text += fmt::format(",findings={:06},enforcer={},policies={}", options.findings,
                        options.enforcer, options.policies);
    if (options.enforcer == "mpk")
      text += fmt::format(",rehash={},domains={}", options.rehash, options.domains);
    if (options.exhaustive) text += ",exact=1";
  }
  add_path(text, ",cache=", options.cache);
  add_path(text, ",json=", options.json);
  add_path(text, ",log=", options.log);
  return text;
}

}  // namespace weir::cli
