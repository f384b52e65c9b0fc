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

TEST(FailureText, ThreadsInARowAreToldByTheFirstAndTheLast) {
  ReportedFailure one = failure(1, 2);
  for (const uint32_t number : {1, 2, 5, 6, 7, 8, 10}) {
    ToldTask task;
    task.number = number;
    task.name = "work";
    task.has_maker = true;
    task.maker = "the main thread";
    one.story.tasks.push_back(task);
  }
  EXPECT_NE(failure_text(one, false).find("T1, T2, T5 to T8, T10 (work), made by the main thread"),
            std::string::npos);
}

TEST(Quoted, AShellReadsTheWordsBack) {
  EXPECT_EQ(quoted({"./a", "--x=1", "two words", "it's", ""}),
            "./a --x=1 'two words' 'it'\\''s' ''");
}

TEST(Escaped, HasOnlyWhatXmlCanHold) {
  EXPECT_EQ(escaped("a<b> & \"c\"\x1b\n"), "a&lt;b&gt; &amp; &quot;c&quot; \n");
  EXPECT_EQ(escaped("\u00fc \u20ac \U0001f600"), "\u00fc \u20ac \U0001f600");
  EXPECT_EQ(escaped("\xff|\xc0\x80|\xe2\x82|\xed\xa0\x80"),
            "\ufffd|\ufffd\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd");
  EXPECT_EQ(escaped("\xe2\x82"), "\ufffd\ufffd");
}

TEST(SummaryText, SaysThatOutputsDifferedIfNothingWasFound) {
  Report report;
  report.state.runs = 30;
  EXPECT_EQ(summary_text(report).find("--compare-output"), std::string::npos);
  report.state.other_outputs = 7;
  EXPECT_NE(summary_text(report).find("in 7 runs standard output was not the default schedule's"),
            std::string::npos);
  report.failures.push_back(failure(1, 2));
  EXPECT_EQ(summary_text(report).find("--compare-output"), std::string::npos);
}

}  // namespace
}  // namespace weir::cli::hunt
