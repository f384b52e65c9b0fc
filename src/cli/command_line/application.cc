#include "cli/command_line/application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

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

}  // namespace

Application make_application() {
  auto app = std::make_shared<CLI::App>(
      "Weir decides who may touch which memory, when, and in what order.", "weir");
  app->set_help_flag("-h,--help", "Print this help");
  app->set_version_flag("--version", "weir " WEIR_VERSION, "Print the version");
  app->require_subcommand(1);
  app->footer(fmt::format("{}\n\n{}", kStatus, kFooter));
  app->add_option("--config",
                  "Read options from FILE instead of the user's own file; also behind a subcommand")
      ->type_name("FILE");
  std::vector<Command> commands = {
      add_run(*app),    add_det(*app),    add_stat(*app), add_check(*app),      add_hunt(*app),
      add_record(*app), add_replay(*app), add_ls(*app),   add_dump(*app),       add_verify(*app),
      add_rm(*app),     add_doctor(*app), add_help(*app), add_completion(*app), add_manual(*app)};
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
