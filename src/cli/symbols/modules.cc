// 1. A mapping says which bytes of a file are where; elfutils wants to know by how much the
//    addresses in the file differ from the program's (the bias). The program header of the segment
//    that the mapping belongs to says it.
// 2. A library may be unloaded and another one loaded in its place: of mappings that overlap, the
//    later one is right.
// 3. Nothing is fetched from the network (debuginfod): a report must not wait for somebody else's
//    server.
#include "cli/symbols/modules.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/sources/source_map.h"
#include "code/decode/unused_load.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

constexpr uint64_t kPage = 4096;

char* g_debug_folders = nullptr;  // elfutils' default: beside the file, .debug, /usr/lib/debug

int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

const Dwfl_Callbacks kCallbacks = {no_elf, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, &g_debug_folders};

// By how much the file's addresses differ from those in the mapping; none where it is no ELF file
// with such a segment.
std::optional<uint64_t> bias_in(const Mapping& mapping) {
  struct stat status;
  if (stat(mapping.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const recording::File file(open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(file.descriptor(), ELF_C_READ_MMAP, nullptr);
  std::optional<uint64_t> bias;
  size_t count = 0;
  if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) == 0) {
    for (size_t i = 0; i < count && !bias; i++) {
      GElf_Phdr header;
      if (!gelf_getphdr(elf, static_cast<int>(i), &header) || header.p_type != PT_LOAD ||
          !(header.p_flags & PF_X))
        continue;
      const uint64_t start = header.p_offset & -kPage, limit = header.p_offset + header.p_filesz;
      if (mapping.offset >= start && mapping.offset < limit)
        bias = mapping.start - mapping.offset + start - (header.p_vaddr & -kPage);
    }
  }
  elf_end(elf);
  return bias;
}

// A function's name without what it takes; "main(int, char**)" is "main". Not those of a template.
std::string without_arguments(const std::string& name) {
  const size_t start = name.find('(');
  const bool has_any = start != std::string::npos && start > 0 && name.ends_with(')') &&
                       name.compare(start, 10, "(anonymous") != 0;
  return has_any ? name.substr(0, start) : name;
}

// Where it is declared first.
Dwarf_Die origin_of(Dwarf_Die die) {
  constexpr int kMaxSteps = 8;
  Dwarf_Attribute attribute;
  for (int i = 0; i < kMaxSteps; i++) {
    Dwarf_Die earlier;
    if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
        !dwarf_attr(&die, DW_AT_specification, &attribute))
      break;
    if (!dwarf_formref_die(&attribute, &earlier)) break;
    die = earlier;
  }
  return die;
}

// The body of a lambda expression, as GCC describes it; clang's has a linkage name.
bool is_lambda(Dwarf_Die origin) {
  Dwarf_Die child;
  for (int more = dwarf_child(&origin, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const char* const name = dwarf_diename(&child);
    if (dwarf_tag(&child) == DW_TAG_formal_parameter && name)
      return std::string_view(name) == "__closure";
  }
  return false;
}

// "space::Class::name". What has no linkage name has no other. That of a lambda expression is
// "space::function::{lambda}".
std::string scoped(Dwarf_Die die, const char* name) {
  die = origin_of(die);
  const bool is_body = is_lambda(die);
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&die, &scopes);
  std::string text = is_body ? "{lambda}" : name;
  for (int i = 1; i < count; i++) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag == DW_TAG_subprogram && is_body) {
      text.insert(0, without_arguments(name_of(&scopes[i])) + "::");
      break;
    }
    if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type &&
        tag != DW_TAG_union_type)
      continue;
    const char* const scope = dwarf_diename(&scopes[i]);
    if (scope) text.insert(0, std::string(scope) + "::");
    else if (tag == DW_TAG_namespace) text.insert(0, "(anonymous namespace)::");
    else if (!is_body) text.insert(0, "(unnamed)::");
  }
  free(scopes);
  return text;
}

// With -gsplit-dwarf, what a program has of a unit is where the rest of it lies (a .dwo file).
Dwarf_Die whole_unit(Dwarf_Die die) {
  Dwarf_Die rest;
  uint8_t type = 0;
  if (dwarf_cu_info(die.cu, nullptr, &type, nullptr, &rest, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton && rest.cu)
    return rest;
  return die;
}

}  // namespace

