#include "check/kept_bytes.h"

#include "base/bytes.h"
#include "memory/backing.h"

namespace weir::view::checked {

namespace {

constexpr uint32_t kMost = 1024;  // pages of which bytes are kept, since each takes one more

uint64_t& word_of(uint32_t shadow) { return state().has_kept_bytes[shadow / 64]; }

bool has_kept(const Page& page) {
  return page.shadow &&
         (__atomic_load_n(&word_of(page.shadow), __ATOMIC_RELAXED) >> page.shadow % 64 & 1);
}

const uint8_t* bytes_at(uint64_t at) {
  return reinterpret_cast<const uint8_t*>(page::shared_view_of(at));
}

// Eight at a time.
void add_changed(uint64_t at, KeptBytes& kept) {
  const auto* now = reinterpret_cast<const uint64_t*>(bytes_at(at));
  const auto* before = reinterpret_cast<const uint64_t*>(kept.bytes);
  for (uint64_t i = 0; i < kPageSize / 8; i++) {
    uint64_t difference = __atomic_load_n(&now[i], __ATOMIC_RELAXED) ^ before[i];
    for (uint64_t k = 8 * i; difference; k++, difference >>= 8) {
      if (difference & 0xff) kept.changed[k / 64] |= uint64_t{1} << k % 64;
    }
  }
}

bool is_unchanged(const Access& access, const KeptBytes& kept) {
  const uint8_t* now = bytes_at(access.address);
  for (uint64_t i = 0; i < access.size; i++) {
    const uint64_t k = access.address % kPageSize + i;
    if (kept.changed[k / 64] >> k % 64 & 1) return false;
    if (kept.may_change && __atomic_load_n(&now[i], __ATOMIC_RELAXED) != kept.bytes[k])
      return false;
  }
  return true;
}

// What it reads is what was there before an owner came.
bool learns_nothing(const Access& access, const Page& page, const ThreadState& thread) {
  return has_kept(page) && page.mode == Mode::kTrapped && !(access.kind & findings::kAtomic) &&
         is_unchanged(access, kept_bytes_of(page.shadow)) &&
         !was_stored_by_others(page.shadow, access.address % kPageSize, access.size, thread);
}

}  // namespace

void keep_bytes(uint64_t at, Page& page) {
  State& s = state();
  if (!page.shadow) return;
  KeptBytes& kept = kept_bytes_of(page.shadow);
  if (has_kept(page)) {
    if (kept.may_change) add_changed(at, kept);
  } else {
    if (page.untrapped || __atomic_load_n(&s.kept_pages, __ATOMIC_RELAXED) >= kMost) return;
    __atomic_fetch_add(&s.kept_pages, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&word_of(page.shadow), uint64_t{1} << page.shadow % 64, __ATOMIC_RELAXED);
    kept.before = {page.untrapped_clock, page.untrapped_slot};
    for (uint64_t& word : kept.changed) word = 0;
  }
  copy_bytes(kept.bytes, bytes_at(at), kPageSize);
  kept.may_change = 1;
}

void forget_bytes(Page& page) {
  if (!has_kept(page)) return;
  __atomic_fetch_and(&word_of(page.shadow), ~(uint64_t{1} << page.shadow % 64), __ATOMIC_RELAXED);
  __atomic_fetch_sub(&state().kept_pages, 1, __ATOMIC_RELAXED);
}

void note_changed(uint64_t at, Page& page) {
  if (!has_kept(page) || __atomic_load_n(&page.holders, __ATOMIC_ACQUIRE)) return;
  KeptBytes& kept = kept_bytes_of(page.shadow);
  if (!kept.may_change) return;
  add_changed(at, kept);
  kept.may_change = 0;
}

void acquire_by_read(const Access& access, Page& page, ThreadState& thread) {
  if (learns_nothing(access, page, thread)) {
    join_epoch(thread, kept_bytes_of(page.shadow).before);
    return;
  }
  acquire_untrapped(page, thread);
  join_slots(thread, page.holders & ~bit_of(thread));
}

}  // namespace weir::view::checked
