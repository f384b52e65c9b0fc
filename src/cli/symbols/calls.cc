// A call of a function in another file goes through a slot of memory that the loader fills, from
// the call itself (-fno-plt) or from a stub that the linker has made. A relocation says whose
// address goes into the slot.
#include "cli/symbols/calls.h"

#include <gelf.h>

#include <cstring>

namespace weir::cli {
namespace {

int32_t signed_word(const uint8_t* bytes) {
  int32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

const Calls::Slots& Calls::slots_of(Dwfl_Module* module) {
  if (generation_ != modules_.generation()) slots_.clear();
  generation_ = modules_.generation();
  const auto found = slots_.find(module);
  if (found != slots_.end()) return found->second;
  Slots& slots = slots_[module];
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module, &bias);
  for (Elf_Scn* section = nullptr; elf && (section = elf_nextscn(elf, section));) {
    GElf_Shdr header, symbols;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
      continue;
    Elf_Scn* const linked = elf_getscn(elf, header.sh_link);
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (!linked || !data || !gelf_getshdr(linked, &symbols) || symbols.sh_type != SHT_DYNSYM)
      continue;
    Elf_Data* const table = elf_getdata(linked, nullptr);
    for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); i++) {
      GElf_Rela entry;
      GElf_Sym symbol;
      if (!gelf_getrela(data, i, &entry)) break;
      const auto type = GELF_R_TYPE(entry.r_info);
      if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || !table ||
          !gelf_getsym(table, static_cast<int>(GELF_R_SYM(entry.r_info)), &symbol))
        continue;
      const char* const name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
      if (name && *name) slots[entry.r_offset + bias] = name;
    }
  }
  return slots;
}

std::string Calls::slot_name(uint64_t address) {
  Dwfl_Module* const module = modules_.at(address);
  if (!module) return "";
  const Slots& slots = slots_of(module);
  const auto found = slots.find(address);
  return found == slots.end() ? "" : demangled(found->second.c_str());
}

std::string Calls::stub_at(uint64_t address) {
  constexpr uint8_t kMark[] = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
  uint8_t stub[11];
  if (!modules_.code_at(address, stub, sizeof stub)) return "";
  const uint8_t* at = stub;
  if (memcmp(at, kMark, sizeof kMark) == 0) at += sizeof kMark;
  if (*at == 0xf2) at++;                          // bnd
  if (at[0] != 0xff || at[1] != 0x25) return "";  // jmp *slot(%rip)
  const uint64_t after = address + static_cast<uint64_t>(at - stub) + 6;
  return slot_name(after + static_cast<uint64_t>(signed_word(at + 2)));
}

Callee Calls::called_before(uint64_t behind) {
  uint8_t call[6];
  if (!modules_.code_at(behind - sizeof call, call, sizeof call)) return {};
  if (call[0] == 0xff && call[1] == 0x15) {  // call *slot(%rip)
    const std::string name = slot_name(behind + static_cast<uint64_t>(signed_word(call + 2)));
    if (!name.empty()) return {name, true};
  }
  if (call[1] != 0xe8) return {};
  const uint64_t target = behind + static_cast<uint64_t>(signed_word(call + 2));
  if (const std::string name = stub_at(target); !name.empty()) return {name, true};
  Dwfl_Module* const module = modules_.at(target);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name =
      module ? dwfl_module_addrinfo(module, target, &offset, &symbol, nullptr, nullptr, nullptr)
             : nullptr;
  if (!name || offset != 0) return {};
  return {demangled(name), false};
}

}  // namespace weir::cli
