// System calls that read or write shared memory: it is made accessible for them.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

namespace weir::dsm {

class Node;

// From here on calls of all threads of this process find this node's memory accessible. Says so on
// stderr where that is not to be had.
void watch_calls(Node& node);
void forget_calls();
// The node that is watched; NULL: none, or this is a child by fork.
Node* served_node();

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
  // Before the call. Returns what may_be_taken_away() asks for.
  uint64_t make_accessible() const;
  // After a call that failed by EFAULT: another thread's synchronization may have taken something
  // away, so it is to be made again.
  bool may_be_taken_away(uint64_t changes) const;
  // Makes the call, as often as it takes. A result below `size` is taken for an error too: of calls
  // that may be made again from the start.
  template <typename Call>
  ssize_t make(Call call, uint64_t size = 0) const {
    for (;;) {
      bool is_taken_away;
      const ssize_t result = make_noting(call, is_taken_away);
      if (result < 0 || static_cast<uint64_t>(result) >= size || !is_taken_away) return result;
      errno = 0;
    }
  }
  // Makes the call again while it fails by EFAULT since something was taken away. A call that has
  // done a part is not repeated: `is_taken_away` says whether it may have been cut short.
  template <typename Call>
  ssize_t make_noting(Call call, bool& is_taken_away) const {
    for (;;) {
      const uint64_t changes = make_accessible();
      const ssize_t result = call();
      is_taken_away = may_be_taken_away(changes);
      if (result >= 0 || errno != EFAULT || !is_taken_away) return result;
      errno = 0;
    }
  }

 private:
  // Ranges that are kept one by one; further ones extend the last of their kind.
  static constexpr uint32_t kMax = 64;
  CallRange ranges_[kMax];
  uint32_t count_ = 0;
};

}  // namespace weir::dsm
