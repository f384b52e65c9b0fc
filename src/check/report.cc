// How races get to the command: each pair of instructions once, with where both tasks were.
//
// A stack is not unwound here. Its bytes are kept, and the command unwinds them. The same place
// with the same return addresses is kept once.

#include "base/bytes.h"
#include "base/hash.h"
#include "check/core/access_rules.h"
#include "check/core/happens_before.h"
#include "check/core/hazards.h"
#include "check/core/state.h"
#include "check/executed.h"
#include "heap/guard/guard.h"
#include "heap/heap.h"
#include "memory/backing.h"
#include "sys/maps.h"
#include "sys/memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::view::checked {

namespace {

using findings::Context;
using findings::Findings;

// Of the stack: what of them looks like a return address tells callers apart.
constexpr uint32_t kKeyWords = 96;
constexpr uint32_t kTries = 64;

bool is_known_module(const Findings& f, uint64_t address) {
  for (uint32_t i = 0; i < f.modules && i < findings::kMaxModules; i++) {
    if (f.module[i].ready && f.module[i].image == checking::g_image &&
        address >= f.module[i].start && address < f.module[i].limit)
      return true;
  }
  return false;
}

// Most that is left on a stack is data; what looks like text may be the heap, and differs from time
// to time.
bool may_be_text(uint64_t word) {
  return word - 0x555555000000 < 0x10000000 || word - 0x7ffff0000000 < 0xffd0000 ||
         word - 0x400000 < 0x4000000;
}

bool is_at(const RecentContext& recent, const AccessSite& site, const uint64_t* words,
           uint32_t count) {
  if (recent.rip != site.rip || recent.rsp != site.general[4] || !recent.context ||
      recent.is_call != site.is_call)
    return false;
  for (uint32_t i = 0; i < recent.count; i++) {
    if (recent.at[i] >= count || words[recent.at[i]] != recent.word[i]) return false;
  }
  return true;
}

// `recent`, unless NULL, gets what the key is made of. is_call tells a call from what is behind it.
uint64_t key_of(const AccessSite& site, const uint64_t* words, uint32_t count,
                RecentContext* recent) {
  const Findings& f = found();
  uint64_t key = mix(site.rip ^ site.general[4] << 17 ^ uint64_t{checking::g_image} << 32) ^
                 uint64_t { site.is_call };
  uint32_t kept = 0;
  if (recent) recent->context = findings::kNoContext;
  for (uint32_t i = 0; i < count; i++) {
    if (!may_be_text(words[i]) || !is_known_module(f, words[i])) continue;
    key = (key ^ words[i]) * 0xBF58476D1CE4E5B9 ^ key >> 29;
    if (recent && kept < RecentContext::kWords)
      recent->word[kept] = words[i], recent->at[kept] = static_cast<uint8_t>(i);
    kept++;
  }
  if (recent) {
    recent->rip = kept <= RecentContext::kWords ? site.rip : 0;  // too many: it is none
    recent->rsp = site.general[4], recent->is_call = site.is_call;
    recent->count = kept;
  }
  return key ? key : 1;
}

void note_modules() {
  Findings& f = found();
  char* cursor = nullptr;
  if (sys::read_maps(&cursor) < 0) return;
  sys::MapLine line;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    if (!line.executable || line.name[0] != '/' || is_known_module(f, line.range.start) ||
        f.modules >= findings::kMaxModules)
      continue;
    const uint32_t index = __atomic_fetch_add(&f.modules, 1u, __ATOMIC_ACQ_REL);
    if (index >= findings::kMaxModules) continue;
    findings::Module& module = f.module[index];
    module.image = checking::g_image;
    module.start = line.range.start;
    module.limit = line.range.limit;
    module.offset = line.offset;
    uint32_t length = 0;
    while (line.name[length] && length + 1 < sizeof module.path)
      module.path[length] = line.name[length], length++;
    module.path[length] = 0;
    __atomic_store_n(&module.ready, 1u, __ATOMIC_RELEASE);
  }
}

uint64_t rip_of(const Findings& f, uint32_t context) {
  return context ? f.context[context].rip : 0;
}

findings::Side side_of(uint64_t address, uint64_t size, uint32_t kind, uint32_t number,
                       uint32_t context, uint32_t lockset) {
  findings::Side side{address, size, kind, number, context, 0, {}};
  if (!lockset) return side;
  const Lockset& set = state().locksets[lockset - 1];
  side.lock_count = set.count;
  for (uint32_t i = 0; i < findings::kMaxLocks; i++) side.locks[i] = set.locks[i];
  return side;
}

