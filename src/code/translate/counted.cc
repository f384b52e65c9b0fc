#include "code/translate/counted.h"

#include <signal.h>

#include "base/hash.h"
#include "code/translate/cache.h"
#include "code/translate/emit.h"
#include "code/translate/made_blocks.h"
#include "code/translate/program_text.h"
#include "code/translate/seek.h"
#include "code/translate/seek_gate.h"
#include "code/translate/step.h"
#include "control/plan.h"
#include "sys/report.h"
#include "sys/signal.h"

// Order of things: the runtime puts a block's address into Frame::rip with enter() and leaves by
// its exit; blocks jump to each other; whatever block does not know where to go on comes back
// through a thunk, which is a site like any other, and the runtime leaves by its exit again.
//
// A signal that comes meanwhile is noted, as if in the runtime, and makes the count negative by
// kCalledIn, so the next block comes in. All code that changes the count does it in one
// instruction, or between a load and a store with the value in rcx, which is then changed too.

extern "C" void weir_count_serialize();

namespace weir::translate {
namespace {

constexpr int64_t kCalledIn = int64_t{1} << 62;
// The highest byte of a count is its sign (emit_x86_64.cc)
constexpr uint64_t kMaxBudget = uint64_t{1} << 48;

// The generation of the cache that this process has seen; where tasks are threads, that this task
// has.
uint64_t g_seen[kMaxTasks];

bool g_is_single = false;  // guarded by: the turn

uint64_t& seen() { return g_seen[plan().has_processes() ? 0 : self().id]; }

bool is_called_in() { return count_state().left < -(kCalledIn / 2); }

void call_off() {
  if (is_called_in()) count_state().left += kCalledIn;
}

const Exit& exit_at(uint32_t offset) { return *reinterpret_cast<const Exit*>(kCountCode + offset); }

// Of blocks that adopt() has made: exits that lead to none yet.
constexpr uint32_t kMaxOpenExits = 1u << 16;
uint32_t g_open_exits[kMaxOpenExits];
uint32_t g_open_exit_count = 0;
bool g_adopts = false;
// What a copy of this process begins with.
uint32_t g_adopted = 0, g_adopted_flushes = 0;

const Block* make_block(uint64_t original, unsigned instructions = 0) {
  static Trace trace;              // used by one task at a time, and not worth clearing each time
  if (!has_room()) empty_cache();  // before: it makes blocks
  follow(original, trace);
  if (trace.count == 0) return nullptr;
  const bool is_single = instructions == kSingle;
  if (instructions) cut(trace, is_single ? 1 : instructions);
  Cache& c = cache();
  const uint32_t at = (c.used + 8 + 15) & ~uint32_t{15};
  const uint64_t address = kCountCode + at;
  *reinterpret_cast<uint64_t*>(address - 8) = -original;
  Translation made;
  translate(trace, !has_own_cache(), c.block_count, address, reinterpret_cast<uint8_t*>(address),
            nullptr, made, is_single);
  WEIR_CHECK(made.size <= kMaxBlockSize);
  const Block added{original,
                    at,
                    0,
                    static_cast<uint16_t>(made.size),
                    static_cast<uint8_t>(made.count),
                    static_cast<uint8_t>(instructions),
                    static_cast<uint16_t>(made.body & 0x7fff),
                    made.is_live,
                    static_cast<uint16_t>(made.shortage)};
  const Block& block = add_block(added);
  for (unsigned i = 0; i < made.exit_count; i++) {
    const uint32_t place = at + made.exits + i * static_cast<uint32_t>(sizeof(Exit));
    const Exit& exit = exit_at(place);
    const Block* next = exit.link == 0 ? nullptr : find_block(exit.target);
    if (next != nullptr) link_exit(exit, *next);
    else if (g_adopts && exit.link != 0 && g_open_exit_count < kMaxOpenExits)
      g_open_exits[g_open_exit_count++] = place;
  }
  return &block;
}

// Before the first jump into what another process has written. What this one writes itself it sees.
void see_changes() {
  if (seen() != cache().generation) weir_count_serialize();
}

const Block* block_for(uint64_t original) {
  const Block* block = find_block(original);
  if (block == nullptr) block = make_block(original);
  return block;
}

// What the place in a block stands for.
bool find_mark(uint64_t rip, Mark& found, const Block*& block) {
  block = block_at_code(rip);
  if (block == nullptr) return false;
  static Trace trace;  // not that of make_block(), which a signal may interrupt
  Mark marks[kMaxMarks];
  uint8_t code[kMaxBlockSize];
  Translation made;
  follow(block->original, trace);
  const bool is_single = block->cut == kSingle;
  if (block->cut) cut(trace, is_single ? 1 : block->cut);
  translate(trace, !has_own_cache(), static_cast<uint32_t>(block - cache().blocks),
            address_of(*block), code, marks, made, is_single);
  const uint64_t offset = rip - address_of(*block);
  for (unsigned i = 0; i < made.mark_count && marks[i].at <= offset; i++) found = marks[i];
  return true;
}

// What follows from the text at an address, for tasks that stop before each step: until the cache
// is emptied, which a change of text does. Guarded by: the turn.
struct Known {
  static constexpr uint8_t kNone = 0xff;
  static constexpr uint64_t kBudgets = kMaxWeight;
  uint64_t rip = 0;
  uint32_t flushes = 0;
  uint8_t weight = kNone;
  uint8_t within[kBudgets] = {};  // how many instructions count no more; 0: not known
};

Known& known_at(uint64_t rip) {
  constexpr uint32_t kCount = 1024;
  static Known table[kCount];
  Known& known = table[mix(rip) % kCount];
  const uint32_t flushes = cache().flushes;
  if (known.rip != rip || known.flushes != flushes) {
    known = Known{};
    known.rip = rip;
    known.flushes = flushes;
  }
  return known;
}

// Before translated code is entered, with no budget yet; `way_out`: what lies at `rip`. False: none
// is entered there.
bool prepare(const Task& task, uint64_t rip, bool takes_gates, TranslationExit& way_out) {
  if (!cache().ready || task.identity.in_vfork) return false;
  count_state().left = count_state().given = 0;
  way_out = translation_exit_at(rip);
  if (way_out.is_exit && !(takes_gates && way_out.seek_gate)) return false;
  if (!cache().flushes) flush_cache();
  see_changes();
  return true;
}

}  // namespace

const Block* block_behind_gate(uint64_t address) { return block_for(address); }

bool start(uint64_t site_entry, uint64_t upcall) {
  add_translation_exit(site_entry);
  add_translation_exit(upcall);
  const bool opened = open_cache(site_entry);
  seen() = cache().generation;
  return opened;
}

uint64_t enter(Task& task, uint64_t rip, uint64_t budget) {
  TranslationExit way_out;
  if (!prepare(task, rip, true, way_out)) return 0;
  CountState& state = count_state();
  if (budget > kMaxBudget) budget = kMaxBudget;
  if (way_out.seek_gate) {
    state.left = state.given = static_cast<int64_t>(budget);
    return kCountCode + way_out.seek_gate;
  }
  const Block* block = block_for(rip);
  seen() = cache().generation;
  if (block == nullptr) return 0;
  if (budget < block->count) budget = block->count;
  state.left = state.given = static_cast<int64_t>(budget);
  return address_of(*block);
}

uint64_t enter_exactly(Task& task, uint64_t rip, uint64_t budget) {
  TranslationExit way_out;
  if (!prepare(task, rip, false, way_out)) return 0;
  CountState& state = count_state();
  if (budget > kMaxBudget) budget = kMaxBudget;
  const Block* block = block_for(rip);
  if (block != nullptr && budget < block->count) {
    Known& known = known_at(rip);
    uint8_t few = 0;
    uint8_t& kept = budget < Known::kBudgets ? known.within[budget] : few;
    if (kept == 0) {
      static Trace trace;
      follow(rip, trace);
      kept = static_cast<uint8_t>(steps_within(trace, budget));
    }
    const unsigned within = kept;
    WEIR_CHECK(within > 0);  // the caller has looked
    const Block* cut_block = find_cut_block(rip, within);
    block = cut_block ? cut_block : make_block(rip, within);
  }
  seen() = cache().generation;
  if (block == nullptr) return 0;
  state.left = state.given = static_cast<int64_t>(budget);
  return address_of(*block);
}

uint64_t enter_single(Task& task, uint64_t rip, uint64_t budget) {
  TranslationExit way_out;
  if (!prepare(task, rip, false, way_out)) return 0;
  CountState& state = count_state();
  const Block* block = find_cut_block(rip, kSingle);
  if (block == nullptr) block = make_block(rip, kSingle);
  seen() = cache().generation;
  if (block == nullptr) return 0;
  WEIR_CHECK(block->count <= budget);
  state.left = state.given = static_cast<int64_t>(budget < kMaxBudget ? budget : kMaxBudget);
  g_is_single = true;
  return address_of(*block);
}

bool is_single() { return g_is_single; }

bool is_exit(uint64_t rip) { return translation_exit_at(rip).is_exit; }

bool on_single(Frame& frame) {
  const CountState& state = count_state();
  frame.rip = state.exit ? exit_at(state.exit).target : state.rip;
  if (!is_called_in()) return true;
  call_off();
  return false;
}

void adopt(MadeBlocks& made) {
  if (!cache().ready) return;
  if (cache().flushes && !made.count) return;  // nothing is new
  if (!cache().flushes) flush_cache();
  const uint32_t flushes = cache().flushes;
  g_adopts = true;
  for (uint32_t i = 0; i < made.count && flushes == cache().flushes; i++) {
    const uint64_t original = made.blocks[i] & MadeBlocks::kAddress;
    const auto cut = static_cast<uint8_t>(made.blocks[i] >> MadeBlocks::kCutShift);
    const Block* block = find_cut_block(original, cut);
    if (block == nullptr) block = make_block(original, cut);
    if (block != nullptr && (made.blocks[i] & MadeBlocks::kIsTarget)) set_target(*block);
  }
  g_adopts = false;
  if (flushes != cache().flushes) g_open_exit_count = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g_open_exit_count; i++) {
    const Exit& exit = exit_at(g_open_exits[i]);
    if (const Block* next = find_block(exit.target)) link_exit(exit, *next);
    else g_open_exits[kept++] = g_open_exits[i];
  }
  g_open_exit_count = kept;
  made.count = 0;
  g_adopted = cache().block_count;
  g_adopted_flushes = cache().flushes;
}

