#include "cli/command_line/application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command_line/help_text.h"

namespace weir::cli {
namespace {

constexpr const char* kStatus =
    "Exit status: the program's own; 125 if Weir itself failed, 126 if the program cannot be run "
    "under Weir, 127 if there is no such program. "
    "Standard output and standard error stay the program's.";

constexpr const char* kFooter =
    "Options for many runs: WEIR_OPTS holds options as the command line has them, split into words "
    "as a shell does it; the file "
    "$XDG_CONFIG_HOME/weir/config or ~/.config/weir/config, or what --config names, a line 'option "
    "= value' each, without the dashes, below "
    "[SUBCOMMAND] for that one alone. Each subcommand takes those that it has. The command line "
    "overrides WEIR_OPTS, and that the file. What runs "
    "under Weir does not see WEIR_OPTS.\n"
    "\n"
    "Weir's words have colours on a terminal: not with NO_COLOR set, always with CLICOLOR_FORCE "
    "set.\n"
    "\n"
    "weir help SUBCOMMAND tells its options.";

struct Adding {
  std::string_view name;
  Command (*add)(CLI::App& app);
  bool tells_of_others = false;
};
constexpr Adding kCommands[] = {{"run", add_run},
                                {"det", add_det},
                                {"stat", add_stat},
                                {"check", add_check},
                                {"hunt", add_hunt},
                                {"record", add_record},
                                {"replay", add_replay},
                                {"ls", add_ls},
                                {"dump", add_dump},
                                {"verify", add_verify},
                                {"rm", add_rm},
                                {"doctor", add_doctor},
                                {"help", add_help, true},
                                {"completion", add_completion, true},
                                {"manual", add_manual, true}};

}  // namespace

bool stands_alone(std::string_view command) {
  return std::ranges::any_of(
      kCommands, [&](const Adding& one) { return one.name == command && !one.tells_of_others; });
}

Application make_application(std::string_view only) {
  auto app = std::make_shared<CLI::App>(
      "Weir decides who may touch which memory, when, and in what order.", "weir");
  app->set_help_flag("-h,--help", "Print this help");
  app->set_version_flag("--version", "weir " WEIR_VERSION, "Print the version");
  app->require_subcommand(1);
  app->footer(fmt::format("{}\n\n{}", kStatus, kFooter));
  app->add_option("--config",
                  "Read options from FILE instead of the user's own file; also behind a subcommand")
      ->type_name("FILE");
  std::vector<Command> commands;
  for (const Adding& one : kCommands) {
    if (only.empty() || only == one.name) commands.push_back(one.add(*app));
  }
  app->formatter(formatter_of_weir());
  for (const Command& command : commands) {
    command.app->formatter(formatter_of_subcommand(command.takes_program));
    const std::string own = command.app->get_footer();
    const std::string status = command.takes_program ? kStatus : "";
    command.app->footer(own.empty() || status.empty() ? own + status : own + "\n\n" + status);
  }
  return {std::move(app), std::move(commands)};
}

}  // namespace weir::cli
