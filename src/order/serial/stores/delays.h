// Where stores begin to be delayed (memory=tso): places that a schedule lists, or that follow from
// its seed.
// Implemented in delays.cc.
#pragma once

#include "order/serial/random.h"
#include "order/serial/schedule.h"
#include "order/serial/strategy.h"

namespace weir::order {

// A delay that begins.
struct Delay {
  uint64_t steps = 0;  // of the task, until what is left of it becomes visible
  // After so many loads of memory that the task has no store for, the turn goes to another task:
  // the order of a store and a later load is what a store buffer changes. 0: after none.
  uint32_t loads = 0;
};

class Delays {
 public:
  void start(const Schedule& schedule);
  // How many steps the task at that place may make before a delay begins; 0: one begins here.
  // kNoStop: none, before its next event at least. `contested`: as Moment::steps; `is_alone`: no
  // other task could go on, and none of these steps counts.
  uint64_t steps_before(const Position& at, uint64_t contested, bool is_alone) const;
  // REQUIRES: steps_before() is 0.
  Delay begin(const Position& at, uint64_t contested);
  // Who goes on instead of moment.current. REQUIRES: another is ready.
  TaskId other(const Moment& moment);

 private:
  static constexpr uint32_t kMost = 64;
  const Switch* listed_at(const Position& at) const;

  bool is_on_ = false;
  const Switch* listed_ = nullptr;
  uint32_t listed_count_ = 0;
  Random random_;
  uint64_t places_[kMost] = {};  // contested steps
  uint32_t count_ = 0;
};

}  // namespace weir::order
