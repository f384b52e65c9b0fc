// The command line's model: the application, its options and its subcommands, as CLI11 has them.
// Help comes from it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cli/command_line/commands.h"

namespace CLI {
class App;
}

namespace weir::cli {

struct Application {
  std::shared_ptr<CLI::App> app;
  std::vector<Command> commands;  // in the order in which help lists them
};

// Whether there is a subcommand of that name that says nothing of the others.
bool stands_alone(std::string_view command);

// With all subcommands, or with the one of that name: all of them take a millisecond.
Application make_application(std::string_view only = {});

}  // namespace weir::cli
