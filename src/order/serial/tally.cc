#include "order/serial/tally.h"

#include "base/hash.h"
#include "base/sort.h"
#include "code/decode/decoder.h"

namespace weir::order::serial {

namespace {

constexpr uint32_t kCapacity = 1u << 12;
constexpr uint32_t kProbes = 16;  // then it is not counted
Tallied g_tallies[kCapacity];
uint16_t g_used[kCapacity];  // their places, in the order in which they came
uint32_t g_used_count = 0;

}  // namespace

Touch touch_of(const Task& task, Reason reason, uint64_t rip) {
  constexpr uint32_t kObject = 8;  // bytes: the word by which a lock is known
  if (!task.frame) return {};
  if (reason == Reason::kEvent)
    return task.frame->site == kUpcall ? Touch{task.frame->rsi, kObject, true} : Touch{};
  Instruction instruction;
  const bool is_late = is_within(reason);
  if (!is_step(reason) || !decode(rip, instruction)) return {};
  Registers registers = registers_of(*task.frame);
  registers.rip = rip;
  const AccessList list = accesses_of(instruction, registers, sys::fs_base(), 0);
  Touch touch;
  for (size_t i = 0; i < list.count; i++) {  // of two, what is written
    const Access& access = list.accesses[i];
    if (touch.address && !access.written) continue;
    const bool changes = access.read && access.written && !instruction.is_locked;
    touch = {access.address, static_cast<uint32_t>(access.size),
             access.written && (is_late || !changes)};
  }
  return touch;
}

uint32_t Tallied::shared() const {
  uint32_t sum = 0, most = 0;
  for (const uint32_t count : counts) {
    sum += count;
    if (count > most) most = count;
  }
  return sum - most;
}

void clear_tallies() {
  for (uint32_t i = 0; i < g_used_count; i++) g_tallies[g_used[i]] = {};
  g_used_count = 0;
}

void tally(const Touch& touch, uint32_t number) {
  if (!touch.address || number >= kTalliedTasks) return;
  const uint64_t address = touch.address & ~uint64_t{7};
  const uint64_t start = mix(address) >> 32;
  for (uint32_t i = 0; i < kProbes; i++) {
    Tallied& one = g_tallies[(start + i) % kCapacity];
    if (one.address && one.address != address) continue;
    if (!one.address) g_used[g_used_count++] = static_cast<uint16_t>((start + i) % kCapacity);
    one.address = address;
    one.counts[number]++;
    one.writes += touch.writes;
    return;
  }
}

uint32_t find_most_shared(Tallied* found, uint32_t capacity) {
  // By place, lest two that are as shared change places.
  sort_by(g_used, g_used_count, [](uint16_t place) { return place; });
  uint32_t count = 0;
  for (uint32_t i = 0; i < g_used_count; i++) {
    const Tallied& one = g_tallies[g_used[i]];
    const uint32_t shared = one.shared();
    if (!shared || !one.writes) continue;
    if (count == capacity && found[count - 1].shared() >= shared) continue;
    uint32_t at = count < capacity ? count++ : capacity - 1;
    for (; at && found[at - 1].shared() < shared; at--) found[at] = found[at - 1];
    found[at] = one;
  }
  return count;
}

}  // namespace weir::order::serial
