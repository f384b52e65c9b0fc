#include "cli/hunt/search/behaviours.h"

#include <string_view>

namespace weir::cli::hunt {
namespace {

// FNV-1a: the same in each build, since a corpus keeps it.
class Hash {
 public:
  Hash& add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return *this;
  }
  Hash& add(uint64_t number) {
    for (int i = 0; i < 8; i++) value_ = (value_ ^ ((number >> (8 * i)) & 255)) * 0x100000001b3;
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

uint64_t Behaviours::add(const Outcome& run) {
  uint64_t added = 0;
  const auto note = [&](const Hash& hash) { added += seen_.insert(hash.value()).second; };
  note(Hash().add("output").add(run.out).add(run.err));
  note(Hash()
           .add("end")
           .add(static_cast<uint64_t>(run.log.end))
           .add(static_cast<uint64_t>(run.log.status)));
  for (const auto& [switches, state] : run.log.states) note(Hash().add("state").add(state));
  const LoggedSwitch* before = nullptr;
  for (const LoggedSwitch& one : run.log.switches) {
    if (before) {
      note(Hash()
               .add("pair")
               .add(before->place.module)
               .add(before->place.offset)
               .add(one.place.module)
               .add(one.place.offset)
               .add(before->at.to == one.at.task));
    }
    before = &one;
  }
  return added;
}

}  // namespace weir::cli::hunt
