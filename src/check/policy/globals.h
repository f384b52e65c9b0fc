// Within the checked View: static variables that have pages of their own, since weir-cc compiled
// them. Known for the modules that are loaded at the start.
//
// Layout: a module that weir-cc has a part in has a section `weir_statics`, mapped with its
// constants: pairs of 64-bit words, the distance from the pair to the variable, and the variable's
// size. Its pages hold nothing else.
#pragma once

#include "base/types.h"

namespace weir::view::checked {

// Looks through what is mapped.
void find_globals();

// The variable that the address lies in; empty: it lies in none.
Range global_at(uint64_t address);
// True if the address is in a module that weir-cc compiled in part.
bool is_of_globals(uint64_t where);

// In the order of modules and of their variables.
template <typename Act>
void each_global(Act act);

struct GlobalList {
  uint64_t start, count;  // of pairs
  Range text;
};
inline constexpr uint32_t kMaxLists = 32;
extern GlobalList g_global_lists[kMaxLists];  // per process
extern uint32_t g_global_list_count;

template <typename Act>
void each_global(Act act) {
  for (uint32_t i = 0; i < g_global_list_count; i++) {
    const auto* words = reinterpret_cast<const int64_t*>(g_global_lists[i].start);
    for (uint64_t k = 0; k < g_global_lists[i].count; k++) {
      const uint64_t start =
          reinterpret_cast<uint64_t>(&words[2 * k]) + static_cast<uint64_t>(words[2 * k]);
      act(Range{start, start + static_cast<uint64_t>(words[2 * k + 1])});
    }
  }
}

}  // namespace weir::view::checked
