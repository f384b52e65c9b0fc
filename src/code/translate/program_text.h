// Which bytes are program text that may be translated: executable segments of files, patched, and
// never written by the program. Private to the process; every process of a program comes to the
// same table (task/mapping_log.h).
#pragma once

#include "base/types.h"

namespace weir::translate {

// Notes an executable segment. If it overlaps one that is known, both become one.
void note_text(Range text);
// Forgets the text in a range that is unmapped, mapped anew or protected otherwise. Returns true if
// there was some.
bool forget_text(Range range);
void forget_all_text();

// Returns the code around `rip` that can be translated: a text, or what a stub has behind its site
// (which stands for program text that was moved). Empty if there is neither.
Range code_at(uint64_t rip);

// A place where translation ends and the code itself goes on.
struct TranslationExit {
  bool is_exit = false;
  bool is_trap = false;
  uint32_t site = 0;       // of a trap
  uint32_t seek_gate = 0;  // offset in the cache: control goes on there (seek_gate.h)
};
// An int3 that is none of Weir's: a debugger's, or the program's own.
bool is_breakpoint(uint64_t rip);
// The functions that enter the runtime are translation exits; at most kMaxTranslationExits, once.
inline constexpr unsigned kMaxTranslationExits = 5;
void add_translation_exit(uint64_t address);
TranslationExit translation_exit_at(uint64_t rip);
// translation_exit_at() for an address in `text`, which code_at() has returned.
TranslationExit translation_exit_in(Range text, uint64_t rip);

}  // namespace weir::translate
