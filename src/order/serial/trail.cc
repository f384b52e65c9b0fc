// Layout: in the memory of the schedule log (run.h), behind changes and switches.
//
// 1. A stack is not unwound here. Its bytes are kept, from the stack pointer on, and the command
//    unwinds them by call frame information.
// 2. Of switches the first kFirst places are kept and the last kLast: a run that could not be made
//    small is told by both ends.
// 3. A task is stopped before each step, as the strategies that look at memory do, but nobody is
//    asked whether it goes on: no time limit expires, and no count changes, that would not without.
// 4. To stop at each step costs some microseconds, so only so many steps are looked at: some before
//    the schedule's first own switch, of which the last are kept, and some after it.
// 5. Of what was touched the log has what several tasks touched, one of them writing, by words of
//    8 bytes.

#include "order/serial/trail.h"

#include "base/hash.h"
#include "heap/guard/guard.h"
#include "heap/heap.h"
#include "order/serial/run.h"
#include "sys/memory.h"

namespace weir::order::serial {

namespace {

constexpr uint32_t kFirst = 256, kLast = 768, kStarts = 256, kEnds = 256;
constexpr uint32_t kRunners = 64, kRunPlaces = 4;  // of the first tasks: at which they are known
constexpr uint32_t kStartsAt = kFirst + kLast, kEndsAt = kStartsAt + kStarts,
                   kRunsAt = kEndsAt + kEnds, kPlaces = kRunsAt + kRunners * kRunPlaces;
constexpr uint32_t kTouches = 800u << 10, kTouchesBefore = 64u << 10;
constexpr uint64_t kStepsBefore = 400'000, kStepsAfter = 600'000;
constexpr uint32_t kWords = 1u << 17;     // of 8 bytes that were touched, and are told apart
constexpr uint32_t kMostLines = 200'000;  // of touches
constexpr uint32_t kMostBlocks = 1024;    // of the heap

struct KeptPlace {
  Registers registers;
  uint64_t object;   // what a call of a synchronization function is about; 0: not known
  uint32_t index;    // of the change
  uint32_t is_call;  // rip is a return address
  uint32_t is_there;
  uint32_t stack_bytes;
  uint8_t stack[16384 - sizeof(Registers) - 24];
};
static_assert(sizeof(KeptPlace) == 16384);

struct KeptTouch {
  uint64_t address, rip;
  uint32_t changes;  // made so far
  uint32_t number;   // of the task
  uint32_t size;
  uint32_t is_write;
};
static_assert(sizeof(KeptTouch) == 32);

struct KeptTask {
  uint64_t start;  // its function
  uint32_t is_there, creator;
  uint32_t steps, events;  // looked at so far
  char name[16];
};

struct Word {
  uint64_t address;  // 0: free
  uint32_t toucher;  // number + 1 of the first task
  uint32_t flags;
};
constexpr uint32_t kBySeveral = 1, kWritten = 2;

struct Room {
  KeptPlace places[kPlaces];
  KeptTouch touches[kTouches];
  Word words[kWords];
  Range blocks[kMostBlocks];
  KeptTask tasks[kStarts];
};
constexpr uint64_t kRoomAt =
    kScheduleLog + kMaxChanges * sizeof(Change) + kMaxSwitches * sizeof(Switch);
static_assert(kRoomAt + sizeof(Room) <= kScheduleLog + kScheduleLogSize);
static_assert(kRoomAt % alignof(Room) == 0);

Room& room() { return *reinterpret_cast<Room*>(kRoomAt); }

struct Trail {
  uint64_t looked_at;     // steps, before the schedule's first own switch or after it
  uint32_t touches;       // before it: a ring; after it: what is kept
  uint32_t begin, count;  // of the ring, once it is closed
  bool is_after, is_cut;
};
constinit Trail g_trail{};

bool is_kept() { return g_run.memory && g_run.memory->detail && g_run.log >= 0; }

// As PR_SET_NAME has left it.
void take_own_name(KeptTask& task) {
  constexpr long kGetName = 16;  // PR_GET_NAME
  sys::raw(SYS_prctl, kGetName, reinterpret_cast<long>(task.name));
  task.name[sizeof task.name - 1] = 0;
}

uint64_t object_of(const Frame& frame) {
  constexpr uint64_t kLeast = 1 << 16;  // below it is a number
  return frame.site == kUpcall && frame.rsi >= kLeast ? frame.rsi : 0;
}

void keep(KeptPlace& place, const Registers& registers, bool is_call, uint64_t object,
          uint32_t index) {
  place.registers = registers;
  place.object = object;
  place.index = index;
  place.is_call = is_call;
  const uint64_t rsp = registers.general[4];
  const long copied = sys::read_safely(place.stack, rsp, sizeof place.stack);
  place.stack_bytes = 0;
  if (!sys::failed(copied)) {
    place.stack_bytes = static_cast<uint32_t>(copied);
  } else {  // up to the end of its page
    const uint64_t rest = page_down(rsp) + kPageSize - rsp;
    if (!sys::failed(sys::read_safely(place.stack, rsp, rest)))
      place.stack_bytes = static_cast<uint32_t>(rest);
  }
  place.is_there = 1;
}

void keep(KeptPlace& place, const Task& task, uint64_t rip, bool is_call, uint32_t index) {
  if (!task.frame) return;
  Registers registers = registers_of(*task.frame);
  registers.rip = rip;
  keep(place, registers, is_call, is_call ? object_of(*task.frame) : 0, index);
}

KeptPlace& run_place(uint32_t number, uint32_t index) {
  return room().places[kRunsAt + number * kRunPlaces + index];
}

KeptPlace& place_of_change(uint32_t change) {
  return room().places[change < kFirst ? change : kFirst + (change - kFirst) % kLast];
}

void note_touch(const Task& task, uint64_t rip, const Access& access, bool is_write) {
  const uint32_t most = g_trail.is_after ? kTouches : kTouchesBefore;
  uint32_t at = g_trail.touches++;
  if (at >= most) {
    if (g_trail.is_after) {
      g_trail.touches = most;
      g_trail.is_cut = true;
      return;
    }
    at %= kTouchesBefore;
  }
  room().touches[at] = {access.address,
                        rip,
                        g_run.changes,
                        g_run.tracks[task.id].number,
                        static_cast<uint32_t>(access.size),
                        is_write};
}

// From here on the schedule is another than the default one.
void close_ring() {
  g_trail.is_after = true;
  g_trail.looked_at = 0;
  const uint32_t touches = g_trail.touches;
  g_trail.begin = touches > kTouchesBefore ? touches % kTouchesBefore : 0;
  g_trail.count = touches > kTouchesBefore ? kTouchesBefore : touches;
  g_trail.touches = kTouchesBefore;
}

// In the order in which they were made.
template <typename Function>
void for_each_touch(Function function) {
  const Trail& t = g_trail;
  const uint32_t touches = t.touches;
  if (!t.is_after) {
    const uint32_t count = touches > kTouchesBefore ? kTouchesBefore : touches;
    const uint32_t begin = touches > kTouchesBefore ? touches % kTouchesBefore : 0;
    for (uint32_t i = 0; i < count; i++) function(room().touches[(begin + i) % kTouchesBefore]);
    return;
  }
  for (uint32_t i = 0; i < t.count; i++) function(room().touches[(t.begin + i) % kTouchesBefore]);
  for (uint32_t i = kTouchesBefore; i < touches; i++) function(room().touches[i]);
}

// Null: there is no room.
Word* word_at(uint64_t address) {
  uint64_t at = mix(address);
  for (uint32_t tries = 0; tries < 64; tries++, at++) {
    Word& word = room().words[at % kWords];
    if (word.address == address) return &word;
    if (word.address) continue;
    word.address = address;
    return &word;
  }
  return nullptr;
}

constexpr uint64_t kWordSize = 8, kMostWords = 8;

template <typename Function>
void for_each_word(const KeptTouch& touch, Function function) {
  const uint64_t first = touch.address & -kWordSize;
  for (uint64_t i = 0; i < kMostWords && first + i * kWordSize < touch.address + touch.size; i++)
    function(first + i * kWordSize);
}

void note_words(const KeptTouch& touch) {
  for_each_word(touch, [&](uint64_t address) {
    Word* const word = word_at(address);
    if (!word) return;
    if (!word->toucher) word->toucher = touch.number + 1;
    if (word->toucher != touch.number + 1) word->flags |= kBySeveral;
    if (touch.is_write) word->flags |= kWritten;
  });
}

bool is_shared(const KeptTouch& touch) {
  bool found = false;
  for_each_word(touch, [&](uint64_t address) {
    const Word* const word = word_at(address);
    found = found || !word || word->flags == (kBySeveral | kWritten);
  });
  return found;
}

// Each block once.
void put_block(Text& text, uint64_t address, uint32_t& blocks) {
  Range block = guard::find_block(address);
  if (block.empty()) {
    block = heap_find(address, [](uint64_t at) { return reinterpret_cast<const void*>(at); });
  }
  if (block.empty() || blocks == kMostBlocks) return;
  for (uint32_t i = 0; i < blocks; i++)
    if (room().blocks[i].start == block.start) return;
  room().blocks[blocks++] = block;
  text.put("block ").hex(block.start).put(" ").hex(block.limit).put("\n");
}

void put_touches(Text& text, uint32_t& blocks) {
  for_each_touch(note_words);
  uint32_t lines = 0;
  for_each_touch([&](const KeptTouch& touch) {
    if (!is_shared(touch)) return;
    if (lines++ >= kMostLines) return;
    text.put("touch ").put(uint64_t{touch.changes}).put(" ").put(uint64_t{touch.number});
    text.put(touch.is_write ? " w " : " r ").put(uint64_t{touch.size}).put(" ");
    text.hex(touch.address).put(" ").hex(touch.rip).put("\n");
    put_block(text, touch.address, blocks);
  });
  if (lines > kMostLines || g_trail.is_cut) text.put("touches-cut\n");
}

// place WHAT INDEX CALL RIP OBJECT REGISTER,... STACK
void put_place(Text& text, const char* what, uint64_t index, const KeptPlace& place) {
  if (!place.is_there) return;
  text.put("place ").put(what).put(" ").put(index).put(place.is_call ? " 1 " : " 0 ");
  text.hex(place.registers.rip).put(" ").hex(place.object).put(" ");
  for (int i = 0; i < 16; i++) text.put(i ? "," : "").digits(place.registers.general[i]);
  text.put(" ");
  for (uint32_t at = 0; at + 8 <= place.stack_bytes; at += 8) {
    const uint64_t word = *reinterpret_cast<const uint64_t*>(place.stack + at);
    if (at) text.put(".");
    if (word) text.digits(word);
  }
  text.put("\n");
}

// Of a thread of this process.
void read_name(const Task& task, KeptTask& kept) {
  char path[64];
  append_text(append_number(append_text(path, "/proc/self/task/"),
                            static_cast<uint64_t>(task.identity.tid)),
              "/comm");
  const long file = sys::raw(SYS_open, reinterpret_cast<long>(path), 0x80000 /* O_CLOEXEC */);
  if (sys::failed(file)) return;
  char name[sizeof kept.name] = {};
  const long length =
      sys::raw(SYS_read, file, reinterpret_cast<long>(name), static_cast<long>(sizeof name));
  sys::raw(SYS_close, file);
  if (length <= 0) return;
  for (char& c : name)
    if (c == '\n') c = 0;
  name[sizeof name - 1] = 0;
  copy_bytes(kept.name, name, sizeof name);
}

void read_names() {
  const Shared& s = shared();
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    const uint32_t number = g_run.tracks[i].number;
    if (task.order.state == TaskState::kFree || number >= kStarts) continue;
    KeptTask& kept = room().tasks[number];
    if (i == self().id) take_own_name(kept);
    else read_name(task, kept);
  }
}

}  // namespace

