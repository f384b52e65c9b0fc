// How much of /dev/shm the transport may take.
#pragma once

#include "dsm/net/ucx.h"

namespace weir::dsm {

// Collective. `options` with fewer channels, or without /dev/shm, if the nodes of a machine do not
// all find room there; node 0 says so on stderr.
UcxOptions fit_in_dev_shm(Bootstrap& bootstrap, UcxOptions options);

}  // namespace weir::dsm
