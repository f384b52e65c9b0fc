#include "cli/races/atomic_proof.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

// An access of a static variable by an instruction that is certainly no atomic operation.
ReportedRace race_on(const std::string& variable) {
  ReportedRace race;
  for (ReportedSide& side : race.sides) {
    side.exists = true;
    side.kind = findings::kRead | findings::kWrite;
  }
  race.object.has_variable = true;
  race.object.variable.name = variable;
  return race;
}

// What a static program's threads do in the C library is none of the program's.
TEST(AtomicProofTest, VariablesOfAStaticProgramsLibraryAreTheLibrarys) {
  for (const char* name : {"__nptl_nthreads", "_dl_stack_cache", "_nl_current", "_IO_list_all"})
    EXPECT_FALSE(AtomicProof().judge(race_on(name)).is_proven) << name;
  EXPECT_TRUE(AtomicProof().judge(race_on("counter")).is_proven);
  EXPECT_TRUE(AtomicProof().judge(race_on("_counter")).is_proven);
  ReportedRace typed = race_on("__counter");  // of a source that was compiled with -g
  typed.object.variable.has_type = true;
  EXPECT_TRUE(AtomicProof().judge(typed).is_proven);
}

}  // namespace
}  // namespace weir::cli
