#include <gtest/gtest.h>

#include "cli/hunt/report/report.h"

namespace weir::cli::hunt {
namespace {

ReportedFailure failure(size_t chosen, size_t before, size_t delays = 0) {
  ReportedFailure made;
  for (size_t i = 0; i < chosen; i++) {
    ToldSwitch one;
    one.is_chosen = true;
    made.story.switches.push_back(one);
  }
  made.story.delays.resize(delays);
  made.shrunk.before = before;
  return made;
}

TEST(MatterWords, NumbersGovernTheVerb) {
  EXPECT_EQ(matter_words(failure(1, 18)), "1 of its 18 switches matters");
  EXPECT_EQ(matter_words(failure(1, 1)), "1 of its 1 switch matters");
  EXPECT_EQ(matter_words(failure(2, 7)), "2 of its 7 switches matter");
  EXPECT_EQ(matter_words(failure(0, 3)), "0 of its 3 switches matter");
}

TEST(MatterWords, OfDelaysAndSwitchesTogether) {
  EXPECT_EQ(matter_words(failure(1, 3, 1)), "1 switch and 1 delayed store matter, of 3 of both");
  EXPECT_EQ(matter_words(failure(0, 3, 2)), "0 switches and 2 delayed stores matter, of 3 of both");
}

TEST(FailureText, SaysWhereTheRecordingIsOrWhyThereIsNone) {
  ReportedFailure one = failure(1, 2);
  one.command = "weir run it";
  EXPECT_EQ(failure_text(one, false).find("recording"), std::string::npos);
  one.unrecorded = "the disk is full";
  EXPECT_NE(failure_text(one, false).find("no recording is kept: the disk is full"),
            std::string::npos);
  one.replay = "weir replay --gdb name";
  const std::string text = failure_text(one, false);
  EXPECT_NE(text.find("it is recorded:\n    weir replay --gdb name"), std::string::npos);
  EXPECT_EQ(text.find("disk"), std::string::npos);
}

TEST(Quoted, AShellReadsTheWordsBack) {
  EXPECT_EQ(quoted({"./a", "--x=1", "two words", "it's", ""}),
            "./a --x=1 'two words' 'it'\\''s' ''");
}

}  // namespace
}  // namespace weir::cli::hunt
