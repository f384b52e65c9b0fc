#include "code/translate/emit.h"

#include "code/patch/frame_offsets.h"
#include "code/translate/cache.h"
#include "code/translate/counted.h"
#include "control/control.h"
#include "sys/report.h"

// Layout of a block:
//
//            -original address
//            what an indirect branch compares (put_lookup)
//   entry:   left -= count; below 0: to `short`
//            the path's instructions; a branch that leaves it goes to its `side`
//            at its end a jump to the next block, at first to its `exit`; or the lookup
//   data:    the exits, the return addresses of calls
//   short:   to the thunk of those that are exhausted
//   side:    room for what refunds and counts at once (write_joint), at first a jump over it
//            left += what of the path was not executed
//            a jump to the next block, at first to its `exit`
//   exit:    to the thunk of misses
//
// A cache that counts nothing (seek.h) has blocks without the first line, the last but one and any
// refund.
//
// `sub` would do for the count, but for the flags of the program. Where these are not dead it is
// done by lea, and the sign is found by jrcxz: the highest byte of a count is 0 or, below zero,
// not.
//
// Every block changes the one count, so what a load of it waits for decides how fast a program is
// that executes many instructions a cycle: hence few and long blocks, one change where a path is
// left and another block begins (write_joint), and operands relative to rip (Field).
//
// A call pushes its return address from memory in the block: no register is free, and two stores of
// four bytes would be slow to read back.

namespace weir::translate {
namespace {

// In what refunds (put_refund): offsets of the value, and of the jump behind it.
constexpr uint32_t kRefundValue = 17, kRefundJump = 25;
// The size of what looks at the result of counting in rcx and restores that register
// (put_prologue).
constexpr uint32_t kLookSize = 20;

bool is_immediate(uint64_t value) {
  return static_cast<int64_t>(value) == static_cast<int32_t>(value);
}

class Translator {
 public:
  Translator(const Trace& trace, bool counts, uint32_t number, uint64_t address, uint8_t* out,
             Mark* marks, bool is_single)
      : trace_(trace),
        counts_(counts),
        is_single_(is_single),
        number_(number),
        address_(address),
        out_(out),
        code_(out, address, marks) {}

  void run(Translation& made) {
    if (counts_) put_prologue();
    for (done_ = 0; done_ < trace_.count; done_++) put_step(trace_.steps[done_]);
    if (!trace_.ends_itself) put_last_exit();
    put_data();
    if (counts_) put_short();
    for (unsigned i = 0; i < leaving_count_; i++) put_leaving(leaving_[i]);
    made.size = code_.size();
    made.count = trace_.weight;
    made.exits = exits_;
    made.exit_count = exit_count_;
    made.mark_count = code_.mark_count();
    made.body = body_;
    made.is_live = !trace_.flags_are_dead;
    made.shortage = shortage_;
  }

 private:
  // A branch that leaves the path.
  struct Leaving {
    uint64_t target;
    uint32_t from;     // offset of its displacement
    uint8_t done;      // instructions executed when it is taken
    const Step* step;  // a return that goes elsewhere than its call came from
    uint32_t from_too;
    bool lost;  // it has used rcx and rdx
  };
  struct Return {
    uint64_t address;
    uint32_t from;
  };

  Mark mark_at(uint64_t rip) const {
    Mark mark;
    mark.done = static_cast<uint8_t>(trace_.weight_before(done_));
    mark.uncounted = !counts_;
    mark.rip = rip;
    return mark;
  }

