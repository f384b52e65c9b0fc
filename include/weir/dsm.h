/* Distributed shared memory: one segment at one address on every node of an MPI job. libweir-dsm is
 * all that it needs besides an MPI to start it. docs/guide/dsm.md explains it with examples;
 * weir/dsm.hpp is the same for C++, weir/tape.hpp says what was accessed.
 *
 * 1. A node is one MPI rank. `mpirun -n 4 PROG` starts four, under Open MPI and under MPICH; PROG
 *    without mpirun is one node. A node may have several threads, which share its copy of the
 *    memory.
 * 2. What is ordered by this library's locks, barriers, conditions, semaphores and reductions is
 *    seen; what a program does without order is a race, and what it sees then is not defined.
 *    Atomic instructions order nothing between nodes.
 * 3. Memory is zero where nobody has written to it.
 * 4. Calls that say so are collective: every node makes them, one thread of each, in the same
 *    order.
 * 5. Misuse and failures end the whole job: each node says why on stderr, and ends with 125.
 * 6. System calls on shared memory are accesses like the program's own, whoever makes them
 *    (docs/LIMITS.md names those that are not).
 * 7. Arguments may lie in shared memory. A handler of a signal may call, and access shared memory,
 *    unless it has interrupted a call of this library; a process that is forked may only read what
 *    is accessible at that moment (all else ends it with 125), and shared memory's mapping and
 *    rights are not the program's to change.
 * Source: Keleher, Tapeworm: High-Level Abstractions of Shared Accesses (OSDI 1999); Brecht and
 * Sandhu, The Region Trap Library (USENIX 1999), section 5. */
#ifndef WEIR_DSM_H
#define WEIR_DSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef WEIR_IN_DSM
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* --- Start and end */

/* Collective, before any other call, once in a process. The nodes must have one build of this
 * library and equal settings. Initializes MPI, unless the program has; then arguments are left
 * alone, else MPI may take its own from them (NULL is well). Settings come from the environment:
 * WEIR_DSM_PROTOCOL, WEIR_DSM_TAPES, WEIR_DSM_SIZE and others (docs/guide/dsm-settings.md).
 * WEIR_DSM_CHECK=1 looks for races. SIGQUIT prints who waits for whom, unless the program handles
 * it. */
void weir_dsm_start(int* argc, char*** argv);
/* Collective, outside of weir_dsm_run, with no lock held. Waits for all nodes. Shared memory is
 * gone afterwards, and there are no calls any more. A process that ends without it has failed. */
void weir_dsm_finish(void);
/* Ends the job: every node ends with `status`. */
void weir_dsm_abort(int status, const char* why) __attribute__((noreturn));
/* For weir/dsm.hpp: an exception of C++ is handled here, or on its way, and the calling thread will
 * not come to the calls that the others wait in. Ends the job with 125; each node says the
 * exception's type and text. */
void weir_dsm_abort_by_exception(const char* where) __attribute__((noreturn));

unsigned weir_dsm_node(void); /* 0 to weir_dsm_nodes() - 1 */
unsigned weir_dsm_nodes(void);

/* Collective. Calls body(worker, workers, context) on WEIR_DSM_THREADS threads (default: 1) of each
 * node; worker numbers count through node 0's threads first. Barriers inside wait for all of them,
 * so none may return while others wait, or hold a lock then. Threads of the program's own may call
 * inside and outside, but not take part in barriers inside. Returns when this node's have returned.
 */
void weir_dsm_run(void (*body)(unsigned worker, unsigned workers, void* context), void* context);
unsigned weir_dsm_threads(void); /* of a node, inside weir_dsm_run; else 1 */

/* --- Memory */

typedef enum {
  WEIR_DSM_DEFAULT,
  WEIR_DSM_SC,
  WEIR_DSM_LRC,
  WEIR_DSM_HLRC
} weir_dsm_protocol; /* DEFAULT: what WEIR_DSM_PROTOCOL says; else LRC */
typedef enum {
  WEIR_DSM_BLOCK,
  WEIR_DSM_CYCLIC,
  WEIR_DSM_FIRST_TOUCH,
  WEIR_DSM_EXPLICIT
} weir_dsm_home;
typedef enum {
  WEIR_DSM_PAGES,    /* `pages` pages of 4 KiB are one unit; accesses trap */
  WEIR_DSM_ANNOTATED /* the whole allocation is one unit; accesses are announced by
                        weir_dsm_read_access and weir_dsm_write_access */
} weir_dsm_unit;

