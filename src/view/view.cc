#include "view/view.h"

#include "view/direct.h"

namespace weir::view {
namespace {

constinit Direct g_direct;

}  // namespace

constinit View* g_view = &g_direct;

}  // namespace weir::view
