// Reads C and C++ sources as far as it takes to say whether a statement can be an atomic operation
// (atomic_proof.cc says what for). It does not understand the language: names, statements,
// definitions and what is included are told by their form, and what is in doubt counts as atomic.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

// A name that says so itself: atomic_load, __sync_fetch_and_add, READ_ONCE, _Atomic.
bool is_atomic_word(std::string_view name);

class SourceScan {
 public:
  SourceScan();
  ~SourceScan();

  struct Found {
    bool is_plain = false;  // nothing in the statement can be atomic
    std::string why_not;
    bool is_missing = false;   // the source, or one that it includes, is not found
    bool says_atomic = false;  // something in the statement is, by its name or definition
    bool is_assembly = false;  // ... by its own instructions
    // All that says so is the declaration of this variable or member, and of what kind its type may
    // be: a class (std::atomic), of which debug information would tell.
    std::string declared = "";
    bool is_class = false;
  };
  // The statement at that line; with a column (0: not known) the one of several there, and of one
  // with a head (`if (...)`) that or what it stands before. `unit` are the files of which debug
  // information says that the program has been made of them: some of those that are included are
  // found by it. `function` is the one that has the statement: a source that was found only by its
  // name must have it (source_map.h).
  Found look(const std::string& file, int line, int column, const std::vector<std::string>& unit,
             const std::string& function = "");

 private:
  struct Closure;
  const Closure& closure_of(const std::string& file, const std::vector<std::string>& unit);

  std::map<std::string, std::unique_ptr<Closure>> known_;
};

}  // namespace weir::cli
