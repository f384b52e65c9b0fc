// CLI11 takes the word behind an option as its value, whatever that word is: `weir det --stat-json
// -- ls` would write a file named "--". Here a word that begins with a dash is no value. A file
// that is named so is written --log=-name, or ./-name.
#include "cli/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/command_line/help_text.h"
#include "cli/command_line/spelling.h"
#include "cli/common/failure.h"

namespace weir::cli {
namespace {

bool is_option(const std::string& word) {
  return word.size() > 1 && word.starts_with("-") && word != "--";
}

const Command& command_named(const std::string& name, const Application& application) {
  for (const Command& command : application.commands) {
    if (command.app->get_name() == name) return command;
  }
  const std::string meant = did_you_mean(name, command_names(application));
  if (!meant.empty())
    throw Failure(kWeirFailed, fmt::format("unknown subcommand '{}'{}", name, meant));
  throw Failure(
      kWeirFailed,
      fmt::format(
          "unknown subcommand '{}': weir help lists them; a program is run by weir det -- PROGRAM",
          name));
}

// Of the subcommand, or of weir itself.
const CLI::Option& option_named(const std::string& name, const CLI::App& app,
                                const CLI::App& weir) {
  if (const CLI::Option* option = app.get_option_no_throw(name)) return *option;
  if (name == "--config") return *weir.get_option(name);
  if (name == "--virtual" && &app != &weir) {
    throw Failure(
        kWeirFailed,
        fmt::format("weir {} --virtual: inputs are made constant by weir det and weir run; a "
                    "recording keeps those that there were, and its replay gives them again",
                    app.get_name()));
  }
  const std::string where = &app == &weir ? "weir" : app.get_name();
  const std::string meant = did_you_mean(name, option_names(app));
  const std::string lists = &app == &weir ? "weir --help" : "weir help " + app.get_name();
  throw Failure(kWeirFailed, fmt::format("{}: there is no option {}{}", where, name,
                                         meant.empty() ? ": " + lists + " lists them" : meant));
}

}  // namespace

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string name_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

GivenOption given_option(const Words& words, size_t at, const CLI::Option& option) {
  const std::string& word = words[at];
  const std::string name = name_in(word);
  if (word.size() > name.size()) {  // with its value, which may not be empty
    if (!takes_value(option) || word.size() > name.size() + 1 || !word.ends_with("="))
      return {name, {word}};
  } else if (!takes_value(option)) {
    return {name, {word}};
  } else if (at + 1 < words.size() && !is_option(words[at + 1]) && words[at + 1] != "--" &&
             !words[at + 1].empty()) {
    return {name, {word, words[at + 1]}};
  }
  const std::string next = at + 1 < words.size() ? words[at + 1] : "";
  const std::string dashed =
      is_option(next)
          ? fmt::format("; a value that begins with a dash is written {}={}", name, next)
          : "";
  throw Failure(kWeirFailed,
                fmt::format("{} {}: the value is missing{}", name, value_words(option), dashed));
}

CommandLine command_line(const Words& words, const Application& application) {
  CommandLine line;
  size_t at = 0;
  const auto take_option = [&](const CLI::App& app) {
    const std::string name = name_in(words[at]);
    const CLI::Option& option = option_named(name, app, *application.app);
    const GivenOption given = given_option(words, at, option);
    at += given.words.size();
    if (given.name == "--config") {
      line.config =
          given.words.size() > 1 ? given.words[1] : given.words[0].substr(given.name.size() + 1);
      line.has_config = true;
      return;
    }
    line.given.insert(&option);
    line.own.insert(line.own.end(), given.words.begin(), given.words.end());
  };
  while (at < words.size() && is_option(words[at])) take_option(*application.app);
  if (at < words.size() && words[at] != "--") {
    line.command = &command_named(words[at], application);
    line.name = line.own.size();
    line.own.push_back(words[at++]);
  }
  for (; at < words.size() && words[at] != "--";) {
    if (line.command && is_option(words[at])) {
      take_option(*line.command->app);
    } else if (line.command && line.command->takes_program) {
      break;
    } else {
      line.own.push_back(words[at++]);
    }
  }
  if (at < words.size() && words[at] == "--") at++;
  line.program.assign(words.begin() + static_cast<long>(at), words.end());
  return line;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const Application& application) {
  std::vector<std::string> names;
  for (const Command& command : application.commands) {
    if (!command.app->get_group().empty()) names.push_back(command.app->get_name());
  }
  return names;
}

}  // namespace weir::cli
