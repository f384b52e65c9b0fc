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
//    An instruction that computes with what it reads (cmp, add, test) is none either, if by its
//    debug information or .comment a compiler has made it of which that is known (producers.cc).
//    What the source says of assembly, and what the names of functions say, comes before.
// 2. By debug information alone: bits of a word, and an access of another size than the variable or
//    member has, or anything that contains it. An atomic operation has the size of its object. Of
//    unions and of bytes that may be anything's memory, nothing is concluded.
// 3. By debug information and sources, if all of these hold:
//    a. The function at this instruction, and those into which it is inlined, do not say by their
//       names that they are operations of atomics. Nor does the header from which the line comes.
//       Functions of the system's headers that call the program's back (call_once) are not asked.
//    b. If the variable is known, its declared type is not atomic there, and it is no guard of a
//       static variable in a function. (Compilers read guards by a plain mov, and no source says
//       so.)
//    c. The source of the statement is there, and nothing in it may be atomic: no name that says
//       so, no macro or inline function whose definition does, no variable, member or type that is
//       declared so (source_scan.cc). A name whose definition is not found counts as one that may.
//       If only the variable's own declaration says so, and b. does not, the source has another
//       declaration for this build: debug information knows std::atomic.
//
// A store of a pointer to virtual functions that changes nothing is not reported either: ask no
// program to mend what compilers make of its destructors.
//
// A load of which one way of control makes use and another does not is in doubt, too: a compiler
// may have moved it out of a condition of the source's (code/decode/unused_load.h). So is one of
// which the source copies the value under a condition into what has none else
// (cli/sources/undefined_copies.cc).
//
// What remains in doubt is not reported as a race, but counted and said; --report-unproven reports
// it as a possible race. A declared type that is not atomic is no proof without the source:
// __atomic_load_n takes plain ints, and compiles to the same mov. Two things could still deceive
// it: sources from which the program was not built, and macros that the command line of the
// compiler defines with a name that looks like a function's. A source that was found elsewhere,
// only by its name, must have the function that debug information says.
#include "cli/races/atomic_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/sources/source_tokens.h"
#include "cli/sources/undefined_copies.h"
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

