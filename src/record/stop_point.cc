#include "record/stop_point.h"

#include <stddef.h>

#include <initializer_list>

#include "base/bytes.h"
#include "code/decode/decoder.h"
#include "code/emulate/emulate_x86_64.h"
#include "code/emulate/vector_state_x86_64.h"
#include "code/patch/patch.h"
#include "code/translate/block.h"
#include "code/translate/counted.h"
#include "code/translate/program_text.h"
#include "code/translate/seek.h"
#include "control/control.h"
#include "control/execution_point.h"
#include "control/process.h"
#include "control/signals.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "record/signals.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

extern "C" {
extern char weir_sigreturn[], weir_shown_sigreturn[], weir_copied_sigreturn[];
extern char weir_shown_sigreturn_end[];
}

namespace weir::trap {

namespace {

constexpr uint32_t kMaxSteps = 2000;
constexpr unsigned kInstructionsLooked = 24;

// The address at which the runtime may look at the task's memory without an event; 0: it may not.
uint64_t look_at(const Task& task, uint64_t address) {
  if (shared_memory::g_active && !shared_memory::mapping_at(address).empty())
    return 0;  // to look would be to take
  if (!g_tasks_active) return address;
  if (!page::backing_bytes_at(address)) return 0;
  return view::coherent::may_read(task, address) ? page::shared_view_of(address) : 0;
}

// Exactly what is named: beside it may lie what was left there, of which nothing need be the same.
void note_word(const Task& task, ExecutionPoint& point, uint64_t address, uint64_t size) {
  const auto length = static_cast<uint8_t>(size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1);
  if (address % length) return;  // it may reach into another page
  for (unsigned i = 0; i < ExecutionPoint::kWords; i++) {
    if (point.address[i] == address) return;
    if (point.address[i]) continue;
    uint64_t word = 0;
    const uint64_t from = look_at(task, address);
    if (!from || from_program(&word, static_cast<long>(from), length) != 0) return;
    point.address[i] = address;
    point.word[i] = word;
    point.size[i] = length;
    return;
  }
}

constexpr uint16_t kCallClobbers =
    1u << kRax | 1u << kRcx | 1u << kRdx | 1u << kRsi | 1u << kRdi | 0xf00;  // and r8 to r11

bool names_any(const Instruction& instruction, uint16_t registers) {
  const auto is_named = [&](uint8_t number) { return number < 16 && (registers >> number & 1); };
  bool any = is_named(instruction.bit_index) || (instruction.is_string && is_named(kRcx));
  for (unsigned i = 0; i < instruction.operand_count; i++)
    any |= is_named(instruction.operands[i].base) || is_named(instruction.operands[i].index);
  return any;
}

// What the instructions read that come next, over branches where these are known. Not what they
// name by registers that one of them has changed before: what is there now may be anything, such as
// an object of pthreads, which changes in others' turns.
// `unknown`: registers of which the values here are not known.
void note_operands(const Task& task, const Registers& registers, uint16_t unknown,
                   ExecutionPoint& point) {
  uint64_t next[kInstructionsLooked + 2] = {registers.rip};
  uint16_t changed_at[kInstructionsLooked + 2] = {unknown};
  unsigned ends = 1;
  uint64_t seen[kInstructionsLooked];
  const auto is_seen = [&](uint64_t rip, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
      if (seen[i] == rip) return true;
    }
    return false;
  };
  Registers at = registers;
  Instruction instruction;
  for (unsigned i = 0, looked = 0; i < ends && looked < kInstructionsLooked; i++) {
    at.rip = next[i];
    uint16_t changed = changed_at[i];
    while (looked < kInstructionsLooked && !is_seen(at.rip, looked) &&
           decode(at.rip, instruction)) {
      seen[looked++] = at.rip;
      const AccessList list = accesses_of(instruction, at, sys::fs_base_untouched(),
                                          reinterpret_cast<uint64_t>(&task), Extent::kOneStep);
      const bool is_known = !names_any(instruction, changed);
      for (size_t k = 0; k < list.count && is_known; k++) {
        const Access& access = list.accesses[k];
        if (access.read && access.size) note_word(task, point, access.address, access.size);
      }
      changed |= instruction.changed;
      if (instruction.is_branch && instruction.has_target && ends < kInstructionsLooked) {
        changed_at[ends] = changed;
        next[ends++] = instruction.target;
      }
      if (instruction.is_call) changed |= kCallClobbers;
      if (instruction.is_syscall || instruction.is_jump || instruction.is_return ||
          (instruction.is_branch && !instruction.has_target))
        break;
      at.rip += instruction.length;
    }
  }
}

// The registers as they will be in a function's caller, where it returns in a straight line.
class WayOut {
 public:
  WayOut(const Task& task, const Registers& registers) : at(registers), task_(task) {}