  void put_prologue() {
    const auto count = static_cast<uint8_t>(trace_.weight);
    Mark mark = mark_at(trace_.steps[0].address);
    mark.uncounted = true;
    code_.mark(mark);
    if (trace_.flags_are_dead) {
      code_.put_subtract(count);
      mark.uncounted = false;
      code_.mark(mark);
      short_ = code_.size();
      code_.put32(0);
      body_ = code_.size();
      return;
    }
    code_.save(kRcx, kSavedRcx);
    mark.lost = kLostRcx;
    code_.load(kRcx, kLeft);
    mark.count_in_rcx = true;
    code_.mark(mark);
    code_.put({0x48, 0x8d, 0x49, static_cast<uint8_t>(-count)});  // lea -count(%rcx),%rcx
    code_.save(kRcx, kLeft);
    mark.count_in_rcx = mark.uncounted = false;
    code_.mark(mark);
    body_ = code_.size();
    code_.put({0x48, 0x0f, 0xc9});  // bswap %rcx
    code_.put({0x0f, 0xb6, 0xc9});  // movzbl %cl,%ecx
    code_.put({0xe3, 0x05, 0xe9});  // jrcxz over jmp
    short_ = code_.size();
    code_.put32(0);
    code_.load(kRcx, kSavedRcx);
    WEIR_CHECK(code_.size() == body_ + kLookSize);
  }

  void put_step(const Step& step) {
    const Mark mark = mark_at(step.address);
    code_.mark(mark);
    switch (step.flow) {
      case Flow::kNext: relocate(code_, step, mark); break;
      case Flow::kJump: break;
      case Flow::kConditional: put_conditional(step); break;
      case Flow::kLoop: put_loop(step); break;
      case Flow::kCall: put_push(step.end()); break;
      default:
        if (step.goes_on) {
          put_return(step, mark);
        } else {
          put_indirect(step, mark);
        }
    }
  }

  void put_conditional(const Step& step) {
    const bool takes = step.next != step.end();
    if (step.target == step.end()) return;
    code_.put({0x0f, static_cast<uint8_t>(0x80 | ((step.shape.opcode & 15) ^ (takes ? 1 : 0)))});
    put_leave(takes ? step.end() : step.target);
  }

  // The displacement of a branch that leaves the path.
  void put_leave(uint64_t target) {
    leaving_[leaving_count_++] = {target, code_.size(), static_cast<uint8_t>(done_ + 1), nullptr,
                                  0,      false};
    code_.put32(0);
  }
  void put_leave(const Step& step, bool lost, uint32_t from_too) {
    leaving_[leaving_count_++] = {0,     code_.size(), static_cast<uint8_t>(done_ + 1),
                                  &step, from_too,     lost};
    code_.put32(0);
  }

  // A return, to where its call came from; anywhere else it leaves the path. Where the flags are
  // dead behind the call they are taken to be so wherever a callee returns to that has changed its
  // return address.
  void put_return(const Step& step, Mark mark) {
    if (flags_are_dead_at(step.next)) {
      code_.put({0x81, 0x3c, 0x24});  // cmpl $low,(%rsp)
      code_.put32(static_cast<uint32_t>(step.next));
      code_.put({0x0f, 0x85});
      const uint32_t low = code_.size();
      code_.put32(0);
      code_.put({0x81, 0x7c, 0x24, 0x04});  // cmpl $high,4(%rsp)
      code_.put32(static_cast<uint32_t>(step.next >> 32));
      code_.put({0x0f, 0x85});
      put_leave(step, false, low);
    } else {
      code_.save(kRcx, kSavedRcx);
      code_.save(kRdx, kSavedRdx);
      mark.lost = kLostRcx | kLostRdx;
      code_.mark(mark);
      code_.put({0x48, 0x8b, 0x0c, 0x24});  // mov (%rsp),%rcx
      code_.put_constant(kRdx, -step.next);
      code_.put({0x48, 0x8d, 0x0c, 0x11});  // lea (%rcx,%rdx),%rcx
      code_.put({0xe3, 0x05, 0xe9});        // jrcxz over jmp
      put_leave(step, true, 0);
      code_.load(kRcx, kSavedRcx);
      code_.load(kRdx, kSavedRdx);
    }
    code_.put({0x48, 0x8d, 0x64, 0x24, 0x08});  // lea 8(%rsp),%rsp
  }

