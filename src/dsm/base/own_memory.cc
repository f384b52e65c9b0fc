// Arenas of 16 MiB at multiples of 16 MiB, found by one bit for each. The first slab of an arena
// holds its table; the other slabs (64 KiB) hold blocks of one size each, or parts of one larger
// block. A block above half an arena has arenas of its own.
//
// Invariants:
//   1. A block is found by its address alone, so a block has no header, and one of 4 KiB is a page.
//      (not checkable: a block does not say what it is)
//   2. An empty slab goes back to the arena, unless it is the last of its size: another size may
//      have it. Its pages go back to the kernel if many slabs are free. (not
//      checkable: the kernel's part is what own_memory_test.cc measures)
//   3. One lock guards all. No thread takes another lock or faults with it held. A handler of a
//      signal that has interrupted its holder gets arenas of its own, and leaks what it frees: it
//      is on its way to say that it may not call the library. (not
//      checkable: own_memory_test.cc interrupts it)
#include "dsm/base/own_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <new>

#include "dsm/base/failure.h"

namespace weir::dsm {
namespace {

constexpr uint64_t kArena = 16 << 20, kSlab = 64 << 10, kSlabs = kArena / kSlab;
constexpr uint64_t kLargest = kArena / 2, kAddresses = uint64_t{1} << 47, kPage = 4096;
constexpr uint32_t kSizes[] = {16,   32,   48,   64,   96,   128,  192,  256,   320,  384,
                               448,  512,  640,  768,  896,  1024, 1280, 1536,  1792, 2048,
                               2560, 3072, 3584, 4096, 5120, 6144, 8192, 10880, 16384};
constexpr uint8_t kClasses = std::size(kSizes), kLarge = kClasses, kFree = 255;
constexpr uint32_t kKeep = 256;  // free slabs whose pages stay

struct Block {
  Block* next;
};

// Of 64 KiB; or the first of a large block, or of free ones.
struct Slab {
  uint8_t kind = kFree;
  uint32_t used = 0;   // blocks; of a large block, its slabs
  uint32_t fresh = 0;  // blocks that have never been allocated begin here
  Block* free = nullptr;
  Slab *next = nullptr, *before = nullptr;  // of the slabs of this size that have room
};

struct Arena {
  uint64_t whole;  // one block, for which so many bytes have been mapped; 0: it has slabs
  Arena* next;
  uint32_t free;  // slabs
  Slab slabs[kSlabs];
};
static_assert(sizeof(Arena) <= kSlab);

std::atomic<uint64_t> g_is_arena[kAddresses / kArena / 64];
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
// It holds the lock, or waits for it. In static memory of the thread: the loader may allocate, and
// free, where a library reaches for other memory of a thread.
[[gnu::tls_model("initial-exec")]] thread_local bool g_is_inside = false;
Arena* g_arenas;
Slab* g_with_room[kClasses];
uint32_t g_free_slabs;

Arena& arena_of(const void* memory) {
  return *reinterpret_cast<Arena*>(reinterpret_cast<uint64_t>(memory) & ~(kArena - 1));
}
char* start_of(Arena& arena, const Slab& slab) {
  return reinterpret_cast<char*>(&arena) + (&slab - arena.slabs) * kSlab;
}

void note(const Arena& arena, bool is_one) {
  const uint64_t number = reinterpret_cast<uint64_t>(&arena) / kArena;
  const uint64_t bit = uint64_t{1} << number % 64;
  if (is_one) g_is_arena[number / 64].fetch_or(bit, std::memory_order_relaxed);
  else g_is_arena[number / 64].fetch_and(~bit, std::memory_order_relaxed);
}

// `size` bytes, a multiple of kArena, at one; NULL: there is no memory.
Arena* map(uint64_t size) {
  const uint64_t asked = size + kArena - kPage;
  void* const memory =
      mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<uint64_t>(memory), end = first + asked;
  const uint64_t start = (first + kArena - 1) & ~(kArena - 1);
  if (start > first) munmap(memory, start - first);
  if (start + size < end) munmap(reinterpret_cast<void*>(start + size), end - start - size);
  auto* const arena = reinterpret_cast<Arena*>(start);
  note(*arena, true);
  return arena;
}

Arena* add_arena() {
  Arena* const arena = map(kArena);
  if (!arena) return nullptr;
  for (Slab& slab : arena->slabs) slab.kind = kFree;
  arena->slabs[0].kind = kLarge;  // the table
  arena->slabs[0].used = 1;
  arena->free = kSlabs - 1;
  g_free_slabs += arena->free;
  arena->next = g_arenas;
  return g_arenas = arena;
}

// `count` free slabs in a row, now of `kind`; NULL: there is no memory.
Slab* take_slabs(uint32_t count, uint8_t kind) {
  const auto among = [&](Arena& arena) -> Slab* {
    if (arena.free < count) return nullptr;
    for (uint32_t at = 1, row = 0; at < kSlabs; at++) {
      const Slab& slab = arena.slabs[at];
      if (slab.kind == kLarge) {
        at += slab.used - 1;
        row = 0;
        continue;
      }
      row = slab.kind == kFree ? row + 1 : 0;
      if (row < count) continue;
      Slab& first = arena.slabs[at + 1 - count];
      first = Slab{kind, count};
      arena.free -= count;
      g_free_slabs -= count;
      return &first;
    }
    return nullptr;
  };
  for (Arena* arena = g_arenas; arena; arena = arena->next) {
    if (Slab* const found = among(*arena)) return found;
  }
  Arena* const more = add_arena();
  return more ? among(*more) : nullptr;
}

void give_slabs(Arena& arena, Slab& first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) (&first)[i].kind = kFree;
  arena.free += count;
  g_free_slabs += count;
  if (g_free_slabs > kKeep + count) madvise(start_of(arena, first), count * kSlab, MADV_DONTNEED);
}

void link(Slab& slab) {
  Slab*& first = g_with_room[slab.kind];
  slab.before = nullptr;
  slab.next = first;
  if (first) first->before = &slab;
  first = &slab;
}
void unlink(Slab& slab) {
  (slab.before ? slab.before->next : g_with_room[slab.kind]) = slab.next;
  if (slab.next) slab.next->before = slab.before;
}

void* take_block(uint8_t kind) {
  const uint32_t size = kSizes[kind];
  Slab* slab = g_with_room[kind];
  if (!slab) {
    slab = take_slabs(1, kind);
    if (!slab) return nullptr;
    slab->used = 0;
    link(*slab);
  }
  void* block = slab->free;
  if (block) slab->free = slab->free->next;
  else block = start_of(arena_of(slab), *slab) + size * slab->fresh++;
  slab->used++;
  if (!slab->free && slab->fresh == kSlab / size) unlink(*slab);
  return block;
}

void give_block(Arena& arena, Slab& slab, void* memory) {
  const uint32_t most = kSlab / kSizes[slab.kind];
  const bool had_room = slab.free || slab.fresh < most;
  slab.free = new (memory) Block{slab.free};
  slab.used--;
  if (!had_room) link(slab);
  if (slab.used > 0 || (!slab.next && !slab.before)) return;
  unlink(slab);
  give_slabs(arena, slab, 1);
}

// A block with arenas of its own. Needs no lock.
void* take_whole(size_t size) {
  const uint64_t mapped = (kSlab + size + kArena - 1) & ~(kArena - 1);
  Arena* const arena = map(mapped);
  if (!arena) return nullptr;
  arena->whole = mapped;
  return reinterpret_cast<char*>(arena) + kSlab;
}

class Held {
 public:
  Held() : is_mine_(!g_is_inside) {
    if (!is_mine_) return;
    g_is_inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    pthread_mutex_lock(&g_lock);
  }
  ~Held() {
    if (!is_mine_) return;
    pthread_mutex_unlock(&g_lock);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    g_is_inside = false;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  explicit operator bool() const { return is_mine_; }  // else this thread has been interrupted

 private:
  const bool is_mine_;
};

[[gnu::constructor]] void keep_free_in_children() {
  static const auto hold_it = [] {
    g_is_inside = true;  // as Held: what interrupts the fork, and other handlers of it, do without
    std::atomic_signal_fence(std::memory_order_seq_cst);
    pthread_mutex_lock(&g_lock);
  };
  static const auto free_it = [] {
    pthread_mutex_unlock(&g_lock);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    g_is_inside = false;
  };
  pthread_atfork([] { hold_it(); }, free_it, free_it);
}

}  // namespace

void* own_allocate(size_t size) {
  if (size > kAddresses) return nullptr;
  if (size > kLargest) return take_whole(size);
  const Held held;
  if (!held) return take_whole(size);
  if (size <= kSizes[kClasses - 1]) {
    const auto* const fits = std::lower_bound(std::begin(kSizes), std::end(kSizes), size);
    return take_block(static_cast<uint8_t>(fits - kSizes));
  }
  Slab* const first = take_slabs(static_cast<uint32_t>((size + kSlab - 1) / kSlab), kLarge);
  return first ? start_of(arena_of(first), *first) : nullptr;
}

void own_free(void* memory) {
  Arena& arena = arena_of(memory);
  if (arena.whole) {
    note(arena, false);
    munmap(&arena, arena.whole);
    return;
  }
  const Held held;
  if (!held) return;
  Slab& slab = arena.slabs[(static_cast<char*>(memory) - reinterpret_cast<char*>(&arena)) / kSlab];
  if (slab.kind == kLarge) give_slabs(arena, slab, slab.used);
  else give_block(arena, slab, memory);
}

bool is_own(const void* memory) {
  const uint64_t number = reinterpret_cast<uint64_t>(memory) / kArena;
  return number < kAddresses / kArena &&
         g_is_arena[number / 64].load(std::memory_order_relaxed) >> number % 64 & 1;
}

char* memory_for_text(size_t size) {
  void* const memory = malloc(size);
  if (!memory) fail("no memory: %zu bytes are wanted", size);
  return static_cast<char*>(memory);
}

}  // namespace weir::dsm