  // False: it is not known how it returns.
  bool step_to_caller() {
    Instruction instruction;
    for (unsigned i = 0; i < kInstructionsLooked; i++) {
      if (translate::code_at(at.rip).empty() || !decode(at.rip, instruction)) return false;
      const auto* code = reinterpret_cast<const uint8_t*>(at.rip);
      at.rip += instruction.length;
      if (instruction.is_return)
        return instruction.length <= 2 && pop(at.rip) && !translate::code_at(at.rip).empty();
      if (instruction.is_branch || instruction.is_syscall || !step(code, instruction)) return false;
    }
    return false;
  }

  Registers at;
  uint16_t unknown = 0;  // those of which the values are not

 private:
  static constexpr unsigned kPushed = 8;

  static uint16_t bit(unsigned number) { return static_cast<uint16_t>(1u << number); }

  bool pop(uint64_t& to) {
    uint64_t& top = at.general[kRsp];
    const uint64_t address = top;
    top += 8;
    if (count_ && pushed_[count_ - 1].address <= address) {
      const bool is_it = pushed_[--count_].address == address;
      to = pushed_[count_].value;
      return is_it && pushed_[count_].is_known;
    }
    const uint64_t from = look_at(task_, address);
    return from && from_program(to, static_cast<long>(from)) == 0;
  }

  // False: what becomes of the stack pointer is not known.
  bool step(const uint8_t* code, const Instruction& instruction) {
    const unsigned prefix = code[0] == 0x41;  // REX.B
    const unsigned number = (code[prefix] & 7u) + 8 * prefix;
    const bool is_alone = instruction.length == prefix + 1;
    const bool is_wide = code[0] == 0x48;
    if (is_alone && (code[prefix] & 0xf8) == 0x50) {  // push
      if (count_ == kPushed || number == kRsp) return false;
      const uint64_t top = at.general[kRsp] -= 8;
      pushed_[count_++] = {top, at.general[number], !(unknown & bit(number))};
    } else if (is_alone && (code[prefix] & 0xf8) == 0x58) {  // pop
      if (number == kRsp) return false;
      if (pop(at.general[number])) unknown &= static_cast<uint16_t>(~bit(number));
      else unknown |= bit(number);
    } else if (is_alone && code[0] == 0xc9) {  // leave
      if (unknown & bit(kRbp)) return false;
      at.general[kRsp] = at.general[kRbp];
      if (!pop(at.general[kRbp])) unknown |= bit(kRbp);
    } else if (is_wide && code[1] == 0x89 && code[2] == 0xe5) {  // mov rbp, rsp
      at.general[kRbp] = at.general[kRsp];
      unknown &= static_cast<uint16_t>(~bit(kRbp));
    } else if (is_wide && code[1] == 0x83 && (code[2] == 0xc4 || code[2] == 0xec)) {
      const auto size = static_cast<uint64_t>(int64_t{static_cast<int8_t>(code[3])});
      at.general[kRsp] += code[2] == 0xc4 ? size : -size;  // add, or sub
    } else {
      unknown |= instruction.changed;
    }
    return !(unknown & bit(kRsp));
  }

