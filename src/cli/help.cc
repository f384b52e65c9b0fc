// weir help: what --help prints, asked for in another way.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line/commands.h"
#include "cli/command_line/spelling.h"
#include "cli/common/failure.h"

namespace weir::cli {
namespace {

int help(const CLI::App& weir, const std::string& named) {
  if (named.empty()) {
    fmt::print("{}", weir.get_formatter()->make_help(
                         &weir, weir.get_name(),
                         CLI::AppFormatMode::Normal));  // help() is that of the subcommand
    return 0;
  }
  std::vector<std::string> names;
  for (const CLI::App* command :
       weir.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    if (command->get_name() == named) {
      fmt::print("{}", command->help());
      return 0;
    }
    names.push_back(command->get_name());
  }
  const std::string meant = did_you_mean(named, names);
  throw Failure(kWeirFailed, fmt::format("unknown subcommand '{}'{}", named,
                                         meant.empty() ? ": weir help lists them" : meant));
}

}  // namespace

Command add_help(CLI::App& app) {
  auto named = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("help", "Say what a subcommand does and which options it has");
  command->add_option("SUBCOMMAND", *named, "The subcommand; default: weir itself");
  return {command, false,
          [command, named](const Words&) { return help(*command->get_parent(), *named); }};
}

}  // namespace weir::cli