// Blocks that lie beside each other are beside each other there: a few pages, of those that are in
// use.
Allocation& allocation_of(uint64_t start) {
  return state().allocations[((start >> 4) + (start >> 24) * 0x9E3779B9) & (kAllocations - 1)];
}

const void* see(uint64_t address) { return access_rules().seen_at(address); }

// Null: there is no room. Other processes take some at the same time.
findings::Race* take_race(Findings& f, uint64_t first, uint64_t second) {
  const uint32_t index = __atomic_fetch_add(&f.races, 1u, __ATOMIC_ACQ_REL);
  if (index >= findings::kMaxRaces) return nullptr;
  if (!is_known_module(f, second) || (first && !is_known_module(f, first))) note_modules();
  findings::Race& race = f.race[index];
  race.image = checking::g_image;
  race.count = race.order = race.fault = race.change = race.more = 0;
  return &race;
}

void notify_command(Findings& f, findings::Race& race) {
  __atomic_store_n(&race.ready, 1u, __ATOMIC_RELEASE);
  __atomic_fetch_add(&f.bell, 1u, __ATOMIC_SEQ_CST);
  sys::raw(SYS_futex, reinterpret_cast<long>(&f.bell), 1 /* FUTEX_WAKE */, 0x7fffffff);
}

uint32_t context_by_key(uint64_t key, const AccessSite& site) {
  Findings& f = found();
  for (uint32_t i = 0; i < kTries; i++) {
    const uint32_t at = static_cast<uint32_t>(((key >> 20) + i) % (findings::kMaxContexts - 1)) + 1;
    Context& context = f.context[at];
    uint64_t there = __atomic_load_n(&context.key, __ATOMIC_ACQUIRE);
    if (there == key) return at;
    if (there || !__atomic_compare_exchange_n(&context.key, &there, key, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
      if (there == key) return at;
      continue;
    }
    for (uint32_t k = 0; k < 16; k++) context.registers[k] = site.general[k];
    context.rip = site.rip;
    context.is_call = site.is_call;
    context.stack_bytes =
        access_rules().copy_stack(site.general[4], context.stack, sizeof context.stack);
    __atomic_fetch_add(&f.contexts, 1u, __ATOMIC_RELAXED);
    return at;
  }
  return findings::kNoContext;
}

}  // namespace

uint32_t context_of(const AccessSite& site) {
  uint64_t words[kKeyWords];
  ThreadState& thread = thread_of(self());
  RecentContext& recent =
      thread.recent[(site.rip ^ site.rip >> 7 ^ site.general[4] >> 5) % ThreadState::kRecent];
  if (recent.rip == site.rip) {
    uint32_t there = kKeyWords;
    const uint64_t* const stack = access_rules().stack_in_place(site.general[4], thread, there);
    if (stack && is_at(recent, site, stack, there)) return recent.context;
  }
  const uint32_t count =
      access_rules().copy_stack(site.general[4], reinterpret_cast<uint8_t*>(words), sizeof words) /
      8;
  if (!happens::g_checked) return context_by_key(key_of(site, words, count, nullptr), site);
  if (is_at(recent, site, words, count)) return recent.context;
  return recent.context = context_by_key(key_of(site, words, count, &recent), site);
}

namespace {

void describe(findings::Race& race, const PriorAccess& prior, const ThreadState& thread,
              const Access& access, uint64_t order) {
  race.order = order;
  race.sides[0] =
      side_of(prior.address, prior.size, prior.kind, prior.number, prior.context, prior.lockset);
  race.sides[1] = side_of(access.address, access.size, access.kind, thread.number, access.context,
                          thread.lockset);
  race.object = object_at(access.address);
}

// In a replay tasks find races side by side: which of those that are reported as one is described
// must not depend on who was first. Where a task was is the same each time.
uint64_t order_of(const ThreadState& thread, const PriorAccess& prior) {
  constexpr uint32_t kTaskBits = 14, kLookBits = 36;
  static_assert(findings::kMaxTasks <= 1 << kTaskBits);
  if (!happens::g_replayed) return 0;
  return uint64_t{thread.number} << (kTaskBits + kLookBits) |
         (thread.checked_count & ((uint64_t{1} << kLookBits) - 1)) << kTaskBits | prior.number;
}

// One instruction may touch several variables, of which each is racy: a pair of instructions is the
// same only with the same part of the second one's bytes.
uint64_t part_of(const findings::Side& first, const findings::Side& second) {
  constexpr uint64_t kMost = 64;  // bytes of a vector
  if (second.size > kMost ||
      ((first.kind | second.kind) & (findings::kByLibrary | findings::kByKernel | findings::kFree)))
    return 0;
  return first.address > second.address ? first.address - second.address : 0;
}

}  // namespace

