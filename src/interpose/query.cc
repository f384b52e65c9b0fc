// What include/weir/weir.h promises. A program finds these by name, so they are all that libweir.so
// shows of itself besides the functions of libc that it replaces.

#include "control/options.h"

extern "C" [[gnu::visibility("default")]] int weir_query_active() noexcept {
  return weir::options().present;
}
