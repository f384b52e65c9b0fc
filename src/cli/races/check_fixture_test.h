// For tests of reports: a program whose findings are made by hand, of this process's own code and
// memory.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>

#include "cli/races/checker.h"

namespace weir::cli {

struct TestItem {
  int inside;
  int count;
  union {
    long whole;
    short half;
  } either;
};
struct TestBase {
  virtual ~TestBase() = default;
  int inherited = 0;
};
struct TestDerived : TestBase {
  int own = 0;
};
struct TestMixed {
  std::atomic<int> flag;
  int plain;
  union Either {
    int whole;
    std::atomic<int> part{0};
  } either;
};
extern TestItem g_table[8];
extern int g_matrix[3][4];
extern TestDerived g_derived;
extern TestMixed g_mixed;
extern std::once_flag g_once;
extern std::mutex g_mutex;
extern const int g_inner_line, g_call_line;  // of what they name in check_fixture_test.cc

class CheckTest : public testing::Test {
 public:
  uint32_t capture();          // of the caller: index of a context
  uint32_t context_of_call();  // one that is a call, at g_call_line
  // Written at g_inner_line by task 1, read there by task 2; plain accesses.
  findings::Race race_on(const void* address);
  ReportedRace read(const findings::Race& race, bool with_debug_info = true);

 protected:
  CheckTest();
  ~CheckTest() override;

  findings::Findings& findings() { return memory_.findings(); }
  void add(const findings::Race& race);
  Checker make_checker(const std::string& format, bool verbose = false, bool with_debug_info = true,
                       Suppressions suppressions = {});
  std::string log();     // what was said
  std::string output();  // the report

 private:
  FindingsMemory memory_;
  std::string folder_;
};

uint32_t inner_place(CheckTest* from);
uint32_t outer_place(CheckTest* from);

}  // namespace weir::cli