void report_race(const PriorAccess& prior, const ThreadState& thread, Access& access,
                 const AccessSite& site, findings::Why why, bool is_by_memory) {
  Findings& f = found();
  if (!access.context) access.context = context_of(site);
  if (!access.context || !prior.context) return;  // what is reported has two sides
  const uint64_t first = rip_of(f, prior.context), order = order_of(thread, prior);
  const uint64_t part =
      part_of({prior.address, prior.size, prior.kind, prior.number, prior.context, 0, {}},
              {access.address, access.size, access.kind, thread.number, access.context, 0, {}});
  const SpinGuard guard(state().findings_lock);
  for (uint32_t i = 0; i < f.races && i < findings::kMaxRaces; i++) {
    findings::Race& race = f.race[i];
    const uint64_t a = rip_of(f, race.sides[0].context), b = rip_of(f, race.sides[1].context);
    if (race.image != checking::g_image ||
        !((a == first && b == site.rip) || (a == site.rip && b == first)) ||
        race.sides[1].kind != access.kind || part_of(race.sides[0], race.sides[1]) != part ||
        (race.fault == findings::kOrderedByMemory && !is_by_memory))
      continue;
    race.count++;
    if (order < race.order) describe(race, prior, thread, access, order);
    return;
  }
  if (is_by_memory && f.races >= findings::kMaxByMemory) return;  // the others need room, too
  findings::Race* race = take_race(f, first, site.rip);
  if (!race) return;
  race->why = why;
  race->fault = is_by_memory ? findings::kOrderedByMemory : 0;
  describe(*race, prior, thread, access, order);
  notify_command(f, *race);
}

void report_policy(const PriorAccess& prior, const ThreadState& thread, Access& access,
                   const AccessSite& site, findings::Why why, uint32_t fault, uint32_t change,
                   const findings::Object& object) {
  Findings& f = found();
  if (!access.context) access.context = context_of(site);
  const uint64_t first = rip_of(f, prior.context);
  const SpinGuard guard(state().findings_lock);
  for (uint32_t i = 0; i < f.races && i < findings::kMaxRaces; i++) {
    findings::Race& race = f.race[i];
    if (race.image != checking::g_image || race.why != why || race.fault != fault ||
        race.change != change)
      continue;
    // One call of the C library's makes many accesses.
    const bool is_one_call = (race.sides[1].kind & access.kind & findings::kByLibrary) &&
                             race.object.start == object.start &&
                             race.sides[1].task == thread.number;
    if (!is_one_call && rip_of(f, race.sides[1].context) != site.rip) continue;
    if (rip_of(f, race.sides[0].context) != first) continue;
    race.count++;
    return;
  }
  findings::Race* race = take_race(f, first, site.rip);
  if (!race) return;
  race->why = why;
  race->fault = fault;
  race->change = change;
  race->sides[0] =
      side_of(prior.address, prior.size, prior.kind, prior.number, prior.context, prior.lockset);
  race->sides[1] = side_of(access.address, access.size, access.kind, thread.number, access.context,
                           thread.lockset);
  race->object = object;
  notify_command(f, *race);
}

findings::Object object_at(uint64_t address) {
  findings::Object object{};
  return is_declared(address, object) ? object : undeclared_at(address);
}

findings::Object undeclared_at(uint64_t address) {
  findings::Object object{};
  Range block = guard::find_block(address);
  if (block.empty()) block = heap_find(address, see);
  if (!block.empty()) {
    object.kind = findings::ObjectKind::kHeap;
    object.start = block.start, object.size = block.size();
    const Allocation& known = allocation_of(block.start);
    if (known.start != block.start) return object;
    object.size = known.size;
    object.context = known.context;
    object.task = known.number;
    return object;
  }
  constexpr uint64_t kMaxStack = 8 << 20;
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.order.high_task; i++) {
    const ThreadState& thread = state().threads[i];
    const uint64_t top = i == 0 && thread.creation == 0 ? s.program.stack_begin : thread.stack;
    if (!top || address >= top || address < top - kMaxStack) continue;
    object.kind = findings::ObjectKind::kStack;
    object.task = thread.number, object.start = top;
    return object;
  }
  object.kind =
      page::in_arena(address) ? findings::ObjectKind::kMapping : findings::ObjectKind::kStatic;
  return object;
}

