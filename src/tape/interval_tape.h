// A tape of intervals: which pages a task wrote between one event and its next, remembered by what the interval began with.
// The same beginning is taken to lead to the same pages (Tapeworm's auto-locks and record-replay barriers, on one machine:
// section 4 of its paper). A tape is advice: where it is wrong the task is slower, nothing else.
#pragma once

#include <stdint.h>

#include "base/types.h"

namespace weir::tape {

struct Interval {
  static constexpr uint32_t kMost = 12;  // an interval that writes more costs more than finding its pages does
  uint64_t key = 0;                      // 0: no interval
  uint32_t count = 0;
  uint64_t page[kMost];                  // addresses, rising
  uint8_t sure[kMost];                   // 1: it is written though it does not change
};

// Direct-mapped: an interval forgets another that has the same place. One process, no lock.
class IntervalTape {
 public:
  // The pages that the interval `key` wrote last time; null where it is not known.
  const Interval* find(uint64_t key) const {
    const Interval& interval = place(key);
    return key && interval.key == key ? &interval : nullptr;
  }

  // Makes room for what the interval `key` is found to write: pages follow by add().
  void begin(uint64_t key) {
    current_ = &place(key);
    current_->key = key;
    current_->count = 0;
  }
  void add(uint64_t page_address, bool sure) {
    if (current_->count == Interval::kMost) {
      current_->key = 0;  // too many: forget it
      return;
    }
    uint32_t at = current_->count++;
    for (; at > 0 && current_->page[at - 1] > page_address; at--) {
      current_->page[at] = current_->page[at - 1];
      current_->sure[at] = current_->sure[at - 1];
    }
    current_->page[at] = page_address;
    current_->sure[at] = sure;
  }

 private:
  static constexpr uint32_t kPlaces = 256;
  Interval& place(uint64_t key) { return intervals_[(key * 0x9E3779B97F4A7C15) >> 56]; }
  const Interval& place(uint64_t key) const { return intervals_[(key * 0x9E3779B97F4A7C15) >> 56]; }

  Interval intervals_[kPlaces];
  Interval* current_ = intervals_;
};

}  // namespace weir::tape
