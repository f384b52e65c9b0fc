// The shared segment of one node: memory in a file, mapped for the program and for the runtime.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>
#include <vector>

#include "dsm/base/page.h"

namespace weir::dsm {

class Segment {
 public:
  // `address`: where the program's view must lie; 0: anywhere. Ends the job if that address cannot
  // be had.
  Segment(uint64_t address, uint64_t size);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  uint8_t* program() const { return program_; }
  uint8_t* open() const { return open_; }
  uint64_t size() const { return size_; }
  bool contains(const void* address) const {
    return reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(program_) < size_;
  }
  void protect(uint64_t offset, uint64_t size, Right right);
  // In a process that was forked, whose mappings are its own.
  void protect_in_child(uint64_t offset, uint64_t size, Right right) const;
  // How often protect() has been called: more than before means that a right may have gone in
  // between, even if it is there now.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // Gives the physical memory back: zero afterwards.
  void clear(uint64_t offset, uint64_t size);

 private:
  uint8_t *program_ = nullptr, *open_ = nullptr;
  uint64_t size_;
  int file_ = -1;
  std::atomic<uint64_t> changes_{0};  // counted before the change: who sees its effect sees it here
};

// Changes of right of many pages at once: neighbours by one system call. Applied by apply() or at
// the latest by the destructor.
class RightChanges {
 public:
  explicit RightChanges(Segment& segment) : segment_(segment) {}
  ~RightChanges() { apply(); }
  void add(Page& page, Right right);
  void apply();

 private:
  struct Change {
    uint64_t offset, size;
    Right right;
  };
  Segment& segment_;
  std::vector<Change> changes_;
};

}  // namespace weir::dsm
