// Races within what a compiler has added to a program: the runtime of a sanitizer, and the words
// that its checks keep. They are plain on purpose, and are none of the program's.
#pragma once

#include "cli/races/report.h"

namespace weir::cli {

// True if the object, or the code of a side, is the sanitizer's own. What a sanitizer does for the
// program (__asan_memcpy, an interceptor) is the program's.
bool is_of_instrumentation(const ReportedRace& race);

}  // namespace weir::cli
