// weir doctor: what this machine offers, and what each command can do with it.
#include <CLI/CLI.hpp>

#include "cli/command_line/commands.h"
#include "cli/launch/probe.h"
#include "cli/launch/verdict.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace weir::cli {
namespace {

const char* word_of(const Verdict& verdict) {
  return !verdict.works() ? "refused" : verdict.lesser.empty() ? "works" : "differs";
}

int report() {
  utsname system;
  uname(&system);
  fmt::print("weir {} on Linux {} ({}), glibc {}, {} processors\n\n", WEIR_VERSION, system.release,
             system.machine, gnu_get_libc_version(), std::thread::hardware_concurrency());
  for (const Finding& finding : probe_machine()) {
    const char* verdict = finding.present ? "ok" : finding.required ? "MISSING" : "absent";
    fmt::print("{:8}{:34}{}\n", verdict, finding.name, finding.detail);
  }
  fmt::print("\n");
  bool all_work = true;
  for (const Verdict& verdict : verdicts()) {
    all_work &= verdict.works();
    fmt::print("{:8}{}{}{}\n", verdict.command + ":", verdict.works() ? "works" : "does not work",
               verdict.means.empty() ? "" : " (",
               verdict.means.empty() ? "" : fmt::format("{})", fmt::join(verdict.means, "; ")));
    for (const Lack& lack : verdict.refused) fmt::print("{:8}{}\n", "", text_of(lack));
    for (const Lack& lack : verdict.lesser) fmt::print("{:8}but {}\n", "", text_of(lack));
    for (const Lack& lack : verdict.slower)
      fmt::print("{:8}slower than it could be: {}\n", "", text_of(lack));
    const std::string other = verdict.works() ? "" : instead_of(verdict.command, "");
    if (!other.empty()) fmt::print("{:8}what works here: {}\n", "", other);
  }
  return all_work ? 0 : 1;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) result += fmt::format("\\u{:04x}", c);
    else result += c;
  }
  return result + "\"";
}

std::string json_of(const std::vector<Lack>& lacks) {
  std::vector<std::string> texts;
  for (const Lack& lack : lacks)
    texts.push_back(fmt::format("{{\"what\": {}, \"cause\": {}, \"mend\": {}}}", quoted(lack.what),
                                quoted(name_of(lack.cause)), quoted(lack.mend)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

int report_json() {
  utsname system;
  uname(&system);
  std::vector<std::string> findings, commands;
  for (const Finding& finding : probe_machine())
    findings.push_back(fmt::format("    {{\"name\": {}, \"present\": {}, \"detail\": {}}}",
                                   quoted(finding.name), finding.present, quoted(finding.detail)));
  bool all_work = true;
  for (const Verdict& verdict : verdicts()) {
    all_work &= verdict.works();
    std::vector<std::string> means;
    for (const std::string& one : verdict.means) means.push_back(quoted(one));
    commands.push_back(
        fmt::format("    {{\"command\": {}, \"verdict\": {}, \"means\": [{}], \"refused\": {}, "
                    "\"differs\": {}, \"slower\": {}, \"instead\": {}}}",
                    quoted(verdict.command), quoted(word_of(verdict)), fmt::join(means, ", "),
                    json_of(verdict.refused), json_of(verdict.lesser), json_of(verdict.slower),
                    quoted(verdict.works() ? "" : instead_of(verdict.command, ""))));
  }
  fmt::print(
      "{{\n  \"weir\": {},\n  \"kernel\": {},\n  \"findings\": [\n{}\n  ],\n"
      "  \"commands\": [\n{}\n  ]\n}}\n",
      quoted(WEIR_VERSION), quoted(system.release), fmt::join(findings, ",\n"),
      fmt::join(commands, ",\n"));
  return all_work ? 0 : 1;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what this machine offers and what each command can do");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Say it as JSON");
  return {command, false, [json](const Words&) { return *json ? report_json() : report(); }};
}

}  // namespace weir::cli
