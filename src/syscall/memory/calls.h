// What calls that change memory have in common.
// Implemented in syscall/memory/.
#pragma once

#include <sys/mman.h>

#include "base/types.h"
#include "syscall/syscall.h"

namespace weir::syscalls {

inline constexpr int kReadWrite = PROT_READ | PROT_WRITE;

inline uint64_t address(long value) { return static_cast<uint64_t>(value); }
// Of a call that is given an address and a size. Its limit lies below its start where they are too
// large.
inline Range range_of(const Call& call) {
  return {address(call.a), address(call.a) + page_up(address(call.b))};
}

// Makes memory of the backing zero. Guarded by: the turn, if tasks exist, for all functions below
// too.
void empty_pages(uint64_t start, uint64_t size);
// A range will become something else: forgets what was asked for it.
void begin_anew(uint64_t start, uint64_t size);
// Memory of the backing that began as a file's bytes, and has been emptied, has them again.
void restore_files(Range range);
// Changes the protection of memory of the backing. Every page there is readable and writable except
// what is remembered otherwise. `was_code`: some of it may be open otherwise than is remembered.
long change_protection(uint64_t start, uint64_t size, int protection, bool was_code = false);
// Whether a file can be mapped privately for writing: what the kernel would say, asked before
// anything changes.
long check_file(const Call& call);
// Fills memory of the backing at `start` from the file; 0 or -errno.
long read_file(uint64_t start, uint64_t size, int descriptor, uint64_t offset);

// Memory is mapped shared, to be written; of a file as note_private_file().
void note_shared_file(const Call& call, long result);
// The file of such a call, as all of it that is mapped: private copies may be out of date.
void tell_of_shared_write(const Call& call);

// Memory of the arena is the program's no more.
void unmap_extent(uint64_t start, uint64_t size);

// Calls on a range of which the program has no page somewhere (memory/mapped.h): the kernel finds
// pages of Weir's there. ENOMEM if there is such a hole; mprotect then goes up to it, and `call`
// becomes that.
long leave_out_hole(Call& call);
bool is_protection(long bits);  // the kernel knows them, of mprotect
long on_msync(const Call& call);
long on_mincore(const Call& call);
long on_remap_file_pages(const Call& call);

// mmap of anonymous huge pages becomes one of others, as large: 0. Or -errno, if the kernel has no
// such pages.
[[nodiscard]] long take_other_than_huge(Call& call);

// Private memory at a place of Weir's choosing, anonymous or from a file; the same at `start`,
// outside the arena; and what stays a mapping of the kernel's: shared memory, files that are only
// read.
long map_anywhere(const Call& call, uint64_t size, int protection, bool from_file);
long map_memory_segment(const Call& call, uint64_t start, uint64_t size, int protection);
long map_plain(const Call& call, uint64_t size, int protection);
// mmap of a library's text.
bool maps_library(const Call& call);

// Makes such a call, of which nothing else is known.
long make_change(Call& call);
long on_madvise(const Call& call);
long on_lock(const Call& call);  // mlock, mlock2, munlock
long on_lock_all(const Call& call);
long on_mremap(const Call& call);

// A descriptor that is kept until the last process has mapped its file; there may be thousands.
long open_kept(long number, long a, long b, long c = 0);
// Maps memory that processes share, in a recording (record/shared_memory.h). Returns
// true if it is such memory, with the result.
bool map_shared_memory(const Call& call, uint64_t size, int protection, long& result);
// shmat and shmdt, in all processes of the program.
long attach_everywhere(const Call& call);
long detach_everywhere(const Call& call);

// True if the program maps a file shared that is open for reading only and lies on a disk: its
// content, as it is now, is enough. It is not enough for memory that has a file's name (tmpfs, a
// memfd): another process may write there, and the program may wait for that.
bool is_only_read(const Call& call);
// The program, of one task, maps a file shared at a place in the arena; and does so no longer.
long map_file_in_arena(Call& call, uint64_t start, uint64_t size);
void restore_arena(uint64_t start, uint64_t size);
bool is_file_in_arena(uint64_t start);
// mremap of such a mapping, or of one that comes there.
long move_file_in_arena(const Call& call, uint64_t start, uint64_t old_size, uint64_t size);

}  // namespace weir::syscalls
