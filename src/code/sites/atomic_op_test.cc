#include "code/sites/atomic_op.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>

#include <random>
#include <string>
#include <vector>

#include "code/decode/registers.h"

// Each locked instruction is encoded in all its forms, run natively on one copy of some memory and
// through execute_atomic() on another, with the same registers and flags: memory, registers and
// flags must come out equal.

namespace {

using namespace weir;

// Runs `code` with the registers of `frame` (all but rsp) and its status flags, and stores what
// they are afterwards.
extern "C" void weir_test_run_natively(Frame* frame, void* code);
asm(R"(
    .text
weir_test_run_natively:
    push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
    push %rdi
    mov %rsi, %rax
    push %rax
    pushq 120(%rdi)
    popfq
    mov 104(%rdi), %rcx; mov 96(%rdi), %rdx; mov 88(%rdi), %rbx; mov 80(%rdi), %rbp
    mov 72(%rdi), %rsi;  mov 56(%rdi), %r8;  mov 48(%rdi), %r9;  mov 40(%rdi), %r10
    mov 32(%rdi), %r11;  mov 24(%rdi), %r12; mov 16(%rdi), %r13; mov 8(%rdi), %r14
    mov 0(%rdi), %r15;   mov 112(%rdi), %rax; mov 64(%rdi), %rdi
    call *(%rsp)
    push %rdi
    mov 16(%rsp), %rdi
    mov %rcx, 104(%rdi); mov %rdx, 96(%rdi); mov %rbx, 88(%rdi); mov %rbp, 80(%rdi)
    mov %rsi, 72(%rdi);  mov %r8, 56(%rdi);  mov %r9, 48(%rdi);  mov %r10, 40(%rdi)
    mov %r11, 32(%rdi);  mov %r12, 24(%rdi); mov %r13, 16(%rdi); mov %r14, 8(%rdi)
    mov %r15, 0(%rdi);   mov %rax, 112(%rdi)
    pushfq
    popq 120(%rdi)
    pop 64(%rdi)
    cld
    pop %rax
    pop %rdi
    pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
    ret
)");

using Code = std::vector<uint8_t>;

struct Form {
  std::string name;
  uint8_t size;        // 1, 2, 4, 8, 16
  Code opcode;         // after the prefixes
  int reg_field;       // ModRM.reg where it extends the opcode, -1 where it names a register
  unsigned immediate;  // bytes
  bool lock = true;
};

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  const char* names[7] = {"add", "or", "adc", "sbb", "and", "sub", "xor"};
  for (uint8_t size : {1, 2, 4, 8}) {
    auto wide = static_cast<uint8_t>(size > 1);
    unsigned full = size == 1 ? 1 : size == 2 ? 2 : 4;
    for (int i = 0; i < 7; i++) {
      forms.push_back({names[i], size, {static_cast<uint8_t>(8 * i + wide)}, -1, 0});
      forms.push_back(
          {std::string(names[i]) + " imm", size, {static_cast<uint8_t>(0x80 + wide)}, i, full});
      if (wide) forms.push_back({std::string(names[i]) + " imm8", size, {0x83}, i, 1});
    }
    forms.push_back({"inc", size, {static_cast<uint8_t>(0xfe + wide)}, 0, 0});
    forms.push_back({"dec", size, {static_cast<uint8_t>(0xfe + wide)}, 1, 0});
    forms.push_back({"not", size, {static_cast<uint8_t>(0xf6 + wide)}, 2, 0});
    forms.push_back({"neg", size, {static_cast<uint8_t>(0xf6 + wide)}, 3, 0});
    forms.push_back({"xadd", size, {0x0f, static_cast<uint8_t>(0xc0 + wide)}, -1, 0});
    forms.push_back({"cmpxchg", size, {0x0f, static_cast<uint8_t>(0xb0 + wide)}, -1, 0});
    forms.push_back({"xchg", size, {static_cast<uint8_t>(0x86 + wide)}, -1, 0, false});
    forms.push_back({"lock xchg", size, {static_cast<uint8_t>(0x86 + wide)}, -1, 0, true});
    if (!wide) continue;
    forms.push_back({"bts", size, {0x0f, 0xab}, -1, 0});
    forms.push_back({"btr", size, {0x0f, 0xb3}, -1, 0});
    forms.push_back({"btc", size, {0x0f, 0xbb}, -1, 0});
    for (int i = 5; i < 8; i++) forms.push_back({"bt? imm", size, {0x0f, 0xba}, i, 1});
  }
  forms.push_back({"cmpxchg8b", 8, {0x0f, 0xc7}, 1, 0});
  forms.push_back({"cmpxchg16b", 16, {0x0f, 0xc7}, 1, 0});
  return forms;
}

