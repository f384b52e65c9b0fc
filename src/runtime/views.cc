#include "runtime/views.h"

#include "check/checked_views.h"
#include "check/keys/key_views.h"
#include "check/serial/races.h"
#include "control/plan.h"
#include "view/coherent/coherent_view.h"
#include "view/isolated/isolated_view.h"

namespace weir::runtime {
namespace {

constinit view::isolated::Isolated g_isolated;
constinit view::coherent::Coherent g_coherent;
constinit view::checked::Checked g_checked;
constinit view::checked::CheckedSerial g_checked_serial;

view::View& chosen() {
  switch (plan().memory) {
    case Plan::Memory::kDirect:
      if (!view::checked::serial::is_asked()) break;
      return g_checked_serial;
    case Plan::Memory::kIsolated: return g_isolated;
    case Plan::Memory::kCoherent: return g_coherent;
    case Plan::Memory::kChecked: return g_checked;
    case Plan::Memory::kKeys: return view::checked::keys_at_rest();
  }
  return view::current();  // as it is: that of one real memory
}

}  // namespace

void use_view() { view::use(chosen()); }

}  // namespace weir::runtime