  void put_loop(const Step& step) {
    code_.put_bytes(step.code(), step.shape.length - 1u);
    code_.put({5, 0xe9});
    put_leave(step.end());
    code_.put8(0xe9);
    put_leave(step.target);
  }

  void put_push(uint64_t address) {
    if (is_immediate(address)) {
      code_.put8(0x68);
      code_.put32(static_cast<uint32_t>(address));
      return;
    }
    code_.put({0xff, 0x35});
    returns_[return_count_++] = {address, code_.size()};
    code_.put32(0);
  }

  void put_indirect(const Step& step, Mark mark) {
    code_.save(kRcx, kSavedRcx);
    code_.save(kRdx, kSavedRdx);
    mark.lost = kLostRcx | kLostRdx;
    code_.mark(mark);
    if (step.flow == Flow::kReturn) {
      code_.put({0x48, 0x8b, 0x0c, 0x24});  // mov (%rsp),%rcx
      uint32_t more = 8;
      if (step.shape.immediate_size == 2)
        more += step.code()[step.shape.immediate_at] | step.code()[step.shape.immediate_at + 1]
                                                           << 8;
      code_.put({0x48, 0x8d, 0xa4, 0x24});  // lea more(%rsp),%rsp
      code_.put32(more);
      released_ = static_cast<int32_t>(more);
    } else {
      load_target(code_, step);
      if (step.flow == Flow::kIndirectCall) put_push(step.end());
      released_ = step.flow == Flow::kIndirectCall ? -8 : 0;
    }
    put_lookup(mark);
  }

  // rcx is where the program goes on; its own rcx and rdx are saved. The table knows one block for
  // each value of the lower 16 bits of an address, and a block has the negative of its own address
  // in front of it, so the sum is 0 where it is the one that is wanted. No flag is written.
  void put_lookup(Mark mark) {
    mark.moved = released_;
    code_.mark(mark);
    if (is_single_) {
      code_.save(kRcx, kTarget);
      code_.load(kRcx, kSavedRcx);
      code_.load(kRdx, kSavedRdx);
      put_jump(kCountCode + kLookupMissThunk);
      return;
    }
    code_.put({0x48, 0xba});
    code_.put64(
        kCountTargets /
        sizeof(uint64_t));  // movabs: an index with scale 8 needs no register for the table's base
    code_.put({0x66, 0x89, 0xca});                    // mov %cx,%dx
    code_.put({0x48, 0x8b, 0x14, 0xd5, 0, 0, 0, 0});  // mov (,%rdx,8),%rdx
    code_.save(kRdx, kJump);
    code_.put({0x48, 0x8b, 0x52, 0xf8});  // mov -8(%rdx),%rdx
    code_.put({0x48, 0x8d, 0x0c, 0x11});  // lea (%rcx,%rdx),%rcx
    code_.put8(0xe3);                     // jrcxz
    const uint32_t found = code_.size();
    code_.put8(0);
    code_.put({0x48, 0xf7, 0xd2});              // not %rdx
    code_.put({0x48, 0x8d, 0x4c, 0x11, 0x01});  // lea 1(%rcx,%rdx),%rcx: the address again
    code_.save(kRcx, kTarget);
    code_.load(kRcx, kSavedRcx);
    code_.load(kRdx, kSavedRdx);
    put_jump(kCountCode + kLookupMissThunk);
    code_.land8(found);
    code_.load(kRcx, kSavedRcx);
    code_.load(kRdx, kSavedRdx);
    code_.put_jump_through(kJump);
  }

  void put_translation_exit(const TranslationExit& way_out, uint64_t target) {
    if (way_out.is_trap) {
      code_.put_enter(way_out.site);
      return;
    }
    if (way_out.seek_gate) {
      put_jump(kCountCode + way_out.seek_gate);
      return;
    }
    code_.put({0xff, 0x25, 0, 0, 0, 0});  // jmp *behind(%rip)
    code_.put64(target);
  }