// [rdi + disp8], the register `source`; `rex`: encode a REX prefix even where none is needed.
Code encode(const Form& form, unsigned source, bool rex, std::mt19937_64& random) {
  Code code;
  if (form.lock) code.push_back(0xf0);
  bool compare_pair = form.name.starts_with("cmpxchg8b") || form.name.starts_with("cmpxchg16b");
  if (form.size == 2) code.push_back(0x66);
  bool wide = compare_pair ? form.size == 16 : form.size == 8;
  auto prefix = static_cast<uint8_t>(0x40 | (wide ? 8 : 0) | (source >= 8 ? 4 : 0));
  if (prefix != 0x40 || rex) code.push_back(prefix);
  code.insert(code.end(), form.opcode.begin(), form.opcode.end());
  unsigned field = form.reg_field >= 0 ? static_cast<unsigned>(form.reg_field) : source & 7;
  code.push_back(static_cast<uint8_t>(0x47 | field << 3));
  code.push_back(0x40);
  for (unsigned i = 0; i < form.immediate; i++) code.push_back(static_cast<uint8_t>(random()));
  return code;
}

class AtomicOpTest : public testing::Test {
 protected:
  static constexpr size_t kMemory = 4096;

  void SetUp() override {
    void* page =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    code_ = static_cast<uint8_t*>(page);
  }
  void TearDown() override { munmap(code_, 4096); }

  uint64_t interesting() {
    switch (random_() % 6) {
      case 0: return 0;
      case 1: return ~uint64_t{0};
      case 2: return uint64_t{1} << (random_() % 64);
      case 3: return (uint64_t{1} << (random_() % 64)) - 1;
      default: return random_();
    }
  }

  // One execution both ways.
  void compare(const Form& form, const Code& code, bool make_equal) {
    memcpy(code_, code.data(), code.size());
    code_[code.size()] = 0xc3;
    AtomicOp op;
    ASSERT_TRUE(decode_atomic(code_, 15, reinterpret_cast<uint64_t>(code_), op)) << form.name;
    ASSERT_EQ(op.length, code.size());
    ASSERT_EQ(op.size, form.size) << form.name;

    Frame frame{};
    for (unsigned i = 0; i < 16; i++) general_register(frame, i) = interesting();
    for (size_t i = 0; i < kMemory / 8; i++) {
      uint64_t value = interesting();
      memcpy(native_ + 8 * i, &value, 8);
    }
    frame.rflags = (random_() & kStatusFlags) | 0x202;
    frame.rdi = reinterpret_cast<uint64_t>(native_) + kMemory / 2 - 0x40;
    if (form.name.starts_with("bt") && op.source != AtomicOp::kImmediate) {
      // A bit offset reaches up to 128 KiB or more: keep it within the memory.
      if (op.source == kRdi) return;
      uint64_t distance = random_() % (4 * kMemory) - 2 * kMemory;
      uint64_t& bit = general_register(frame, op.source);
      bit = form.size == 2   ? (bit & ~uint64_t{0xffff}) | (distance & 0xffff)
            : form.size == 4 ? (bit & ~uint64_t{0xffffffff}) | (distance & 0xffffffff)
                             : distance;
    }
    if (make_equal && form.name.starts_with("cmpxchg")) {
      memcpy(&frame.rax, native_ + kMemory / 2, form.size < 8 ? form.size : 8);
      if (form.name == "cmpxchg8b") memcpy(&frame.rdx, native_ + kMemory / 2 + 4, 4);
      if (form.name == "cmpxchg16b") memcpy(&frame.rdx, native_ + kMemory / 2 + 8, 8);
    }
    memcpy(other_, native_, kMemory);
    Frame expected = frame, got = frame;
    uint64_t address = atomic_address(op, frame, 0);
    bool stores = would_store(op, frame, reinterpret_cast<void*>(address));
    weir_test_run_natively(&expected, code_);
    execute_atomic(op, got, other_ + (address - reinterpret_cast<uint64_t>(native_)));

    for (unsigned i = 0; i < 16; i++) {
      ASSERT_EQ(general_register(got, i), general_register(expected, i))
          << form.name << " size " << +form.size << " r" << i;
    }
    ASSERT_EQ(got.rflags & kStatusFlags, expected.rflags & kStatusFlags)
        << form.name << " size " << +form.size;
    ASSERT_EQ(memcmp(native_, other_, kMemory), 0) << form.name << " size " << +form.size;
    if (form.name.starts_with("cmpxchg")) {
      ASSERT_EQ(stores, (expected.rflags & kZeroFlag) != 0);
    } else {
      ASSERT_TRUE(stores);
    }
  }