void hand_over(MadeBlocks& made) {
  const Cache& c = cache();
  if (!c.ready || c.flushes != g_adopted_flushes) return;
  const auto* const targets = reinterpret_cast<const uint64_t*>(kCountTargets);
  uint32_t count = 0;
  for (uint32_t i = g_adopted; i < c.block_count && count < MadeBlocks::kMost; i++) {
    const Block& block = c.blocks[i];
    if (block.cut && c.used > kCountCodeSize / 2) continue;  // each place may have many
    const bool is_target = targets[block.original & 0xffff] == address_of(block);
    made.blocks[count++] = block.original | uint64_t{block.cut} << MadeBlocks::kCutShift |
                           (is_target ? MadeBlocks::kIsTarget : 0);
  }
  made.count = count;
}

unsigned weight_at(uint64_t rip) {
  Known& known = known_at(rip);
  if (known.weight == Known::kNone) {
    static Trace trace;
    follow(rip, trace, false, 1);
    known.weight = static_cast<uint8_t>(trace.count ? trace.weight_before(1) : 0);
  }
  return known.weight;
}

void stop_counting() {
  count_state().left = count_state().given = 0;
  g_is_single = false;
}

uint64_t left() {
  const int64_t value = is_called_in() ? count_state().left + kCalledIn : count_state().left;
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

uint64_t executed() { return static_cast<uint64_t>(count_state().given) - left(); }

bool on_exhausted(Frame& frame) {
  CountState& state = count_state();
  const Block& block = cache().blocks[state.exit];
  state.left += block.count;
  call_off();
  frame.rip = block.original;
  return state.left < block.count;
}

void on_miss(Frame& frame) {
  CountState& state = count_state();
  const bool is_direct = state.exit != 0;
  const uint64_t target = is_direct ? exit_at(state.exit).target : state.rip;
  frame.rip = target;
  if (is_called_in()) {
    call_off();
    return;
  }
  if (const uint32_t gate = seek_gate_at(target)) {
    frame.rip = kCountCode + gate;
    return;
  }
  const uint32_t flushes = cache().flushes;
  const Block* block = block_for(target);
  if (block == nullptr) return;
  if (!is_direct) {
    set_target(*block);
  } else if (flushes == cache().flushes) {
    link_exit(exit_at(state.exit), *block);
  }
  seen() = cache().generation;
  frame.rip = address_of(*block);
}

void leave(Frame& frame) {
  if (!is_inside(frame.rip)) return;
  call_off();
  const Block* block = block_at_code(frame.rip);
  if (block != nullptr) frame.rip = block->original;
}

bool original_state(ucontext_t& context) {
  auto& gregs = context.uc_mcontext.gregs;
  CountState& state = count_state();
  Mark mark;
  const Block* block;
  if (!find_mark(static_cast<uint64_t>(gregs[REG_RIP]), mark, block)) return false;
  static const int kGreg[8] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX,
                               REG_RSP, REG_RBP, REG_RSI, REG_RDI};
  if (mark.lost & kLostRcx) gregs[REG_RCX] = static_cast<greg_t>(state.saved[0]);
  if (mark.lost & kLostRdx) gregs[REG_RDX] = static_cast<greg_t>(state.saved[1]);
  if (mark.lost & kLostOther) gregs[kGreg[mark.other & 7]] = static_cast<greg_t>(state.saved[2]);
  gregs[REG_RSP] -= mark.moved;
  gregs[REG_RIP] = static_cast<greg_t>(mark.rip);
  if (!mark.uncounted) state.left += block->count - mark.done;
  return true;
}

bool meet_signal(int signal, int code, ucontext_t& context) {
  constexpr uint64_t kFaults = sys::signal_bit(SIGSEGV) | sys::signal_bit(SIGBUS) |
                               sys::signal_bit(SIGFPE) | sys::signal_bit(SIGILL) |
                               sys::signal_bit(SIGTRAP);
  if (!is_inside(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]))) return true;
  if ((kFaults & sys::signal_bit(signal)) && code > 0) WEIR_CHECK(original_state(context));
  return signal != sys::g_probe_signal || code != SI_TKILL;
}

void interrupt(ucontext_t& context) {
  if (is_called_in() || has_own_cache()) return;
  count_state().left -= kCalledIn;
  Mark mark;
  const Block* block;
  auto& gregs = context.uc_mcontext.gregs;
  if (find_mark(static_cast<uint64_t>(gregs[REG_RIP]), mark, block) && mark.count_in_rcx)
    gregs[REG_RCX] -= kCalledIn;
}

void on_mapping(Range range, bool is_author) {
  if (forget_text(range)) on_patched_text(is_author);
}

void on_patched_text(bool is_author) {
  if ((is_author || has_own_cache()) && cache().flushes) empty_cache();
}

}  // namespace weir::translate
