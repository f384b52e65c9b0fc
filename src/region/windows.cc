// Where the windows lie, and the library's start.
//
// Address space is reserved for all sets at once, and costs nothing until it is touched. The file
// in memory is as long as a window, and has no page until one is written. If limits of the process
// allow less, windows are halved until they fit.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "region/state.h"
#include "sys/memory.h"
#include "sys/report.h"

namespace weir::region {

State* g_state;
bool g_started;
__thread uint8_t t_locks_held[4] __attribute__((tls_model("initial-exec")));
__thread Thread t_thread __attribute__((tls_model("initial-exec")));

namespace {

constexpr uint64_t kUsualWindow = uint64_t{1} << 36, kMinWindow = uint64_t{1} << 22;

OwnerLock g_starting{kStartRank};

long map(uint64_t at, uint64_t size, int protection, int flags, int file = -1,
         uint64_t offset = 0) {
  return sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(size), protection,
                  flags | MAP_NORESERVE, file, static_cast<long>(offset));
}

// A range of that size that nobody may touch, aligned to `alignment`; 0: not to be had.
uint64_t reserve(uint64_t size, uint64_t alignment) {
  const long at = map(0, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (at < 0) return 0;
  const uint64_t from = static_cast<uint64_t>(at),
                 aligned = (from + alignment - 1) & ~(alignment - 1);
  if (aligned > from) sys::raw(SYS_munmap, at, static_cast<long>(aligned - from));
  sys::raw(SYS_munmap, static_cast<long>(aligned + size),
           static_cast<long>(from + alignment - aligned));
  return aligned;
}

// An address that becomes an index needs a table that is as long as its range; it lies as a hole
// until it is used.
void* table(uint64_t entries) {
  const long at =
      map(0, entries * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  return at < 0 ? nullptr : reinterpret_cast<void*>(at);
}

// Of that window. NULL: not to be had.
State* make(unsigned shift) {
  const uint64_t window = uint64_t{1} << shift;
  const long at =
      map(0, page_up(sizeof(State)), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (at < 0) return nullptr;
  auto* state = reinterpret_cast<State*>(at);
  state->registry = OwnerLock{kRegistryRank};
  state->unbounded_lock = OwnerLock{kUnboundedRank};
  state->shift = shift;
  const long file =
      sys::raw(SYS_memfd_create, reinterpret_cast<long>("weir-region"), 1 /* MFD_CLOEXEC */);
  if (file >= 0 && !sys::raw(SYS_ftruncate, file, static_cast<long>(window))) {
    // Away from the descriptors that programs count on, or close one after another.
    const long high = sys::raw(SYS_fcntl, file, F_DUPFD_CLOEXEC, 700);
    state->file = static_cast<int>(high >= 0 ? high : file);
    if (high >= 0) sys::raw(SYS_close, file);
    state->base = reserve(window * kMaxSets * kWindows, window);
    state->directory = static_cast<uint64_t*>(table(window / kPage));
  } else if (file >= 0) {
    sys::raw(SYS_close, file);
  }
  if (state->base && state->directory) return state;
  if (state->base)
    sys::raw(SYS_munmap, static_cast<long>(state->base),
             static_cast<long>(window * kMaxSets * kWindows));
  if (state->file) sys::raw(SYS_close, state->file);
  sys::raw(SYS_munmap, at, static_cast<long>(page_up(sizeof(State))));
  return nullptr;
}

// Where the `weir` command makes processes of threads, their windows are not the same memory any
// more: a program that is about to compute wrongly is told.
void look_for_weir() {
  const char* options = getenv("WEIR_OPTIONS");
  if (!options || !dlsym(RTLD_DEFAULT, "weir_query_active") || strstr(options, "enforcer=mpk"))
    return;
  if (!strstr(options, "view=isolated") && !strstr(options, "view=coherent") &&
      !strstr(options, "view=guarded"))
    return;
  report(
      "this program uses region traps: with more than one thread it computes wrongly at this View, "
      "and not at `weir run --view direct`");
}

}  // namespace

int map_again(uint64_t at, uint64_t offset, uint64_t size, unsigned window) {
  // Of a shared mapping, mremap makes a second one where the old size is 0: the descriptor may have
  // been closed by the program. (Emulators of the kernel may not know that.)
  const long mapped =
      sys::raw(SYS_mremap, reinterpret_cast<long>(open_address(offset)), 0, static_cast<long>(size),
               MREMAP_MAYMOVE | MREMAP_FIXED, static_cast<long>(at));
  if (mapped < 0) {
    if (!is_our_file()) return ENOMEM;
    return map(at, size, protection_of(window), MAP_SHARED | MAP_FIXED, g_state->file, offset) < 0
               ? ENOMEM
               : 0;
  }
  if (window != kWrite && sys::protect(at, size, protection_of(window))) return ENOMEM;
  return 0;
}

void note_file() {
  struct stat status = {};
  fstat(g_state->file, &status);
  g_state->file_device = status.st_dev;
  g_state->file_number = status.st_ino;
}

bool is_our_file() {
  struct stat status;
  return !fstat(g_state->file, &status) && status.st_dev == g_state->file_device &&
         status.st_ino == g_state->file_number;
}

// Set 0's window to write is the one that others are made from.
int map_set(int set) {
  const State& state = *g_state;
  const uint64_t window = uint64_t{1} << state.shift;
  if (set == 0 && map(address_in(0, kWrite, 0), window, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, state.file) < 0)
    return ENOMEM;
  for (unsigned level = kRead; level <= kWrite; level++) {
    if ((set || level == kRead) && map_again(address_in(set, level, 0), 0, window, level))
      return ENOMEM;
    // A core dump would look at every page of every window; what regions hold is dumped once
    // (space.cc).
    sys::raw(SYS_madvise, static_cast<long>(address_in(set, level, 0)), static_cast<long>(window),
             MADV_DONTDUMP);
    if (set == 0 && level == kWrite && state.top > lowest()) {
      sys::raw(SYS_madvise, reinterpret_cast<long>(open_address(lowest())),
               static_cast<long>(state.top - lowest()), MADV_DODUMP);
    }
  }
  return 0;
}

void unmap_set(int set) {
  map(address_in(set, kNone, 0), kWindows << g_state->shift, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
}

int start(uint64_t window) {
  const OwnerGuard guard(g_starting);
  if (!guard.taken()) return EDEADLK;  // in a signal's handler that has interrupted this
  if (g_started) return window ? EBUSY : 0;
  const bool is_asked = window != 0;
  if (!is_asked) window = kUsualWindow;
  if (window < kMinWindow) window = kMinWindow;
  unsigned shift = 63u - static_cast<unsigned>(__builtin_clzl(window));
  if (window & (window - 1)) shift++;
  rlimit files;  // a longer one would end the program by SIGXFSZ
  if (!getrlimit(RLIMIT_FSIZE, &files) && files.rlim_cur != RLIM_INFINITY) {
    while (shift > 20 && uint64_t{1} << shift > files.rlim_cur) shift--;
    if (uint64_t{1} << shift < (is_asked ? window : kMinWindow)) return ENOMEM;
  }
  State* state = make(shift);
  while (!state && !is_asked && (uint64_t{1} << shift) > kMinWindow) state = make(--shift);
  if (!state) return ENOMEM;
  state->sets[0].exists = true;
  g_state = state;
  state->top = lowest();
  note_file();
  if (map_set(0)) {
    g_state = nullptr;
    return ENOMEM;
  }
  install_handler();
  look_for_weir();
  __atomic_store_n(&g_started, true, __ATOMIC_RELEASE);  // and only now does anybody else look
  return 0;
}

uint64_t stable_of(uint64_t address) {
  const Place place = place_of(address);
  uint64_t offset = place.offset;
  Region* region = nullptr;
  if (!place.inside && !find_paged(address, &offset, &region)) return address;
  if (!region) region = find_offset(offset);
  return region && region->home ? region->home + (offset - region->start)
                                : address_in(0, kWrite, offset);
}

uint64_t open_of(uint64_t address) {
  const Place place = place_of(address);
  if (place.inside)
    return place.set == 0 && place.window == kWrite ? address : address_in(0, kWrite, place.offset);
  uint64_t offset;
  Region* region;
  return find_paged(address, &offset, &region) ? address_in(0, kWrite, offset) : address;
}

}  // namespace weir::region

using namespace weir::region;

int weir_region_start(const weir_region_options* options) {
  if (options && options->struct_size < sizeof(size_t) * 2) return EINVAL;
  return start(options && options->window ? options->window : g_started ? 1 : 0);
}
