#include <gtest/gtest.h>

#include "cli/races/report.h"

namespace weir::cli {
namespace {

Frame frame(const std::string& function, const std::string& file, int line) {
  Frame frame;
  frame.function = function, frame.file = file, frame.line = line;
  frame.module = "/opt/program", frame.offset = 0x1234, frame.address = 0x5555;
  return frame;
}

TEST(PlaceWords, TheProgramsOwnLineWhereThereIsOne) {
  EXPECT_EQ(place_words(Frames{frame("f", "/usr/include/c++/12/bits/stl_vector.h", 9),
                               frame("g", "/src/a.cc", 3)}),
            "/src/a.cc:3");
  EXPECT_EQ(place_words(Frames{frame("f", "/usr/include/x.h", 9)}), "/usr/include/x.h:9");
  EXPECT_EQ(place_words(Frames{frame("f", "", 0)}), "/opt/program+0x1234");
  EXPECT_EQ(place_words(Frames{}), "an unknown place");
}

TEST(AccessWords, SayWhatAndByWhom) {
  ReportedSide side;
  side.size = 1, side.kind = findings::kWrite;
  EXPECT_EQ(access_words(side), "write of 1 byte");
  side.size = 8, side.kind = findings::kRead | findings::kWrite | findings::kAtomic;
  EXPECT_EQ(access_words(side), "atomic read and write of 8 bytes");
  side.kind = findings::kRead | findings::kByKernel;
  EXPECT_EQ(access_words(side), "read of 8 bytes (by a system call)");
  side.kind = findings::kWrite | findings::kByLibrary;
  EXPECT_EQ(access_words(side, false), "write (in a function of the C library)");
  side.kind = findings::kWrite | findings::kFree;
  EXPECT_EQ(access_words(side), "free");
}

TEST(TaskWords, NameNumberOrMain) {
  ReportedTask task;
  task.number = 3;
  EXPECT_EQ(task_words(task), "thread T3");
  task.is_known = true, task.name = "io";
  EXPECT_EQ(task_words(task), "thread T3 \"io\"");
  task.is_main = true;
  EXPECT_EQ(task_words(task), "the main thread");
}

TEST(FrameWords, WhatIsKnown) {
  EXPECT_EQ(frame_words(frame("f(int)", "/src/a.cc", 3)), "f(int) /src/a.cc:3");
  EXPECT_EQ(frame_words(frame("", "", 0)), "?? (/opt/program+0x1234)");
  EXPECT_EQ(frame_words(Frame{}), "?? (0x0)");
}

}  // namespace
}  // namespace weir::cli
