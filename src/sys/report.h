// Weir's own words: one line, prefixed `weir: `, to stderr or to the file that --log names; and the
// end of the process where the impossible happened. Signal-safe: no libc, no allocation.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace weir {

// Writes one line. Formats: %s string, %d signed, %u unsigned, %x hexadecimal (all 64 bits wide),
// %% percent.
void report(const char* format, ...);

// Sets the descriptor to which report() writes. The program does not reach it when it closes files.
void set_report_descriptor(int descriptor);
// write(), for words of Weir: a file that may not grow (RLIMIT_FSIZE) and a pipe that nobody reads
// send the program no signal. Returns what the call does, -errno if it fails.
long write_unsignalled(int descriptor, const char* bytes, size_t size);
int report_descriptor();

// Sets the word in which die() leaves a 1, for a process that would otherwise take the program's
// end for its own. Null: there is none.
void set_death_note(uint32_t* note);

// Sets the word that check_failed() sets, in memory that all processes of the program see. A task
// that waits for a lock sees it and ends too (sys/spinlock.h). Null: there is none.
void set_broken_word(uint32_t* word);
// Ends this process with status 125 if a check has failed in another one.
void leave_if_broken();

[[noreturn]] void check_failed(const char* condition, const char* file, int line);
[[noreturn]] void die(int status);    // Weir ends the program
[[noreturn]] void leave(int status);  // the program ends; nothing runs at its end

}  // namespace weir

// The impossible, in all builds: reports the place and ends the program with status 125.
// WEIR_DEBUG_CHECK is for what costs too much, or is asked too often, for that: it counts again
// what is counted, say. Only the preset `checked` has it (docs/HACKING.md).
#define WEIR_CHECK(condition)                                                                    \
  do {                                                                                           \
    if (__builtin_expect(!(condition), 0)) ::weir::check_failed(#condition, __FILE__, __LINE__); \
  } while (0)
#ifdef WEIR_DEBUG_CHECKS
#define WEIR_DEBUG_CHECK(condition) WEIR_CHECK(condition)
#else
#define WEIR_DEBUG_CHECK(condition) \
  do {                              \
  } while (0)
#endif
