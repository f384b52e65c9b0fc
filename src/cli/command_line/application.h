// The command line's model: the application, its options and its subcommands, as CLI11 has them.
// Help comes from it.
#pragma once

#include <memory>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace weir::cli {

struct Application {
  std::shared_ptr<CLI::App> app;
  std::vector<Command> commands;  // in the order in which help lists them
};

Application make_application();

}  // namespace weir::cli
