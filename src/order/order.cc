#include "order/order.h"

namespace weir::order {

namespace {

// The program as it is.
class None final : public Order {};
constinit None g_none;

}  // namespace

constinit Order* g_order = &g_none;

}  // namespace weir::order
