// View direct: one real memory, as the program would have it. There is nothing to do.
#pragma once

#include "view/view.h"

namespace weir::view {

class Direct final : public View {};

}  // namespace weir::view
