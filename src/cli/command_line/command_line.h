// Which words of a command line are Weir's, and what they are, before CLI11 sees them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/command_line/application.h"
#include "cli/command_line/commands.h"

namespace CLI {
class Option;
}

namespace weir::cli {

struct CommandLine {
  const Command* command = nullptr;  // null: none is named
  Words own;                         // Weir's words, the subcommand's name among them
  size_t name = 0;                   // where in `own` that is
  Words program;                     // what is to run
  std::set<const CLI::Option*> given;
  std::string config;  // --config
  bool has_config = false;
};

// The program starts after `--`, or at the first word after the subcommand that is neither an
// option nor the value of one: `weir det ls -l` is `weir det -- ls -l`. Throws Failure for a word
// that there is not, and for an option whose value is missing.
CommandLine command_line(const Words& words, const Application& application);

// Whether the option has a value that follows it.
bool takes_value(const CLI::Option& option);
// Whether it may be given several times, each time with one value more.
bool is_list(const CLI::Option& option);

// One option as it is written: --name, --name=value, --name value, -n value, -nvalue.
struct GivenOption {
  std::string name;  // as it was written, without the value
  Words words;       // these make it
};
// The option at words[at], which begins with a dash; `option` is what is known of its name. Throws
// Failure where its value is missing.
GivenOption given_option(const Words& words, size_t at, const CLI::Option& option);
// --name of --name=value, -n of -nvalue.
std::string name_in(const std::string& word);

// Names of the options and of the subcommands that help lists.
std::vector<std::string> option_names(const CLI::App& app);
std::vector<std::string> command_names(const Application& application);

}  // namespace weir::cli
