// A doubtful site could be an atomic operation but is not proved to be an instruction. It is left
// alone until it is executed; then it is one. Pages with such sites are not executable until
// control comes to them. Then breakpoints of the processor lie on the sites. Private to the
// process, inherited by fork as a copy. Only View isolated needs it: at the others an atomic
// operation that is not seen is still atomic.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir {

namespace doubt {

// For patch.cc. What is added from here on lies in another executable mapping.
void begin_text();
// A place that may be an atomic operation.
void add(uint64_t address);

// From here on those places are watched, until open_all(). REQUIRES: as patch_text().
void close_all();
// The texts are executable until close_all(). REQUIRES: as patch_text().
void open_all();
// Between open_all() and close_all(), and before anything is added: the places in these texts are
// known as before, all others no more. `texts` ascend. REQUIRES: as patch_text().
void keep_only(const Range* texts, uint32_t count);
// The range is no such text any more.
void forget(Range range);
// This process is a new one: what watches its maker's places does not watch its own.
void begin_process();

// Whether it is such a place, proved meanwhile or not: no translation goes over it.
bool knows(uint64_t address);
// A page that is not executable is about to be executed. kOther: it is no page of these. kWalk: the
// code that follows must be stepped through. `watches`: sites on the page matter. Signal-safe, like
// the functions that follow.
enum class Fetch : uint8_t { kOther, kGoOn, kWalk };
Fetch on_fetch(uint64_t address, bool watches);
// A page is being stepped through.
bool walks();
// A step has come to `address`. Returns whether the next instruction must be stepped through too.
bool on_step(uint64_t address);
// No more steps for now.
void end_walk();
// Control has come to `address`. Returns false if it is no doubtful site.
bool on_breakpoint(uint64_t address);

}  // namespace doubt
}  // namespace weir