bool is_of_library(uint64_t address) {
  for (const StreamBuffer& buffer : state().stream_buffer) {
    if (address - buffer.start < buffer.size) return true;
  }
  const Range block = heap_find(address, see);
  if (block.empty()) return false;
  const Allocation& known = allocation_of(block.start);
  return known.start == block.start && is_ignored(rip_of(found(), known.context));
}

void note_block(uint64_t start, uint64_t size, const AccessSite& site) {
  Allocation& known = allocation_of(start);
  const uint32_t context = context_of(site);
  known = {start, size, context, happens::g_checked ? thread_of(self()).number : 0};
}

void note_stream_buffer(uint64_t stream, uint64_t start, uint64_t size) {
  State& s = state();
  const SpinGuard guard(s.findings_lock);
  uint32_t at = s.stream_buffers % kStreamBuffers;
  for (uint32_t i = 0; i < kStreamBuffers; i++) {
    if (s.stream_buffer[i].stream == stream) at = i;
  }
  if (at == s.stream_buffers % kStreamBuffers) s.stream_buffers++;
  s.stream_buffer[at] = {stream, start, size};
}

uint32_t note_task(const Task& task, const ThreadState* creator) {
  Findings& f = found();
  const uint32_t number = __atomic_fetch_add(&f.tasks, 1u, __ATOMIC_RELAXED);
  if (number >= findings::kMaxTasks) return findings::kMaxTasks - 1;
  findings::TaskInfo& info = f.task[number];
  info.tid = task.identity.virtual_tid;
  info.creator = creator ? creator->number : number;
  info.start = creator ? task.identity.start_function : 0;
  info.context = 0;
  if (creator && self().frame) info.context = context_of(access_site_of(*self().frame));
  sys::raw(SYS_prctl, 16 /* PR_GET_NAME */, reinterpret_cast<long>(info.name));
  if (!creator) note_modules();
  __atomic_store_n(&info.ready, 1u, __ATOMIC_RELEASE);
  return number;
}

}  // namespace weir::view::checked

namespace weir::hazards {

using namespace view::checked;

AccessSite site_of(const Caller& caller) {
  AccessSite site{};
  site.general[4] = caller.stack;
  site.general[5] = caller.frame;
  site.rip = caller.where;
  site.is_call = true;
  return site;
}

namespace {

findings::Side side_of(const SideNote& note) {
  findings::Side side{note.address,
                      static_cast<uint64_t>(note.action),
                      findings::kLockCall,
                      note.number,
                      note.context,
                      0,
                      {}};
  if (note.held) side.locks[side.lock_count++] = note.held;
  if (!note.thread) return side;
  for (uint32_t i = 0; i < note.thread->held_count && i < kMaxHeld; i++) {
    if (i < findings::kMaxLocks) side.locks[i] = note.thread->held[i];
    side.lock_count++;
  }
  return side;
}

}  // namespace

void report(Hazard hazard, const SideNote* sides, uint32_t count, uint64_t object) {
  Findings& f = found();
  const SideNote& last = sides[count - 1];
  // Descriptors are used by functions of the C library: their callers tell them apart.
  const auto place_of = [&](uint32_t context) {
    return hazard == Hazard::kDescriptor ? context : rip_of(f, context);
  };
  const uint64_t first = count > 1 ? place_of(sides[0].context) : 0, then = place_of(last.context);
  const SpinGuard guard(state().findings_lock);
  for (uint32_t i = 0; i < f.races && i < findings::kMaxRaces; i++) {
    findings::Race& race = f.race[i];
    if (race.image != checking::g_image || race.why != findings::Why::kHazard ||
        race.fault != static_cast<uint32_t>(hazard))
      continue;
    const uint64_t a = place_of(race.sides[0].context), b = place_of(race.sides[1].context);
    if (!((a == first && b == then) || (a == then && b == first))) continue;
    race.count++;
    return;
  }
  findings::Race* race = take_race(f, rip_of(f, sides[0].context), rip_of(f, last.context));
  if (!race) return;
  race->why = findings::Why::kHazard;
  race->fault = static_cast<uint32_t>(hazard);
  race->sides[0] = count > 1 ? side_of(sides[0]) : findings::Side{};
  race->sides[1] = side_of(last);
  if (const uint32_t index =
          count > 2 ? __atomic_fetch_add(&f.more_sides, 1u, __ATOMIC_RELAXED) : findings::kMaxMore;
      index < findings::kMaxMore) {
    f.more[index].count = count - 2;
    for (uint32_t i = 1; i + 1 < count; i++) f.more[index].sides[i - 1] = side_of(sides[i]);
    race->more = index + 1;
  }
  race->object = object ? object_at(object) : findings::Object{};
  notify_command(f, *race);
}

}  // namespace weir::hazards