  void put_last_exit() {
    const TranslationExit way_out = way_out_at(trace_.next);
    code_.mark(mark_at(trace_.next));
    if (way_out.is_exit) {
      put_translation_exit(way_out, trace_.next);
      return;
    }
    code_.put8(0xe9);
    leaving_[leaving_count_++] = {
        trace_.next, code_.size(), static_cast<uint8_t>(trace_.count), nullptr, 0, false};
    code_.put32(0);
  }

  void put_data() {
    done_ = trace_.count;
    code_.align(8);
    exits_ = code_.size();
    for (unsigned i = 0; i < leaving_count_; i++) {
      if (leaving_[i].step != nullptr) continue;
      code_.put64(leaving_[i].target);
      code_.put64(0);
    }
    for (unsigned i = 0; i < return_count_; i++) {
      code_.land(returns_[i].from);
      code_.put64(returns_[i].address);
    }
  }

  void put_short() {
    code_.land(short_);
    shortage_ = code_.size();
    done_ = 0;
    Mark mark = mark_at(trace_.steps[0].address);
    mark.lost = trace_.flags_are_dead ? 0 : kLostRcx;
    code_.mark(mark);
    if (!trace_.flags_are_dead) code_.load(kRcx, kSavedRcx);
    code_.put_word(kExit, number_);
    put_jump(kCountCode + kExhaustedThunk);
  }

  void put_jump(uint64_t to) {
    code_.put8(0xe9);
    code_.put_relative(to);
  }

  void put_leaving(const Leaving& leaving) {
    code_.land(leaving.from);
    if (leaving.from_too != 0) code_.land(leaving.from_too);
    done_ = leaving.done;
    if (leaving.step != nullptr) {
      put_other_return(leaving);
      return;
    }
    const uint8_t refund = to_refund(leaving);
    const TranslationExit way_out = way_out_at(leaving.target);
    Mark mark = mark_at(leaving.target);
    Exit exit{leaving.target & 0xffffffffffff, refund, 0, place_of(code_.size())};
    const bool joins = refund > 0 && !way_out.is_exit;
    if (joins) {
      code_.mark(mark);
      code_.put8(0xe9);
      code_.put32(kJointSize - 5);
      for (uint32_t i = 5; i < kJointSize; i++) code_.put8(0xcc);
    }
    if (refund > 0) put_refund(refund, mark, joins);
    if (refund > 0) mark.uncounted = true;
    code_.mark(mark);
    const uint32_t record = exits_ + exit_count_++ * static_cast<uint32_t>(sizeof(Exit));
    if (way_out.is_exit) {
      put_translation_exit(way_out, leaving.target);
      return;
    }
    if (!is_single_) exit.link = place_of(leaving.from);
    __builtin_memcpy(out_ + record, &exit, sizeof exit);
    code_.put_word(kExit, place_of(record));
    put_jump(kCountCode + kMissThunk);
  }

  TranslationExit way_out_at(uint64_t target) const {
    return is_single_ ? TranslationExit{} : translation_exit_at(target);
  }

  uint32_t place_of(uint32_t offset) const {
    return static_cast<uint32_t>(address_ - kCountCode) + offset;
  }

  void put_other_return(const Leaving& leaving) {
    Mark mark = mark_at(leaving.step->address);
    mark.done = static_cast<uint8_t>(trace_.weight_before(leaving.done - 1u));
    if (leaving.lost) {
      mark.lost = kLostRcx | kLostRdx;
      code_.mark(mark);
      code_.load(kRcx, kSavedRcx);
      code_.load(kRdx, kSavedRdx);
      mark.lost = 0;
    }
    if (const uint8_t refund = to_refund(leaving)) put_refund(refund, mark, false);
    mark.uncounted = true;
    code_.mark(mark);
    put_indirect(*leaving.step, mark);
  }

  uint8_t to_refund(const Leaving& leaving) const {
    return counts_ ? static_cast<uint8_t>(trace_.weight - trace_.weight_before(leaving.done)) : 0;
  }

