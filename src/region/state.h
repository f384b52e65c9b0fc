// What the library knows: regions, pointers, sets, and where all of it lies.
// Implemented in region/.
//
// A region's bytes lie in one file in memory, at an offset. Each set of pointers has three windows
// onto that file. So an address in a window says by itself which set's pointer it is, what may be
// done through it, and which byte it means:
//
//     base + ((set * 3 + window) << shift) + offset    window: 0 none, 1 read, 2 read and write
//
// To change a region's level for a set, all pointers of that set to that region get another window
// number.
//
// Invariants
// 1. A registered pointer whose value lies in its region (or just behind its end) lies in the
//    window of the region's level in the pointer's set, while nobody holds the region's lock. (not
//    checkable: between locks it does not hold; region_ptr_test.cc looks at the windows)
// 2. A directory of the file's pages says which regions begin or lie in a page. An entry, and the
//    array that it may point to, is replaced whole. Neither is ever unmapped or used for something
//    else. So a reader without a lock sees a region, or one that has just been freed, and asks the
//    region itself (holds()). (not checkable: who looks without a lock is not known)
// 3. Locks, in this order: registry (what there is), region (its levels and its list of pointers),
//    unbounded (the list of unbounded pointers). (not checkable: a lock does not say which others
//    its holder has)
// 4. A signal may interrupt this code at any instruction, and its handler may trap and change
//    levels. It then finds locks held by its own thread. Looking, changing a level and moving
//    pointers go on without the lock. They leave nothing that makes the interrupted code wrong:
//    that code moves pointers until a level's word is what it was before, and lists are linked so
//    that they can be walked at any instruction. Calls that change what there is (define, register,
//    free) return EDEADLK. No lock that stands earlier is taken while a later one is held, and no
//    memory of the program is touched that might trap. (not checkable: a signal may come at any
//    instruction)
// 5. None of this memory lies in a page with something of the program's, so pages may be turned
//    into shared ones (define.cc) while this code runs. (not checkable: what lies in a page of the
//    program's is the program's)
#pragma once

#include <stdint.h>

#include <signal.h>
#include <sys/single_threaded.h>

#include "region/moves_x86_64.h"
#include "region/owner_lock.h"
#include "region/pool.h"
#include "weir/region.h"

namespace weir::region {

using Link = weir_region_link;

inline constexpr uint64_t kPage = 4096;
inline constexpr int kMaxSets = 32;
enum Window : unsigned { kNone = 0, kRead = 1, kWrite = 2, kWindows = 3 };

inline constexpr uint64_t page_down(uint64_t at) { return at & ~(kPage - 1); }
inline constexpr uint64_t page_up(uint64_t at) { return (at + kPage - 1) & ~(kPage - 1); }

// Bits of Link::kind.
enum : uint64_t {
  kPooled = 1,     // a PooledLink: the variable is elsewhere; otherwise it is Link::value
  kUnbounded = 2,  // in the list of unbounded pointers
  kSetShift = 8,   // from here on, the set
};

// A variable that C registered: its address, in memory that is always open, is kept where others
// have their value.
struct PooledLink : Link {
  PooledLink* same_hash;
  PooledLink* next_here;  // those on the stack of one thread
  PooledLink** back_here;

  void** location() const { return static_cast<void**>(value); }
};
static_assert(sizeof(PooledLink) == 64);

// Whether other threads may be there.
inline bool has_others() { return !__libc_single_threaded; }

inline int set_of(const Link& link) { return static_cast<int>(link.kind >> kSetShift); }

// A region's level for one set, and that set's pointers to it.
struct Level {
  Link* pointers;
  uint32_t word;  // a Window, what the program asked for, and how often it has changed: (changes <<
                  // 2) | window
  uint8_t set;
  Level* next;

