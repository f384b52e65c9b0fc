// weir doctor: what this machine offers, and what Weir does without it.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/launch/probe.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <thread>

namespace weir::cli {
namespace {

int report() {
  utsname system;
  uname(&system);
  fmt::print("weir {} on Linux {} ({}), glibc {}, {} processors\n\n", WEIR_VERSION, system.release,
             system.machine, gnu_get_libc_version(), std::thread::hardware_concurrency());
  bool fit = true;
  for (const Finding& finding : probe_machine()) {
    const char* verdict = finding.present ? "ok" : finding.required ? "MISSING" : "absent";
    fmt::print("{:8}{:34}{}\n", verdict, finding.name, finding.detail);
    if (!finding.present) fmt::print("{:8}{:34}-> {}\n", "", "", finding.without);
    if (finding.required && !finding.present) fit = false;
  }
  fmt::print("\n{}\n", fit ? "weir det works on this machine."
                           : "weir det does not work on this machine: see MISSING above.");
  return fit ? 0 : 1;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine offers and what Weir does without it");
  return {command, false, [](const Words&) { return report(); }};
}

}  // namespace weir::cli
