// Weir's own words: one line, prefixed `weir: `, to stderr or to the file that --log names; and the
// end of the process where the impossible happened. Signal-safe: no libc, no allocation.
#pragma once

#include <stdint.h>

namespace weir {

// Writes one line. Formats: %s string, %d signed, %u unsigned, %x hexadecimal (all 64 bits wide),
// %% percent.
void report(const char* format, ...);

// Where report() writes; a descriptor that the program's own closing of files does not reach.
void set_report_descriptor(int descriptor);
int report_descriptor();

// Where die() leaves a 1 for somebody else, who would take the program's end for its own; null:
// nowhere.
void set_death_note(uint32_t* note);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);
[[noreturn]] void die(int status);    // Weir ends the program
[[noreturn]] void leave(int status);  // the program ends; nothing runs at its end

}  // namespace weir

// The impossible, in all builds: reports the place and ends the program with status 125.
#define WEIR_CHECK(condition)                                                                    \
  do {                                                                                           \
    if (__builtin_expect(!(condition), 0)) ::weir::check_failed(#condition, __FILE__, __LINE__); \
  } while (0)
