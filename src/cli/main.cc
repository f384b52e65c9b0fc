// The weir command: reads the command line, hands over to the subcommand, turns failures into
// messages and exit status.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/command_line/command_line.h"
#include "cli/command_line/settings.h"
#include "cli/common/failure.h"
#include "cli/common/terminal.h"

namespace weir::cli {
namespace {

void say_failure(const std::string& text) {
  fmt::print(stderr, "{} {}\n", painted(Paint::kBad, "weir:", has_colours(STDERR_FILENO)), text);
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text;
}

int run(const Words& words) {
  const bool is_alone = !words.empty() && stands_alone(words.front());
  const Application application = make_application(is_alone ? words.front() : "");
  CLI::App& app = *application.app;
  CommandLine line = command_line(words, application);
  const bool asks_for_help = !line.command || line.command->app->get_name() == "help" ||
                             line.given.contains(line.command->app->get_help_ptr());
  if (!asks_for_help)
    add_settings(settings_for(line),
                 line);                            // a file that is wrong takes nobody's help away
  std::reverse(line.own.begin(), line.own.end());  // CLI11 takes them from the back
  try {
    app.parse(line.own);
    if (!line.command) throw CLI::RequiredError("A subcommand");
    const bool takes_program = line.command->takes_program;
    if (takes_program && line.program.empty()) throw CLI::RequiredError("PROGRAM");
    if (!takes_program && !line.program.empty()) throw CLI::ExtrasError({line.program.front()});
    return line.command->action(line.program);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    if (!line.command) {
      say_failure(error.what());
      fmt::print(stderr, "{}", app.help());
      return kWeirFailed;
    }
    const std::string name = line.command->app->get_name();
    throw Failure(kWeirFailed, fmt::format("{}: {}: weir help {} tells more", name,
                                           one_line(error.what()), name));
  }
}

}  // namespace
}  // namespace weir::cli

int main(int argc, char** argv) {
  using namespace weir::cli;
  try {
    return run({argv + (argc > 0), argv + argc});
  } catch (const Failure& failure) {
    say_failure(failure.what());
    return failure.status;
  } catch (const std::exception& failure) {
    say_failure(failure.what());
    return kWeirFailed;
  }
}
