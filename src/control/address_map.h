// Where the runtime's memory lies in every process of the program: fixed addresses, far from those
// that the kernel hands out. control.h describes the contents of the first of them.
//
//   kArena    [ heaps ........ | program mmap ........ ]  program memory: where the backing begins
//   kWindows  [ pages of the backing once more, several on one page of it ]
//   kSharedView    [ the whole backing, shared and writable: for the runtime only ]
//   kControl  [ Shared | runtime stacks | diff buffers ]
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir {

// Above the shadow memory of a program that is built with the address sanitizer, which ends at
// 0x10007fff8000.
inline constexpr uint64_t kArena = 0x108000000000;
inline constexpr uint64_t kHeapSize = uint64_t{768} << 30;
inline constexpr uint64_t kMapSize = uint64_t{256} << 30;
// --heap guard: the upper part of the heaps' addresses (heap/guard/guard.h).
inline constexpr uint64_t kGuardedSize = uint64_t{256} << 30;
inline constexpr uint64_t kGuarded = kArena + kHeapSize - kGuardedSize;
inline constexpr uint64_t kArenaSize = kHeapSize + kMapSize;
// Offset in the backing where converted segments begin.
inline constexpr uint64_t kSegmentsInBacking = kArenaSize;
// Sparse: a sanitizer's shadow memory alone is 14 TiB.
inline constexpr uint64_t kSegmentsInBackingSize = uint64_t{29} << 39;
inline constexpr uint64_t kBackingSize = kArenaSize + kSegmentsInBackingSize;
inline constexpr uint64_t kWindows = 0x1c0000000000;  // memory/windows.h
inline constexpr uint64_t kWindowsSize = uint64_t{1} << 30;
inline constexpr uint64_t kSharedView = 0x200000000000;
inline constexpr uint64_t kControl = 0x300000000000;
inline constexpr uint64_t kStacks = 0x301000000000;       // runtime stacks
inline constexpr uint64_t kNoted = 0x301800000000;        // each task's pending_signals
inline constexpr uint64_t kSignalNodes = 0x301c00000000;  // SignalNode 0, 1, ...
inline constexpr uint64_t kDiffs = 0x302000000000;        // diff buffers
inline constexpr uint64_t kHeapTable = 0x30f000000000;    // HeapShared
inline constexpr uint64_t kHeapTableSize = uint64_t{1} << 20;
inline constexpr uint64_t kFaultLog = 0x30f300000000;  // each process its own (sys/fault_log.h)
// Each process its own: an instruction that is executed elsewhere
// (code/emulate/emulate_vector_x86_64.cc)
inline constexpr uint64_t kRedirected = 0x30f380000000;
// Arguments of an execve that the monitor makes.
inline constexpr uint64_t kExecBuffer = 0x30f100000000;
inline constexpr uint64_t kExecBufferLimit = 8 << 20;   // the kernel takes no more than 6 MiB
inline constexpr uint64_t kBiasTable = 0x30f200000000;  // BiasTable
inline constexpr uint64_t kBiasTableSize = uint64_t{4} << 20;
inline constexpr uint64_t kMoved = 0x30f400000000;  // MovedState of each task
// Who has which page (view/coherent): a word for each of the backing's.
inline constexpr uint64_t kPageDirectory = 0x340000000000;
inline constexpr uint64_t kPageDirectorySize = kBackingSize / kPageSize * 8;
// How hot each of them is (view/coherent/holding.cc): a word each.
inline constexpr uint64_t kPageHeat = 0x348000000000;
inline constexpr uint64_t kPageHeatSize = kBackingSize / kPageSize * 8;
inline constexpr uint64_t kContendedBlocks = 0x30f5c0000000;  // view/coherent/coherent.cc
inline constexpr uint64_t kContendedBlocksSize = kBackingSize / kPageSize / 16 / 8;
// Tapes of locks (view/coherent/lock_prefetch.cc)
inline constexpr uint64_t kTapePlace = 0x30f5d0000000;
inline constexpr uint32_t kTapes = 1024;
inline constexpr uint64_t kTapesSize = uint64_t{4} << 20;
inline constexpr uint64_t kObjects = 0x30f600000000;  // sync/object_order.h
inline constexpr uint64_t kObjectsSize = uint64_t{2} << 20;
inline constexpr uint64_t kFindings = 0x30f700000000;    // check/findings/findings.h: the command's
                                                         // memory, where the program is checked
inline constexpr uint64_t kCheckState = 0x30f760000000;  // check/core/state.h
inline constexpr uint64_t kCheckStateSize = uint64_t{512} << 20;
// What the checked View knows of each of the backing's pages.
inline constexpr uint64_t kCheckPages = 0x350000000000;
inline constexpr uint64_t kCheckPagesSize = kBackingSize / kPageSize * 56;
inline constexpr uint64_t kShadows = 0x30fc00000000;  // of pages on which accesses are looked at
inline constexpr uint64_t kShadowsSize = uint64_t{4} << 30;
inline constexpr uint64_t kWindowTable = 0x30fe00000000;  // memory/windows.h
inline constexpr uint64_t kWindowTableSize = uint64_t{4} << 20;
inline constexpr uint64_t kWindowPages = 0x30fe10000000;  // as kCheckPages, of windows
inline constexpr uint64_t kWindowPagesSize = kWindowsSize / kPageSize * 56;
// Objects with a declared policy (check/core/objects.h)
inline constexpr uint64_t kDeclared = 0x30fe20000000;
inline constexpr uint64_t kDeclaredSize = uint64_t{512} << 20;
inline constexpr uint64_t kConstants = 0x30fe50000000;  // constant/layout.h: the command's memory
inline constexpr uint64_t kSchedule = 0x30ff00000000;   // control/schedule_memory.h: the command's
inline constexpr uint64_t kScheduleLog = 0x30ff10000000;  // order/serial/run.h
inline constexpr uint64_t kScheduleLogSize = uint64_t{192} << 20;
inline constexpr uint64_t kMadeBlocks = 0x30ff20000000;  // code/translate/made_blocks.h
inline constexpr uint64_t kSpinnerKey = uint64_t{3}
                                        << 62;  // + a task: what it waits for that spins on pages
inline constexpr uint64_t kHeapKey =
    kSpinnerKey +
    (uint64_t{1} << 32);  // what tasks wait for that have one heap (interpose/alloc/heap_scope.h)
// Translated program code (src/code/translate). Below where the kernel puts programs that are
// position independent (0x555555554000, and higher where addresses are random), and near it, so
// that translated instructions reach the program's data relative to rip.
inline constexpr uint64_t kCountCode = 0x555500000000;
inline constexpr uint64_t kCountCodeSize = uint64_t{32} << 20;
// Where indirect branches of translated code lead; aligned to its size.
inline constexpr uint64_t kCountTargets = 0x555504000000;
inline constexpr uint64_t kCountTargetsSize = uint64_t{512} << 10;
// CountState; less than 2 GiB from the code.
inline constexpr uint64_t kCountState = 0x555504800000;
inline constexpr uint64_t kCountBlocks = 0x555505000000;  // translate::Cache
inline constexpr uint64_t kCountBlocksSize = uint64_t{16} << 20;

static_assert(kSharedView + kBackingSize <= kControl &&
              kPageDirectory + kPageDirectorySize <= kPageHeat &&
              kPageHeat + kPageHeatSize <= kCheckPages);
// Everything of the runtime's from the arena on, but translated code, lies below this.
inline constexpr uint64_t kRuntimeLimit = 0x400000000000;
static_assert(kCheckPages + kCheckPagesSize <= kRuntimeLimit);

// Whether the range touches that. Between the arena and the windows is nothing of the runtime's:
// there the kernel puts the libraries of a program with an unlimited stack, to which it leaves five
// sixths of all addresses.
constexpr bool overlaps_runtime(const Range& range) {
  return range.overlaps({kArena, kArena + kArenaSize}) || range.overlaps({kWindows, kRuntimeLimit});
}

}  // namespace weir
