// Constants for the assembly; cache.cc asserts that they are those of task/shared.h.
#pragma once
// kCountTargets / 8: an index with scale 8 addresses the table without a register for its base.
#define COUNT_TARGETS_INDEX 0x61f00800000
