// All of weir/tape.hpp that is inline, as a program with all warnings has it (run.py).
#include "weir/tape.hpp"

#include <utility>

namespace {

class Counts : public weir::dsm::Hooks {
 public:
  void lock_acquired(std::uint32_t lock) override { locks += lock; }
  std::uint32_t locks = 0;
};

}  // namespace

std::uint64_t use_tape(unsigned node);
std::uint64_t use_tape(unsigned node) {
  Counts counts;
  weir::dsm::install(counts);
  weir::dsm::Tape tape, other;
  tape.start_writing();
  weir::dsm::Extent extent(&tape, sizeof tape);
  extent.add(7);
  other = std::move(tape);
  const weir::dsm::Tape some = (other + extent) - (other & extent);
  std::uint64_t units = 0;
  some.flatten().for_each([&](std::uint32_t unit) { units += unit; });
  weir::dsm::Parcel parcel;
  some.add_data(parcel);
  weir::dsm::post(node, std::move(parcel));
  weir::dsm::remove(counts);
  return units + counts.locks + (some == other);
}
