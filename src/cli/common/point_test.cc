#include "cli/common/point.h"

#include <gtest/gtest.h>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

TEST(ToEnvironment, NamesThePoint) {
  RunOptions options;
  options.order = "token";
  options.view = "isolated";
  EXPECT_EQ(to_environment(options, 0),
            "order=token,view=isolated,stat=0,fingerprint=0,delay=00000000000000000000,tracer="
            "0000000000,pages=anything");
}

TEST(ToEnvironment, SaysHowPagesAreTrackedUnlessTheRecordingDoes) {
  setenv("WEIR_PAGES", "mprotect", 1);
  RunOptions options;
  EXPECT_NE(to_environment(options, 0).find(",pages=mprotect"), std::string::npos);
  options.trace = 700;
  EXPECT_NE(to_environment(options, 0).find(",pages=anything"), std::string::npos);
  setenv("WEIR_PAGES", "perhaps", 1);
  EXPECT_THROW(wants_page_tables(), Failure);
  unsetenv("WEIR_PAGES");
  EXPECT_FALSE(wants_page_tables());
}

TEST(ToEnvironment, HasTheSameLengthWhateverIsMeasured) {
  RunOptions plain, measured;
  measured.stat = measured.fingerprint = true;
  measured.delay = UINT64_MAX;
  EXPECT_EQ(to_environment(plain, 0).size(), to_environment(measured, 4194304).size());
}

TEST(ToEnvironment, NamesTheDescriptorOfARecordingWithSixDigits) {
  RunOptions options;
  EXPECT_EQ(to_environment(options, 0).find("trace="), std::string::npos);
  options.trace = 700;
  EXPECT_NE(to_environment(options, 0).find(",trace=000700,without=00000"), std::string::npos);
  const size_t length = to_environment(options, 0).size();
  options.left_out = 0xffff;
  EXPECT_EQ(to_environment(options, 0).size(), length);
}

TEST(ToEnvironment, NamesWhatACheckAsksForAndNothingOfItOtherwise) {
  RunOptions options;
  EXPECT_EQ(to_environment(options, 0).find("findings="), std::string::npos);
  options.view = "guarded";
  options.findings = 700;
  options.enforcer = "process";
  EXPECT_TRUE(
      to_environment(options, 0).ends_with(",findings=000700,enforcer=process,policies=inferred"));
  options.exhaustive = true;
  EXPECT_TRUE(to_environment(options, 0).ends_with(",policies=inferred,exact=1"));
  options.exhaustive = false;
  options.enforcer = "mpk";
  options.rehash = 5;
  EXPECT_TRUE(to_environment(options, 0)
                  .ends_with(",findings=000700,enforcer=mpk,policies=inferred,rehash=5,domains=0"));
}

TEST(ToEnvironment, QuotesCommasAndPercentSignsInNames) {
  RunOptions options;
  options.json = "/tmp/%,";
  options.log = "/tmp/a,b%2c";
  std::string text = to_environment(options, 0);
  EXPECT_TRUE(text.ends_with(",json=/tmp/%25%2c,log=/tmp/a%2cb%252c")) << text;
}

}  // namespace
}  // namespace weir::cli
