#include "runtime/orders.h"

#include "control/plan.h"
#include "order/arrival.h"
#include "order/ring.h"
#include "order/rounds.h"
#include "order/serial/serial.h"

namespace weir::runtime {
namespace {

constinit order::Ring g_ring;
constinit order::Rounds g_rounds{false};
constinit order::Rounds g_numbered{true};
constinit order::Arrival g_arrival{false};
constinit order::Arrival g_arrival_of_pages{true};
constinit order::ArrivalInOneMemory g_arrival_in_one_memory;

order::Order& chosen() {
  switch (plan().scheduler) {
    case Plan::Scheduler::kNone: break;
    case Plan::Scheduler::kRing: return g_ring;
    case Plan::Scheduler::kRounds: return g_rounds;
    case Plan::Scheduler::kNumbered: return g_numbered;
    case Plan::Scheduler::kSerial: return order::g_serial;
    case Plan::Scheduler::kArrival:
      if (plan().memory == Plan::Memory::kCoherent) return g_arrival_of_pages;
      if (plan().memory == Plan::Memory::kChecked) return g_arrival;
      return g_arrival_in_one_memory;
  }
  return order::current();  // as it is: all tasks pass
}

}  // namespace

void use_order() { order::use(chosen()); }

}  // namespace weir::runtime