  uint8_t* code_ = nullptr;
  alignas(64) uint8_t native_[kMemory];
  alignas(64) uint8_t other_[kMemory];
  std::mt19937_64 random_{42};
};

TEST_F(AtomicOpTest, EveryFormDoesWhatTheInstructionDoes) {
  for (const Form& form : all_forms()) {
    for (unsigned source = 0; source < 16; source++) {
      if (source == kRsp && form.size > 1)
        continue;  // the stack pointer cannot be loaded for a native run
      if (form.reg_field >= 0 && source > 0) break;
      for (bool rex : {false, true}) {
        if (source == kRsp && rex) continue;  // spl
        for (int round = 0; round < 40; round++) {
          compare(form, encode(form, source, rex, random_), round % 2 == 0);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(AtomicOpTest, AddressesAreComputedAsTheCpuDoes) {
  struct Case {
    Code code;
    uint64_t address;
  };
  Frame frame{};
  for (unsigned i = 0; i < 16; i++) general_register(frame, i) = 0x1000 * (i + 1);
  uint64_t here = reinterpret_cast<uint64_t>(code_);
  const Case cases[] = {
      {{0xf0, 0xff, 0x00}, 0x1000},                               // incl (%rax)
      {{0xf0, 0xff, 0x44, 0x88, 0xfc}, 0x1000 + 4 * 0x2000 - 4},  // incl -4(%rax,%rcx,4)
      {{0xf0, 0x43, 0xff, 0x84, 0xc8, 0, 1, 0, 0},
       0x9000 + 8 * 0xa000 + 256},                               // incl 256(%r8,%r9,8)
      {{0xf0, 0x48, 0x83, 0x0c, 0x24, 0}, 0x5000},               // orq $0,(%rsp)
      {{0xf0, 0xff, 0x05, 0x10, 0, 0, 0}, here + 7 + 16},        // incl 16(%rip)
      {{0xf0, 0x83, 0x05, 0x10, 0, 0, 0, 5}, here + 8 + 16},     // addl $5,16(%rip)
      {{0x64, 0x87, 0x04, 0x25, 0x1c, 0, 0, 0}, 0xf000 + 0x1c},  // xchg %eax,%fs:0x1c
      {{0xf0, 0xff, 0x04, 0x25, 0x00, 0x20, 0, 0}, 0x2000},      // incl 0x2000
      {{0xf0, 0x67, 0xff, 0x00}, 0x1000},                        // incl (%eax)
  };
  for (const Case& one : cases) {
    AtomicOp op;
    memcpy(code_, one.code.data(), one.code.size());
    ASSERT_TRUE(decode_atomic(code_, one.code.size(), here, op));
    EXPECT_EQ(atomic_address(op, frame, 0xf000), one.address);
  }
}

TEST_F(AtomicOpTest, WhatIsNotAtomicIsRefused) {
  const Code codes[] = {
      {0x87, 0xc1},                             // xchg %eax,%ecx
      {0xff, 0x00},                             // incl (%rax)
      {0x0f, 0xb1, 0x17},                       // cmpxchg without lock
      {0xf0, 0x90},                             // lock nop: no instruction
      {0x65, 0x87, 0x04, 0x25, 0x1c, 0, 0, 0},  // xchg %eax,%gs:0x1c
      {0x0f, 0xae, 0xe8},                       // lfence
      {0xf0},                                   // cut off
  };
  for (const Code& code : codes) {
    AtomicOp op;
    EXPECT_FALSE(decode_atomic(code.data(), code.size(), 0x1000, op))
        << testing::PrintToString(code);
  }
}

// `lock` instruction, and what follows it.
bool is_unread_before(Code text, std::initializer_list<uint8_t> rest) {
  AtomicOp op;
  EXPECT_TRUE(decode_atomic(text.data(), text.size(), 0x1000, op));
  text.insert(text.end(), rest);
  return is_unread(op, text.data(), text.size(), 0);
}

TEST_F(AtomicOpTest, AResultIsUnreadIfNeitherRegistersNorFlagsTellIt) {
  const Code add{0xf0, 0x83, 0x07, 0x01}, decrement{0xf0, 0xff, 0x0f}, set{0xf0, 0x0f, 0xab, 0x07};
  EXPECT_TRUE(is_unread_before(add, {0xc3}));               // ret
  EXPECT_FALSE(is_unread_before(add, {}));                  // not seen
  EXPECT_TRUE(is_unread_before(decrement, {0x85, 0xc0}));   // test
  EXPECT_FALSE(is_unread_before(decrement, {0x74, 0x00}));  // je: the last one
  EXPECT_TRUE(is_unread_before(set, {0xc3}));
  EXPECT_FALSE(is_unread_before(set, {0x72, 0x00}));                       // jc: it was set
  EXPECT_FALSE(is_unread_before({0xf0, 0x0f, 0xc1, 0x07}, {0xc3}));        // xadd
  EXPECT_FALSE(is_unread_before({0xf0, 0x0f, 0xb1, 0x17}, {0xc3}));        // cmpxchg
  EXPECT_FALSE(is_unread_before({0x87, 0x07}, {0xc3}));                    // xchg
  EXPECT_FALSE(is_unread_before({0x0f, 0xae, 0xf0}, {0xc3}));              // mfence
  EXPECT_FALSE(is_unread_before({0xf0, 0x48, 0x0f, 0xc7, 0x0f}, {0xc3}));  // cmpxchg16b
}

// decode_change() knows the same instructions without their lock prefix, up to the bit tests.
TEST_F(AtomicOpTest, UnlockedFormsAreChangesOfTheSameKind) {
  size_t known = 0;
  for (Form form : all_forms()) {
    if (form.name.ends_with("xchg")) continue;
    form.lock = true;
    const Code locked = encode(form, kRcx, false, random_);
    const Code plain(locked.begin() + 1, locked.end());
    AtomicOp atomic, change;
    ASSERT_TRUE(decode_atomic(locked.data(), locked.size(), 0x1000, atomic)) << form.name;
    EXPECT_FALSE(decode_change(locked.data(), locked.size(), 0x1000, change)) << form.name;
    EXPECT_FALSE(decode_atomic(plain.data(), plain.size(), 0x1000, change)) << form.name;
    const bool is_change = atomic.kind <= AtomicKind::kBtc;
    ASSERT_EQ(decode_change(plain.data(), plain.size(), 0x1000, change), is_change) << form.name;
    if (!is_change) continue;
    known++;
    EXPECT_EQ(change.kind, atomic.kind) << form.name;
    EXPECT_EQ(change.size, atomic.size) << form.name;
    EXPECT_EQ(change.source, atomic.source) << form.name;
    EXPECT_EQ(change.immediate, atomic.immediate) << form.name;
    EXPECT_EQ(change.length, plain.size()) << form.name;
  }
  EXPECT_GT(known, 60u);
  for (const Code& code : {Code{0x39, 0x47, 0x40},     // cmp %eax,0x40(%rdi)
                           Code{0x83, 0x3f, 0x05},     // cmpl $5,(%rdi)
                           Code{0x01, 0xc8},           // add %ecx,%eax
                           Code{0x03, 0x07},           // add (%rdi),%eax
                           Code{0xd1, 0x27},           // shll (%rdi)
                           Code{0x65, 0xff, 0x07},     // incl %gs:(%rdi)
                           Code{0x0f, 0xa3, 0x07}}) {  // bt %eax,(%rdi)
    AtomicOp op;
    EXPECT_FALSE(decode_change(code.data(), code.size(), 0x1000, op))
        << testing::PrintToString(code);
  }
}

TEST_F(AtomicOpTest, AFenceTouchesNothing) {
  const uint8_t code[] = {0x0f, 0xae, 0xf0};
  AtomicOp op;
  ASSERT_TRUE(decode_atomic(code, sizeof(code), 0x1000, op));
  Frame frame{};
  frame.rflags = 0x8d5;
  Frame before = frame;
  EXPECT_EQ(atomic_address(op, frame, 0), 0u);
  execute_atomic(op, frame, nullptr);
  EXPECT_EQ(memcmp(&frame, &before, sizeof(frame)), 0);
}

}  // namespace
