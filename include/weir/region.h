/* Region traps: protection for regions of a program's own choice, of any size, without a system
 * call. libweir-region is all that it needs. docs/guide/region.md explains it with examples;
 * weir/region.hpp is the same for C++.
 *
 * 1. A region is [start, start + size) of bytes. Its bytes lie in physical memory once, and are
 *    mapped three times: in a window that nobody may touch, in one that may be read, and in one
 *    that may be read and written. A region is protected by moving the pointers to it into the
 *    window of its level.
 * 2. Only registered pointers are moved. Whoever keeps an unregistered copy of a pointer across a
 *    change of level goes on in the window that it was in.
 * 3. An access that the window does not allow traps: the region's handler is called, on the thread
 *    that made the access; when it has raised the level, the registers that point into the region
 *    are moved and the access is made. Other signals than SIGSEGV are not touched.
 * 4. A region, and a place in it, is named by an address in any window, or in the memory that it
 *    was defined on.
 * 5. A parameter `pointer` is the address of a pointer variable (of any type: T **), which stays
 *    the caller's and must live until it is freed here or its region is; one on the stack of a
 *    thread that ends is forgotten.
 * 6. Functions that answer int answer 0 or an error number; errno is as it was, except where an
 *    answer is NULL or -1.
 * 7. Every function may be called from any thread, and in a region's handler; see
 *    docs/guide/region.md for handlers of other signals.
 * 8. An access that traps runs the handler, and the compiler does not know it. So a plain variable
 *    of the program that a handler writes, and that the code around the access reads or writes, may
 *    be in a register meanwhile: what the handler has written is then not seen, or is overwritten.
 *    Such a variable is volatile, or std::atomic or _Atomic; or std::atomic_signal_fence
 *    (atomic_signal_fence in C, seq_cst) stands between its use and the access, on both sides. The
 *    same holds of what a handler reads and the code around the access has written before it.
 * Source: Brecht and Sandhu, The Region Trap Library (USENIX 1999). */
#ifndef WEIR_REGION_H
#define WEIR_REGION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifdef WEIR_IN_REGION
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* --- What a handler is told */

typedef struct weir_region_trap {
  void* start; /* of the region, in memory that may be read and written whatever the region's level
                  is */
  size_t size; /* bytes */
  void* address; /* of the first byte of the access, in the same memory; it may lie before `start`
                    or reach beyond the region's end */
  size_t access_size; /* bytes; of one element where the instruction repeats; at most so many where
                         it has a mask */
  int access;         /* PROT_READ, PROT_WRITE or both */
  int level;          /* the region's, in that set: PROT_NONE or PROT_READ */
  int set;            /* whose pointer it was */
  void* context;      /* as given to weir_region_handler */
  void* ucontext;     /* ucontext_t of the access */
} weir_region_trap;

/* Called on the thread that made the access, in the handler of SIGSEGV, with no lock held: it may
 * call all of this library, and touch other regions. It must raise the level (weir_region_protect,
 * which here means the set of the pointer that was used) so that the access is allowed, and return;
 * where it has not, that is reported on stderr, and the fault goes to whoever handled SIGSEGV
 * before. */
typedef void (*weir_region_handler_fn)(weir_region_trap* trap);

/* --- Regions */

/* New zeroed memory, aligned to 16 bytes (from 64 bytes on to 64), readable and writable.
 * `pointer`: NULL, or a bounded pointer, which is set to it. `handler`: NULL for the default. NULL:
 * ENOMEM (the windows are full), EINVAL (size is 0 or exceeds a window), EEXIST (the pointer is
 * registered already). */
void* weir_region_alloc(size_t size, void* pointer, weir_region_handler_fn handler);
/* The same, aligned to a power of two of at most a page. */
void* weir_region_alloc_aligned(size_t alignment, size_t size, void* pointer,
                                weir_region_handler_fn handler);

/* Makes a region of memory that exists: heap or static variables, readable and writable. Its pages
 * become shared memory of this process, with all that lies in them; what is accessed by its old
 * address is not trapped. No system call may write to these pages meanwhile. EINVAL: null, size 0,
 * or `pointer` points elsewhere; EEXIST: it overlaps a region, or the pointer is registered;
 * ENOMEM; ENOTSUP: it lies on the calling thread's stack, is not readable and writable, is
 * executable, or shared already, or it lies across stretches of address space that the file has in
 * another order; EFAULT: there is no memory. */
int weir_region_define(void* address, size_t size, void* pointer, weir_region_handler_fn handler);

/* Its bounded pointers are forgotten. ENOENT: no region; EBUSY: a registered pointer still refers
 * to it. */
int weir_region_free(void* region);
/* Frees it as soon as no registered pointer refers to it: now, or when a pointer of weir/region.hpp
 * leaves it, or when the next region is allocated. Until then it is as before. For those who free
 * what callers still refer to, as allocators do. ENOENT. */
int weir_region_free_later(void* region);

/* `region` NULL: the default, for regions without one. `handler` NULL: none. ENOENT. */
int weir_region_handler(void* region, weir_region_handler_fn handler, void* context);

/* `level`: PROT_NONE, PROT_READ or PROT_READ | PROT_WRITE, for the calling thread's set. EINVAL,
 * ENOENT. */