void begin_trail() {
  g_trail = Trail{};
  if (is_kept()) take_own_name(room().tasks[0]);
}

void keep_switch(uint32_t change, const Task& task, uint64_t rip) {
  if (!is_kept()) return;
  if (changes()[change].is_listed && !g_trail.is_after) close_ring();
  keep(place_of_change(change), task, rip, !g_run.tracks[task.id].is_at_step, change);
  const uint32_t number = g_run.tracks[task.id].number;
  if (&task == &self() && number < kStarts) take_own_name(room().tasks[number]);
}

void keep_event(const Task& task, uint64_t rip) {
  const uint32_t number = g_run.tracks[task.id].number;
  if (!is_kept() || number >= kRunners) return;
  const uint32_t event = room().tasks[number].events++;
  if (event < 2) keep(run_place(number, 2 + event), task, rip, true, 0);
}

void keep_start(const Task& task) {
  const uint32_t number = static_cast<uint32_t>(task.identity.creation);
  if (!is_kept() || number >= kStarts) return;
  const Task& creator = self();
  KeptTask& kept = room().tasks[number];
  kept.start = task.identity.start_function;
  kept.creator = g_run.tracks[creator.id].number;
  kept.is_there = 1;
  if (creator.frame)
    keep(room().places[kStartsAt + number], creator, creator.frame->shown, true, 0);
}

