// Translated blocks: where they lie, how they are found and linked. In memory that all processes of
// a program share at one address. Guarded by: the turn.
//
// Layout: kCountCode     a page of thunks, then the blocks, one behind the other in the order in
//                        which they were made
//         kCountTargets  by the lower 16 bits of an address, a block: where indirect branches look
//                        (emit_x86_64.cc)
//         kCountBlocks   Cache
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "control/control.h"

namespace weir::translate {

struct Block {
  uint64_t original;  // address in the program
  uint32_t code;      // offset of its first instruction in kCountCode; the negative of `original`
                      // stands in front of it
  uint32_t next;      // in its bucket; 0 is the end
  uint16_t size;
  uint8_t count;  // instructions; or steps (step.h)
  uint8_t cut;    // its path was cut off behind so many instructions; 0: it was not; or kSingle
  uint16_t body : 15;  // offset behind its counting, or where that keeps the flags, of the look at
                       // its result
  uint16_t is_live : 1;  // it keeps them
  uint16_t shortage;     // offset of what is done where the count does not suffice
};
static_assert(sizeof(Block) == 24);

// Of Block::cut: one instruction, and each way out of it comes to the runtime (enter_single).
inline constexpr uint8_t kSingle = 0xff;

// The end of a block in a direct branch. Lies behind the block, in the cache.
struct Exit {
  uint64_t target : 48;  // in the program
  uint64_t refund : 16;  // instructions; 0: nothing is refunded
  uint32_t link;         // offset of the displacement that leads to it, behind the refund
  uint32_t joint;  // offset of kJointSize bytes that can refund and count at once, if anything is
                   // refunded
};
static_assert(sizeof(Exit) == 16);

// Room for: sub, js, jmp.
inline constexpr uint32_t kJointSize = 19;

inline constexpr uint32_t kMaxBlocks = 1u << 19;
inline constexpr uint32_t kBuckets = 1u << 16;
inline constexpr uint32_t kMaxBlockSize = 16384;

struct Cache {
  uint32_t ready;
  uint32_t used;         // bytes of kCountCode
  uint32_t block_count;  // block 0 is none
  uint32_t flushes;
  uint64_t generation;  // counts what was written to kCountCode
  uint32_t heads[kBuckets];
  Block blocks[kMaxBlocks];
};
static_assert(sizeof(Cache) <= kCountBlocksSize);

inline Cache& cache() { return *reinterpret_cast<Cache*>(kCountBlocks); }

// Offsets in kCountCode.
inline constexpr uint32_t kEntrySlot = 0;  // the address of weir_site_entry
// An exit that leads nowhere yet; count_exit says which.
inline constexpr uint32_t kMissThunk = 0x40;
inline constexpr uint32_t kLookupMissThunk = 0x80;  // an indirect branch; count_rip says where to
inline constexpr uint32_t kExhaustedThunk = 0xc0;   // count_exit is the block's number
inline constexpr uint32_t kNoBlock =
    0x110;                                 // where the table of targets leads when it knows nothing
inline constexpr uint32_t kGate = 0x1000;  // seek.h
inline constexpr uint32_t kGateSize = 0x280;
inline constexpr uint32_t kFirstBlock = kGate + kGateSize;

// Returns false if this memory cannot be made executable. REQUIRES: it is mapped, and zero.
[[nodiscard]] bool open_cache(uint64_t entry);
// Empties the cache. REQUIRES: no task is in it. To be called before its first use.
void flush_cache();

const Block* find_block(uint64_t original);
// The block whose path is cut off behind so many instructions.
const Block* find_cut_block(uint64_t original, unsigned cut);
const Block* block_at_code(uint64_t address);
// REQUIRES: has_room().
bool has_room();
Block& add_block(const Block& made);
// Links the exit to the block from now on. The refund and the block's count become one.
void link_exit(const Exit& exit, const Block& block);
void set_target(const Block& block);

inline uint64_t address_of(const Block& block) { return kCountCode + block.code; }

}  // namespace weir::translate