  unsigned level() const { return __atomic_load_n(&word, __ATOMIC_RELAXED) & 3; }
  // REQUIRES: region's lock, or invariant 4.
  void set_level(unsigned window) {
    __atomic_store_n(&word, ((word >> 2) + 1) << 2 | window, __ATOMIC_RELAXED);
  }
};

struct Region {
  uint64_t start;  // offset in the file; the pool's while there is no such region
  uint64_t size;   // bytes; 0: there is no such region (any more)
  OwnerLock lock;
  bool watched;    // written for the first time since its checkpoint, it traps
  bool modified;   // ... and has been
  bool is_listed;  // in State::modified
  uint8_t block;   // how its memory was taken (space.h)
  bool is_paged;
  bool is_dying;    // freed when no pointer refers to it
  bool was_locked;  // by a thread that a forked child has not
  weir_region_handler_fn handler;
  Level common;  // of set 0
  // From here on, what a change of level and a trap seldom need.
  void* context;
  uint64_t home;         // where it was defined, or 0
  uint64_t paged;        // is_paged: where its own pages are
  char* twin;            // its bytes at the checkpoint, from when it has been written on
  uint64_t* twin_pages;  // which pages of a large one's twin have been written, a bit for each
  Region* next_modified;
  Region* next_dying;

  bool holds(uint64_t offset) const { return offset - start < size; }
  // Behind the end, too: where a pointer may stand that still is one to this region.
  bool refers(uint64_t offset) const { return offset - start <= size; }
};

// Several regions in one page, in rising order.
struct PageRegions {
  void* pools;  // while nobody has it: a late reader finds the count below as it was
  uint64_t count;
  struct Entry {
    uint64_t start;  // Region::start, so that a search touches few lines of cache
    Region* region;
  } entries[];
};

// A stretch of address space whose pages, where they are defined as regions, lie in the file in
// this order (define.cc).
struct Chunk {
  uint64_t home, offset;
};
inline constexpr uint64_t kMaxChunks = 64;

struct Set {
  bool exists;
  uint32_t threads;  // that use it
  uint64_t pointers;
};

// What must be undone when a thread ends; in its thread-locals.
struct Thread {
  Thread* next;  // of those that are known; guarded by: registry
  Thread** back;
  PooledLink* on_stack;
  uint64_t stack, stack_end;
  int set;      // that it uses
  int current;  // ... or, in a region's handler, the one that the access belonged to
  bool is_known;
  uint64_t waited_at, waited_for;  // the last access that was tried again after a conversion: its
                                   // address, which conversion
  unsigned depth;                  // of traps within traps
};

struct State {
  uint64_t base;
  unsigned shift;  // a window has 1 << shift bytes
  int file;
  uint64_t file_device, file_number;  // whether it still is that file
  OwnerLock registry;
  // Guarded by: registry
  Pool regions, arrays, other;
  uint64_t top;  // of the file: nothing was ever taken from here on
  PooledLink** hash;
  uint64_t hash_size, hash_count;
  Region* dying;
  Region* modified;  // pushed without a lock
  // Read without a lock
  uint64_t* directory;  // of pages of the file: 0, a Region with bit 0 set, or PageRegions
  Region** paged_directory;
  uint64_t paged_base;
  Set sets[kMaxSets];
  weir_region_handler_fn handler;
  void* context;
  Chunk chunks[kMaxChunks];
  uint64_t chunk_count;
  uint64_t converting, converting_end, conversions;  // pages that become shared now (define.cc)

