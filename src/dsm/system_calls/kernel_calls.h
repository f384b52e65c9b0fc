// System calls that read or write shared memory: it is made accessible for them.
#pragma once

#include <stdint.h>

namespace weir::dsm {

class Node;

// From here on calls of all threads of this process find this node's memory accessible. Says so on
// stderr where that is not to be had.
void watch_calls(Node& node);
void forget_calls();

// Program memory that a call reads or writes.
struct CallRange {
  uint64_t address, size;
  bool is_written;
};

// The buffers of a call that does not come by the filter; they are added one by one.
class CallBuffers {
 public:
  // Whether any lies in shared memory: else there is nothing to do.
  bool add(const void* address, uint64_t size, bool is_written);
  // Before the call.
  void make_accessible() const;
  // After one that failed by EFAULT: another thread's synchronization has taken something away, so
  // it is to be made again.
  bool was_taken_away() const;

 private:
  // Ranges that are kept one by one; further ones extend the last of their kind.
  static constexpr uint32_t kMax = 64;
  CallRange ranges_[kMax];
  uint32_t count_ = 0;
};

}  // namespace weir::dsm
