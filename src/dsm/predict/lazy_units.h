// Units as the lazy protocols' model has them (dsm/predict/lazy.cc): their histories, and what a
// node's copy holds of them, and asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "dsm/predict/coherence.h"

namespace weir::predict::lazy {

struct Write {
  uint32_t node, interval;
  uint32_t bytes;
  bool home = false;  // its diff is there
  uint32_t diff = 0;  // that it is part of, once it is made: counted from 1, for each unit
  std::vector<uint32_t> unknown;  // places before it of writes that the writer did not know of
};

struct Unit {
  std::vector<Write> history;
  uint32_t home = Workload::kNoHome;
  uint32_t size = 0;
  bool known = false;
  uint32_t diffs = 0;  // made
  std::map<uint32_t, std::set<uint32_t>>
      asked;  // for a writer's updates, by whom; for replay barriers
};

struct Open {
  uint32_t bytes = 0;
  bool told = false;
};

// Invariant: it holds all writes before `from`, and those in `more`, which are beyond it and
// ascending; those in `kept` lie beside it. (not checkable: nothing else holds the writes)
struct Copy {
  uint32_t from = 0;
  std::vector<uint32_t> more;
  std::set<uint32_t> kept;  // brought by a tape, and not applied yet
  bool pushed = false;      // by a tape, and not accessed since
  bool fetching = false;
  std::vector<Action> waiting;

  bool holds(uint32_t place) const {
    return place < from || std::binary_search(more.begin(), more.end(), place) ||
           kept.count(place) > 0;
  }
  void add(uint32_t place) {
    kept.erase(place);
    if (holds(place)) return;
    more.insert(std::upper_bound(more.begin(), more.end(), place), place);
  }
};

// One round of messages for units that are marked as being fetched.
struct Round {
  uint32_t node;
  std::vector<uint32_t> numbers;
  std::vector<std::vector<uint32_t>> places;  // of each unit: what the copy will hold
  uint32_t open = 0;                          // replies
  Time began, applying = 0;
  bool counts;
  Action done;
};

struct Asked {   // LRC: a writer's diffs of a unit
  size_t index;  // in the round
  uint32_t number, writer, first, last;
  bool ends_unit;
};

struct Question {
  uint64_t bytes = 0, reply_bytes = 0;
  std::vector<Asked> asked;
  std::vector<bool> alone;                            // of each unit: no other node is asked for it
  std::vector<std::pair<uint32_t, uint32_t>> needed;  // HLRC: unit, place
};

}  // namespace weir::predict::lazy
