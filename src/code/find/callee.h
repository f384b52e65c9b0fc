// What calls in code of the program's own making lead to.
#pragma once

#include <stdint.h>

#include "code/find/made_code.h"

namespace weir {

// Whether the code at `callee`, or where jumps from there lead, begins with a pop: then it takes
// the return address, and a call of it on the page does not return. Signal-safe; not reentrant.
[[nodiscard]] bool takes_return_address(const MadePage& page, uint64_t callee);

// What is known of other pages holds while one page is looked at.
void forget_callees();

}  // namespace weir
