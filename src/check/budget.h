// What checking may cost. Each kind of memory has a budget of its own. So large blocks, of which a
// program touches many pages once, leave alone what is spent on static data and small objects.
// Implemented in budget.cc.
#pragma once

#include "check/core/state.h"

namespace weir::view::checked {

// Cycles that all tasks together may yet spend on pages of that place.
inline int64_t tokens(Place place) {
  return __atomic_load_n(&state().tokens[static_cast<uint32_t>(place)], __ATOMIC_RELAXED);
}
// No more are added from there on.
int64_t most_tokens(Place place);
// A share of the time since the last call is added.
void refill();

// Where the page's memory lies. Found out once, and kept until the memory is given out anew.
Place place_of(uint64_t at, Page& page);
// The heap has given out the block.
void note_place(uint64_t start, uint64_t size);
inline Place known_place(const Page& page) {
  const Place place = load_enum<__ATOMIC_RELAXED>(page.place);
  return place == Place::kUnknown ? Place::kStatic : place;
}

// Of a page that tasks share untrapped: whether there is enough left to look at what a task does
// there first.
inline bool is_worth_a_look(const Page& page) {
  const Place place = known_place(page);
  return page.shadow && tokens(place) > most_tokens(place) / 16;
}

// How many accesses to a page are checked while one task makes them, or several.
uint32_t private_checks(Place place);
uint32_t common_checks(Place place);

// The task has come to a page that nobody has touched. Returns how many it has touched one after
// the other, up to this one.
uint32_t length_of_run(ThreadState& thread, uint64_t at);
// After such a page it got more of them, up to `limit`.
void continue_run(ThreadState& thread, uint64_t after, uint64_t limit);
// After so many pages they count as a large block's, and are sampled.
inline constexpr uint32_t kLargeRun = 16, kLongRun = 256;

// What happens while it lives is paid by the budget of the page's place.
class Spending {
 public:
  static constexpr int64_t kTrapCost = 9000;  // cycles that the kernel takes around a fault, and
                                              // what the program loses by it
  static constexpr int64_t kCallCost = 400;   // of a way into the runtime
  explicit Spending(uint64_t address, int64_t more = kTrapCost);
  ~Spending();
  void forgive() { is_forgiven_ = true; }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

 private:
  uint64_t address_;
  int64_t more_;
  uint64_t since_;
  bool is_forgiven_ = false;
};

}  // namespace weir::view::checked
