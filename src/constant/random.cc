// Random bytes: a stream for each task, so that no task's depend on when the others ask.
// They are as even as any, and as secret as the seed: no keys may be made of them.

#include "base/bytes.h"
#include "constant/constant.h"
#include "constant/place.h"
#include "control/task.h"

namespace weir::constant {

uint64_t next_random() {
  Task& task = self();
  const Record& own = own_record();
  const uint64_t key = mixed(mixed(own.identity ^ mixed(options().seed)) + own.images);
  return mixed(mixed(key + task.identity.creation) + ++task.identity.random_draws);
}

void fill_random(void* to, uint64_t size) {
  auto* at = static_cast<uint8_t*>(to);
  for (uint64_t word; size; at += sizeof word) {
    word = next_random();
    const uint64_t part = size < sizeof word ? size : sizeof word;
    copy_bytes(at, &word, part);
    size -= part;
  }
}

}  // namespace weir::constant
