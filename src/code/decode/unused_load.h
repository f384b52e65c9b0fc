// Whether what an instruction has loaded may be thrown away: a sign that the load is the
// compiler's, which reads a variable before it is known whether the source does.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// Of the load at `offset` of `text`, a function: whether control may go on from there in one way
// that uses the value, and in another that does not. False also if the value is used at once, or
// never: no compiler loads what nobody uses, unless the source says so. Pure.
bool may_load_in_vain(const uint8_t* text, size_t size, size_t offset);

}  // namespace weir
