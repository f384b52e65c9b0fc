// The loader's own list, which it shows debuggers, says what is loaded. It is read again if an
// address lies in no text that is known, and from the beginning when text has changed
// (forget_texts). Code that is made at run time lies in no file: there the stack ends, and the list
// is not read again for each such address.
#include "heap/guard/call_stack.h"

#include "base/hash.h"
#include "sys/loaded_files.h"

namespace weir::guard {
namespace {

constexpr uint32_t kMaxTexts = 512, kRules = 4096;

struct KnownRule {
  uint64_t address = 0;
  FrameRule rule;
};

struct Known {
  Text texts[kMaxTexts];
  uint32_t count;
  uint64_t unknown;         // the page of the last address that lies in no text
  KnownRule rules[kRules];  // each at the hash of its address
};
constinit Known g_known{};

// Of the file whose segments are `segments`, `bias` bytes above the addresses that it has itself.
void add_file(const Elf64_Phdr* segments, uint32_t count, uint64_t bias, const char* name) {
  Text text{};
  text.bias = bias;
  text.name = name;
  uint64_t lowest = ~uint64_t{0};
  for (uint32_t i = 0; i < count; i++) {
    const Elf64_Phdr& one = segments[i];
    if (one.p_type == PT_LOAD && page_down(one.p_vaddr) < lowest) lowest = page_down(one.p_vaddr);
    if (one.p_type == PT_GNU_EH_FRAME) {
      text.table = bias + one.p_vaddr;
      text.table_size = one.p_memsz;
    }
  }
  text.base = bias + lowest;
  for (uint32_t i = 0; i < count && g_known.count < kMaxTexts; i++) {
    const Elf64_Phdr& one = segments[i];
    if (one.p_type != PT_LOAD || !(one.p_flags & PF_X)) continue;
    text.range = {bias + one.p_vaddr, bias + one.p_vaddr + one.p_memsz};
    g_known.texts[g_known.count++] = text;
  }
}

void learn_texts(Read read) {
  g_known.count = 0;
  const sys::ProgramSegments program = sys::program_segments();
  add_file(program.first, static_cast<uint32_t>(program.count), program.base, "");
  constexpr uint32_t kMaxSegments = 32, kMaxFiles = 1024;
  link_map file;
  uint64_t at = sys::first_loaded_file(read);
  for (uint32_t i = 0; i < kMaxFiles && at && read(&file, at, sizeof file); i++) {
    at = reinterpret_cast<uint64_t>(file.l_next);
    Elf64_Ehdr header;
    Elf64_Phdr segments[kMaxSegments];
    // The program itself is first, without a name; the vDSO has none that can be opened.
    if (i == 0 || !read(&header, file.l_addr, sizeof header) ||
        header.e_ident[EI_MAG0] != ELFMAG0 || header.e_ident[EI_MAG1] != ELFMAG1 ||
        header.e_phnum > kMaxSegments ||
        !read(segments, file.l_addr + header.e_phoff, header.e_phnum * sizeof *segments))
      continue;
    add_file(segments, header.e_phnum, file.l_addr, file.l_name);
  }
}

const Text* known_text(uint64_t address) {
  for (uint32_t i = 0; i < g_known.count; i++)
    if (g_known.texts[i].range.contains(address)) return &g_known.texts[i];
  return nullptr;
}

FrameRule rule_at(uint64_t address, Read read) {
  KnownRule& known = g_known.rules[mix(address) >> 52];
  static_assert(kRules == 1 << 12);
  if (known.address == address) return known.rule;
  const Text* const text = text_at(address, read);
  const FrameRule rule = text && text->table ? find_rule(*text, address, read) : FrameRule{};
  known = {address, rule};
  return rule;
}

}  // namespace

const Text* text_at(uint64_t address, Read read) {
  if (const Text* const text = known_text(address)) return text;
  if (g_known.count && g_known.unknown == page_down(address)) return nullptr;
  learn_texts(read);
  const Text* const text = known_text(address);
  if (!text) g_known.unknown = page_down(address);
  return text;
}

void forget_texts() {
  if (!g_known.count && !g_known.unknown) return;  // and so no rule of one
  g_known.count = 0;
  g_known.unknown = 0;
  for (KnownRule& one : g_known.rules) one.address = 0;
}

void find_calls(const Standing& from, bool is_exact, CallStack& to, Read read) {
  Standing here = from;
  to.count = 0;
  for (;;) {
    to.at[to.count++] = here.rip;
    if (to.count == CallStack::kMax) return;
    // A return address may lie behind the last instruction of its function.
    const FrameRule rule = rule_at(here.rip - (is_exact && to.count == 1 ? 0 : 1), read);
    if (rule.base == FrameRule::Base::kNone) return;
    const uint64_t base = rule.base == FrameRule::Base::kRsp ? here.rsp : here.rbp;
    const uint64_t frame = base + static_cast<uint64_t>(int64_t{rule.offset});
    if (frame <= here.rsp || frame % 8 != 0) return;  // no stack goes on so
    uint64_t back = 0, rbp = here.rbp;
    if (!read(&back, frame - sizeof back, sizeof back) || back < kPageSize) return;
    if (rule.saves_rbp &&
        !read(&rbp, frame + static_cast<uint64_t>(int64_t{rule.rbp_offset}), sizeof rbp))
      return;
    here = {back, frame, rbp};
  }
}

}  // namespace weir::guard
