#include "cli/symbols/producers.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(Producers, OfWhichItIsKnown) {
  for (const char* known :
       {"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O1", "GNU C++14 9.4.0 -g",
        "GNU GIMPLE 12.2.0 -g", "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0",
        "GCC: (GNU) 15.1.1 20250425 (Red Hat 15.1.1-1)", "GNU Fortran2008 11.3.0"})
    EXPECT_TRUE(loads_atomics_by_moves(known, false)) << known;
  for (const char* clang : {"Debian clang version 14.0.6", "clang version 19.1.7 (https://x)"}) {
    EXPECT_TRUE(loads_atomics_by_moves(clang, true)) << clang;
    EXPECT_FALSE(loads_atomics_by_moves(clang, false)) << clang;
  }
}

TEST(Producers, OfWhichItIsNot) {
  for (const char* other :
       {"GNU AS 2.40", "GCC: (GNU) 16.0.1", "GNU C17 16.1.0", "clang version 20.1.0", "GNU C",
        "clang version", "rustc version 1.80.0", "Go cmd/compile go1.22", "tcc", ""})
    EXPECT_FALSE(loads_atomics_by_moves(other, true)) << other;
}

TEST(Producers, ThatDoNotOptimize) {
  EXPECT_TRUE(says_unoptimized("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g"));
  EXPECT_TRUE(says_unoptimized("GNU C++17 12.2.0 -mtune=generic -march=x86-64 -g -O2 -O0 -fPIC"));
  for (const char* other :
       {"GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O1", "GNU C17 12.2.0 -march=x86-64 -Og",
        "GNU C17 12.2.0 -g",  // asked not to tell
        "GNU GIMPLE 12.2.0 -mtune=generic -march=x86-64 -g", "GNU AS 2.40", "clang version 19.1.7",
        ""})
    EXPECT_FALSE(says_unoptimized(other)) << other;
}

}  // namespace
}  // namespace weir::cli