  OwnerLock unbounded_lock;
  Link* unbounded;
  uint64_t unbounded_count;
  Thread* threads;          // guarded by: registry
  struct sigaction before;  // the earlier handler of SIGSEGV
};

extern State* g_state;  // NULL before start(), and while it runs only for itself
extern bool g_started;
extern __thread Thread t_thread __attribute__((tls_model("initial-exec")));

// 0 or an error number. Called first by every function that may be the first.
int start(uint64_t window);
inline int started() {
  return __builtin_expect(__atomic_load_n(&g_started, __ATOMIC_ACQUIRE), 1) ? 0 : start(0);
}  // acquire: all that start() has made

// Offset of the first byte that a region may have: a pointer may stand that far before its region,
// and is still in the region's window.
inline uint64_t lowest() { return uint64_t{1} << (g_state->shift - 6); }

struct Place {
  bool inside;  // in a window
  int set;
  unsigned window;
  uint64_t offset;
};

inline Place place_of(uint64_t address) {
  const State& state = *g_state;
  const uint64_t from_base = address - state.base;
  const uint64_t number = from_base >> state.shift;
  if (number >= kMaxSets * kWindows) return {};
  return {true, static_cast<int>(number / kWindows), static_cast<unsigned>(number % kWindows),
          from_base & ((uint64_t{1} << state.shift) - 1)};
}

inline uint64_t all_windows() { return uint64_t{kMaxSets * kWindows} << g_state->shift; }  // bytes

inline uint64_t address_in(int set, unsigned window, uint64_t offset) {
  return g_state->base + ((static_cast<uint64_t>(set) * kWindows + window) << g_state->shift) +
         offset;
}

// Returns the address at which a byte of the file can always be read and written.
inline char* open_address(uint64_t offset) {
  return reinterpret_cast<char*>(address_in(0, kWrite, offset));
}
// Returns that address for any address of a region's windows, and other addresses as they are.
uint64_t open_of(uint64_t address);
// The one address that stands for a variable of the program, however it is named: where it was
// defined rather than in a window.
uint64_t stable_of(uint64_t address);

// --- directory.cc
inline constexpr uint64_t kSingle = 1;                 // in an entry of the directory
Region* search_page(uint64_t entry, uint64_t offset);  // of several regions
Region* find_offset_slowly(uint64_t offset);
// The region that has this byte, or NULL. Signal-safe, without a lock.
inline Region* look(uint64_t offset) {
  const uint64_t entry = __atomic_load_n(&g_state->directory[offset / kPage],
                                         __ATOMIC_ACQUIRE);  // acquire: what it points to is whole
  auto* region = reinterpret_cast<Region*>(entry & ~kSingle);
  if (!(entry & kSingle)) region = search_page(entry, offset);
  return region && region->holds(offset) ? region : nullptr;
}
inline Region* find_offset(uint64_t offset) {
  Region* region = look(offset);
  return __builtin_expect(region != nullptr, 1) ? region : find_offset_slowly(offset);
}
Region* find_outside(uint64_t address, uint64_t* offset);
// As an address, in a window, in pages of its own or at home; `offset` is set where that is one of
// them.
inline Region* find(uint64_t address, uint64_t* offset = nullptr) {
  const Place place = place_of(address);
  if (__builtin_expect(!place.inside, 0)) return find_outside(address, offset);
  if (offset) *offset = place.offset;
  return find_offset(place.offset);
}
// As a pointer: just behind the end counts, where nothing else begins there.
Region* find_referred(uint64_t offset);
// The first region that has a byte in [offset, limit), or NULL.
Region* find_first(uint64_t offset, uint64_t limit);
// Returns false if there is no memory. REQUIRES: registry, if it changes something.
bool enter(Region* region);
void leave(Region* region);

// --- level.cc
Level* level_of(Region& region, int set);   // NULL: as if it were open
Level* level_for(Region& region, int set);  // REQUIRES: registry. NULL: no memory
inline unsigned effective(const Region& region, const Level* level) {
  const unsigned asked = level ? level->level() : unsigned{kWrite};
  return region.watched && asked > kRead ? static_cast<unsigned>(kRead) : asked;
}
// Moves every pointer of that set to where its level puts it; all sets': -1. REQUIRES: region's
// lock, or invariant 4. 0, or for a region on pages of its own ENOMEM.
int move_pointers(Region& region, int set);
inline int level_of_protection(int protection) {  // -1: no such
  if (protection == PROT_NONE) return kNone;
  if (protection == PROT_READ) return kRead;
  return protection == (PROT_READ | PROT_WRITE) ? static_cast<int>(kWrite) : -1;
}
inline int protection_of(unsigned window) {
  return window == kNone ? PROT_NONE : window == kRead ? PROT_READ : PROT_READ | PROT_WRITE;
}
// The level has changed in another way: a thread that moves pointers meanwhile looks again.
// REQUIRES: region's lock, or invariant 4.
inline void note_change(Region& region) {
  for (Level* level = &region.common; level; level = level->next) level->set_level(level->level());
}

// --- pointers.cc
inline void** location_of(Link* link) {
  return link->kind & kPooled ? static_cast<void**>(link->value) : &link->value;
}
void move_pointer_slowly(Region& region, Link* link, void* value, unsigned window);
// Writes the pointer's value, if it refers to the region, so that it lies in the window of that
// level.
inline void move_pointer(Region& region, Link* link, unsigned window) {
  void** location = location_of(link);
  void* value;
  if (!read_pointer(location, &value)) return;
  const auto address = reinterpret_cast<uint64_t>(value);
  const uint64_t offset = address & ((uint64_t{1} << g_state->shift) - 1);
  if (__builtin_expect(address - g_state->base < all_windows() && region.holds(offset), 1)) {
    void* moved = reinterpret_cast<void*>(address_in(set_of(*link), window, offset));
    if (moved != value) exchange_pointer(location, value, moved, has_others());
  } else {
    move_pointer_slowly(region, link, value, window);
  }
}
// Whether a registered pointer refers to it. REQUIRES: registry, region's lock.
bool is_referred(const Region& region);
// REQUIRES: registry, region's lock. Forgets those that are bound to it.
void drop_pointers(Region& region);
int register_pointer(
    void* pointer,
    Region* region);  // region NULL: unbounded. EEXIST, EINVAL, ENOMEM. REQUIRES: registry
bool is_registered(void* pointer);  // REQUIRES: registry
inline int current_set() { return t_thread.current; }
// In a child of fork, alone: what other threads had on their stacks is forgotten.
void forget_other_threads();
// --- define.cc
// Where an old address of a defined region lies in the file. Returns false if there is none.
bool find_home(uint64_t address, uint64_t* offset);
bool waits_for_conversion(uint64_t address);  // true: the access may be tried again
void release_home(const Region& region);

// --- paged.cc
inline uint64_t paged_space() { return uint64_t{1} << g_state->shift; }  // bytes of address space
bool find_paged(uint64_t address, uint64_t* offset, Region** region);
int protect_pages(const Region& region, unsigned window);
void release_pages(const Region& region);

// --- changes.cc
// At its first write since the checkpoint. REQUIRES: region's lock, or invariant 4. 0, or ENOMEM:
// it could not be opened.
int make_twin(Region& region);
void forget_changes(Region& region);  // REQUIRES: registry

// --- trap.cc
void install_handler();
bool on_fault(siginfo_t* information, void* ucontext);

// --- windows.cc
int map_set(int set);  // 0 or an error number
void note_file();      // that State::file is the file
bool is_our_file();    // the program may have closed it, or have put another in its place
void unmap_set(int set);
// Maps the same bytes of the file once more, at pages that are the caller's. Returns 0 or ENOMEM.
int map_again(uint64_t at, uint64_t offset, uint64_t size, unsigned window);
// Every region, in the order of the file. REQUIRES: registry.
template <typename Visit>
void visit_regions(Visit visit) {
  const uint64_t pages = page_up(g_state->top) / kPage;
  for (uint64_t page = lowest() / kPage; page < pages; page++) {
    if (!g_state->directory[page]) continue;
    for (uint64_t at = page * kPage; Region* region = find_first(at, (page + 1) * kPage);
         at = region->start + region->size) {
      if (region->start >= page * kPage) visit(*region);
      if (region->start + region->size >= (page + 1) * kPage) break;
    }
  }
}

}  // namespace weir::region