int weir_region_protect(const void* region, int level);
/* Each of them, in their order; stops at the first error. */
int weir_region_protect_many(void* const* regions, size_t count, int level);
/* The level, for the calling thread's set. -1: ENOENT. */
int weir_region_level(const void* region);

/* First byte and size of the region that `address` lies in. ENOENT. The start may be given as NULL,
 * the size too. */
int weir_region_bounds(const void* address, void** start, size_t* size);
/* The same byte where it may always be read and written, and is never trapped: for system calls,
 * and for handlers. `address` itself where it is in no window. */
void* weir_region_open(const void* address);
/* Does for these bytes what an access would: handlers are called where levels forbid it. Before a
 * system call, which would fail with EFAULT. All of them must lie in one region (EINVAL). Answers
 * the address to use by now, NULL with EACCES where a handler has not raised the level, NULL with
 * ENOENT where there is no region. */
void* weir_region_touch(const void* address, size_t size, int access);

/* --- Pointers. They belong to the calling thread's set, and are moved at once to where its level
 * puts them. */

/* Unbounded: may refer to any region, or to none. EEXIST: registered already; EINVAL: null; ENOMEM.
 */
int weir_region_ptr(void* pointer);
/* Bounded: `other` will refer only to the region that `pointer`, which is registered, refers to.
 * ENOENT: that one is not registered, or refers to no region. */
int weir_region_bptr(void* pointer, void* other);
/* Keeps its value. ENOENT: not registered. */
int weir_region_ptr_free(void* pointer);

/* --- Sets: the same region at another level for other pointers, or for other threads. Set 0 is
 * there from the beginning, and is everybody's. */

int weir_region_set_new(
    void); /* its number; all regions are open in it. -1: EAGAIN (too many), ENOMEM */
int weir_region_set_free(int set); /* EINVAL: no such set, or 0; EBUSY: pointers are registered in
                                      it, or a thread uses it */
int weir_region_set_use(int set);  /* for the calling thread, from now on; in a region's handler
                                      until it returns. Answers what it used before; -1: EINVAL */
int weir_region_set_protect(int set, const void* region, int level);
int weir_region_ptr_set(void* pointer,
                        int set); /* moves a registered pointer into a set. ENOENT, EINVAL */

/* --- What has changed */

typedef struct weir_region_change {
  size_t offset, size; /* bytes from the region's start */
} weir_region_change;

/* From now on changes of the region are noted: at its first write afterwards, which traps within
 * the library and is not told to a handler, a copy (a twin) is made. */
int weir_region_checkpoint(const void* region);
int weir_region_checkpoint_many(void* const* regions, size_t count);
int weir_region_checkpoint_end(const void* region); /* no longer. ENOENT */
/* The bytes that differ from the checkpoint, as runs in rising order: the first `capacity` of them.
 * Answers how many there are; -1: ENOENT, EINVAL (no checkpoint). */
long weir_region_diff(const void* region, weir_region_change* changes, size_t capacity);
/* The regions that have been written since their checkpoint, the first `capacity` of them; answers
 * how many there are. */
size_t weir_region_modified(void** regions, size_t capacity);
/* The same differences with their bytes, to be kept or sent. Answers the size of it, in bytes; it
 * is whole where that is at most `capacity`. -1: as weir_region_diff. */
long weir_region_diff_make(const void* region, void* buffer, size_t capacity);
/* Onto a region of the same size, whatever its level. EINVAL: not made by weir_region_diff_make,
 * cut or damaged: nothing is changed then. */
int weir_region_diff_apply(void* region, const void* diff, size_t size);

/* --- Regions on pages of their own: nobody need register a pointer, but each change of level is an
 * mprotect. Small ones share physical pages. Set 0 only. */

/* All else is done with such a region as with others. NULL: ENOMEM, also where the kernel's limit
 * of mappings is reached; EINVAL. */
void* weir_region_alloc_paged(size_t size, weir_region_handler_fn handler);

/* --- The library */

typedef struct weir_region_options {
  size_t struct_size; /* sizeof(weir_region_options) */
  /* Bytes: how much all regions may take; 0: 64 GiB, or what the limits of the process allow: 4 MiB
   * at least, for which it needs 400 MiB of address space. */
  size_t window;
} weir_region_options;

/* Otherwise the first call of any other function starts it. EBUSY: it has been started; ENOMEM:
 * that much address space is not to be had. */
int weir_region_start(const weir_region_options* options);
/* For a handler of SIGSEGV that was installed after this library started, and first asks here. 1:
 * it was a region's, return from the handler. 0: it is not. */
int weir_region_on_fault(int signal, void* siginfo, void* ucontext);

/* --- For weir/region.hpp: a registered pointer with its bookkeeping in one object, which may not
 * be moved in memory. */

typedef struct weir_region_link {
  void* value;
  struct weir_region_link* next;
  struct weir_region_link** back;
  void* region;
  uint64_t kind;
} weir_region_link;

/* A link that is all zeros refers to nothing. Sets the value, and follows it: the region is the
 * value's, or `origin`'s where that refers to one that the value lies in or behind the end of
 * (arithmetic). `origin` may be NULL, or `link`. */
void weir_region_link_set(weir_region_link* link, void* value, const weir_region_link* origin);
void weir_region_link_drop(weir_region_link* link); /* all zeros again */

#ifdef __cplusplus
}
#endif
#ifdef WEIR_IN_REGION
#pragma GCC visibility pop
#endif

#endif
