// Where an interposed function was called. The checker uses it to find on whose account memory was
// accessed.
#pragma once

#include <stdint.h>

#include "check/core/declared.h"

namespace weir::interpose {

using declared::Caller;

// In that function itself.
#define WEIR_CALLER                                                                      \
  (::weir::declared::Caller{reinterpret_cast<uint64_t>(__builtin_return_address(0)),     \
                            reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16, \
                            *static_cast<uint64_t*>(__builtin_frame_address(0))})

}  // namespace weir::interpose
