// Why a proof is needed
//
// Weir promises that what it reports is a data race. The runtime sees instructions: `mov
// (%rdi),%eax` is what a compiler makes of a plain read of an int, and of atomic_load(&x) as well.
// Two accesses that nothing orders are a race if one of them is not atomic. If both are atomic they
// may be what a correct program does all day (a flag, a counter, a lock-free queue). Nothing in the
// machine code tells the two apart, and the program is not recompiled. So a pair is reported only
// if one side is certainly no atomic operation.
//
// When it is certain
//
// 1. By the instruction. Compilers turn atomic operations only into locked instructions, xchg, and
//    aligned mov of 1, 2, 4 or 8 bytes. All else is no atomic operation: vector moves, unlocked
//    read-modify-writes, string instructions, misaligned accesses, and what libc or the kernel do
//    on the program's account. The runtime says so by what it leaves out of Side::kind.
// 2. By debug information and sources, if all of these hold:
//    a. The function at this instruction, and those into which it is inlined, do not say by their
//       names that they are operations of atomics. Nor does the header from which the line comes.
//       Functions of the system's headers that call the program's back (call_once) are not asked.
//    b. If the variable is known, its declared type is not atomic there, and it is no guard of a
//       static variable in a function. (Compilers read guards by a plain mov, and no source says
//       so.)
//    c. The source of the statement is there, and nothing in it may be atomic: no name that says
//       so, no macro or inline function whose definition does, no variable, member or type that is
//       declared so (source_scan.cc). A name whose definition is not found counts as one that may.
//
// What remains in doubt is not reported, but counted. This costs races between two plain accesses
// in code without debug information or sources; --verbose names the files. Two things could still
// deceive it: sources from which the program was not built, and macros that the command line of the
// compiler defines with a name that looks like a function's.
#include "cli/races/atomic_proof.h"

#include <algorithm>
#include <cctype>

#include "cli/sources/source_tokens.h"
#include "cli/symbols/types.h"

namespace weir::cli {
namespace {

using namespace findings;

// A function's name without its parameters and those of templates, in which types of other things
// are named.
std::string bare(const std::string& function) {
  std::string name;
  int depth = 0;
  for (size_t i = 0; i < function.size(); i++) {
    const char c = function[i];
    if (c == '<' || c == '(') depth++;
    else if (c == '>' || c == ')') depth = std::max(depth - 1, 0);
    else if (depth == 0) name += c;
  }
  return name;
}

bool is_header_of_atomics(const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string ending =
      dot == std::string::npos || path.find('/', dot) != std::string::npos ? "" : path.substr(dot);
  for (const char* source : {".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}) {
    if (ending == source)
      return false;  // a program may be called so; its statements say what they are
  }
  if (names_atomic(path)) return true;
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "shared_ptr_base.h" || name == "ck_pr.h" || name == "gthr-default.h" ||
         path.find("/concurrencykit/") != std::string::npos;
}

// Of a library of the system's without debug information: what it does to its own data is ordered
// by means that only its authors know.
bool is_inside_library(const ReportedSide& side) {
  if (!side.exists || side.frames.empty() || (side.kind & (kByLibrary | kByKernel | kFree)))
    return false;
  const Frame& innermost = side.frames.front();
  return innermost.file.empty() &&
         (innermost.module.starts_with("/usr/lib") || innermost.module.starts_with("/lib"));
}

// Allocated in a header of the C++ library's, as is what shared pointers, futures and threads are
// kept by; or where, is not known.
bool is_librarys(const Frames& allocated) {
  return allocated.empty() || allocated.front().file.empty() ||
         allocated.front().file.find("/c++/") != std::string::npos;
}

// A copy, in the program, of a library's variable ("stdout@GLIBC_2.2.5"), or what says whether a
// variable of a function has been made.
bool is_librarys(const std::string& variable) {
  return variable.find('@') != std::string::npos || variable.starts_with("guard variable for ");
}

}  // namespace

Judgement AtomicProof::judge_place(const Frame& frame) {
  if (frame.file.empty() || frame.line <= 0) return {false, "no debug information", frame.module};
  if (is_header_of_atomics(frame.file)) return {false, "an operation of " + frame.file, ""};
  if (frame.file.starts_with("/usr/include/c++/"))
    return {true, "", ""};  // what is atomic in libstdc++ is an operation of one of those
  const SourceScan::Found found =
      sources_.look(frame.file, frame.line, frame.column,
                    files_at_ ? files_at_(frame.address) : std::vector<std::string>());
  return {found.is_plain, found.why_not, ""};
}

Judgement AtomicProof::judge(const ReportedSide& side, const ReportedObject& object) {
  if (!side.exists || side.kind == 0) return {false, "there is no access", ""};
  if (side.kind & kAtomic) return {false, "an atomic instruction", ""};
  if (!(side.kind & kMayBeAtomic)) return {true, "", ""};
  if (side.frames.empty()) return {false, "where the access was made is not known", ""};
  if (object.has_variable && object.variable.is_atomic)
    return {false, object.variable.name + " is atomic", ""};
  const Frame& innermost = side.frames.front();
  const std::pair instruction(innermost.module, innermost.offset);
  const auto known = known_.find(instruction);
  if (known != known_.end()) return known->second;
  Judgement& judgement = known_[instruction];
  const bool is_programs = !is_system_header(innermost.file);
  for (const Frame& frame : side.frames) {
    if (is_programs && is_system_header(frame.file))
      break;  // it calls the program back: what it is itself says nothing of that
    if (names_atomic(bare(frame.function)))
      return judgement = {false, frame.function + " is an operation of atomics", ""};
    if (!frame.is_inlined) break;
  }
  return judgement = judge_place(innermost);
}

Judgement AtomicProof::judge(const ReportedRace& race) {
  if (race.why == Why::kPolicy && race.object.is_unnamed_new &&
      is_librarys(race.object.allocated_at))
    return {false, "the C++ library has it for itself", ""};
  if (race.why == Why::kPolicy && is_librarys(race.object.variable.name))
    return {false, "the variable is a library's, or the compiler's", ""};
  if (race.why == Why::kPolicy || race.why == Why::kMisuse)
    return {true, "", ""};  // what is declared holds for atomic operations, too
  if (is_inside_library(race.sides[0]) && is_inside_library(race.sides[1]))
    return {false, "both are inside a library", ""};
  const Judgement first = judge(race.sides[0], race.object);
  if (first.is_proven) return first;
  const Judgement second = judge(race.sides[1], race.object);
  return second.is_proven || (race.sides[0].kind & kAtomic)
             ? second
             : first;  // what is in doubt, not what is clear
}

}  // namespace weir::cli
