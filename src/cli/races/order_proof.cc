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
//
// Pairs of accesses that only plain moves may order (check/order_by_calls.cc) are reported by the
// same proof, in which nothing is assumed:
// 4. no library is loaded but the C and the C++ library with their companions, and the C library is
//    one: of a static program not even its calls are seen,
// 5. each function of the program's own modules has debug information, which their tables of
//    symbols say, and no code of theirs comes from a header with atomic operations (counts of
//    references, futures), or from another library's header,
// 6. all that their sources include is there, too. Assembler code without an instruction keeps
//    compilers from moving accesses, and nothing else.
#include "cli/races/order_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "cli/sources/included_file.h"
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

bool is_assembly(const std::string& word) {
  return word == "asm" || word == "__asm" || word == "__asm__";
}

// The word that says so; empty: there is none.
std::string atomic_word(const SourceFile& file, bool but_assembly = false) {
  const auto is_one = [&](const std::string& word) {
    return is_atomic_word(word) && !(but_assembly && is_assembly(word));
  };
  for (const Token& token : file.tokens) {
    if (token.is_name && is_one(token.text)) return token.text;
  }
  for (const auto& [name, words] : file.macros) {
    if (is_one(name)) return name;
    for (const std::string& word : words) {
      if (is_one(word)) return word;
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

// Every word for assembly stands before an empty text.
bool has_only_empty_assembly(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  static const std::regex kAny(R"(\b(asm|__asm|__asm__)\b)"),
      kEmpty(R"(\b(asm|__asm|__asm__)\s*(volatile|__volatile|__volatile__)?\s*\(\s*""\s*[:)])");
  const auto count = [&](const std::regex& what) {
    return std::distance(std::sregex_iterator(text.begin(), text.end(), what), {});
  };
  return count(kAny) == count(kEmpty);
}

// A source of the program's own, with what it includes. `all`: nothing is assumed.
std::string look_at_source(const std::string& source, const std::vector<std::string>& unit,
                           bool all, std::set<std::string>& seen) {
  std::vector<std::string> waiting = {source};
  for (size_t i = 0; i < waiting.size(); i++) {
    const std::string path = waiting[i];
    if (is_system_header(path) || is_own_header(path) || !seen.insert(path).second) continue;
    const SourceFile& file = scanned_file(path);
    if (!file.is_readable) return "the source " + path + " is not there";
    const std::string word = atomic_word(file);
    const bool is_harmless = all && is_assembly(word) && has_only_empty_assembly(path) &&
                             atomic_word(file, true).empty();
    if (!word.empty() && !is_harmless) return fmt::format("{} in {}", word, path);
    for (const Include& include : all ? file.includes : std::vector<Include>()) {
      std::string header = included_file(include, path, unit);
      if (header.empty())
        return fmt::format("{}, which {} includes, is not there", include.name, path);
      waiting.push_back(std::move(header));
    }
  }
  return "";
}

// Functions that the linker adds from files without debug information.
bool is_of_linker(const std::string& name) {
  constexpr const char* kNames[] = {"_start",
                                    "_init",
                                    "_fini",
                                    "_dl_relocate_static_pie",
                                    "deregister_tm_clones",
                                    "register_tm_clones",
                                    "__do_global_dtors_aux",
                                    "frame_dummy",
                                    "__libc_csu_init",
                                    "__libc_csu_fini",
                                    "atexit",
                                    "at_quick_exit",
                                    "pthread_atfork",
                                    "__pthread_atfork"};
  return std::ranges::any_of(kNames, [&](const char* known) { return name == known; });
}

// Rule 5, of functions.
std::string function_without_information(Modules& modules, Dwfl_Module* module) {
  bool has_local = false;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 0; i < count; i++) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    has_local |= GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (is_of_linker(name)) continue;
    std::optional<Unit> unit = modules.unit_at(address);  // or the one before that place
    if (!unit || dwarf_haspc(&unit->die, address - unit->bias) != 1)
      return fmt::format("no debug information of {}", name);
  }
  return has_local ? "" : "no table of symbols in " + modules.path_of(module);
}

// Rule 5, of headers.
bool may_order(const std::string& header) {
  if (!is_system_header(header)) return false;
  const std::string name = header.substr(header.rfind('/') + 1);
  if (header.find("/c++/") != std::string::npos) {
    constexpr const char* kOrdering[] = {"atomic",  "shared_ptr", "future", "stop_token", "latch",
                                         "barrier", "semaphore",  "cow_",   "concurrence"};
    return std::ranges::any_of(
        kOrdering, [&](const char* part) { return name.find(part) != std::string::npos; });
  }
  const std::string folder = header.substr(0, header.rfind('/'));
  return folder != "/usr/include" && !folder.starts_with("/usr/include/x86_64-linux-gnu") &&
         folder.find("/gcc/") == std::string::npos;
}

std::string ordering_header(Dwarf_Die& unit) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return "a part without lines";
  const char* before = nullptr;
  for (size_t i = 0; i < count; i++) {
    const char* name = dwarf_linesrc(dwarf_onesrcline(lines, i), nullptr, nullptr);
    if (!name || name == before) continue;
    before = name;
    if (may_order(source_path(&unit, name))) return "code of " + source_path(&unit, name);
  }
  return "";
}