bool is_header_of_atomics(const std::string& path, const std::string& function) {
  const size_t dot = path.rfind('.');
  const std::string ending =
      dot == std::string::npos || path.find('/', dot) != std::string::npos ? "" : path.substr(dot);
  for (const char* source : {".c", ".cc", ".cpp", ".cxx", ".C", ".c++"}) {
    if (ending == source)
      return false;  // a program may be called so; its statements say what they are
  }
  if (names_atomic(path)) return true;
  const std::string name = path.substr(path.rfind('/') + 1);
  // Counts of references are atomic there, and the pointers to them are not.
  const bool is_of_counts = name == "shared_ptr_base.h" &&
                            (function.empty() || function.find("_Sp_counted") != std::string::npos);
  return is_of_counts || name == "ck_pr.h" || name == "gthr-default.h" ||
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

// In functions of libstdc++.so that have no atomic operation: members of strings (not of those that
// count references), of streams and their buffers, and what trees, lists and hash tables have
// outside of their headers. What they touch is the object that the program has called them for.
// Formatting of numbers also fills caches of locales, under a lock, and looks at them without it:
// those are never the program's.
bool is_plain_in_library(const Frame& frame, const ReportedObject& object) {
  if (!frame.file.empty() || frame.module.find("/libstdc++.so") == std::string::npos) return false;
  const std::string name = bare(frame.function);
  const auto begins = [&](const char* beginning) { return name.starts_with(beginning); };
  constexpr const char* kPlain[] = {
      "std::__cxx11::basic_string::", "std::_Rb_tree_",
      "std::__detail::_List_node_base::", "std::__detail::_Prime_rehash_policy::"};
  constexpr const char* kStreams[] = {"std::__cxx11::basic_stringbuf::",
                                      "std::basic_streambuf::",
                                      "std::basic_ostream::",
                                      "std::basic_istream::",
                                      "std::basic_ios::",
                                      "std::__ostream_",
                                      "std::operator",
                                      "std::getline",
                                      "std::num_put::",
                                      "std::num_get::"};
  if (std::ranges::any_of(kPlain, begins)) return true;
  if (!std::ranges::any_of(kStreams, begins)) return false;
  // Threads may share the standard streams, of which the program has copies
  // (std::cout@GLIBCXX_3.4).
  return object.has_variable ? object.variable.name.find('@') == std::string::npos &&
                                   !object.variable.name.starts_with("std::")
                             : !is_librarys(object.allocated_at);
}

// Compilers let each destructor store the pointer to its class's virtual functions. Mostly that is
// the pointer that is there, and a call of a virtual function meanwhile finds the same.
bool stores_vptr_anew(const ReportedRace& race) {
  bool is_known = race.object.variable.name.find("_vptr") != std::string::npos;
  for (const ReportedSide& side : race.sides) {
    if (!(side.kind & kWrite)) continue;
    if (!(side.kind & kUnchanged)) return false;
    is_known |=
        !side.frames.empty() && side.frames.front().function.find("::~") != std::string::npos;
  }
  return is_known;
}

// A copy, in the program, of a library's variable ("stdout@GLIBC_2.2.5"), or what says whether a
// variable of a function has been made.
bool is_librarys(const std::string& variable) {
  return variable.find('@') != std::string::npos || variable.starts_with("guard variable for ");
}

// Of the C library's own, which a static program contains and which has no debug information. In a
// program's names these beginnings are reserved.
bool is_c_librarys(const ReportedObject& object) {
  if (!object.has_variable || object.variable.has_type) return false;
  constexpr const char* kReserved[] = {"__", "_dl_", "_nl_", "_IO_"};
  return std::ranges::any_of(kReserved, [&](const char* beginning) {
    return object.variable.name.starts_with(beginning);
  });
}

// By its declared type: bits, or another size than what is declared there has.
bool is_of_other_size(const ReportedSide& side, const ReportedObject& object) {
  const Variable& variable = object.variable;
  if (!object.has_variable || !variable.has_type || variable.is_of_union ||
      variable.part_size == 0 || side.size == 0)
    return false;
  if (variable.is_bits) return true;
  if (side.address < variable.start) return false;
  const std::pair<uint64_t, uint64_t> touched(side.address - variable.start, side.size);
  if (variable.part_size == 1 && side.size > 1) return false;  // bytes may hold anything
  return std::ranges::find(variable.ranges, touched) == variable.ranges.end();
}

Judgement doubt(const std::string& why, const std::string& module = "",
                const std::string& source = "") {
  return {false, why, module, source, false, false, "", false};
}
Judgement is_atomic(const std::string& why) { return {false, why, "", "", true, false, "", false}; }
const Judgement kProven = {true, "", "", "", false, false, "", false};
const Judgement kMoved = {
    false, "a compiler may have moved the read out of a condition", "", "", false, true, "", false};

// Of `Class::values[3]`: `values`.
std::string last_name(const std::string& variable) {
  const size_t last = variable.find_last_of(".:>");
  const std::string name = last == std::string::npos ? variable : variable.substr(last + 1);
  return name.substr(0, name.find('['));
}

// Sources declare a variable twice, atomic and not (`#if`), and debug information says that it is
// not. Then it is no std::atomic. Of _Atomic some compilers tell nothing.
Judgement by_type(const Judgement& judgement, const ReportedObject& object) {
  const Variable& variable = object.variable;
  if (!judgement.is_clear || judgement.declared.empty() || !object.has_variable ||
      !variable.has_type || variable.type.empty() || variable.is_atomic)
    return judgement;
  if (last_name(variable.name) != judgement.declared) return judgement;
  return judgement.is_class
             ? kProven
             : doubt(judgement.why_not + ", but debug information says " + variable.type);
}

}  // namespace