std::string demangled(const char* name) {
  if (!name) return "";
  int status = 0;
  char* text = name[0] == '_' && name[1] == 'Z'
                   ? abi::__cxa_demangle(name, nullptr, nullptr, &status)
                   : nullptr;
  std::string result = text ? text : name;
  free(text);
  return result;
}

std::string name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned key : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* name =
        dwarf_attr_integrate(die, key, &attribute) ? dwarf_formstring(&attribute) : nullptr;
    if (name) return demangled(name);
  }
  const char* name =
      dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : nullptr;
  return name ? scoped(*die, name) : "";
}

int number_of(Dwarf_Die* die, unsigned key) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr_integrate(die, key, &attribute) || dwarf_formudata(&attribute, &value) != 0)
    return 0;
  return static_cast<int>(std::min<Dwarf_Word>(value, INT32_MAX));
}

std::string source_path(Dwarf_Die* unit, const char* name) {
  if (!name) return "";
  std::filesystem::path path = name;
  Dwarf_Attribute attribute;
  const char* folder = path.is_relative() && dwarf_attr_integrate(unit, DW_AT_comp_dir, &attribute)
                           ? dwarf_formstring(&attribute)
                           : nullptr;
  return found_source((folder ? folder / path : path).lexically_normal().string());
}

std::string source_file(Dwarf_Die* unit, Dwarf_Die* die, unsigned key) {
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (!dwarf_attr_integrate(die, key, &attribute) || dwarf_formudata(&attribute, &index) != 0)
    return "";
  if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count) return "";
  return source_path(unit, dwarf_filesrc(files, index, nullptr, nullptr));
}

Modules::Modules(bool with_debug_info) : with_debug_info_(with_debug_info) {
  unsetenv("DEBUGINFOD_URLS");  // invariant 3; the program has its own environment by now
}

Modules::~Modules() {
  if (dwfl_) dwfl_end(dwfl_);
}

void Modules::set(const std::vector<Mapping>& mappings) {
  const auto same = [](const Mapping& a, const Mapping& b) {
    return a.start == b.start && a.limit == b.limit && a.offset == b.offset && a.path == b.path;
  };
  if (generation_ != 0 && std::ranges::equal(mappings, mappings_, same)) return;
  mappings_ = mappings;
  generation_++;
  biases_.clear();
  if (dwfl_) dwfl_end(dwfl_);
  dwfl_ = dwfl_begin(&kCallbacks);
  if (!dwfl_) return;
  std::vector<std::pair<uint64_t, uint64_t>> used;
  std::map<std::pair<std::string, uint64_t>, bool> reported;
  dwfl_report_begin(dwfl_);
  for (auto mapping = mappings_.rbegin(); mapping != mappings_.rend(); ++mapping) {
    const auto overlaps = [&](const auto& range) {
      return mapping->start < range.second && range.first < mapping->limit;
    };
    if (std::ranges::any_of(used, overlaps)) continue;
    const std::optional<uint64_t> bias = bias_in(*mapping);
    if (!bias) continue;
    used.emplace_back(mapping->start, mapping->limit);
    if (reported[{mapping->path, *bias}]) continue;
    reported[{mapping->path, *bias}] = true;
    Dwfl_Module* module =
        dwfl_report_elf(dwfl_, mapping->path.c_str(), mapping->path.c_str(), -1, *bias, true);
    if (module) biases_[module] = *bias;
  }
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

Dwfl_Module* Modules::at(uint64_t address) const {
  return dwfl_ ? dwfl_addrmodule(dwfl_, address) : nullptr;
}

std::optional<Unit> Modules::unit_at(uint64_t address) {
  Dwfl_Module* module = with_debug_info_ ? at(address) : nullptr;
  if (!module) return std::nullopt;
  Dwarf_Addr bias = 0;
  if (Dwarf_Die* die = dwfl_module_addrdie(module, address, &bias))
    return Unit{whole_unit(*die), bias};
  // Compilers may leave out the table that has just been asked (clang does).
  for (Dwarf_Die* die = nullptr; (die = dwfl_module_nextcu(module, die, &bias)) != nullptr;) {
    if (dwarf_haspc(die, address - bias) == 1) return Unit{whole_unit(*die), bias};
  }
  return std::nullopt;
}

std::string Modules::section_at(uint64_t address) const {
  Dwfl_Module* const module = at(address);
  GElf_Addr within = address, bias = 0;
  Elf_Scn* const section = module ? dwfl_module_address_section(module, &within, &bias) : nullptr;
  Elf* const elf = section ? dwfl_module_getelf(module, &bias) : nullptr;
  GElf_Shdr header;
  size_t names = 0;
  if (!elf || !gelf_getshdr(section, &header) || elf_getshdrstrndx(elf, &names) != 0) return "";
  const char* const name = elf_strptr(elf, names, header.sh_name);
  return name ? name : "";
}

std::vector<std::string> Modules::files_at(uint64_t address) {
  std::optional<Unit> unit = unit_at(address);
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  std::vector<std::string> all;
  if (!unit || dwarf_getsrcfiles(&unit->die, &files, &count) != 0) return all;
  for (size_t i = 0; i < count; i++) {
    if (const char* name = dwarf_filesrc(files, i, nullptr, nullptr))
      all.push_back(source_path(&unit->die, name));
  }
  return all;
}

std::vector<Unit> Modules::units(Dwfl_Module* module) {
  std::vector<Unit> all;
  Dwarf_Addr bias = 0;
  Dwarf_Die* die = nullptr;
  if (!with_debug_info_ || !module) return all;
  while ((die = dwfl_module_nextcu(module, die, &bias)) != nullptr)
    all.push_back({whole_unit(*die), bias});
  return all;
}

std::string Modules::path_of(Dwfl_Module* module) const {
  const char* name = module ? dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr,
                                               nullptr, nullptr)
                            : nullptr;
  return name ? name : "";
}

