#include "cli/point.h"

#include <fmt/format.h>

namespace weir::cli {

std::string to_environment(const RunOptions& options, int tracer) {
  std::string text = fmt::format("order={},view={},stat={:d},fingerprint={:d},delay={:020},tracer={:010}",
                                 options.order, options.view, options.stat, options.fingerprint, options.delay, tracer);
  if (options.log.empty()) return text;
  text += ",log=";
  for (char c : options.log) {
    if (c == ',') text += "%2c";
    else if (c == '%') text += "%25";
    else text += c;
  }
  return text;
}

}  // namespace weir::cli