void keep_end(const Registers* registers) {
  if (!is_kept()) return;
  const Shared& s = shared();
  KeptPlace* const ends = room().places + kEndsAt;
  for (TaskId i = 0; i < s.order.high_task; i++) {
    const Task& task = s.tasks[i];
    const uint32_t number = g_run.tracks[i].number;
    if (task.order.state == TaskState::kFree || number >= kEnds) continue;
    if (i == self().id && registers) keep(ends[number], *registers, false, 0, 0);
    else if (task.frame && g_run.tracks[i].is_at_step)
      keep(ends[number], task, task.frame->rip, false, 0);
    else if (task.frame) keep(ends[number], task, task.frame->shown, true, 0);
  }
  read_names();
}

bool keeps_steps() {
  return is_kept() && g_run.tasks > 1 &&
         g_trail.looked_at < (g_trail.is_after ? kStepsAfter : kStepsBefore);
}

void keep_step(const Task& task, const Frame& frame, bool reads, bool writes) {
  const uint32_t number = g_run.tracks[task.id].number;
  if (reads) {
    g_trail.looked_at++;
    if (g_trail.is_after && g_trail.looked_at == kStepsAfter) g_trail.is_cut = true;
    if (number < kRunners) {  // where its first function's own code is met by chance
      const uint32_t step = ++room().tasks[number].steps;
      if (step == 2 || step == 8) keep(run_place(number, step == 8), task, frame.rip, false, 0);
    }
  }
  Instruction instruction;
  if (!decode(frame.rip, instruction)) return;
  const AccessList list = accesses_of(instruction, registers_of(frame), sys::fs_base(), 0);
  for (size_t i = 0; i < list.count; i++) {
    const Access& access = list.accesses[i];
    if (!access.address || !access.size) continue;
    if (access.read && reads) note_touch(task, frame.rip, access, false);
    if (access.written && writes) note_touch(task, frame.rip, access, true);
  }
}