  const Task& task_;
  struct {
    uint64_t address, value;
    bool is_known;
  } pushed_[kPushed] = {};
  unsigned count_ = 0;
};

// A loop may count in memory that it reads itself, and be stopped in a function that it calls: what
// comes after that has returned tells its rounds apart as well.
void note_operands_of_callers(const Task& task, const Registers& registers, ExecutionPoint& point) {
  constexpr unsigned kCallers = 3;
  WayOut way(task, registers);
  for (unsigned i = 0; i < kCallers && way.step_to_caller(); i++)
    note_operands(task, way.at, way.unknown, point);
}

// What of an execution point follows from the task alone.
constexpr size_t kOwnLooks = offsetof(ExecutionPoint, stack);

ExecutionPoint point_at_registers(const Task& task, const Registers& registers,
                                  const LowVectors& low) {
  ExecutionPoint point{};
  point.rip = registers.rip;
  copy_bytes(point.general, registers.general, sizeof point.general);
  point.vectors = hash_words(0, low.word[0], sizeof low / sizeof low.word[0][0]);
  for (unsigned i = 0; i < 16; i++) point.vector[i] = low.word[i][0];
  note_operands(task, registers, 0, point);
  note_operands_of_callers(task, registers, point);
  return point;
}

// As far as the task may look: callers' frames tell apart what a function does twice. Not the red
// zone: a function that makes no use of it has remains of signal frames there, flags among them.
uint64_t hash_of_stack(const Task& task, uint64_t rsp) {
  constexpr uint64_t kMax = 4 * kPageSize;
  uint64_t words[kPageSize / sizeof(uint64_t)];
  uint64_t at = rsp & ~uint64_t{7}, limit = at + kMax, hash = at;
  // Behind these lies what others write, and flags that translated code leaves as they are not in
  // the program (code/translate/counted.h).
  for (const uint64_t begin :
       {shared().program.stack_begin, sys::fs_base_untouched(), frame_above(task, at)}) {
    if (at < begin && begin < limit) limit = begin & ~uint64_t{7};
  }
  while (at < limit) {
    const uint64_t end = page_down(at) + kPageSize < limit ? page_down(at) + kPageSize : limit;
    const uint64_t from = look_at(task, at);
    if (!from || from_program(words, static_cast<long>(from), end - at) != 0) break;
    hash = hash_words(hash, words, (end - at) / sizeof(uint64_t));
    at = end;
  }
  return hash ^ at;
}

// At View isolated a stop would need the turn, and at View direct others run in the same process.
bool can_stop() { return input::recording() && (!g_tasks_active || plan().gives_pages()); }

bool is_point(const Task& task, const Registers& registers) {
  const uint64_t rip = registers.rip;
  Instruction instruction;
  if (!can_stop()) return false;
  if (task.identity.in_vfork || task.fast_lock_section || task.turn.depth ||
      page::own_image().contains(rip))
    return false;
  if (shared().memory.has_made_code)
    return false;  // it may come there on its way, and translated is only what is known
  return translate::can_seek(rip) && decode(rip, instruction) &&
         instruction.repeat == Repeat::kNone;
}

// How far above the program's address the runtime sees the bytes. Returns false if it may not
// access all of them without an event.
bool see_all(const Task& task, Range range, bool writes, uint64_t& above) {
  constexpr uint64_t kMost = 64 * kPageSize;
  above = 0;
  if (range.empty() || (!g_tasks_active && !shared_memory::g_active)) return true;
  if (range.size() > kMost) return false;
  if (g_tasks_active && page::backing_bytes_at(range.start) < range.size()) return false;
  for (uint64_t at = page_down(range.start); at < range.limit; at += kPageSize) {
    if (shared_memory::g_active && !shared_memory::mapping_at(at).empty()) return false;
    if (g_tasks_active && (!page::may_access(at, writes) || !view::coherent::has(task, at, writes)))
      return false;
  }
  if (g_tasks_active) above = page::shared_view_of(range.start) - range.start;
  return true;
}

// What is left of a repeated string instruction is carried out, as single steps would take
// thousands of signals (a trap after each round). Returns false if the task comes to an event in
// it: it needs a page that it has not.
bool go_behind_repeated(const Task& task, ucontext_t& context) {
  Instruction instruction;
  RepeatedRanges ranges;
  uint64_t to_above = 0, from_above = 0;
  if (!can_stop() || shared().memory.has_made_code ||
      !decode(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]), instruction) ||
      instruction.repeat == Repeat::kNone || !ranges_of_repeated(context, ranges))
    return true;
  const bool is_counted = instruction.repeat == Repeat::kCounted;
  if (see_all(task, ranges.to, is_counted, to_above) &&
      see_all(task, ranges.from, false, from_above)) {
    (void)finish_repeated(context, to_above, from_above);
    return true;
  }
  return !is_counted || !g_tasks_active || shared_memory::g_active;
}

