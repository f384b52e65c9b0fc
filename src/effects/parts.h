// The simple rules of the table, applied.
#pragma once

#include "effects/memory.h"
#include "effects/table.h"

namespace weir::effects {

bool is_error(long result);
// An error after which a part may have been written: a buffer that is not all there, a device that
// failed in the middle.
bool is_partial(long result);
// How many of `room` units a successful call has filled, if its result counts them; all of them
// after a partial one.
uint64_t filled(long result, uint64_t room);

// The arrays of iovecs among them.
void visit_leading_parts(const Row& row, const Request& request, const Visitor& visitor);
void visit_parts(const Row& row, const Request& request, long result, bool written,
                 const Visitor& visitor);

inline uint64_t address_of(const Request& request, int argument) {
  return static_cast<uint64_t>(request.a[argument]);
}
inline uint32_t low_half(const Request& request, int argument) {
  return static_cast<uint32_t>(request.a[argument]);
}

}  // namespace weir::effects