typedef struct weir_dsm_attributes { /* zero: the default of each */
  weir_dsm_protocol protocol;
  weir_dsm_home home;
  unsigned home_node; /* where `home` is EXPLICIT */
  weir_dsm_unit unit;
  unsigned pages;   /* of a unit; 0: 1 */
  const char* name; /* for reports; NULL: the place of the call. At most 63 bytes of it are kept */
} weir_dsm_attributes;

/* By any node; another learns the address from it as it learns any other value. Zero. Aligned to 64
 * bytes; from 2 KiB on, to units of its own. Smaller ones take no message, and no other node's lie
 * in the same unit. Never NULL: too little memory, or more than the segment has left, ends the job.
 * 0 bytes are 1. An access of what is in no allocation ends the job, as far as pages tell. */
void* weir_dsm_alloc(size_t size);
void* weir_dsm_alloc_with(size_t size, const weir_dsm_attributes* attributes);
/* Collective; a barrier. One array of `count` elements of `size` bytes, whose address all nodes
 * have. What is not as node 0 says ends the job. `attributes`: node 0's count; NULL is well. */
void* weir_dsm_alloc_shared(size_t count, size_t size, const weir_dsm_attributes* attributes);
/* By any node, once nobody uses it: an access afterwards ends the job, where the allocation had
 * pages of its own, as long as none is made there (docs/LIMITS.md). `memory`: what an allocation
 * has answered; NULL is well. */
void weir_dsm_free(void* memory);
/* Makes [address, address + size) readable, or writable too, by one round of messages instead of
 * one for each unit. It may be taken away again when any thread of this node synchronizes, and when
 * garbage is collected (pages under SC: at any time); the right to write, when another node wants
 * what was written. An access fetches it anew then. What is in no allocation ends the job. */
void weir_dsm_touch(const void* address, size_t size, int write);

/* Before reads, or writes (and reads), of an ANNOTATED allocation, anew after each synchronization.
 * `address`: anywhere in it. SC: the caller holds it until its next synchronization (of any kind,
 * also a signal or a post), and others that want it wait so long; when it announces another access,
 * what they have waited for changes hands inside of that call, and comes back. The same holds of
 * regions, from the access that traps on. */
void weir_dsm_read_access(const void* address);
void weir_dsm_write_access(const void* address);

/* A region (weir/region.h) as a unit: created by one node, attached by each that uses it. *pointer
 * is registered, refers to this region from now on and to no other, and is moved to where the
 * region's level wants it; further pointers are registered by weir_region_bptr (of the same region)
 * or weir_region_ptr (of any: dear where there are many). A copy of one that is not registered, an
 * argument as well, is good until the thread's next synchronization: after it, it may still read or
 * write what the region does not allow. */
typedef uint32_t weir_dsm_region;
weir_dsm_region weir_dsm_region_alloc(size_t size, const weir_dsm_attributes* attributes);
void weir_dsm_region_attach(weir_dsm_region region, void** pointer);

/* --- Synchronization. Numbers of locks, barriers, conditions and semaphores are the program's;
 * each kind counts for itself. Barriers' go up to 0xfffdffff. */

/* A thread may not lock what it holds, and only the thread that has locked may unlock; one that
 * ends with a lock ends the job. No call is a cancellation point (pthread_cancel). */
void weir_dsm_lock(uint32_t lock);
int weir_dsm_trylock(uint32_t lock); /* 1: it has it */
void weir_dsm_unlock(uint32_t lock);
/* All threads of weir_dsm_run on all nodes; outside of it, one of each node. All with the same
 * number, and at the same call: a barrier here and a reduction or weir_dsm_finish there end the
 * job. */
void weir_dsm_barrier(uint32_t barrier);
/* REQUIRES: the caller holds `lock`, the same one as all who wait for the condition at that time.
 * It wakes by a signal or broadcast only, and has the lock again. */
void weir_dsm_wait(uint32_t condition, uint32_t lock);
/* Wakes one that waits, or none if none does. */
void weir_dsm_signal(uint32_t condition);
void weir_dsm_broadcast(uint32_t condition);
/* A semaphore starts with 0. Who takes a post sees what its poster saw and wrote before. */
void weir_dsm_semaphore_post(uint32_t semaphore);
void weir_dsm_semaphore_wait(uint32_t semaphore);

