#include "code/translate/seek.h"

#include <sys/mman.h>

#include "code/decode/registers.h"
#include "code/patch/patch.h"
#include "code/translate/counted.h"
#include "code/translate/emit.h"
#include "code/translate/program_text.h"
#include "code/translate/seek_gate.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::translate {
namespace {

uint64_t g_address = 0;  // the gate's; 0: there is none
uint64_t g_passed = 0;   // the block that begins there
bool g_is_open = false;  // it compares
Wanted g_wanted;
bool g_is_own = false;

// Shared memory, of one process though: what is private is the program's.
bool map_own(uint64_t start, uint64_t size) {
  return !sys::failed(sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size),
                               PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
}

bool map_cache() {
  return map_own(kCountCode, kCountCodeSize) && map_own(kCountTargets, kCountTargetsSize) &&
         map_own(kCountState, kPageSize) && map_own(kCountBlocks, kCountBlocksSize);
}

void forget_seek_gate() {
  g_address = 0;
  g_is_open = false;
}

}  // namespace

bool open_own_cache(uint64_t site_entry, uint64_t upcall) {
  if (g_is_own) return true;
  g_is_own = map_cache();
  forget_seek_gate();
  if (!g_is_own || !start(site_entry, upcall)) return false;
  flush_cache();
  return true;
}

uint32_t seek_gate_at(uint64_t address) { return g_address && address == g_address ? kGate : 0; }

void rewrite_seek_gate() {
  if (!g_address) return;
  const Block* block = block_behind_gate(g_address);
  g_passed = block ? address_of(*block) : g_address;  // natively
  if (!block) write_way_out(g_address);
  else write_seek_gate(g_passed, g_is_open ? &g_wanted : nullptr);
}

namespace {

// One more pass has been looked at.
void note_pass(const ExecutionPoint& here) {
  const ExecutionPoint &wanted = g_wanted.point, &last = g_wanted.last;
  auto told = [](uint64_t value, uint64_t other, uint64_t before) {
    return (value != other ? 2u : 0u) + (value != before ? 1u : 0u);
  };
  for (unsigned i = 0; i < 16; i++) {
    g_wanted.told[i] += told(here.general[i], wanted.general[i], last.general[i]);
    g_wanted.told[Wanted::kVector + i] += told(here.vector[i], wanted.vector[i], last.vector[i]);
  }
  g_wanted.last = here;
}

unsigned best_register() {
  unsigned best = Wanted::kNone;
  for (unsigned i = 0; i < Wanted::kNone; i++) {
    if (i == kRcx && !g_wanted.flags_are_dead) continue;  // the comparison is done in it
    if (g_wanted.told[i] > (best == Wanted::kNone ? 0 : g_wanted.told[best])) best = i;
  }
  return best;
}

}  // namespace

uint64_t seek(Task& task, uint64_t rip, const ExecutionPoint& point,
              const uint64_t (&seen_at)[ExecutionPoint::kWords]) {
  constexpr uint64_t kBudget = 1;  // which nobody spends
  const bool is_same = g_is_open && __builtin_memcmp(&g_wanted.point, &point, sizeof point) == 0;
  if (!is_same) {
    close_seek_gate();
    g_wanted = {};
    g_wanted.point = g_wanted.last = point;
    g_wanted.flags_are_dead = dead_flags_at(point.rip) == kStatusFlags;
    __builtin_memcpy(g_wanted.seen_at, seen_at, sizeof seen_at);
    g_is_open = true;
    if (g_address == point.rip) {
      rewrite_seek_gate();
    } else {
      g_address = point.rip;
      empty_cache();  // of blocks that go on over it
    }
  }
  return enter(task, rip, kBudget);
}

uint64_t pass_seek_gate(const ExecutionPoint& here) {
  if (g_wanted.passes < Wanted::kPassesSeen) {
    note_pass(here);
    if (++g_wanted.passes == Wanted::kPassesSeen) {
      g_wanted.first = best_register();
      rewrite_seek_gate();
    }
  }
  return g_passed;
}

void close_seek_gate() {
  if (!g_is_open) return;
  g_is_open = false;
  rewrite_seek_gate();
}

bool can_seek(uint64_t rip) {
  StubPlace point;
  if (find_stub_place(rip, point)) return false;
  Trace trace;
  follow(rip, trace);
  return trace.count != 0;
}

bool has_own_cache() { return g_is_own; }

void forget_own_cache() {
  if (g_is_own) (void)map_cache();  // those who share the one before go on with it
  g_is_own = false;
  forget_seek_gate();
}

}  // namespace weir::translate
