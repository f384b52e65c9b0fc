// The table of runs. Each row is a point of Order x View; the names of the points are those of
// `weir run --order --view`, and of the commands that stand for one.
#include "control/plan.h"

#include "sys/report.h"

namespace weir {
namespace {

using Scheduler = Plan::Scheduler;
using Memory = Plan::Memory;
using Atomics = Plan::Atomics;
using ObjectOrder = Plan::ObjectOrder;

struct Row {
  Order order;
  View view;
  bool has_keys;
  Plan plan;
};

constexpr Row kRows[] = {
    // weir run: the program as it is
    {Order::kFree,
     View::kDirect,
     false,
     {"direct", Scheduler::kNone, Memory::kDirect, Atomics::kNative, ObjectOrder::kNone}},
    {Order::kFree,
     View::kIsolated,
     false,
     {"isolated", Scheduler::kRounds, Memory::kIsolated, Atomics::kEvents, ObjectOrder::kNone}},
    {Order::kFree,
     View::kCoherent,
     false,
     {"coherent", Scheduler::kArrival, Memory::kCoherent, Atomics::kNative, ObjectOrder::kNone}},
    {Order::kToken,
     View::kDirect,
     false,
     {"direct", Scheduler::kRing, Memory::kDirect, Atomics::kNative, ObjectOrder::kNone}},
    // weir run --order serial
    {Order::kSerial,
     View::kDirect,
     false,
     {"direct", Scheduler::kSerial, Memory::kDirect, Atomics::kNative, ObjectOrder::kNone}},
    // weir det; weir record --view isolated
    {Order::kToken,
     View::kIsolated,
     false,
     {"isolated", Scheduler::kNumbered, Memory::kIsolated, Atomics::kEvents, ObjectOrder::kNone}},
    // weir record --view direct, and its replay
    {Order::kRecord,
     View::kDirect,
     false,
     {"direct", Scheduler::kArrival, Memory::kDirect, Atomics::kEvents, ObjectOrder::kLogged}},
    // weir record, and its replay, checked or not
    {Order::kRecord,
     View::kCoherent,
     false,
     {"coherent", Scheduler::kArrival, Memory::kCoherent, Atomics::kNative, ObjectOrder::kNone}},
    // weir check
    {Order::kFree,
     View::kChecked,
     false,
     {"guarded", Scheduler::kArrival, Memory::kChecked, Atomics::kEvents, ObjectOrder::kTurnFree}},
    // weir check --enforcer=mpk
    {Order::kFree,
     View::kChecked,
     true,
     {"guarded", Scheduler::kArrival, Memory::kKeys, Atomics::kEvents, ObjectOrder::kTurnFree}},
};

}  // namespace

const Plan* g_plan = &kRows[0].plan;

const Plan* plan_for(const Options& options) {
  for (const Row& row : kRows)
    if (row.order == options.order && row.view == options.view &&
        row.has_keys == options.has_keys())
      return &row.plan;
  return nullptr;
}

void decide_plan() {
  const Plan* found = plan_for(options());
  if (!found) {
    report("this Order does not go with this View: weir help run says which do");
    die(125);
  }
  g_plan = found;
}

}  // namespace weir
