// The memory between the command and the programs that it records or replays: made here, mapped
// here and, by the program's runtime, there (channel/ring.h).
#pragma once

#include <cstdint>
#include <string>

#include "channel/ring.h"
#include "cli/common/shared_memory.h"

namespace weir::cli {

class ChannelMemory {
 public:
  // Throws Failure where the machine or a limit does not allow it.
  explicit ChannelMemory(channel::Mode mode);
  // REQUIRES: by the thread that has made it.
  ~ChannelMemory();
  ChannelMemory(const ChannelMemory&) = delete;
  ChannelMemory& operator=(const ChannelMemory&) = delete;

  channel::Header& header() const { return *reinterpret_cast<channel::Header*>(memory_.base()); }
  channel::Ring ring(uint32_t slot) const { return channel::Ring::at(memory_.base(), slot); }

  // Sets what the program's side must know of this run.
  void set_run(const std::string& directory, const std::string& log, bool fingerprint, bool stat);
  // Ends the exchange for good: a task that waits at a ring goes on and sees it. Thread-safe.
  void set_gone(const std::string& why);

  // Sleeps until the bell rings, at most `nanoseconds`; `seen` is the bell as it was before the
  // caller looked for work.
  uint32_t bell() const;
  void sleep(uint32_t seen, uint64_t nanoseconds = 10'000'000);

  // In the child: the descriptor that the program inherits, at `number`. False with errno.
  bool pass_on(int number) const { return memory_.pass_on(number); }

 private:
  SharedMemory memory_;
};

}  // namespace weir::cli
