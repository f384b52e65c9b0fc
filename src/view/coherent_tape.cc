// A tape for each lock (the project's tapes: what was accessed, and what is fetched ahead by it).

#include "event/event.h"
#include "view/coherent_pages.h"

namespace weir::view::coherent {

namespace {

// A tape for each lock that tasks take in turn: the pages that were used while it was held. Those that can be had without asking come
// with the lock.
struct Tape {
  static constexpr uint32_t kMost = 250;
  uint64_t lock;
  uint32_t last;   // task + 1 that had the lock last
  uint32_t heat;   // how often it went to another task, lately
  uint32_t uses;
  uint32_t count;
  uint64_t page[kMost];  // rising; lowest bit: written
};
static_assert(sizeof(Tape) * kTapes <= kTapesSize);
constexpr uint32_t kHot = 2, kMostHeat = 8;
constexpr uint32_t kTryWithout = 32;  // so often a page is taken off the tape: who needs it puts it there again

Tape& tape_of(uint64_t lock) { return reinterpret_cast<Tape*>(kTapePlace)[(lock >> 3) * 0x9E3779B97F4A7C15 >> 54 & (kTapes - 1)]; }
bool is_hot(const Tape& tape) { return tape.heat >= kHot; }

void put_on(Tape& tape, uint64_t page, bool writes) {
  uint32_t at = 0;
  while (at < tape.count && (tape.page[at] & ~kForWriting) < page) at++;
  if (at < tape.count && (tape.page[at] & ~kForWriting) == page) {
    tape.page[at] |= writes;
    return;
  }
  if (tape.count == Tape::kMost) return;
  for (uint32_t i = tape.count++; i > at; i--) tape.page[i] = tape.page[i - 1];
  tape.page[at] = page | writes;
}

void take_off(Tape& tape, uint32_t at) {
  tape.count--;
  for (uint32_t i = at; i < tape.count; i++) tape.page[i] = tape.page[i + 1];
}

// Calls act(start, size) for stretches of pages for which it is wanted(page, writes), with the same `writes`.
template <typename Wanted, typename Act>
void each_stretch(const Tape& tape, Wanted wanted, Act act) {
  uint64_t start = 0, limit = 0;
  bool kind = false;
  for (uint32_t i = 0; i < tape.count; i++) {
    const uint64_t page = tape.page[i] & ~kForWriting;
    bool writes = tape.page[i] & kForWriting;
    if (!wanted(page, writes)) continue;
    if (page != limit || writes != kind) {
      if (limit) act(start, limit - start, kind);
      start = page;
      kind = writes;
    }
    limit = page + kPageSize;
  }
  if (limit) act(start, limit - start, kind);
}

}  // namespace

void enter_section(Task& task, uint64_t lock) {
  Tape& tape = tape_of(lock);
  if (tape.lock != lock) tape = Tape{lock, 0, 0, 0, 0, {}};
  if (tape.last != task.id + 1) {
    if (tape.last && tape.heat < kMostHeat) tape.heat++;
  } else if (tape.heat) {
    tape.heat--;
  }
  tape.last = task.id + 1;
  if (task.sections < sizeof task.section_lock / sizeof task.section_lock[0]) task.section_lock[task.sections] = lock;
  task.sections++;
  if (!is_hot(tape)) return;
  if (++tape.uses % kTryWithout == 0 && tape.count) take_off(tape, tape.uses / kTryWithout % tape.count);
  each_stretch(tape, [&](uint64_t page, bool& writes) {
    if (has_right(entry_at(index_of(page)), task, writes) || !page::store_extent(page) || page::has_protection(page, kPageSize)) return false;
    if (!take(task, page, writes, false)) return false;
    task.counters.prefetched++;
    writes = writes_it(entry_at(index_of(page)), task);
    return true;
  }, [](uint64_t start, uint64_t size, bool writes) { map(start, size, writes); });
}

void note_use_in_section(const Task& task, uint64_t page, bool writes) {
  constexpr uint32_t kMost = sizeof task.section_lock / sizeof task.section_lock[0];
  Tape& tape = tape_of(task.section_lock[(task.sections < kMost ? task.sections : kMost) - 1]);
  if (is_hot(tape)) put_on(tape, page, writes);
}

void leave_section(Task& task) {
  if (task.sections) task.sections--;
}

}  // namespace weir::view::coherent
