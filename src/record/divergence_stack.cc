// The program's stack has no frame pointers to follow, and unwinding by its tables is no work for a
// program that is about to be ended. So its words are looked at from the top: one that points
// behind a call instruction in some text is a return address, or was one lately. The nearest few,
// and as many as it takes to come to the program itself, are right often enough to be worth
// reading.

#include "record/divergence_stack.h"

#include <elf.h>

#include "base/bytes.h"
#include "code/sites/site_table.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/stream.h"
#include "sys/maps.h"

namespace weir::recording {

namespace {

constexpr uint64_t kWords = 1024;  // of the stack
constexpr uint32_t kTexts = 64;

struct Text {
  Range range;
  uint64_t base;  // what is to be taken from an address for the file's own numbering
  const char* name;
};

struct Texts {
  Text text[kTexts];
  uint32_t count = 0;
  const char* program = "";  // whose text lies lowest: fixed addresses have the program there

  const Text* at(uint64_t address) const {
    for (uint32_t i = 0; i < count; i++) {
      if (text[i].range.contains(address)) return &text[i];
    }
    return nullptr;
  }
};

// Without an event: under View coherent by the shared view, whoever has the page.
template <typename T>
long look(T& to, uint64_t address) {
  return trap::from_program(
      &to,
      static_cast<long>(plan().gives_pages() && g_tasks_active ? page::shared_view_of(address)
                                                               : address),
      sizeof to);
}

// Of files only, without the library itself. The names stay in the text of the maps.
void read_texts(Texts& texts) {
  char* cursor;
  if (sys::read_maps(&cursor) < 0) return;
  uint64_t base = 0;
  const char* object = "";
  sys::MapLine line;
  while ((cursor = sys::next_map_line(cursor, &line))) {
    if (line.name[0] != '/') continue;
    if (!equal_strings(line.name, object)) {
      object = line.name;
      base = line.range.start - line.offset;
      Elf64_Ehdr header;
      if (line.offset == 0 && look(header, base) == 0 && header.e_type == ET_EXEC) base = 0;
    }
    if (!line.executable || line.range.overlaps(page::own_image()) || texts.count == kTexts)
      continue;
    if (!texts.program[0]) texts.program = object;
    texts.text[texts.count++] = {line.range, base, object};
  }
}

bool is_behind_call(uint64_t address) {
  uint8_t before[8];
  if (look(before, address - sizeof before) != 0) return false;
  if (before[3] == 0xe8) return true;  // call of a frame
  for (int i = 0; i <= 6; i++) {
    if (before[i] == 0xff && (before[i + 1] & 0x38) == 0x10)
      return true;  // call by a register or through memory
  }
  return false;
}

}  // namespace

void note_place(const Task& task) {
  channel::Header& h = header();
  if (!task.frame || __atomic_exchange_n(&h.stack_is_taken, 1u, __ATOMIC_ACQ_REL)) return;
  static Texts texts;
  read_texts(texts);
  uint32_t count = 0;
  bool in_program = false;
  const auto note = [&](uint64_t address) {
    const Text* text = texts.at(address);
    if (!text) return;
    channel::StackFrame& frame = h.stack_frame[count];
    if (string_length(text->name) >= sizeof frame.object) return;
    frame.address = address - text->base;
    append_text(frame.object, text->name);
    in_program = in_program || equal_strings(text->name, texts.program);
    count++;
  };
  StubPlace stub;
  note(find_stub_place(task.frame->rip, stub) ? stub.program_address : task.frame->rip);
  for (uint64_t i = 0; i < kWords && count < channel::kMaxStackFrames; i++) {
    uint64_t word;
    if (look(word, task.frame->rsp + i * sizeof word) != 0) break;
    if (in_program && count >= channel::kMaxStackFrames / 2) break;
    // The last frames are the program's own.
    const Text* text = texts.at(word);
    if (!text || !is_behind_call(word)) continue;
    if (count >= channel::kMaxStackFrames / 2 && !equal_strings(text->name, texts.program))
      continue;
    note(word);
  }
  __atomic_store_n(&h.stack_frames, count, __ATOMIC_RELEASE);
}

}  // namespace weir::recording