typedef enum { WEIR_DSM_SUM, WEIR_DSM_MIN, WEIR_DSM_MAX } weir_dsm_operation;
/* Barriers with a result: element by element over all callers, in order of their numbers (so the
 * same on every run), and everybody has it. Where one of the values is a NaN, the result is one,
 * for each operation. At most 1,024 elements. */
void weir_dsm_reduce_double(double* values, size_t count, weir_dsm_operation operation);
void weir_dsm_reduce_int64(int64_t* values, size_t count, weir_dsm_operation operation);
/* Collective; a barrier. Everybody's `data` becomes that of node `from`. At most 64 KiB. */
void weir_dsm_share(void* data, size_t size, unsigned from);

/* --- Tapeworm: the same, and data travels before it is asked for. Wrong advice costs time, never
 *     results. Each may be used in place of its plain namesake, one by one;
 * with WEIR_DSM_TAPES=auto the plain ones act as these by themselves where that pays, with
 * WEIR_DSM_TAPES=off these act as the plain ones. */

typedef enum {
  WEIR_DSM_STATIC,
  WEIR_DSM_DYNAMIC
} weir_dsm_pattern; /* of sharing: same in each iteration, or slowly changing */
/* Record-replay barrier: sends what was written since the last one to those that have asked for it
 * in earlier iterations (section 3.1). */
void weir_dsm_barrier_replay(uint32_t barrier, weir_dsm_pattern pattern);
/* Auto-lock: the lock brings what was accessed when it was last held here (section 3.2). */
void weir_dsm_lock_auto(uint32_t lock);
/* User lock: the lock brings [address, address + size). */
void weir_dsm_lock_user(uint32_t lock, const void* address, size_t size);
/* Producer-consumer regions: what is written in between comes as a whole to who asks for any of it
 * (section 3.3). */
void weir_dsm_produce_start(void);
void weir_dsm_produce_end(void);
/* What is written in between goes to all nodes (section 5.3, Gauss). */
void weir_dsm_flush_start(void);
void weir_dsm_flush_end(void);

/* --- Sight. Without a call: WEIR_DSM_STATS, WEIR_DSM_TIMELINE, WEIR_DSM_SHARING, WEIR_DSM_WAITS
 * and SIGQUIT (docs/guide/dsm-settings.md). */

typedef struct weir_dsm_counters {    /* of this node since the start, or the last
                                         weir_dsm_counters_reset */
  uint64_t read_faults, write_faults; /* traps */
  uint64_t misses;                    /* of them, those that needed another node */
  uint64_t messages[4]; /* sent: for locks, barriers, flushes, data; conditions and semaphores count
                           as locks, all else as data */
  uint64_t bytes;       /* sent, with headers */
  uint64_t diffs_made, diffs_applied;
  uint64_t updates_sent, updates_received,
      updates_used;    /* by tapes: units in messages; used: touched afterwards, before they were
                          outdated */
  uint64_t lock_pages; /* units that a lock made valid */
  uint64_t lock_nanoseconds, barrier_nanoseconds, miss_nanoseconds; /* waited, over all threads */
  uint64_t memory; /* bytes that the runtime keeps now: diffs, twins, intervals */
} weir_dsm_counters;
void weir_dsm_counters_get(weir_dsm_counters* counters);
void weir_dsm_counters_reset(void);
/* Collective; counters of all nodes added up. */
void weir_dsm_counters_total(weir_dsm_counters* counters);

/* --- Checkpoints */

/* Collective; a barrier. Writes the whole shared memory with its regions, allocations and `root`
 * (node 0's: an address in it, by which the program finds its data) to DIRECTORY, which all nodes
 * must see and no other job uses; an earlier checkpoint there stands until this one is complete on
 * all nodes. No other thread may use shared memory meanwhile, and no lock be held; conditions and
 * semaphores are not saved. 0, or an error number, the same on all nodes. */
int weir_dsm_checkpoint(const char* directory, void* root);
/* Collective, right after the start, with any number of nodes and the WEIR_DSM_ADDRESS of then.
 * Regions have the numbers that they had, and are attached anew. Answers the root; NULL: there is
 * no checkpoint. A damaged one ends the job. */
void* weir_dsm_restart(const char* directory);

#ifdef __cplusplus
}
#endif
#ifdef WEIR_IN_DSM
#pragma GCC visibility pop
#endif

#endif
