// Within the checked View: the objects whose policies the program has declared, found by any
// address in them.
//
// A treap by address, in memory that all processes share and that costs what is used of it. Objects
// do not overlap. An object is named by its index, which stays its own until it is forgotten.
#pragma once

#include "base/types.h"
#include "check/core/domains.h"
#include "check/core/policy.h"
#include "control/control.h"
#include "sys/spinlock.h"

namespace weir::view::checked {

inline constexpr uint32_t kPolicySlots = 64;
using Rules = Object<kPolicySlots>;

// Room for the readers of an object that is read-shared. By slot.
struct Readers {
  Rules::Readers rules;
  uint32_t creation[kPolicySlots];  // TaskIdentity::creation of the holder
  uint32_t context[kPolicySlots];   // of its last change for reading
  uint32_t number[kPolicySlots];
  uint32_t next_free;  // index + 1
  uint32_t unused;
};

enum class Origin : uint8_t { kNone, kDeclared, kOwnPages, kWindow, kPages, kArray, kHeap };

// A change, for who is told of it later.
struct Trace {
  Epoch epoch;
  uint32_t context, number;
};

struct Declared {
  SpinLock lock;  // guards all below but what the table's lock does
  Origin origin;
  bool is_freed;      // it still has its memory, so that whoever touches that is found
  uint8_t trust;      // how often in a row its lock was seen to be held
  bool is_automatic;  // a variable, or a block by `new`, that the program has not named yet
  uint8_t is_left;    // protection keys: its pages cannot be tagged
  Tag tag;            // likewise: what they have
  uint8_t moves;  // likewise: changes of its policy that have changed that; from kMovesOften on it
                  // has a domain of its own, and this counts how often it was crowded
  uint8_t is_crowded;  // likewise: but not now, as one who has it has no room for one more that is
                       // open to him
  uint64_t start, size;  // table
  uint32_t left, right;  // table: index + 1
  Rules rules;
  uint32_t owner_creation;
  uint32_t readers;     // index + 1
  uint32_t violations;  // since its last change
  uint32_t next;        // of the list of free ones, or of freed ones: index + 1
  Epoch reported;       // the change that another one was last reported not to be ordered after
  TaskId reported_to;   // slot
  // Where the object was declared, last changed for writing, and last changed for reading.
  Trace made, written, read;

  static constexpr uint8_t kMovesOften = 2, kMaxCrowded = 4;
  bool has_domain() const { return moves >= kMovesOften && moves < kMovesOften + kMaxCrowded; }

  uint64_t limit() const { return start + size; }
};
static_assert(sizeof(Declared) <= 256);

// The answer of find_above() for all addresses in [low, high): from the end of the object before to
// the end of this one. It reaches no further than one zone, which has a version of its own. So
// declarations elsewhere do not make it stale.
struct Around {
  uint64_t low = 0, high = 0;
  uint64_t start = UINT64_MAX;  // where the object begins, if there is one
  uint32_t object = 0;
  uint32_t version = 0;  // of the zone
};

class ObjectTable {
 public:
  static constexpr uint64_t kZone = uint64_t{1} << 32;
  static constexpr uint32_t kMax = 1 << 20, kMaxReaders = 1 << 15;
  static constexpr uint32_t kNone = 0;

  // Adds an object at [start, start + size). Returns 0 if it overlaps another one, or if there is
  // no room. The caller finds its record zero, except for start, size and the tree.
  uint32_t add(uint64_t start, uint64_t size);
  void remove(uint32_t object);
  void set_size(uint32_t object, uint64_t size);  // of one that stays within what it had
  // The object that the address lies in; the first one that ends above it. 0: none.
  uint32_t find(uint64_t address) const;
  uint32_t find_above(uint64_t address) const;
  Around around(uint64_t address) const;
  // Counts changes of what is where in the address's zone.
  uint32_t version(uint64_t address) const {
    return __atomic_load_n(&version_[address / kZone % kZones], __ATOMIC_ACQUIRE);
  }
  // Without the lock, of any object that there has ever been: the address lies in it now.
  bool contains(uint32_t object, uint64_t address) const {
    const Declared& known = objects_[object - 1];
    const uint64_t start = __atomic_load_n(&known.start, __ATOMIC_ACQUIRE),
                   size = __atomic_load_n(&known.size, __ATOMIC_ACQUIRE);
    return address - start < size && __atomic_load_n(&known.start, __ATOMIC_RELAXED) == start;
  }
  Declared& at(uint32_t object) { return objects_[object - 1]; }
  uint32_t count() const { return count_; }
  // All of them. Guarded by: lock.
  template <typename Act>
  void each(Act act) const {
    for (uint32_t i = 0; i < used_; i++) {
      if (objects_[i].origin != Origin::kNone) act(objects_[i]);
    }
  }

  // Index + 1, or 0 if there is no room.
  uint32_t take_readers();
  void give_readers(uint32_t readers);
  Readers& readers_at(uint32_t readers) { return readers_[readers - 1]; }

  uint32_t is_on = 0;                 // a checked program's, and not a forked child's
  alignas(64) mutable SpinLock lock;  // of the tree; of the lists
  uint32_t freed_first = 0, freed_last = 0, freed_count = 0;
  uint64_t freed_bytes = 0;

 private:
  static uint32_t priority(uint32_t object) { return object * 0x9E3779B1u ^ object >> 7; }
  void split(uint32_t tree, uint64_t start, uint32_t& low, uint32_t& high);
  uint32_t merge(uint32_t low, uint32_t high);
  Around look(uint64_t address) const;
  void change(const Declared& object);

  static constexpr uint64_t kZones = 64;
  uint32_t version_[kZones] = {};
  uint32_t root_ = 0, count_ = 0, used_ = 0, free_ = 0;
  uint32_t readers_used_ = 0, readers_free_ = 0;
  Readers readers_[kMaxReaders];
  Declared objects_[kMax];
};
static_assert(sizeof(ObjectTable) <= kDeclaredSize);

// A task's own: what it has found lately in a zone it mostly looks for again, and needs no lock
// for that. An object that the address still lies in is right whatever has changed beside it; that
// there is none is right as long as nothing has.
class FoundLately {
 public:
  Around around(const ObjectTable& table, uint64_t address) {
    Around& known = places_[(address / kPageSize ^ address / (kPageSize * kPlaces)) % kPlaces];
    const bool is_known = known.low <= address && address < known.high &&
                          (known.version == table.version(address) ||
                           (known.start <= address && table.contains(known.object, address)));
    if (!is_known) known = table.around(address);
    return known;
  }
  uint32_t find_above(const ObjectTable& table, uint64_t address) {
    const uint32_t found = around(table, address).object;
    return found ? found : table.find_above(address);  // of another zone
  }
  uint32_t find(const ObjectTable& table, uint64_t address) {
    const Around found = around(table, address);
    return found.start <= address ? found.object : ObjectTable::kNone;
  }

 private:
  static constexpr uint64_t kPlaces = 256;
  Around places_[kPlaces];
};

inline ObjectTable& objects() { return *reinterpret_cast<ObjectTable*>(kDeclared); }

}  // namespace weir::view::checked
