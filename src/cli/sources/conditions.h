// Which parts of a source file the preprocessor leaves out for Linux on x86-64, as far as a
// condition says it by macros that compilers define themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

enum class Truth { kFalse, kTrue, kUnknown };

// Whether compilers for this system and processor define the macro.
Truth is_defined_here(std::string_view macro);

// The directives #if, #ifdef, #ifndef, #elif, #elifdef, #elifndef, #else and #endif of one file, in
// their order.
class Conditions {
 public:
  // `words` are those behind `name`. Returns whether this is such a directive.
  bool take(std::string_view name, const std::vector<std::string>& words);
  // Whether what follows may be compiled.
  bool is_live() const { return open_.empty() || open_.back().is_live; }

 private:
  struct Open {
    bool is_outside_live;
    bool is_live;
    bool had_true;  // a branch before is surely taken: none that follows is
  };
  void branch(Open& open, Truth condition);
  std::vector<Open> open_;
};

}  // namespace weir::cli
