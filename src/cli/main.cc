// The weir command: reads the command line, hands over to the subcommand, turns failures into messages and exit status.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/application.h"
#include "cli/commands.h"
#include "cli/failure.h"

namespace weir::cli {
namespace {

// Splits `words` (without argv[0]) in what is Weir's and what is the program's. The program starts after `--`, or at
// the first word after the subcommand that is neither an option nor the value of one: `weir det ls -l` is `weir det --
// ls -l`.
size_t start_of_program(const Words& words, const std::vector<Command>& commands, size_t* resume) {
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == "--") {
      *resume = i + 1;
      return i;
    }
    if (words[i].starts_with("-")) continue;
    for (const Command& command : commands) {
      if (!command.takes_program || command.app->get_name() != words[i]) continue;
      for (i++; i < words.size() && words[i] != "--" && words[i].starts_with("-"); i++) {
        bool has_value = words[i].find('=') != std::string::npos;
        const CLI::Option* option = command.app->get_option_no_throw(words[i]);
        if (option && !has_value && option->get_expected_max() > 0) i++;
      }
      *resume = i < words.size() && words[i] == "--" ? i + 1 : i;
      return std::min(i, words.size());
    }
    break;
  }
  *resume = words.size();
  return words.size();
}

int run(Words words) {
  const Application application = make_application();
  CLI::App& app = *application.app;
  const std::vector<Command>& commands = application.commands;

  size_t resume = 0;
  size_t own = start_of_program(words, commands, &resume);
  Words program(words.begin() + static_cast<long>(std::min(resume, words.size())), words.end());
  words.resize(own);
  const std::string first = words.empty() ? "" : words.front();
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back

  try {
    app.parse(words);
    for (const Command& command : commands) {
      if (!command.app->parsed()) continue;
      if (command.takes_program && program.empty()) throw CLI::RequiredError("PROGRAM");
      if (!command.takes_program && !program.empty()) throw CLI::ExtrasError({program.front()});
      return command.action(program);
    }
  } catch (const CLI::Success& wanted) {  // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    const CLI::App* chosen = &app;
    for (const Command& command : commands) {
      if (command.app->parsed()) chosen = command.app;
    }
    std::string what = error.what();
    if (chosen == &app && !first.empty() && !first.starts_with("-"))
      what = fmt::format("unknown subcommand '{}'", first);
    fmt::print(stderr, "weir: {}\n{}", what, chosen->help());
  }
  return kWeirFailed;
}

}  // namespace
}  // namespace weir::cli

int main(int argc, char** argv) {
  try {
    return weir::cli::run({argv + (argc > 0), argv + argc});
  } catch (const weir::cli::Failure& failure) {
    fmt::print(stderr, "weir: {}\n", failure.what());
    return failure.status;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "weir: {}\n", failure.what());
    return weir::cli::kWeirFailed;
  }
}