void put_trail(Text& text, const Modules& modules) {
  if (!is_kept()) return;
  modules.put_code(text);
  uint32_t blocks = 0;
  for (uint32_t number = 0; number < kStarts; number++) {
    const KeptTask& task = room().tasks[number];
    if (task.is_there) {
      text.put("task ").put(uint64_t{number}).put(" ").put(uint64_t{task.creator}).put(" ");
      text.hex(task.start).put(" ");
      modules.put(text, task.start);
      text.put("\n");
    }
    if (task.name[0])
      text.put("name ").put(uint64_t{number}).put(" ").put_name(task.name).put("\n");
    put_place(text, "start", number, room().places[kStartsAt + number]);
    put_place(text, "end", number, room().places[kEndsAt + number]);
    for (uint32_t i = 0; i < kRunPlaces && number < kRunners; i++)
      put_place(text, "run", number, room().places[kRunsAt + number * kRunPlaces + i]);
  }
  for (uint32_t i = 0; i < g_run.changes; i++) {
    const KeptPlace& place = place_of_change(i);
    if (!place.is_there || place.index != i) continue;
    put_place(text, "switch", i, place);
    if (place.object) put_block(text, place.object, blocks);
  }
  put_touches(text, blocks);
}

}  // namespace weir::order::serial
