// Makes of a race as the runtime has noted it (check/findings/findings.h) one that says by name and
// line what happened.
// Implemented in race_reader.cc and hazards.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/races/findings_memory.h"
#include "cli/races/report.h"
#include "cli/symbols/modules.h"
#include "cli/symbols/pointees.h"
#include "cli/symbols/stack_walk.h"
#include "cli/symbols/variables.h"

namespace weir::cli {

class RaceReader {
 public:
  RaceReader(FindingsReader findings, bool with_debug_info);

  // A race on several variables or members at once is one for each of them.
  std::vector<ReportedRace> read_parts(const findings::Race& race);
  ReportedRace read(const findings::Race& race);
  ReportedRace read_hazard(const findings::Race& race);
  Modules& modules() { return modules_; }
  StackWalk& stacks() { return stacks_; }

  // From here on all is read as of that program (findings::Race::image).
  void choose_image(uint32_t image) { image_ = image; }
  // Reads the modules that a program had at its end. Called before the functions below.
  void update();
  const Frames& frames(uint32_t context);
  ReportedLock lock(uint64_t word);
  std::optional<Variable> variable(uint64_t address) { return variables_.static_at(address); }

 private:
  ReportedTask task(uint32_t number);
  ReportedSide side(const findings::Side& side);
  ReportedRace read_at(const findings::Race& race, uint64_t address);
  ReportedObject object(const findings::Race& race, uint64_t address);
  void name_block(ReportedObject& object, const findings::Race& race, uint64_t address);
  static void name_lock(Variable& variable);
  bool find_on_stack(ReportedObject& object, uint64_t address, uint32_t context);

  FindingsReader findings_;
  uint32_t image_ = 0;
  Modules modules_;
  StackWalk stacks_;
  Variables variables_;
  Pointees pointees_;
  std::map<uint32_t, Frames> known_;  // by context
};

}  // namespace weir::cli