Judgement AtomicProof::judge_place(const ReportedSide& side) {
  const Frame& frame = side.frames.front();
  const bool has_line = !frame.file.empty() && frame.line > 0;
  if (has_line && is_header_of_atomics(frame.file, bare(frame.function)))
    return is_atomic("an operation of " + frame.file);
  if (has_line && frame.file.starts_with("/usr/include/c++/"))
    return kProven;  // what is atomic in libstdc++ is an operation of one of those
  const bool is_move = !(side.kind & kComputes) || !moves_at_ || !moves_at_(frame.address);
  if (!has_line) return is_move ? doubt("no debug information", frame.module) : kProven;
  const SourceScan::Found found = sources_.look(
      frame.file, frame.line, frame.column,
      files_at_ ? files_at_(frame.address) : std::vector<std::string>(), frame.function);
  if (found.is_plain || (!is_move && !found.is_assembly)) return kProven;
  if (found.says_atomic) {
    Judgement judgement = is_atomic(found.why_not);
    judgement.declared = found.declared;
    judgement.is_class = found.is_class;
    return judgement;
  }
  return doubt(found.why_not, "", found.is_missing ? frame.file : "");
}

bool AtomicProof::may_be_in_vain(const ReportedSide& side, const ReportedObject& object) const {
  constexpr uint32_t kOthers = kWrite | kAtomic | kByLibrary | kByKernel | kFree;
  if (!side.exists || !(side.kind & kRead) || (side.kind & kOthers) || side.frames.empty())
    return false;
  const Frame& frame = side.frames.front();
  if (in_vain_at_ && in_vain_at_(frame.address)) return true;
  if (!fills_undefined_at_ || !fills_undefined_at_(frame.address)) return false;
  if (frame.file.empty()) return true;  // what was moved out of a condition has no line
  if (is_system_header(frame.file)) return false;
  const std::string name = object.has_variable ? last_name(object.variable.name) : "";
  return copies_into_undefined(scanned_file(frame.file), frame.line, name, frame.is_inlined);
}

Judgement AtomicProof::judge(const ReportedSide& side, const ReportedObject& object) {
  if (!side.exists || side.kind == 0) return is_atomic("there is no access");
  if (side.kind & kAtomic) return is_atomic("an atomic instruction");
  if (!(side.kind & kMayBeAtomic)) return kProven;
  if (side.frames.empty()) return doubt("where the access was made is not known");
  if (object.has_variable && object.variable.is_atomic)
    return is_atomic(object.variable.name + " is atomic");
  const Frame& innermost = side.frames.front();
  if (is_plain_in_library(innermost, object)) return kProven;
  const std::pair instruction(innermost.module, innermost.offset);
  const auto known = known_.find(instruction);
  if (known != known_.end() && (known->second.is_proven || known->second.is_clear))
    return by_type(known->second, object);
  Judgement& judgement = known_[instruction];
  const bool is_programs = !is_system_header(innermost.file);
  for (const Frame& frame : side.frames) {
    if (is_programs && is_system_header(frame.file))
      break;  // it calls the program back: what it is itself says nothing of that
    if (names_atomic(bare(frame.function)))
      return judgement = is_atomic(frame.function + " is an operation of atomics");
    if (!frame.is_inlined) break;
  }
  if (known == known_.end()) judgement = judge_place(side);
  return !judgement.is_proven && !judgement.is_clear && is_of_other_size(side, object)
             ? kProven
             : by_type(judgement, object);
}

// Compilers combine a reduction's parts, and make OpenMP's atomic constructs, by a load and a
// compare-and-exchange in the same function. The load has the line of whatever stands near it.
bool AtomicProof::is_load_before_exchange(const ReportedRace& race) const {
  const ReportedSide &first = race.sides[0], &second = race.sides[1];
  const ReportedSide& load = first.kind & kAtomic ? second : first;
  const ReportedSide& exchange = first.kind & kAtomic ? first : second;
  if (!(exchange.kind & kAtomic) || (load.kind & (kRead | kWrite)) != kRead ||
      !(load.kind & kMayBeAtomic) || load.frames.empty() || exchange.frames.empty())
    return false;
  const std::string& function = load.frames.front().function;
  return function == exchange.frames.front().function &&
         (function.find("._omp_fn") != std::string::npos ||
          function.find(".omp_outlined") != std::string::npos) &&
         (!exchanges_at_ || exchanges_at_(load.frames.front().address));
}

