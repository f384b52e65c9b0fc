// The backing: one file in memory that holds everything writable of the program, and the ranges of
// addresses that show it.
// Implemented in backing.cc, backing_fork.cc, core_dump.cc, hidden_descriptors.cc and
// protection.cc.
//
// Arena addresses are backing offsets plus kArena. Other writable ranges (data and bss of program
// and libraries, main's stack, thread-local storage of the first thread) are *memory segments*:
// converted in place when the first task is made. Until then ("single") the arena is mapped shared
// and these segments are what the kernel made; afterwards ("multi") each process maps all of it
// privately, and sees the backing itself through the shared view.
#pragma once

#include <errno.h>
#include <stdint.h>

#include "base/types.h"
#include "control/control.h"

namespace weir::page {

// Creates the backing and maps the arena. REQUIRES: options say isolated. False with a report where
// the kernel refuses.
bool create_backing();
// First task: turns every writable private mapping of the program into memory of the backing,
// mapped privately. The caller runs on a runtime stack and touches no program memory meanwhile.
void convert_all();
// Maps the backing's shared view (in every process that runs tasks).
void map_shared_view();
// In this process program memory is the backing itself from now on, also what is mapped later. The
// second: from the next convert_all() on, in all processes.
void map_in_place();
void map_in_place_everywhere();
// Maps [start, start+size) privately (map_in_place: shared) onto bytes of the backing at `offset`
// in this process.
bool map_private(uint64_t start, uint64_t size, uint64_t offset, int protection);
// Writes what is not zero in the range into the backing at `offset`. Anonymous memory: what was
// never touched is not read.
void copy_into_backing(Range range, uint64_t offset, bool is_anonymous);
// A new memory segment at a place outside the arena; its bytes are zero. Returns the backing
// offset, 0 on failure.
uint64_t add_memory_segment(uint64_t start, uint64_t size, int protection);
void remove_memory_segment(uint64_t start, uint64_t size);
// Private memory of the program's becomes a memory segment, with its bytes, in this process.
// REQUIRES: it can be read.
uint64_t adopt(Range range, int protection);
// True unless the run is recorded or replayed. Then what has been found about segments is cached.
// So the number of instructions that a lookup takes depends on earlier lookups, and in a recording
// the instructions of program code are counted.
extern bool g_remembers_segments;
// Returns the address at which the runtime sees the byte: in the shared view, or the address itself
// if the byte is not in the backing.
uint64_t shared_view_of(uint64_t address);
// Returns how many bytes from `address` on are contiguous in the backing; 0 if it is not in the
// backing.
uint64_t backing_bytes_at(uint64_t address);
bool in_arena(uint64_t address);
// Returns the protection with which memory of the backing is mapped at first.
int first_protection(uint64_t address);
// Calls act(start, size) for all memory of the backing.
template <typename Act>
void each_range(Act act) {
  act(kArena, kArenaSize);
  const Shared& s = shared();
  for (uint32_t i = 0; i < s.memory.segment_count; i++) {
    if (s.memory.segments[i].live)
      act(s.memory.segments[i].start, page_up(s.memory.segments[i].size));
  }
}
// Pages back to zero, in the backing. Guarded by: the turn.
void zero_pages(uint64_t start, uint64_t size);

// Program mmap in the arena. Guarded by: the turn. 0 where the address space is used up.
uint64_t allocate_extent(uint64_t size);
void free_extent(uint64_t start, uint64_t size);
bool is_free_extent(uint64_t start, uint64_t size);  // some of it
bool is_all_free(uint64_t start, uint64_t size);
// A place that the program chose: whatever of it is free is handed out to nobody else.
void take_extent(uint64_t start, uint64_t size);

// The only caller of mprotect for program memory.
long protect(uint64_t start, uint64_t size, int protection);
// Ranges of pages with a protection other than the usual one, sorted by address; none overlap, and
// neighbours of one protection are one entry.
// Notes `protection` for `range`, which cuts or replaces other ranges; `usual` is not noted.
// Returns false if there is no room; then nothing is changed.
bool note_protection(ProtectedRange* table, uint32_t& count, uint32_t capacity, Range range,
                     int protection, int usual);
// Whether a noted range overlaps `range`.
bool is_noted(const ProtectedRange* table, uint32_t count, Range range);

// Returns false if there is no room for another range.
bool remember_protection(uint64_t start, uint64_t size, int protection);
bool has_protection(uint64_t start, uint64_t size);
// The protection that the program itself has asked for, of a page of the backing; and whether it is
// the same in all of a range.
int protection_at(uint64_t page);
bool has_one_protection(Range range);
// That protection lets it write to the page, or read it.
bool may_access(uint64_t page, bool writes);
void reapply_protections();
// Bytes for a stack that has that limit (RLIM_INFINITY: none).
uint64_t stack_size(uint64_t limit);
// View isolated: executable memory that the program makes is closed until it is executed, page by
// page (signal/made_code.cc). Notes what the program asks for in a range of its memory. Returns
// whether some of it was executable until now.
bool note_code(uint64_t start, uint64_t size, int protection);
// What the program asked for at `address`, if it may be executed there; else 0.
int code_protection(uint64_t address, Range* range = nullptr);
// Returns the protection that the memory must have while none of it has been executed.
int unexecuted(int protection);
// The same once there are tasks; before, what the program asked for.
int as_mapped(int protection);

// Give a forked child bytes of its own. copy_backing() makes a file with the contents of the
// backing. use_copy() maps it shared in place of the old one, when control memory is the child's
// own.
[[nodiscard]] int copy_backing();
void use_copy(int file);

// Make core files hold only what is used. dump_only_used() is called once in this process, after
// the arena was mapped; dump_used() whenever more is used.
void dump_only_used();
void dump_used();
// Makes the core file hold exactly those pages of the arena that the backing has. Called just
// before this process ends by a signal. Signal-safe.
void dump_only_present();

// Ends of libweir.so in memory: never converted.
Range own_image();

// While one lives, this process's soft limit on `resource` is its hard one. REQUIRES: no program
// code runs in the process.
class LimitLifted {
 public:
  explicit LimitLifted(int resource);
  ~LimitLifted();
  LimitLifted(const LimitLifted&) = delete;
  LimitLifted& operator=(const LimitLifted&) = delete;
  uint64_t was, now;

 private:
  uint64_t most_;
  int resource_;
};

// Hides a descriptor from the program, close-on-exec, at a number above the program's soft limit if
// the hard limit allows that. Returns the new number.
int hide_descriptor(int descriptor);
// Hides the descriptor without moving it, also from programs that are executed.
void keep_hidden(int descriptor);
// Makes a system call that opens a descriptor, and hides that. Only the hard limit binds it.
// Returns -errno if the call fails.
long open_hidden(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0);
// open_hidden(), which waits a moment if no descriptor is left.
long open_hidden_patiently(long number, long a, long b = 0, long c = 0);
bool descriptors_left(uint32_t count);  // so many could be opened. REQUIRES: the backing exists
void close_hidden(int descriptor);
bool is_hidden(int descriptor);  // exactly the runtime's own, whatever else lies at high numbers
inline const char* of_descriptors(long error) {
  return error == -EMFILE ? ": no descriptor is left (ulimit -n)" : "";
}
// ftruncate, bound by the hard limit only; -EFBIG where that forbids it.
long set_file_size(int file, uint64_t size);

// 64-bit fingerprint of all program memory but the unused part of the first thread's stack, words
// that hold the process id made equal.
uint64_t fingerprint();

}  // namespace weir::page
