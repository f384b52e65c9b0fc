// What a program can learn of the processor by asking it.
#pragma once

#include "recording/manifest.h"

namespace weir::cli {

// The features are words of cpuid that do not differ between two processors of one machine: vendor,
// family and model, feature bits, and what of them the system lets be used (xgetbv). libc chooses
// its functions by them, and keeps them in its memory.
recording::Processor this_processor();

}  // namespace weir::cli