Judgement AtomicProof::judge(const ReportedRace& race) {
  if (race.why != Why::kPolicy && stores_vptr_anew(race))
    return is_atomic("a destructor stores the pointer to virtual functions that is there already");
  if (race.why != Why::kPolicy && is_load_before_exchange(race))
    return is_atomic("a compare-and-exchange of OpenMP's begins with a load");
  if (race.why == Why::kPolicy && race.object.is_unnamed_new &&
      is_librarys(race.object.allocated_at))
    return is_atomic("the C++ library has it for itself");
  if (race.why == Why::kPolicy && is_librarys(race.object.variable.name))
    return is_atomic("the variable is a library's, or the compiler's");
  if (race.why == Why::kPolicy || race.why == Why::kMisuse || race.why == Why::kHazard)
    return kProven;  // what is declared holds for atomic operations, too
  if (is_c_librarys(race.object)) return is_atomic("the variable is the C library's");
  if (std::ranges::any_of(
          race.sides, [&](const ReportedSide& side) { return may_be_in_vain(side, race.object); }))
    return kMoved;
  const auto is_hidden = [&](const ReportedSide& side) {
    return is_inside_library(side) && !is_plain_in_library(side.frames.front(), race.object);
  };
  if (is_hidden(race.sides[0]) && is_hidden(race.sides[1]))
    return is_atomic("both are inside a library");
  const Judgement first = judge(race.sides[0], race.object);
  if (first.is_proven) return first;
  const Judgement second = judge(race.sides[1], race.object);
  if (second.is_proven || first.is_clear != second.is_clear)
    return !second.is_proven && second.is_clear ? first : second;  // what is in doubt, if one is
  return race.sides[0].kind & kAtomic ? second : first;
}

std::string doubt_words(const Judgement& judgement) {
  return judgement.module.empty() ? judgement.why_not
                                  : "no debug information in " + shown_path(judgement.module);
}

bool Unproven::add(const std::string& places, const ReportedRace& race,
                   const Judgement& judgement) {
  if (!known_.insert(places).second) return false;
  const std::string reason = doubt_words(judgement);
  reasons_[reason]++;
  if (judgement.is_clear) return true;
  pairs_.push_back({title_words(race), reason, places});
  lacks_source_ |= !judgement.source.empty();
  has_moved_ |= judgement.is_moved;
  lacks_debug_info_ |= !judgement.module.empty();
  return true;
}

void Unproven::remove(const std::string& places) {
  const auto there =
      std::ranges::find_if(pairs_, [&](const Pair& pair) { return pair.places == places; });
  if (there == pairs_.end()) return;
  if (--reasons_[there->reason] == 0) reasons_.erase(there->reason);
  pairs_.erase(there);
  known_.erase(places);
}

std::string Unproven::text() const {
  constexpr size_t kNamed = 2;
  if (pairs_.empty()) return "";
  const bool is_one = pairs_.size() == 1;
  std::string text = fmt::format(
      "{} possible {} not reported, since {}", pairs_.size(), is_one ? "race is" : "races are",
      !has_moved_ ? "both accesses may be atomic operations"
      : is_one    ? "the source may not read there"
                  : "both accesses may be atomic operations, or the source may not read "
                    "there");
  for (size_t i = 0; i < std::min(pairs_.size(), kNamed); i++)
    text += fmt::format("{} {} ({})", i == 0 ? ":" : ";", pairs_[i].title, pairs_[i].reason);
  if (pairs_.size() > kNamed) text += fmt::format("; and {} more", pairs_.size() - kNamed);
  text += fmt::format("\n  --report-unproven shows {}", is_one ? "it" : "them");
  if (lacks_source_) text += "; --source-dir or --source-map says where sources are";
  if (lacks_debug_info_) text += "; compiled with -g there would be less doubt";
  return text;
}

std::string Unproven::reasons() const {
  std::string text;
  for (const auto& [reason, count] : reasons_)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", reason, count);
  return text;
}

}  // namespace weir::cli
