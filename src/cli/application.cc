#include "cli/application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace weir::cli {
namespace {

constexpr const char* kFooter =
    "Exit status: the program's own; 125 where Weir itself failed, 126 where the program cannot be run under Weir,\n"
    "127 where there is no such program. Standard output and standard error stay the program's.";

// The usage lines of subcommands; CLI11 never sees the words of a program.
class UsageFormatter : public CLI::Formatter {
 public:
  explicit UsageFormatter(bool takes_program) : takes_program_(takes_program) {}
  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string words = takes_program_ ? " -- PROGRAM [ARGUMENTS]" : "";
    for (const CLI::Option* option : app->get_options([](const CLI::Option* one) { return one->get_positional(); })) {
      const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
      words += option->get_required() ? " " + name : " [" + name + "]";
    }
    return fmt::format("Usage: weir {} [OPTIONS]{}\n", app->get_name(), words);
  }

 private:
  bool takes_program_;
};

}  // namespace

Application make_application() {
  auto app = std::make_shared<CLI::App>("Weir decides who may touch which memory, when, and in what order.", "weir");
  app->set_version_flag("--version", "weir " WEIR_VERSION);
  app->require_subcommand(1);
  app->footer(kFooter);
  std::vector<Command> commands = {add_run(*app), add_det(*app),  add_stat(*app),   add_check(*app),
                                   add_record(*app), add_replay(*app), add_ls(*app), add_dump(*app),
                                   add_verify(*app), add_rm(*app), add_doctor(*app),
                                   add_completion(*app), add_manual(*app)};
  for (const Command& command : commands) command.app->formatter(std::make_shared<UsageFormatter>(command.takes_program));
  return {std::move(app), std::move(commands)};
}

}  // namespace weir::cli
