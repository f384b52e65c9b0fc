// Processes that the program forks. They are no nodes: nobody brings them pages, and nobody takes
// what they write. The memory is the node's own, so they must not write it.
#pragma once

#include "dsm/segment/segment.h"

namespace weir::dsm {

// From here on a process that is forked may only read, of `segment`, what is accessible.
void watch_forks(const Segment& segment);
void forget_forks();
// In a process that another call than libc's fork() has made.
void become_forked();
// Whether the calling process is one that was forked, by whatever call.
bool is_forked();

}  // namespace weir::dsm
