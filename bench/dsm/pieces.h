// A shared data structure in pieces, in whichever unit of sharing the program was told to use
// (section 5.1 of the region paper, its table 6):
//   page       one allocation, the pieces one after the other: rows, blocks and counters share
//              pages as an allocator happens to lay them
//   region     each piece is a region; a worker has one registered pointer to each, and the first
//              access through it after a synchronization traps where it must
//   annotated  each piece is an allocation that is its own unit, and accesses are announced
#pragma once

#include <stddef.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "app.h"

namespace app {

// Collective. Sets *pointers[i] for sizes[i] bytes each; these variables must live as long as the
// library runs.
void allocate_pieces(Unit unit, const char* name, const std::vector<size_t>& sizes,
                     void** pointers);

template <typename T>
class Pieces {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Collective, once: `counts` elements in each piece.
  void allocate(Unit unit, const char* name, const std::vector<size_t>& counts) {
    std::vector<size_t> sizes;
    for (size_t count : counts) sizes.push_back(count * sizeof(T));
    unit_ = unit;
    pointers_ = std::make_unique<void*[]>(counts.size());
    allocate_pieces(unit, name, sizes, pointers_.get());
  }

  // A piece that may be read, or read and written, from now until the caller's next
  // synchronization. Whoever writes to a piece is alone in it, or changes other elements than the
  // first.
  //
  // In a program of regions nothing need be said before an access, and this says nothing: it makes
  // the first access. But it makes that one through the registered pointer, and takes the pointer
  // afterwards, when the library has moved it to where it stays. A loop over a pointer that the
  // compiler had kept from before the trap would go on in the closed window, and trap at every
  // element (docs/guide/region.md).
  const T* read(size_t piece) const {
    void* volatile* place = &pointers_[piece];
    if (unit_ == Unit::kAnnotated) weir_dsm_read_access(*place);
    if (unit_ == Unit::kRegion) static_cast<void>(*static_cast<const volatile char*>(*place));
    return static_cast<const T*>(*place);
  }
  T* write(size_t piece) {
    void* volatile* place = &pointers_[piece];
    if (unit_ == Unit::kAnnotated) weir_dsm_write_access(*place);
    if (unit_ == Unit::kRegion)
      __atomic_fetch_or(
          static_cast<char*>(*place), 0,
          __ATOMIC_RELAXED);  // one instruction, so one trap: reads and writes, and changes nothing
    return static_cast<T*>(*place);
  }
  // For locks that bring it: not an access.
  const void* address(size_t piece) const {
    return *const_cast<void* volatile*>(&pointers_[piece]);
  }

 private:
  Unit unit_ = Unit::kPage;
  std::unique_ptr<void*[]> pointers_;  // registered, where they refer to regions: never moved
};

}  // namespace app
