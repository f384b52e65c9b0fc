// What the command and a fork server tell each other (runtime/serve/fork_server.h), over a socket
// that keeps packets apart. The schedule itself lies in control/schedule_memory.h.
#pragma once

#include <stdint.h>

namespace weir {

// From the library.
struct ServerWord {
  enum Kind : uint32_t {
    kReady = 1,  // it stands where it is forked; `text` says where
    kRefused,    // it cannot be forked, and goes on as a run of its own; `text` says why
    kForked,     // `value`: the kernel's id of the new run, which is a child of the command
    kFailed,     // there is no new run; `value`: why, an errno
  };
  static constexpr uint32_t kMaxText = 504;

  uint32_t kind;
  int32_t value;
  char text[kMaxText];  // NUL-terminated
};
static_assert(sizeof(ServerWord) == 512);

// From the command: one run of the schedule that its memory has now. With it come two descriptors,
// the run's standard output and standard error, each with what the server itself had written there.
struct ServerRequest {
  static constexpr uint64_t kMagic = 0x57656972'466f726b;
  static constexpr uint32_t kDescriptors = 2;

  uint64_t magic;
};
static_assert(sizeof(ServerRequest) == 8);

}  // namespace weir
