// Options that are given once for many runs: by the variable WEIR_OPTS, and by a file.
//
// - WEIR_OPTS: options as on the command line, split into words as a shell does it.
// - $XDG_CONFIG_HOME/weir/config, or ~/.config/weir/config, or what --config names: a line `option
// = value` for each, as CLI11 reads
//   INI and TOML files; below a line `[subcommand]` for this one alone.
//
// What stands for all subcommands goes to those that have such an option. The command line
// overrides the variable, the variable the file, a subcommand's own line the one for all; options
// that may be repeated add up.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_line.h"

namespace weir::cli {

struct Setting {
  std::string from;     // for messages: "WEIR_OPTS", or "FILE:LINE"
  std::string command;  // empty: for all subcommands that have the option
  std::string option;   // "--log"
  Words words;          // as they would stand on the command line
};

// Throws Failure: a quote that does not end.
Words split_like_a_shell(const std::string& text);

// Both throw Failure, which names the place, for an option that no subcommand has and for a value
// that it does not take.
std::vector<Setting> settings_in_words(const std::string& text, const Application& application);
std::vector<Setting> settings_in_file(const std::string& path, const Application& application);

// $XDG_CONFIG_HOME/weir/config or ~/.config/weir/config; empty where neither variable is set.
std::string usual_settings_file();

// Puts them into the line's words. `settings`: the weaker ones first.
void add_settings(const std::vector<Setting>& settings, CommandLine& line);

// All that there are for this command line; WEIR_OPTS is taken out of the environment, so that what
// runs under Weir, which may be Weir again, does not apply it once more.
std::vector<Setting> settings_for(const CommandLine& line);

}  // namespace weir::cli
