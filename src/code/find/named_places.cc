// Places that a static program names as addresses: followed last (code/find/descent.cc says why).
#include "code/find/descent.h"
#include "code/find/static_image.h"

namespace weir {

bool Descent::add_named(uint64_t address) {
  if (!text_.contains(address)) return false;
  constexpr uint32_t kAlignment = 16;
  const auto offset = static_cast<uint32_t>(address - text_.start);
  const bool begins = offset % kAlignment == 0 || (offset > 0 && code_bytes_.has(offset - 1));
  if (!begins || code_bytes_.has(offset) || !chosen_[map_->chunk_at(offset)]) return false;
  const size_t before = soft_count_;
  add_soft(offset);
  return soft_count_ > before;
}

bool Descent::follow_named() {
  if (!takes_names_) return false;
  bool any = false;
  for (size_t i = 0; i < note_count_; i++) {
    if (notes_[i].kind == Note::kCode) any = add_named(notes_[i].address) || any;
  }
  size_t count;
  const uint64_t* named = static_image::named(count);
  for (size_t i = 0; !any && i < count; i++) any = add_named(named[i]);
  return any;
}

}  // namespace weir
