// Transport between processes, over UCX active messages: shared memory between nodes of one host,
// InfiniBand or TCP between hosts, as UCX finds them (UCX_TLS, UCX_NET_DEVICES).
#pragma once

#include <memory>

#include "dsm/net/bootstrap.h"
#include "dsm/net/transport.h"

namespace weir::dsm {

struct UcxOptions {
  // UCX workers at which threads wait for replies. Any number of threads may wait; those beyond
  // this one share, at a higher price.
  unsigned channels = 4;
  unsigned client_spin_microseconds = 20;  // looked for a reply before sleeping
  unsigned server_spin_microseconds = 0;   // the same for the server, between messages
  bool uses_dev_shm = true;                // UCX's shared memory (posix), where UCX_TLS is not set
};
// With what WEIR_DSM_CHANNELS, WEIR_DSM_SPIN and WEIR_DSM_SERVER_SPIN say instead.
UcxOptions ucx_options_from_environment(UcxOptions options = {});

// Collective. The transport uses `bootstrap` in here only.
std::unique_ptr<Transport> make_ucx(Bootstrap& bootstrap,
                                    const UcxOptions& options = ucx_options_from_environment());

}  // namespace weir::dsm
