// --heap guard: misuse of heap blocks stops where it happens, or is found when the block is freed.
//
// A *guarded* block has pages of its own. It ends, but for its alignment, at the end of its last
// page, and the page behind that has no rights. When it is freed, its pages lose their rights and
// are given back, and their addresses are never used again. (Electric Fence, Perens 1987; GWP-ASan,
// Serebryany and others, ICSE-SEIP 2024.)
//
// A guarded block costs system calls and two mappings of the kernel's, whose number is limited. So
// blocks are chosen, by what the program has done and nothing else: the first of each call site,
// and later some. All others are *marked*: they come from the deterministic heap, with a pattern
// behind them, and what is freed is filled with a pattern and kept from use for a while.
// (Quarantine: AddressSanitizer, Serebryany and others, USENIX ATC 2012.) Patterns are looked at
// when the block is freed, when it leaves the quarantine, and at the end of the program.
//
// One task at a time is in here (Order serial).
// Implemented in guard.cc, guarded_blocks.cc and marked_blocks.cc.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "heap/guard/call_stack.h"

namespace weir::guard {

extern bool g_is_on;

enum class Kind : uint8_t {
  kNone,
  kUseAfterFree,
  kOverflow,   // behind the block
  kUnderflow,  // before it
  kDoubleFree,
  kInvalidFree,  // of what is not the start of a block
};

struct Misuse {
  Kind kind = Kind::kNone;
  uint64_t address = 0;  // what was accessed, or freed
  // A pattern is no longer what it was: this happened some time before.
  bool is_late = false;
  bool has_block = false;
  uint64_t start = 0, size = 0;  // of the block, as the program asked for it
  CallStack allocated, freed;    // count 0: not known, or it is not freed
};

// Chosen and other blocks, for the words at the end of a run.
struct Counts {
  uint64_t guarded = 0, marked = 0;
  uint64_t unknown_freed = 0;  // pointers that were freed and that no allocation has returned
};
const Counts& counts();

// From now on blocks are guarded, in `region`: addresses that nobody uses. False: the kernel
// refuses. REQUIRES: nothing is allocated yet.
bool begin(Range region);
bool is_in_region(uint64_t address);

// Whether the next block of this size is guarded, that the code at `where` asks for.
bool choose(uint64_t where, size_t size);

// Guarded blocks. `read` is for the stack. 0: there is no room, and the block can be marked.
// Alignment: a power of two. The block is zero.
uint64_t allocate(size_t size, size_t alignment, const Standing& by, uint32_t task, Read read);
// REQUIRES: is_in_region(address). Of a misuse, nothing is freed.
Misuse free(uint64_t address, const Standing& by, uint32_t task, Read read);
// The program's size of a block that is in use, in the region; false: there is none at `address`.
bool find_size(uint64_t address, size_t& size);
// The guarded block, in use or free, that the address lies in; empty: it lies in none.
Range find_block(uint64_t address);
// What an access in the region that faults has done wrong; kNone: the region knows nothing of it.
Misuse judge_access(uint64_t address);

// Marked blocks: `block` is what the heap gave for size + kMarkSize bytes, `usable` all of it.
inline constexpr size_t kMarkSize = 16;
void mark(uint64_t block, size_t usable, size_t size, uint64_t where, uint32_t task);
// The block at `address`, which the heap owns: the program's size; or what is wrong with it.
// `block` is what the heap has there (heap_find), empty if nothing.
Misuse look(uint64_t address, Range block, size_t usable, uint32_t owner, size_t& size);
// It is freed, after look(): filled, and kept with others of the heap `owner`. What leaves the
// quarantine for that, and is to be given to the heap, is put into `leaving`; the number of them,
// kMaxLeaving at most. `misuse`: of those.
inline constexpr uint32_t kMaxLeaving = 8;
uint32_t keep(uint64_t address, size_t usable, size_t size, uint32_t owner, uint64_t where,
              uint32_t task, uint64_t (&leaving)[kMaxLeaving], Misuse& misuse);

// A pointer that was read from a marked block after it was freed.
bool is_fill(uint64_t value);

// At the end of the program: looks at all patterns that there are.
Misuse look_at_all();
void count_unknown_free();

}  // namespace weir::guard
