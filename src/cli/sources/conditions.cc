#include "cli/sources/conditions.h"

#include <algorithm>
#include <iterator>

namespace weir::cli {
namespace {

constexpr std::string_view kNever[] = {
    "_WIN32",         "_WIN64",        "__WIN32__",     "__WIN32",       "_MSC_VER",
    "__MINGW32__",    "__MINGW64__",   "__CYGWIN__",    "__APPLE__",     "__MACH__",
    "__FreeBSD__",    "__NetBSD__",    "__OpenBSD__",   "__DragonFly__", "__sun",
    "__sun__",        "__SVR4",        "_AIX",          "__hpux",        "__hpux__",
    "__HAIKU__",      "__QNX__",       "__QNXNTO__",    "__VXWORKS__",   "__ANDROID__",
    "__EMSCRIPTEN__", "__wasm__",      "__wasi__",      "__fuchsia__",   "__Fuchsia__",
    "__aarch64__",    "__arm__",       "_M_ARM",        "_M_ARM64",      "__i386__",
    "__i386",         "_M_IX86",       "_M_X64",        "__powerpc__",   "__powerpc64__",
    "__ppc__",        "__PPC__",       "__riscv",       "__mips__",      "__s390__",
    "__s390x__",      "__sparc__",     "__loongarch__", "__ia64__",      "__alpha__",
    "__BORLANDC__",   "__WATCOMC__",   "__SUNPRO_C",    "__SUNPRO_CC",   "__OS2__",
    "__MSDOS__",      "_MSC_FULL_VER", "_WIN32_WINNT",  "__BEOS__",      "__minix"};
constexpr std::string_view kAlways[] = {"__linux__",  "__linux",  "__unix__",  "__unix",  "__ELF__",
                                        "__x86_64__", "__x86_64", "__amd64__", "__GNUC__"};

Truth negated(Truth one) {
  return one == Truth::kUnknown ? one : one == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

// An expression of `defined`, numbers, macros that are never defined, !, &&, || and parentheses.
// What else there is, is not known.
class Expression {
 public:
  explicit Expression(const std::vector<std::string>& words) : words_(words) {}

  Truth value() {
    const Truth result = either();
    return at_ == words_.size() && !is_wrong_ ? result : Truth::kUnknown;
  }

 private:
  bool next(std::string_view word) {
    if (at_ >= words_.size() || words_[at_] != word) return false;
    at_++;
    return true;
  }
  bool next_two(std::string_view word) {
    if (at_ + 1 >= words_.size() || words_[at_] != word || words_[at_ + 1] != word) return false;
    at_ += 2;
    return true;
  }

  Truth either() {
    Truth result = both();
    while (next_two("|")) {
      const Truth other = both();
      if (result == Truth::kTrue || other == Truth::kTrue) result = Truth::kTrue;
      else if (result != other) result = Truth::kUnknown;
    }
    return result;
  }

  Truth both() {
    Truth result = one();
    while (next_two("&")) {
      const Truth other = one();
      if (result == Truth::kFalse || other == Truth::kFalse) result = Truth::kFalse;
      else if (result != other) result = Truth::kUnknown;
    }
    return result;
  }

  Truth one() {
    if (next("!")) return negated(one());
    Truth result = Truth::kUnknown;
    if (next("(")) {
      result = either();
      if (!next(")")) is_wrong_ = true;
    } else if (next("defined")) {
      const bool is_nested = next("(");
      if (at_ < words_.size()) result = is_defined_here(words_[at_++]);
      else is_wrong_ = true;
      if (is_nested && !next(")")) is_wrong_ = true;
    } else if (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (word == "0" || word == "false") result = Truth::kFalse;
      else if (word == "1" || word == "true") result = Truth::kTrue;
      else if (is_defined_here(word) == Truth::kFalse) result = Truth::kFalse;  // it counts as 0
      else if (is_defined_here(word) == Truth::kTrue && word != "__GNUC__") result = Truth::kTrue;
    } else {
      is_wrong_ = true;
    }
    // A comparison or a sum, or a macro with arguments: to where the next part begins.
    if (at_ >= words_.size() || words_[at_] == ")" || is_two("|") || is_two("&")) return result;
    for (int depth = 0; at_ < words_.size(); at_++) {
      if (words_[at_] == "(") depth++;
      if (words_[at_] == ")" && depth-- == 0) break;
      if (depth == 0 && (is_two("|") || is_two("&"))) break;
    }
    return Truth::kUnknown;
  }
  bool is_two(std::string_view word) const {
    return at_ + 1 < words_.size() && words_[at_] == word && words_[at_ + 1] == word;
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  bool is_wrong_ = false;
};

}  // namespace

Truth is_defined_here(std::string_view macro) {
  if (std::ranges::find(kNever, macro) != std::end(kNever)) return Truth::kFalse;
  if (std::ranges::find(kAlways, macro) != std::end(kAlways)) return Truth::kTrue;
  return Truth::kUnknown;
}

void Conditions::branch(Open& open, Truth condition) {
  open.is_live = open.is_outside_live && !open.had_true && condition != Truth::kFalse;
  open.had_true |= condition == Truth::kTrue;
}

bool Conditions::take(std::string_view name, const std::vector<std::string>& words) {
  const auto defined = [&] {
    return words.empty() ? Truth::kUnknown : is_defined_here(words.front());
  };
  if (name == "endif") {
    if (!open_.empty()) open_.pop_back();
    return true;
  }
  const bool is_first = name == "if" || name == "ifdef" || name == "ifndef";
  if (!is_first && !name.starts_with("el")) return false;
  if (is_first) open_.push_back({is_live(), true, false});
  if (open_.empty()) return true;  // an #else without its #if
  Truth condition = Truth::kTrue;
  if (name == "if" || name == "elif") condition = Expression(words).value();
  else if (name == "ifdef" || name == "elifdef") condition = defined();
  else if (name == "ifndef" || name == "elifndef") condition = negated(defined());
  branch(open_.back(), condition);
  return true;
}

}  // namespace weir::cli