bool Modules::code_at(uint64_t address, void* bytes, size_t size) const {
  for (const Mapping& mapping : mappings_) {
    if (address < mapping.start || address + size > mapping.limit) continue;
    const recording::File file(open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto offset = static_cast<off_t>(address - mapping.start + mapping.offset);
    if (file.is_open() &&
        pread(file.descriptor(), bytes, size, offset) == static_cast<ssize_t>(size))
      return true;
  }
  return false;
}

// Its bytes, as the file has them; of one of unknown size, what lies from `address` on.
Modules::Function Modules::function_at(uint64_t address) const {
  constexpr uint64_t kLargest = 1 << 16;
  Dwfl_Module* module = at(address);
  if (!module) return {};
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  if (!dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr) ||
      symbol.st_size <= offset || offset > kLargest) {
    offset = 0;
    symbol.st_size = 0;
  }
  const uint64_t start = address - offset, size = symbol.st_size ? symbol.st_size : 1024;
  for (const Mapping& mapping : mappings_) {
    if (address < mapping.start || address >= mapping.limit || start < mapping.start) continue;
    Function function{std::vector<uint8_t>(std::min({mapping.limit - start, size, kLargest})),
                      offset, symbol.st_size != 0 && symbol.st_size <= kLargest};
    if (code_at(start, function.text.data(), function.text.size())) return function;
    return {};
  }
  return {};
}

bool Modules::may_load_in_vain(uint64_t address) const {
  const Function function = function_at(address);
  return !function.text.empty() &&
         weir::may_load_in_vain(function.text.data(), function.text.size(), function.offset);
}

bool Modules::may_compare_and_exchange(uint64_t address) const {
  const Function function = function_at(address);
  if (!function.is_whole) return true;
  // cmpxchg of a byte, of more, and cmpxchg8b; these bytes may be of something else, too.
  for (size_t i = 0; i + 1 < function.text.size(); i++) {
    const uint8_t second = function.text[i + 1];
    if (function.text[i] == 0x0f && (second == 0xb0 || second == 0xb1 || second == 0xc7))
      return true;
  }
  return false;
}

uint64_t Modules::bias_of(Dwfl_Module* module) const {
  const auto found = biases_.find(module);
  return found == biases_.end() ? 0 : found->second;
}

}  // namespace weir::cli
