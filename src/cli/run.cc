// weir run, weir det, weir stat: three ways to name a point of Order x View.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line/commands.h"
#include "cli/launch/launch.h"
#include "control/schedule_memory.h"

namespace weir::cli {
namespace {

void add_point(CLI::App& command, RunOptions& options) {
  command.add_option("--order", options.order, "When a task may go past an event")
      ->transform(CLI::IsMember(kOrders))
      ->capture_default_str();
  command.add_option("--view", options.view, "What memory a task sees between events")
      ->transform(CLI::IsMember(kViews))
      ->capture_default_str();
}

void add_schedule(CLI::App& command, RunOptions& options) {
  command
      .add_option("--schedule", options.schedule,
                  "With --order serial: which schedule, such as " WEIR_SCHEDULE_VERSION
                  ":random:seed=7")
      ->type_name("SCHEDULE");
  command
      .add_option("--memory", options.memory,
                  "With --order serial: sc, or tso: stores may become visible late, as on x86")
      ->transform(CLI::IsMember({"sc", "tso"}));
  command
      .add_option("--schedule-log", options.schedule_log,
                  "With --order serial: at the end, write to FILE what the schedule did")
      ->type_name("FILE");
  command.add_flag("--schedule-log-detail", options.schedule_detail,
                   "With --schedule-log: say there, too, where tasks stood, with their stacks, and "
                   "what they did to memory that several of them touched");
  command
      .add_option("--step-limit", options.step_limit,
                  "With --order serial: end the program after so many steps of all its tasks")
      ->type_name("N");
  command
      .add_option("--heap", options.heap,
                  "With --order serial: guard ends the program where it misuses a heap block (use "
                  "after free, double free, overflow), and tells it")
      ->transform(CLI::IsMember({"guard", "plain"}));
}

void add_common(CLI::App& command, RunOptions& options) {
  command.add_flag("--stat", options.stat,
                   "At the end, print what the run spent (events, copies, diffs, times)");
  command.add_flag("--fingerprint", options.fingerprint,
                   "At the end, print a hash of the whole memory and of the schedule");
  command
      .add_option("--log", options.log, "Write Weir's own words to FILE instead of standard error")
      ->type_name("FILE");
  command
      .add_option("--stat-json", options.json,
                  "At the end, write to FILE what --stat prints, as JSON")
      ->type_name("FILE");
  command
      .add_option("--virtual", options.constant,
                  "Make inputs constant: random[=SEED], time[=SECONDS], pid; several with "
                  "commas between. For --order token")
      ->delimiter(',')
      ->type_name("INPUTS");
  command
      .add_option("--delay", options.delay,
                  "Debugging: random delays at events, from this seed (not 0)")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX))
      ->type_name("SEED");
}

Command start(CLI::App* command, std::shared_ptr<RunOptions> options) {
  return {command, true,
          [options](const Words& program) -> int { launch(locate_program(program), *options); }};
}

}  // namespace

Command add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a program at any point of Order x View");
  add_point(*command, *options);
  add_schedule(*command, *options);
  add_common(*command, *options);
  return start(command, options);
}

Command add_det(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->order = "token";
  options->view = "isolated";
  CLI::App* command = app.add_subcommand(
      "det", "Run a program deterministically (= run --order token --view isolated)");
  command
      ->add_option("--order", options->order,
                   "token, or serial: one task at a time, see --schedule")
      ->transform(CLI::IsMember({"token", "serial"}))
      ->capture_default_str();
  add_schedule(*command, *options);
  add_common(*command, *options);
  Command made = start(command, options);
  command->parse_complete_callback([options] {
    if (options->order == "serial") options->view = "direct";
  });
  return made;
}

Command add_stat(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->order = "token";
  options->view = "isolated";
  CLI::App* command =
      app.add_subcommand("stat", "Run a program as det does and print what the run spent");
  add_point(*command, *options);
  add_common(*command, *options);
  options->stat = true;
  return start(command, options);
}

}  // namespace weir::cli
