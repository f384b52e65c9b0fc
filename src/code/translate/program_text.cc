#include "code/translate/program_text.h"

#include "base/range_table.h"
#include "code/patch/doubt.h"
#include "code/sites/site_table.h"
#include "code/translate/seek_gate.h"

// A sorted table of ranges. A program has a few dozen libraries; what has no place in the table
// runs uncounted, in every process alike.

namespace weir::translate {
namespace {

constexpr uint32_t kMaxTexts = 4096;
constexpr uint8_t kInt3 = 0xcc;

Range g_texts[kMaxTexts];
uint32_t g_text_count = 0;
uint64_t g_translation_exits[kMaxTranslationExits];
unsigned g_translation_exit_count = 0;

// The first text that ends above `address`.
uint32_t first_above(uint64_t address) { return weir::first_above(g_texts, g_text_count, address); }

// Texts [from, to) give way to `made` pieces, or to none where there is no room.
void replace(uint32_t from, uint32_t to, const Range* pieces, uint32_t made) {
  if (g_text_count - (to - from) + made > kMaxTexts) made = 0;
  replace_entries(g_texts, g_text_count, from, to, pieces, made);
}

}  // namespace

void note_text(Range text) {
  if (text.empty()) return;
  const uint32_t from = first_above(text.start);
  uint32_t to = from;
  for (; to < g_text_count && g_texts[to].start < text.limit; to++) {
    if (g_texts[to].start < text.start) text.start = g_texts[to].start;
    if (g_texts[to].limit > text.limit) text.limit = g_texts[to].limit;
  }
  replace(from, to, &text, 1);
}

bool forget_text(Range range) {
  const uint32_t from = first_above(range.start);
  uint32_t to = from;
  while (to < g_text_count && g_texts[to].start < range.limit) to++;
  if (from == to) return false;
  Range pieces[2];
  uint32_t count = 0;
  const Range left{g_texts[from].start, range.start}, right{range.limit, g_texts[to - 1].limit};
  if (!left.empty()) pieces[count++] = left;
  if (!right.empty()) pieces[count++] = right;
  replace(from, to, pieces, count);
  return true;
}

void forget_all_text() { g_text_count = 0; }

Range code_at(uint64_t rip) {
  const uint32_t at = first_above(rip);
  if (at < g_text_count && g_texts[at].contains(rip)) return g_texts[at];
  StubPlace place;
  if (!find_stub_place(rip, place) || rip < place.site->resume) return {};
  return {place.site->resume, place.site->stub + place.site->stub_size};
}

void add_translation_exit(uint64_t address) {
  for (unsigned i = 0; i < g_translation_exit_count; i++) {
    if (g_translation_exits[i] == address) return;
  }
  if (g_translation_exit_count < kMaxTranslationExits)
    g_translation_exits[g_translation_exit_count++] = address;
}

bool is_breakpoint(uint64_t rip) {
  return *reinterpret_cast<const uint8_t*>(rip) == kInt3 && !find_trap_site(rip);
}

TranslationExit translation_exit_in(Range text, uint64_t rip) {
  for (unsigned i = 0; i < g_translation_exit_count; i++) {
    if (g_translation_exits[i] == rip) return {true, false, 0, 0};
  }
  if (const uint32_t gate = seek_gate_at(rip)) return {true, false, 0, gate};
  if (doubt::knows(rip))
    return {true, false, 0,
            0};  // natively, whether this process knows it for an instruction or not
  if (!text.contains(rip) || *reinterpret_cast<const uint8_t*>(rip) != kInt3) return {};
  const Site* site = find_trap_site(rip);
  if (site == nullptr)
    return {true, false, 0, 0};  // is_breakpoint: it is to be executed where it stands
  return {true, true, static_cast<uint32_t>(site - site_at(0)), 0};
}

TranslationExit translation_exit_at(uint64_t rip) {
  const uint32_t at = first_above(rip);
  const Range text = at < g_text_count && g_texts[at].contains(rip) ? g_texts[at] : Range{};
  const TranslationExit way_out = translation_exit_in(text, rip);
  if (way_out.is_exit || !text.empty()) return way_out;
  StubPlace place;
  return {find_stub_place(rip, place) && rip < place.site->resume, false, 0, 0};
}

}  // namespace weir::translate
