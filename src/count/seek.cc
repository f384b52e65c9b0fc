#include "count/seek.h"

#include <sys/mman.h>

#include "count/count.h"
#include "count/gate.h"
#include "count/text.h"
#include "count/translate.h"
#include "decode/registers.h"
#include "patch/patch.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::count {
namespace {

constexpr uint64_t kUncounted = uint64_t{1} << 47;

struct Gate {
  uint64_t address;
  uint64_t passed;  // the block that begins there
};
Gate g_gates[kMaxGates];
unsigned g_gate_count = 0;
Wanted g_wanted;
unsigned g_open = kMaxGates;  // the gate that compares
bool g_is_own = false;

// Shared memory, of one process though: what is private is the program's.
bool map_own(uint64_t start, uint64_t size) {
  return !sys::failed(sys::raw(SYS_mmap, static_cast<long>(start), static_cast<long>(size), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0));
}

bool map_cache() {
  return map_own(kCountCode, kCountCodeSize) && map_own(kCountTargets, kCountTargetsSize) && map_own(kCountState, kPageSize) &&
         map_own(kCountBlocks, kCountBlocksSize);
}

}  // namespace

bool open_own_cache(uint64_t site_entry, uint64_t upcall) {
  if (g_is_own) return true;
  g_is_own = map_cache();
  g_gate_count = 0;
  g_open = kMaxGates;
  if (!g_is_own || !start(site_entry, upcall)) return false;
  flush_cache();
  return true;
}

namespace {

// Writes the gate anew, behind which the block may lie elsewhere by now.
void write(unsigned gate) {
  Gate& g = g_gates[gate];
  const Block* block = block_behind_gate(g.address);
  g.passed = block ? address_of(*block) : g.address;  // natively
  if (!block) write_way_out(gate, g.address);
  else write_gate(gate, g.passed, gate == g_open ? &g_wanted : nullptr);
}

unsigned gate_for(uint64_t address) {
  for (unsigned i = 0; i < g_gate_count; i++) {
    if (g_gates[i].address == address) return i;
  }
  if (g_gate_count == kMaxGates) g_gate_count = 0;
  const unsigned made = g_gate_count++;
  g_gates[made] = {address, 0};
  empty_cache();  // of blocks that go on over it
  return made;
}

}  // namespace

uint32_t gate_at(uint64_t address) {
  for (unsigned i = 0; i < g_gate_count; i++) {
    if (g_gates[i].address == address) return place_of_gate(i);
  }
  return 0;
}

void write_gates() {
  for (unsigned i = 0; i < g_gate_count; i++) write(i);
}

namespace {

unsigned what_changed(const Place& from, const Place& to) {
  for (unsigned i = 0; i < 16; i++) {
    if (i != kRcx && from.general[i] != to.general[i]) return i;
  }
  for (unsigned i = 0; i < 16; i++) {
    if (from.vector[i] != to.vector[i]) return Wanted::kVector + i;
  }
  return Wanted::kNone;
}

}  // namespace

uint64_t seek(Task& task, uint64_t rip, const Place& place, const uint64_t (&seen_at)[Place::kWords]) {
  const bool is_same = g_open < g_gate_count && __builtin_memcmp(&g_wanted.place, &place, sizeof place) == 0;
  if (!is_same) {
    close_gate();
    g_wanted.place = place;
    g_wanted.passes = 0;
    __builtin_memcpy(g_wanted.seen_at, seen_at, sizeof seen_at);
    const unsigned gate = gate_for(place.rip);
    g_open = gate;
    write(gate);
  }
  return enter(task, rip, kUncounted);
}

uint64_t pass_gate(const Place& here) {
  if (g_wanted.passes < Wanted::kPassesSeen) {
    if (++g_wanted.passes == Wanted::kPassesSeen) {
      g_wanted.first = what_changed(g_wanted.last, here);
      write(g_open);
    }
    g_wanted.last = here;
  }
  return g_gates[g_open].passed;
}

void close_gate() {
  if (g_open >= g_gate_count) return;
  const unsigned gate = g_open;
  g_open = kMaxGates;
  write(gate);
}

bool can_seek(uint64_t rip) {
  StubPlace place;
  if (find_stub_place(rip, place)) return false;
  Trace trace;
  follow(rip, trace);
  return trace.count != 0;
}

bool has_own_cache() { return g_is_own; }

void forget_own_cache() {
  if (g_is_own) (void)map_cache();  // those who share the one before go on with it
  g_is_own = false;
  g_gate_count = 0;
  g_open = kMaxGates;
}

}  // namespace weir::count