bool is_between(uint64_t rip) {
  StubPlace point;
  Instruction instruction;
  return page::own_image().contains(rip) || find_stub_place(rip, point) ||
         (decode(rip, instruction) && instruction.repeat != Repeat::kNone);
}

bool blocks_steps(const ucontext_t& context) {
  uint64_t mask = 0;
  copy_bytes(&mask, &context.uc_sigmask, sizeof mask);
  return mask & sys::signal_bit(SIGTRAP);
}

void end_steps(Task& task, ucontext_t& context) {
  task.recorded.steps_to_point = 0;
  context.uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(sys::kTrapFlag);
}

}  // namespace

uint64_t shown_flags(uint64_t rip, uint64_t flags) {
  // The processor's own: in what a fault saves, not in what a call does.
  constexpr uint64_t kResumeFlag = 0x10000;
  return flags & ~(kResumeFlag | translate::dead_flags_at(rip));
}

bool stop_at_point(Task& task, ucontext_t& context, bool soon) {
  if (task.spin.stepping || task.recorded.at_point) return false;
  if (on_signal_stack(task, context)) return false;
  const view::PeekScope peeks(task);
  if (!go_behind_repeated(task, context)) return false;
  const Registers registers = registers_of_gregs(context.uc_mcontext.gregs);
  if (is_point(task, registers)) {
    task.recorded.point = point_at_registers(task, registers, low_vectors(context));
    auto& flags = context.uc_mcontext.gregs[REG_EFL];
    flags = static_cast<greg_t>(shown_flags(registers.rip, static_cast<uint64_t>(flags)));
    task.recorded.at_point = 1;
    enter_where_it_stands(task, context);
    return true;
  }
  // Some steps help where it is the runtime's code, or a repeated instruction, that it is in. Not
  // where the kernel could not tell a step, as signals are being raised: it would end the program.
  if (soon && !blocks_steps(context) && can_stop() && !task.recorded.steps_to_point &&
      !shared().memory.has_made_code && is_between(registers.rip)) {
    task.recorded.steps_to_point = kMaxSteps;
    context.uc_mcontext.gregs[REG_EFL] |= static_cast<greg_t>(sys::kTrapFlag);
  }
  return false;
}

bool step_to_point(Task& task, ucontext_t& context) {
  if (!task.recorded.steps_to_point) return false;
  const auto rsp = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
  const bool is_inside = task.in_runtime || on_runtime_stack(task, rsp);
  if (is_inside || !--task.recorded.steps_to_point) {  // inside: the event that it was to make
    end_steps(task, context);
  } else if (stop_at_point(task, context, false)) {
    end_steps(task, context);
  }
  return true;
}

uint64_t seek_point(Task& task, uint64_t rip) {
  if (task.identity.in_vfork) return rip;
  const ExecutionPoint* point = input::next_point(task);
  if (!point || !translate::open_own_cache(reinterpret_cast<uint64_t>(&weir_site_entry),
                                           reinterpret_cast<uint64_t>(&weir_upcall)))
    return rip;
  // A handler's return looks for a point itself, and may empty the cache: it does not run there.
  for (const uint64_t entry : {reinterpret_cast<uint64_t>(&weir_notified),
                               reinterpret_cast<uint64_t>(weir_shown_sigreturn),
                               reinterpret_cast<uint64_t>(weir_copied_sigreturn)})
    translate::add_translation_exit(entry);
  uint64_t seen_at[ExecutionPoint::kWords] = {};
  for (unsigned i = 0; i < ExecutionPoint::kWords && point->address[i]; i++)
    seen_at[i] = look_at(task, point->address[i]);
  const uint64_t at = translate::seek(task, rip, *point, seen_at);
  return at ? at : rip;
}