  // What was not executed is no longer counted behind this.
  void put_refund(uint8_t refund, Mark mark, bool joins) {
    code_.mark(mark);
    code_.save(kRcx, kSavedRcx);
    mark.lost = kLostRcx;
    code_.load(kRcx, kLeft);
    mark.count_in_rcx = true;
    code_.mark(mark);
    code_.put({0x48, 0x8d, 0x49, refund});  // lea refund(%rcx),%rcx
    code_.save(kRcx, kLeft);
    mark.count_in_rcx = false;
    mark.uncounted = true;
    code_.mark(mark);
    if (joins) code_.put({0xe9, 0, 0, 0, 0});  // jmp to what follows; later into the next block
    code_.load(kRcx, kSavedRcx);
  }

  const Trace& trace_;
  const bool counts_, is_single_;
  uint32_t number_;
  uint64_t address_;
  uint8_t* out_;
  Code code_;
  unsigned done_ = 0;
  uint32_t short_ = 0, body_ = 0, shortage_ = 0;
  int32_t released_ = 0;
  uint32_t exits_ = 0;
  unsigned exit_count_ = 0, leaving_count_ = 0, return_count_ = 0;
  Leaving leaving_[kMaxInstructions + 2];
  Return returns_[kMaxInstructions];
};

}  // namespace

void Code::put_enter(uint32_t site) {
  put({0x65, 0x48, 0x89, 0x24, 0x25, TASK_SCRATCH_RSP, 0, 0, 0});  // mov %rsp,%gs:scratch
  put({0x65, 0x48, 0x8b, 0x24, 0x25, TASK_STACK_TOP, 0, 0, 0});    // mov %gs:top,%rsp
  put8(0x68);
  put32(site);
  put({0xff, 0x25});  // jmp *slot(%rip)
  put_relative(kCountCode + kEntrySlot);
}

void write_thunks() {
  auto thunk = [](uint32_t at) {
    return Code(reinterpret_cast<uint8_t*>(kCountCode + at), kCountCode + at, nullptr);
  };
  thunk(kMissThunk).put_enter(static_cast<uint32_t>(kCountMiss));
  Code lookup = thunk(kLookupMissThunk);
  lookup.put_word(kExit, 0);
  lookup.put_enter(static_cast<uint32_t>(kCountMiss));
  thunk(kExhaustedThunk).put_enter(static_cast<uint32_t>(kCounted));
  Code none = thunk(kNoBlock - 8);
  none.put64(1);  // of no address that code can have
  none.put8(0xe9);
  none.put_relative(kCountCode + kLookupMissThunk);
}

void write_joint(const Exit& exit, const Block& block) {
  uint64_t address = kCountCode + exit.joint;
  const auto more = static_cast<uint8_t>(block.count - exit.refund);
  if (more == 0) {  // as much as there was left before, which was enough
    Code code(reinterpret_cast<uint8_t*>(address), address, nullptr);
    code.put8(0xe9);
    code.put_relative(address_of(block) + block.body + (block.is_live ? kLookSize : 0));
    return;
  }
  if (block.is_live) {
    address += kJointSize + kRefundValue;
    Code code(reinterpret_cast<uint8_t*>(address), address, nullptr);
    code.put8(static_cast<uint8_t>(-more));
    address += kRefundJump - kRefundValue;
    Code jump(reinterpret_cast<uint8_t*>(address), address, nullptr);
    jump.put8(0xe9);
    jump.put_relative(address_of(block) + block.body);
    return;
  }
  Code code(reinterpret_cast<uint8_t*>(address), address, nullptr);
  code.put_subtract(more);
  code.put_relative(address_of(block) + block.shortage);
  code.put8(0xe9);
  code.put_relative(address_of(block) + block.body);
}

void translate(const Trace& trace, bool counts, uint32_t number, uint64_t address, uint8_t* out,
               Mark* marks, Translation& made, bool is_single) {
  Translator(trace, counts, number, address, out, marks, is_single).run(made);
}

}  // namespace weir::translate
