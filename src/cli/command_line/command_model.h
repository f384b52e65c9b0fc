// The command line's model in plain values, for what is made from it besides help: the manual and
// completions in shells. Whatever is hidden from help is not in it.
#pragma once

#include <string>
#include <vector>

namespace weir::cli {

struct OptionModel {
  std::vector<std::string> names;   // "-o", "--output"; none for a positional one
  std::string value;                // "FILE", "{free,token}"; empty: it takes none
  std::vector<std::string> values;  // the only ones that it may have; empty: others too
  std::string text;                 // what it is for
  bool is_optional = false;         // the value, or the positional one
  bool is_repeated = false;
};

struct CommandModel {
  std::string name, text, footer;
  bool takes_program = false;
  std::vector<OptionModel> options, positionals;
};

struct Model {
  CommandModel top;
  std::vector<CommandModel> commands;  // as help lists them
};

Model command_model();

}  // namespace weir::cli
