// Of a program that is to be a fork server (runtime/serve/fork_server.h): what its system calls
// before its first thread leave behind that a fork does not copy.
// Implemented in runtime/serve/lasting.cc.
#pragma once

namespace weir::served {

extern const char* g_place;  // where it is forked, in words
extern bool g_watches;       // this process may be forked for runs, and has not begun to

struct MadeCall {
  long number, a, b, c, d, result;
};

// The kinds of calls that are looked at.
bool may_last(long number);
void note(const MadeCall& call);
// The first one that leaves something behind, in words; null: there is none.
const char* first_lasting();

}  // namespace weir::served