void log_point(Task& task) {
  // Invariant 3 of stop_point.h.
  WEIR_DEBUG_CHECK(!g_tasks_active || shared().order.turn == task.id);
  task.recorded.at_point = 0;
  task.recorded.point.stack = hash_of_stack(task, task.recorded.point.general[kRsp]);
  if (g_tasks_active) {
    task.recorded.point.turns = shared().order.decisions - 1;
    task.spent.counters.events--;  // it is found before the event that it makes
  }
  input::log_point(task, task.recorded.point);
  if (g_tasks_active) task.spent.counters.events++;
}

void go_on_as_recorded(Task& task, Frame& frame) {
  task.pending = 0;  // what other tasks have sent comes where it came then
  if (has_room_for_parked(task)) unpark(task);
  take_recorded_signals(task);
  if (!task.pending) frame.rip = seek_point(task, frame.rip);
}

void seek_beyond(Task& task, Frame& frame) {
  constexpr uint64_t kCode = 9;  // weir_sigreturn's two instructions
  if (translate::is_inside(frame.rip)) return;
  if (frame.rip >= reinterpret_cast<uint64_t>(weir_shown_sigreturn) &&
      frame.rip < reinterpret_cast<uint64_t>(weir_shown_sigreturn_end))
    return;  // it comes by itself (weir_copy_for_sigreturn), or is called by the runtime
  if (frame.rip - reinterpret_cast<uint64_t>(weir_sigreturn) > kCode) {
    if (input::replaying()) frame.rip = seek_point(task, frame.rip);
    return;
  }
  uint64_t words[sys::kContextSize / 8];  // the rest is where these say
  if (from_program(words, static_cast<long>(frame.rsp), sizeof words) != 0) return;
  auto& rip = reinterpret_cast<ucontext_t*>(words)->uc_mcontext.gregs[REG_RIP];
  const auto back = static_cast<uint64_t>(rip);
  if (page::own_image().contains(back))
    return;  // handlers that the runtime called: it comes by itself
  const uint64_t next = seek_point(task, back);
  if (next == back) return;
  rip = static_cast<greg_t>(next);
  const uint64_t copy = kCountState + kPageSize - sizeof words;
  copy_bytes(reinterpret_cast<void*>(copy), words, sizeof words);
  frame.rsp = copy;
}

namespace {

// Objects of pthreads on the stack change in others' turns: all those that came before are over.
bool has_stack_of(const Task& task, const ExecutionPoint& point) {
  if (g_tasks_active && !order::await_turns(point.turns)) return false;
  return point.stack == hash_of_stack(task, point.general[kRsp]);
}

}  // namespace

bool on_seek_gate(Task& task, Frame& frame) {
  const ExecutionPoint* point = input::next_point(task);
  frame.rip = point ? point->rip : 0;
  const ExecutionPoint here = point_at_registers(task, registers_of(frame), low_vectors_now());
  if (!point || __builtin_memcmp(point, &here, kOwnLooks) != 0 || !has_stack_of(task, *point)) {
    frame.rip = translate::pass_seek_gate(here);
    return false;
  }
  input::take_point(task);
  translate::close_seek_gate();
  frame.rflags = shown_flags(here.rip, frame.rflags);
  task.signals.preempted_rip = here.rip;
  frame.site = kPreempted;  // as it was recorded: handlers find the frame on their stack
  return true;
}

void note_code(Range text) {
  translate::on_mapping(text, true);
  translate::note_text(text);
}

void forget_points() { translate::forget_own_cache(); }

}  // namespace weir::trap
