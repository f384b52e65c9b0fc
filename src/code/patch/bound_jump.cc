// A checked program reads a slot at each call. On a trapped page each call would be an access that
// is looked at, until the page is given to all tasks, and then nobody looks at the variables beside
// the slots either. So an entry whose slot is bound reads it through an alias of the page.
//
// Three layouts are known, all of 16 bytes (binutils; lld and mold make the same):
//
//   jmp *slot; push; jmp          the last two bind the slot; nobody comes there once it is bound
//   endbr64; jmp *slot; nop       with control flow enforcement, whose push and jmp are elsewhere
//   endbr64; bnd jmp *slot; nop   likewise
//
// The entry becomes `movabs $alias, %r11; jmp *(%r11)`. What calls through such a table expects
// nothing in r11, which the binding uses too.

#include "code/patch/bound_jump.h"

#include "base/bytes.h"
#include "base/types.h"
#include "sys/memory.h"

namespace weir {

namespace {

constexpr uint32_t kEntrySize = 16, kMadeSize = 13;

struct Moved {
  uint64_t entry;
  uint8_t before[kEntrySize], made[kMadeSize];
};

// Per process, and its forked children's.
Moved g_moved[1024];
uint32_t g_moved_count = 0;
bool g_is_refused = false;  // the system lets nobody write to code

bool write_code(uint64_t at, const uint8_t* bytes, uint32_t size) {
  const uint64_t page = page_down(at);  // an entry lies in one page
  if (sys::protect(page, kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 &&
      sys::protect(page, kPageSize, PROT_READ | PROT_WRITE) != 0)
    return false;
  copy_bytes(reinterpret_cast<void*>(at), bytes, size);
  sys::protect(page, kPageSize, PROT_READ | PROT_EXEC);
  return true;
}

bool begins(const uint8_t* code, const uint8_t* with, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    if (code[i] != with[i]) return false;
  }
  return true;
}

constexpr uint8_t kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr uint8_t kLongNop[] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00};
constexpr uint8_t kNop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

// Of `jmp *displacement(%rip)` at `code`.
bool jumps_through(const uint8_t* code, uint64_t at, uint64_t slot) {
  int32_t displacement;
  copy_bytes(&displacement, code + 2, sizeof displacement);
  return code[0] == 0xff && code[1] == 0x25 &&
         at + 6 + static_cast<uint64_t>(int64_t{displacement}) == slot;
}

// Code that binds a slot: `push` of its number and a jump.
bool binds(const uint8_t* code) {
  if (begins(code, kEndbr, sizeof kEndbr)) code += sizeof kEndbr;
  return code[0] == 0x68 && (code[5] == 0xe9 || (code[5] == 0xf2 && code[6] == 0xe9));
}

}  // namespace

bool is_bound_jump(const uint8_t* code, uint64_t entry, uint64_t slot) {
  if (!begins(code, kEndbr, sizeof kEndbr))
    return jumps_through(code, entry, slot) && binds(code + 6);
  constexpr uint32_t kAt = sizeof kEndbr;
  if (code[kAt] == 0xf2)
    return jumps_through(code + kAt + 1, entry + kAt + 1, slot) &&
           begins(code + kAt + 7, kNop, sizeof kNop);
  return jumps_through(code + kAt, entry + kAt, slot) &&
         begins(code + kAt + 6, kLongNop, sizeof kLongNop);
}

uint64_t move_bound_jump(uint64_t rip, uint64_t slot, uint64_t alias) {
  const uint64_t entry = rip & ~uint64_t{kEntrySize - 1};
  const auto* const code = reinterpret_cast<const uint8_t*>(entry);
  if (g_is_refused || g_moved_count == sizeof g_moved / sizeof *g_moved ||
      !is_bound_jump(code, entry, slot))
    return 0;
  uint64_t target;
  copy_bytes(&target, reinterpret_cast<const void*>(alias), sizeof target);
  if (!target || binds(reinterpret_cast<const uint8_t*>(target))) return 0;
  Moved& moved = g_moved[g_moved_count];
  moved = {entry, {}, {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23}};
  copy_bytes(moved.before, code, kEntrySize);
  copy_bytes(moved.made + 2, &alias, sizeof alias);
  g_is_refused = !write_code(entry, moved.made, kMadeSize);
  if (g_is_refused) return 0;
  g_moved_count++;
  return entry;
}

// A library may have been closed meanwhile, and another one may lie there.
void restore_bound_jumps() {
  for (uint32_t i = 0; i < g_moved_count; i++) {
    const Moved& moved = g_moved[i];
    uint8_t now[kMadeSize];
    if (sys::read_safely(now, moved.entry, sizeof now) == sizeof now &&
        begins(now, moved.made, sizeof now))
      (void)write_code(moved.entry, moved.before, kEntrySize);
  }
  g_moved_count = 0;
}

}  // namespace weir
