// Takes switches out of a schedule that fails, as long as it fails alike: ddmin (Zeller,
// Hildebrandt, TSE 2002), over the switches that are not the default schedule's. Then each switch
// moves as late as it may, since a task is best shown right before what it should have done in
// time.
//
// A random walk's switches often only make up for each other's effects: each is needed, and none
// matters. If many are left, other schedules are tried that have few to begin with: those of the
// strategies directed and sweep. One that fails alike takes the place of the list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/hunt/run/judge.h"
#include "cli/hunt/run/runner.h"
#include "cli/hunt/search/strategies.h"

namespace weir::cli::hunt {

struct ShrinkOptions {
  double seconds = 30;
  uint64_t runs = 3000;
};

struct Shrunk {
  Switches switches;
  Outcome run;           // under them
  size_t before = 0;     // switches that the first one had
  uint64_t runs = 0;     // that it took
  bool is_whole = true;  // no switch can go; false: the budget was spent before
  std::string refusal;   // why there is nothing to be shrunk; empty: there was
};

// What other schedules are made from.
struct Others {
  StrategyOptions strategies;
  const Outcome* first = nullptr;  // as for Strategies; null: no others are tried
};

// `failing`: a run that fails by `signature`.
Shrunk shrink(Runner& runner, const Judge& judge, const std::string& signature,
              const Outcome& failing, const ShrinkOptions& options, const Others& others = {},
              const std::function<void(size_t switches, uint64_t runs)>& watch = {});

}  // namespace weir::cli::hunt
