#include "order/serial/conflicts.h"

#include "base/hash.h"
#include "base/sort.h"
#include "code/decode/decoder.h"
#include "code/decode/wide_store.h"
#include "code/translate/counted.h"
#include "order/serial/run.h"
#include "sys/memory.h"
#include "sys/syscall_x86_64.h"

namespace weir::order::serial {
namespace {

constexpr uint32_t kMost = 1u << 16;  // accesses; the first ones
Accessed g_accessed[kMost];
uint32_t g_count = 0;
uint64_t g_looked = 0;
constexpr uint32_t kMostStates = 256;  // the first ones
State g_states[kMostStates];
uint32_t g_state_count = 0, g_listed = 0;

void note(const Position& at, uint64_t address, uint64_t size, bool is_write) {
  constexpr uint64_t kMostWords = 16;  // of one access
  if (!address || !size) return;
  const uint64_t first = address / 8, last = (address + size - 1) / 8;
  for (uint64_t word = first; word <= last && word - first < kMostWords; word++)
    if (g_count < kMost) g_accessed[g_count++] = {at, word, is_write};
}

}  // namespace

void note_state(bool is_listed) {
  constexpr uint64_t kLargest = 512;
  const Schedule& schedule = g_run.schedule;
  if (!schedule.state) return;
  g_listed += is_listed;
  if (!is_listed || g_state_count == kMostStates) return;
  unsigned char bytes[kLargest];
  const uint64_t size = schedule.size < kLargest ? schedule.size : kLargest;
  if (sys::read_safely(bytes, schedule.state, size) != static_cast<long>(size)) return;
  uint64_t hash = 0;
  for (uint64_t i = 0; i < size; i++) hash = mix(hash ^ (hash >> 29) ^ bytes[i]);
  if (g_state_count && g_states[g_state_count - 1].hash == hash) return;
  g_states[g_state_count++] = {hash, g_listed};
}

const State* states(uint32_t& count) {
  count = g_state_count;
  return g_states;
}

void clear_states() { g_state_count = g_listed = 0; }

bool looks_at_steps() { return g_looked < g_run.schedule.look && g_run.tasks > 1; }

void look_at_step(const Position& at, const Frame& frame) {
  g_looked++;
  Instruction instruction;
  Shape shape;
  const auto* const code = reinterpret_cast<const uint8_t*>(frame.rip);
  if (!decode(frame.rip, instruction) || !read_shape(code, kMaxInstructionSize, shape)) return;
  const WideStore store = wide_store(shape, code);
  const unsigned weight = translate::weight_at(frame.rip);
  const AccessList list = accesses_of(instruction, registers_of(frame), sys::fs_base(), 0);
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    const auto after = [&](uint64_t steps) {
      return Position{at.number, at.event, at.step + steps};
    };
    if (weight > 1 && access.read && access.written) {  // several steps (code/translate/step.h)
      note(at, access.address, access.size, false);
      note(after(1), access.address, access.size, true);
      continue;
    }
    const unsigned parts = access.written && weight > 1 ? weight : 1;
    for (unsigned part = 0; part < parts; part++) {
      const uint64_t from = store.parts() == parts ? store.part(part) : 0;
      const uint64_t limit = store.parts() == parts ? store.part(part + 1) : access.size;
      note(after(part), access.address + from, limit - from, access.written);
    }
  }
}

void look_at_event(const Position& at, const Touch& object) {
  if (looks_at_steps()) note(at, object.address, object.size, true);
}

const Accessed* find_conflicts(uint32_t& count) {
  struct Key {
    uint64_t word;
    uint32_t index;
    auto operator<=>(const Key&) const = default;
  };
  // The order in which they were made is that of addresses in the table, which sorting would lose.
  static Key keys[kMost];
  static Accessed kept[kMost];
  for (uint32_t i = 0; i < g_count; i++) keys[i] = {g_accessed[i].word, i};
  sort_by(keys, g_count, [](const Key& key) { return key; });
  count = 0;
  for (uint32_t first = 0, next; first < g_count; first = next) {
    bool is_shared = false, is_written = false;
    for (next = first; next < g_count && keys[next].word == keys[first].word; next++) {
      const Accessed& one = g_accessed[keys[next].index];
      is_shared |= one.at.number != g_accessed[keys[first].index].at.number;
      is_written |= one.is_write;
    }
    for (uint32_t i = first; is_shared && is_written && i < next; i++)
      kept[count++] = g_accessed[keys[i].index];
  }
  return kept;
}

}  // namespace weir::order::serial
