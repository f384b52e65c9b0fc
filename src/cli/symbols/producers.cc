// gcc keeps atomic loads apart as it keeps volatile ones, up to 15; from 16 on it may fuse them.
// clang does so up to 19, but without optimization it makes operands of them (cmpl $0, flag). Tried
// with gcc 12 and clang 14, 15, 16 and 19 on all operators, types and levels: only moves, and in
// gcc sign extension, in clang sums of floating point numbers.
#include "cli/symbols/producers.h"

#include <dwarf.h>
#include <gelf.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace weir::cli {
namespace {

constexpr int kNewestGcc = 15, kNewestClang = 19;

// The first number of "12.2.0" or "(Debian 12.2.0-14) 12.2.0", behind `at`; what stands in
// parentheses is the distribution's.
std::optional<int> version_behind(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); at++) {
    if (text[at] == '(') depth++;
    if (text[at] == ')') depth--;
    const bool is_start = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (depth == 0 && is_start && std::isdigit(static_cast<unsigned char>(text[at]))) {
      return atoi(std::string(text.substr(at, 8)).c_str());
    }
  }
  return std::nullopt;
}

std::string comment_of(Elf* elf) {
  size_t names = 0;
  if (!elf || elf_getshdrstrndx(elf, &names) != 0) return "";
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (!name || strcmp(name, ".comment") != 0) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data && data->d_buf) return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return "";
}

enum class Optimized : uint8_t { kUnknown, kNo, kYes };

// Compilers say of functions that all calls in them are described, if they have optimized them;
// clang does so from DWARF 5 on always.
Optimized optimized(Unit& unit, Dwarf_Addr pc) {
  Dwarf_Half version = 0;
  if (dwarf_cu_info(unit.die.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
    return Optimized::kUnknown;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(&unit.die, pc, &scopes);
  Optimized found = Optimized::kUnknown;
  for (int i = 0; i < count; i++) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram) continue;
    const bool is_said = dwarf_hasattr(&scopes[i], DW_AT_call_all_calls) ||
                         dwarf_hasattr(&scopes[i], DW_AT_GNU_all_call_sites);
    if (is_said) found = Optimized::kYes;
    else if (version >= 5) found = Optimized::kNo;
    break;
  }
  free(scopes);
  return found;
}

bool is_by_clang(std::string_view producer) {
  return producer.find("clang version ") != std::string_view::npos;
}

std::string_view producer_of(Unit& unit) {
  Dwarf_Attribute attribute;
  const char* producer =
      dwarf_attr(&unit.die, DW_AT_producer, &attribute) ? dwarf_formstring(&attribute) : nullptr;
  return producer ? producer : "";
}

}  // namespace

bool loads_atomics_by_moves(std::string_view producer, bool is_optimized) {
  if (producer.starts_with("GNU AS")) return false;
  for (const std::string_view gcc : {"GNU C", "GNU Fortran", "GNU GIMPLE", "GCC: "}) {
    if (!producer.starts_with(gcc)) continue;
    // Behind the language: "GNU C++17 12.2.0".
    const size_t at = gcc == "GCC: " ? gcc.size() : producer.find(' ', gcc.size());
    const std::optional<int> version =
        at == std::string_view::npos ? std::nullopt : version_behind(producer, at);
    return version && *version >= 4 && *version <= kNewestGcc;
  }
  const size_t clang = producer.find("clang version ");
  if (clang == std::string_view::npos || !is_optimized) return false;
  const std::optional<int> version = version_behind(producer, clang + sizeof("clang version ") - 1);
  return version && *version <= kNewestClang;
}

// gcc has its options there, unless it was asked not to; then there is not even the processor.
bool says_unoptimized(std::string_view producer) {
  if (!producer.starts_with("GNU ") || producer.starts_with("GNU AS") ||
      producer.starts_with("GNU GIMPLE") ||  // what other units are made of may be optimized
      producer.find(" -march=") == std::string_view::npos)
    return false;
  const size_t last = producer.rfind(" -O");
  return last == std::string_view::npos || producer.substr(last + 3).starts_with("0");
}

bool Producers::by_comment(Dwfl_Module* module) {
  const std::string path = modules_.path_of(module);
  const auto known = known_.find(path);
  if (known != known_.end()) return known->second;
  GElf_Addr bias;
  const std::string comment = comment_of(dwfl_module_getelf(module, &bias));
  bool is_any = false, are_all = true;
  for (size_t at = 0; at < comment.size();) {
    const std::string one = comment.c_str() + at;
    at += one.size() + 1;
    if (one.empty() || one.starts_with("Linker: ")) continue;
    is_any = true;
    are_all &= weir::cli::loads_atomics_by_moves(one, false);
  }
  return known_[path] = is_any && are_all;
}

bool Producers::loads_atomics_by_moves(uint64_t address) {
  Dwfl_Module* module = modules_.at(address);
  if (!module) return false;
  if (std::optional<Unit> unit = modules_.unit_at(address)) {
    const std::string_view producer = producer_of(*unit);
    const bool is_optimized =
        is_by_clang(producer) && optimized(*unit, address - unit->bias) == Optimized::kYes;
    return weir::cli::loads_atomics_by_moves(producer, is_optimized);
  }
  const std::string path = modules_.path_of(module);
  if (path.starts_with("/usr/lib") || path.starts_with("/lib"))
    return false;  // what it does inside is ordered by means that only its authors know
  return by_comment(module);
}

bool Producers::is_unoptimized(uint64_t address) {
  std::optional<Unit> unit = modules_.unit_at(address);
  if (!unit) return false;
  const std::string_view producer = producer_of(*unit);
  const Optimized by_function = optimized(*unit, address - unit->bias);
  return is_by_clang(producer) ? by_function == Optimized::kNo
                               : by_function != Optimized::kYes && says_unoptimized(producer);
}

bool Producers::fills_undefined(uint64_t address) {
  std::optional<Unit> unit = modules_.unit_at(address);
  return unit && is_by_clang(producer_of(*unit)) &&
         optimized(*unit, address - unit->bias) != Optimized::kNo;
}

bool Producers::may_load_in_vain(uint64_t address) {
  return !is_unoptimized(address) && modules_.may_load_in_vain(address);
}

}  // namespace weir::cli
