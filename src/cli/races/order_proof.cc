// Why a proof is needed
//
// The enforcer by processes sees what threads tell each other through memory, or assumes that they
// have told it. Protection keys see locked instructions and calls, but no plain moves. Compilers
// make plain moves of atomic loads, and of all atomic stores but the strictest. So two changes of
// an object's policy that nothing seems to order may be ordered by an atomic flag, and to report
// them would be a false alarm. (The paper does not support atomic operations: PUSh, 2.1.)
//
// When it is certain
//
// A program that has no atomic operations can order its threads through plain memory only by a data
// race; then the report is right. A program has none if
// 1. all its own modules have debug information (those of the system are assumed to order by what
//    is seen: calls and locked instructions),
// 2. all their sources are there, no name in them says that it is atomic, and there is no assembler
//    code,
// 3. no static variable in a function is initialized at its first use: compilers read its guard by
//    a plain move.
// Otherwise unordered changes are not reported, but counted.
#include "cli/races/order_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/sources/source_scan.h"
#include "cli/sources/source_tokens.h"

namespace weir::cli {
namespace {

bool is_systems(const std::string& path) {
  return path.empty() || path[0] != '/' || path.starts_with("/usr/lib") ||
         path.starts_with("/lib") || path.ends_with("/libweir.so");
}

bool is_own_header(const std::string& path) {
  return path.ends_with("/weir/weir.h") || path.ends_with("/weir/weir.hpp");
}

// The word that says so; empty: there is none.
std::string atomic_word(const SourceFile& file) {
  for (const Token& token : file.tokens) {
    if (token.is_name && is_atomic_word(token.text)) return token.text;
  }
  for (const auto& [name, words] : file.macros) {
    if (is_atomic_word(name)) return name;
    for (const std::string& word : words) {
      if (is_atomic_word(word)) return word;
    }
  }
  return "";
}

bool has_guards(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count; i++) {
    GElf_Sym symbol;
    const char* name = dwfl_module_getsym(module, i, &symbol, nullptr);
    if (name && std::string_view(name).starts_with("_ZGV") && symbol.st_shndx != SHN_UNDEF)
      return true;
  }
  return false;
}

std::string look_at(Modules& modules, Dwfl_Module* module, std::set<std::string>& seen) {
  const std::string path = modules.path_of(module);
  if (is_systems(path)) return "";
  const std::vector<Unit> units = modules.units(module);
  if (units.empty()) return "no debug information in " + path;
  if (has_guards(module)) return "a static variable of a function in " + path;
  for (const Unit& unit : units) {
    Dwarf_Die die = unit.die;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_getsrcfiles(&die, &files, &count) != 0)
      return "a part of " + path + " that says not of which files it is";
    for (size_t i = 0; i < count; i++) {
      const char* name = dwarf_filesrc(files, i, nullptr, nullptr);
      const std::string source = source_path(&die, name);
      if (source.empty() || source[0] != '/' || is_system_header(source) || is_own_header(source) ||
          !seen.insert(source).second)
        continue;
      const SourceFile& file = scanned_file(source);
      if (!file.is_readable) return "the source " + source + " is not there";
      if (const std::string word = atomic_word(file); !word.empty())
        return fmt::format("{} in {}", word, source);
    }
  }
  return "";
}

}  // namespace

const std::string& OrderProof::why_not(Modules& modules) {
  if (known_) return *known_;
  known_ = modules.dwfl() ? "" : "no file of the program could be read";
  struct Look {
    Modules& modules;
    std::string& why;
    std::set<std::string> seen;
  } look{modules, *known_, {}};
  if (modules.dwfl()) {
    dwfl_getmodules(
        modules.dwfl(),
        [](Dwfl_Module* module, void**, const char*, Dwarf_Addr, void* at) -> int {
          auto& to = *static_cast<Look*>(at);
          if (to.why.empty()) to.why = look_at(to.modules, module, to.seen);
          return DWARF_CB_OK;
        },
        &look, 0);
  }
  return *known_;
}

}  // namespace weir::cli
