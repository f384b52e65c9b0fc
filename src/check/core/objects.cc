// The treap: by address a search tree, by a fixed hash of the index a heap, so it is about as deep
// as if it had been built in random order.

#include "check/core/objects.h"

#include "base/bytes.h"

namespace weir::view::checked {

// All versions that the object counts in, before it is another one.
void ObjectTable::change(const Declared& object) {
  const uint64_t first = object.start / kZone, last = (object.limit() - 1) / kZone;
  for (uint64_t zone = first; zone <= last && zone < first + kZones; zone++) {
    uint32_t& version = version_[zone % kZones];
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
  }
}

// Guarded by: lock.
Around ObjectTable::look(uint64_t address) const {
  Around best{.high = UINT64_MAX};
  for (uint32_t at = root_; at;) {
    const Declared& object = objects_[at - 1];
    if (object.limit() > address) {
      best.object = at;
      at = object.left;
    } else {
      best.low = object.limit();
      at = object.right;
    }
  }
  if (!best.object) return best;
  best.start = objects_[best.object - 1].start;
  best.high = objects_[best.object - 1].limit();
  return best;
}

uint32_t ObjectTable::find_above(uint64_t address) const {
  const SpinGuard guard(lock);
  return look(address).object;
}

Around ObjectTable::around(uint64_t address) const {
  const SpinGuard guard(lock);
  Around found = look(address);
  const uint64_t zone = address / kZone * kZone, limit = zone + (kZone - 1);
  if (found.low < zone) found.low = zone;
  if (found.start > limit) found.start = UINT64_MAX, found.object = kNone;  // another zone's
  if (found.high > limit) found.high = limit;
  found.version = version(address);
  return found;
}

uint32_t ObjectTable::find(uint64_t address) const {
  const uint32_t found = find_above(address);
  return found && objects_[found - 1].start <= address ? found : kNone;
}

// Those that begin below `start`, and the others.
void ObjectTable::split(uint32_t tree, uint64_t start, uint32_t& low, uint32_t& high) {
  uint32_t *to_low = &low, *to_high = &high;
  while (tree) {
    Declared& object = objects_[tree - 1];
    if (object.start < start) {
      *to_low = tree;
      to_low = &object.right;
      tree = object.right;
    } else {
      *to_high = tree;
      to_high = &object.left;
      tree = object.left;
    }
  }
  *to_low = *to_high = kNone;
}

uint32_t ObjectTable::merge(uint32_t low, uint32_t high) {
  uint32_t root = kNone, *to = &root;
  while (low && high) {
    const bool takes_low = priority(low) > priority(high);
    uint32_t& from = takes_low ? low : high;
    *to = from;
    Declared& object = objects_[from - 1];
    to = takes_low ? &object.right : &object.left;
    from = *to;
  }
  *to = low ? low : high;
  return root;
}

uint32_t ObjectTable::add(uint64_t start, uint64_t size) {
  if (const uint32_t next = find_above(start); next && objects_[next - 1].start < start + size)
    return kNone;
  const SpinGuard guard(lock);
  uint32_t index = free_;
  if (index) {
    free_ = objects_[index - 1].next;
  } else if (used_ < kMax) {
    index = ++used_;
  } else {
    return kNone;
  }
  Declared& object = objects_[index - 1];
  zero_bytes(&object, sizeof object);
  __atomic_store_n(&object.start, start, __ATOMIC_RELEASE);
  __atomic_store_n(&object.size, size, __ATOMIC_RELEASE);  // last: see contains()
  change(object);
  uint32_t* link = &root_;
  while (*link && priority(*link) > priority(index))
    link =
        objects_[*link - 1].start < start ? &objects_[*link - 1].right : &objects_[*link - 1].left;
  split(*link, start, object.left, object.right);
  *link = index;
  count_++;
  return index;
}

void ObjectTable::remove(uint32_t index) {
  const SpinGuard guard(lock);
  Declared& object = objects_[index - 1];
  uint32_t* link = &root_;
  while (*link && *link != index)
    link = objects_[*link - 1].start < object.start ? &objects_[*link - 1].right
                                                    : &objects_[*link - 1].left;
  if (!*link) return;
  *link = merge(object.left, object.right);
  change(object);
  object.size = 0;
  object.origin = Origin::kNone;
  object.next = free_;
  free_ = index;
  count_--;
}

void ObjectTable::set_size(uint32_t index, uint64_t size) {
  const SpinGuard guard(lock);
  change(objects_[index - 1]);
  objects_[index - 1].size = size;
}

uint32_t ObjectTable::take_readers() {
  const SpinGuard guard(lock);
  uint32_t index = readers_free_;
  if (index) readers_free_ = readers_[index - 1].next_free;
  else if (readers_used_ < kMaxReaders) index = ++readers_used_;
  if (index) zero_bytes(&readers_[index - 1], sizeof(Readers));
  return index;
}

void ObjectTable::give_readers(uint32_t index) {
  const SpinGuard guard(lock);
  readers_[index - 1].next_free = readers_free_;
  readers_free_ = index;
}

}  // namespace weir::view::checked
