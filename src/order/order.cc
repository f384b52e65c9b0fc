#include "order/order.h"

#include "order/waiting.h"

namespace weir::order {

namespace {

// The program as it is.
class None final : public Order {};
constinit None g_none;

}  // namespace

constinit Order* g_order = &g_none;

void tell_standing(Shared& s) {
  s.order.deadlock_told = 1;
  report_waits();
}

}  // namespace weir::order
