// The subcommands: each adds itself to the command line and runs when it was chosen.
// Implemented in cli/.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weir::cli {

// The program and its arguments: the words after `--`, or from the first word that is no option.
using Words = std::vector<std::string>;

// What a chosen subcommand does; the result is the exit status.
using Action = std::function<int(const Words& program)>;

struct Command {
  CLI::App* app;
  bool takes_program;
  Action action;
};

Command add_run(CLI::App& app);         // run.cc
Command add_det(CLI::App& app);         // run.cc
Command add_stat(CLI::App& app);        // run.cc
Command add_doctor(CLI::App& app);      // doctor.cc
Command add_check(CLI::App& app);       // check.cc
Command add_record(CLI::App& app);      // record.cc
Command add_hunt(CLI::App& app);        // hunt.cc
Command add_replay(CLI::App& app);      // replay.cc
Command add_ls(CLI::App& app);          // recordings.cc
Command add_dump(CLI::App& app);        // dump.cc
Command add_verify(CLI::App& app);      // recordings.cc
Command add_rm(CLI::App& app);          // recordings.cc
Command add_help(CLI::App& app);        // help.cc
Command add_completion(CLI::App& app);  // manual.cc
Command add_manual(CLI::App& app);      // manual.cc

}  // namespace weir::cli