std::string look_at(Modules& modules, Dwfl_Module* module, bool all, std::set<std::string>& seen) {
  const std::string path = modules.path_of(module);
  if (is_systems(path)) return "";
  const std::vector<Unit> units = modules.units(module);
  if (units.empty()) return "no debug information in " + path;
  if (has_guards(module)) return "a static variable of a function in " + path;
  if (all) {
    if (std::string why = function_without_information(modules, module); !why.empty()) return why;
  }
  for (const Unit& unit : units) {
    Dwarf_Die die = unit.die;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_getsrcfiles(&die, &files, &count) != 0)
      return "a part of " + path + " that says not of which files it is";
    std::vector<std::string> sources;
    for (size_t i = 0; i < count; i++) {
      const char* name = dwarf_filesrc(files, i, nullptr, nullptr);
      if (const std::string source = source_path(&die, name); !source.empty() && source[0] == '/')
        sources.push_back(source);
    }
    for (const std::string& source : sources) {
      if (std::string why = look_at_source(source, sources, all, seen); !why.empty()) return why;
    }
    if (all) {
      if (std::string why = ordering_header(die); !why.empty()) return why;
    }
  }
  return "";
}

// Rule 4.
std::string unknown_library(Modules& modules, Dwfl_Module* module, bool& has_c_library) {
  const std::string path = modules.path_of(module);
  if (!is_systems(path) || path.empty() || path[0] != '/') return "";
  const std::string name = path.substr(path.rfind('/') + 1);
  has_c_library |= name.starts_with("libc.so");
  constexpr const char* kKnown[] = {"libc.so",   "libm.so",       "ld-linux",  "libstdc++.so",
                                    "libgcc_s.", "libpthread.so", "libdl.so",  "librt.so",
                                    "libweir",   "libnss_",       "libresolv."};
  const bool is_known =
      std::ranges::any_of(kKnown, [&](const char* known) { return name.starts_with(known); });
  return is_known ? "" : "the library " + name;
}

struct Look {
  Modules& modules;
  bool all;
  std::string& why;
  std::set<std::string> seen;
  bool has_c_library = false;
};

void look_at_all(Look& look) {
  if (!look.modules.dwfl()) {
    look.why = "no file of the program could be read";
    return;
  }
  dwfl_getmodules(
      look.modules.dwfl(),
      [](Dwfl_Module* module, void**, const char*, Dwarf_Addr, void* at) -> int {
        auto& to = *static_cast<Look*>(at);
        if (to.all && to.why.empty())
          to.why = unknown_library(to.modules, module, to.has_c_library);
        if (to.why.empty()) to.why = look_at(to.modules, module, to.all, to.seen);
        return DWARF_CB_OK;
      },
      &look, 0);
  if (look.all && look.why.empty() && !look.has_c_library) look.why = "no C library is loaded";
}

}  // namespace

const std::string& OrderProof::why_not(Modules& modules) {
  if (known_) return *known_;
  known_ = "";
  Look look{modules, false, *known_, {}};
  look_at_all(look);
  return *known_;
}

const std::string& OrderProof::why_not_at_all(Modules& modules) {
  const auto [known, is_new] = known_at_all_.try_emplace(modules.generation());
  if (!is_new) return known->second;
  Look look{modules, true, known->second, {}};
  look_at_all(look);
  return known->second;
}

}  // namespace weir::cli
