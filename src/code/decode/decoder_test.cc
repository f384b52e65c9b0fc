#include "code/decode/decoder.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <vector>

namespace {

using namespace weir;

constexpr uint64_t kHere = 0x400000, kFsBase = 0x7000000, kGsBase = 0x8000000;

Registers some_registers() {
  Registers registers;
  for (unsigned i = 0; i < 16; i++) registers.general[i] = 0x100000 * (i + 1);
  registers.general[kRcx] = 3;
  return registers;
}

struct Expected {
  uint64_t address;
  uint64_t size;
  bool read;
  bool written;
  bool exact = true;
};

void expect(std::initializer_list<int> code, std::vector<Expected> expected,
            const Registers& registers = some_registers(), Extent extent = Extent::kWhole) {
  std::vector<uint8_t> bytes(code.begin(), code.end());
  SCOPED_TRACE(testing::PrintToString(bytes));
  Instruction instruction;
  ASSERT_TRUE(decode_bytes(bytes.data(), bytes.size(), kHere, instruction));
  ASSERT_EQ(instruction.length, bytes.size());
  AccessList list = accesses_of(instruction, registers, kFsBase, kGsBase, extent);
  EXPECT_FALSE(list.unknown_read || list.unknown_write);
  ASSERT_EQ(list.count, expected.size());
  for (size_t i = 0; i < list.count; i++) {
    EXPECT_EQ(list.accesses[i].address, expected[i].address);
    EXPECT_EQ(list.accesses[i].size, expected[i].size);
    EXPECT_EQ(list.accesses[i].read, expected[i].read);
    EXPECT_EQ(list.accesses[i].written, expected[i].written);
    EXPECT_EQ(list.accesses[i].exact, expected[i].exact);
  }
}

constexpr uint64_t kRbxAt = 0x400000, kRspAt = 0x500000, kRbpAt = 0x600000, kRsiAt = 0x700000,
                   kRdiAt = 0x800000;

TEST(DecoderTest, LoadsAndStores) {
  expect({0x8b, 0x03}, {{kRbxAt, 4, true, false}});  // mov (%rbx),%eax
  expect({0x48, 0x89, 0x44, 0x8b, 0xf8},
         {{kRbxAt + 12 - 8, 8, false, true}});            // mov %rax,-8(%rbx,%rcx,4)
  expect({0x66, 0xff, 0x03}, {{kRbxAt, 2, true, true}});  // incw (%rbx)
  expect({0x8b, 0x05, 0x10, 0, 0, 0}, {{kHere + 6 + 16, 4, true, false}});  // mov 16(%rip),%eax
  expect({0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0},
         {{kFsBase + 8, 8, true, false}});                           // mov %fs:8,%rax
  expect({0x65, 0x8b, 0x03}, {{kGsBase + kRbxAt, 4, true, false}});  // mov %gs:(%rbx),%eax
  expect({0x0f, 0x11, 0x03}, {{kRbxAt, 16, false, true}});           // movups %xmm0,(%rbx)
  expect({0x62, 0xf1, 0x7c, 0x48, 0x11, 0x03},
         {{kRbxAt, 64, false, true}});  // vmovups %zmm0,(%rbx)
  expect({0x62, 0xf1, 0x7c, 0x49, 0x11, 0x03},
         {{kRbxAt, 64, false, true, false}});  // ... with a mask
}

TEST(DecoderTest, AddressesOnlyAreNoAccess) {
  expect({0x48, 0x8d, 0x03}, {});              // lea (%rbx),%rax
  expect({0x0f, 0x1f, 0x44, 0x00, 0x00}, {});  // nopl
  expect({0x0f, 0x18, 0x0b}, {});              // prefetcht0 (%rbx)
  expect({0xf3, 0x90}, {});                    // pause
  expect({0xeb, 0xfe}, {});                    // jmp to itself
}

TEST(DecoderTest, StackInstructions) {
  expect({0x53}, {{kRspAt - 8, 8, false, true}});              // push %rbx
  expect({0x5b}, {{kRspAt, 8, true, false}});                  // pop %rbx
  expect({0xe8, 0, 0, 0, 0}, {{kRspAt - 8, 8, false, true}});  // call
  expect({0xff, 0x54, 0x24, 8},
         {{kRspAt + 8, 8, true, false}, {kRspAt - 8, 8, false, true}});  // call *8(%rsp)
  expect({0xc3}, {{kRspAt, 8, true, false}});                            // ret
  expect({0xc9}, {{kRbpAt, 8, true, false}});                            // leave
  expect({0xc8, 0x10, 0, 0}, {{kRspAt - 8, 8, false, true}});            // enter $16,$0
  expect({0x9c}, {{kRspAt - 8, 8, false, true}});                        // pushfq
  expect({0xff, 0x74, 0x24, 8},
         {{kRspAt + 8, 8, true, false}, {kRspAt - 8, 8, false, true}});  // push 8(%rsp)
  expect({0x8f, 0x44, 0x24, 8},
         {{kRspAt + 16, 8, false, true}, {kRspAt, 8, true, false}});  // pop 8(%rsp)
}

TEST(DecoderTest, StringInstructions) {
  Registers registers = some_registers();
  expect({0xa4}, {{kRdiAt, 1, false, true}, {kRsiAt, 1, true, false}});                // movsb
  expect({0xf3, 0x48, 0xa5}, {{kRdiAt, 24, false, true}, {kRsiAt, 24, true, false}});  // rep movsq
  expect({0xf3, 0x48, 0xa5}, {{kRdiAt, 8, false, true}, {kRsiAt, 8, true, false}}, registers,
         Extent::kOneStep);
  expect({0xf3, 0xa6},
         {{kRsiAt, 3, true, false, false}, {kRdiAt, 3, true, false, false}});  // repe cmpsb
  registers.rflags = kDirectionFlag;
  expect({0xf3, 0x48, 0xab}, {{kRdiAt - 16, 24, false, true}}, registers);  // rep stosq, downward
  registers.general[kRcx] = 0;
  expect({0xf3, 0x48, 0xab}, {}, registers);
}

TEST(DecoderTest, BitTestsMoveTheirAddress) {
  Registers registers = some_registers();
  registers.general[kRdx] = static_cast<uint64_t>(-1);
  expect({0x48, 0x0f, 0xab, 0x13}, {{kRbxAt - 8, 8, true, true}}, registers);  // bts %rdx,(%rbx)
  registers.general[kRdx] = 100;
  expect({0x0f, 0xa3, 0x13}, {{kRbxAt + 12, 4, true, false}}, registers);  // bt %edx,(%rbx)
  expect({0x0f, 0xba, 0x2b, 7}, {{kRbxAt, 4, true, true}}, registers);     // btsl $7,(%rbx)
}

TEST(DecoderTest, ComparisonsMayNotStore) {
  expect({0x0f, 0xb1, 0x13}, {{kRbxAt, 4, true, true, false}});         // cmpxchg
  expect({0x48, 0x0f, 0xc7, 0x0b}, {{kRbxAt, 16, true, true, false}});  // cmpxchg16b
}

TEST(DecoderTest, WhatComputesWithANumber) {
  const auto computes = [](std::initializer_list<int> code) {
    const std::vector<uint8_t> bytes(code.begin(), code.end());
    Instruction instruction;
    EXPECT_TRUE(decode_bytes(bytes.data(), bytes.size(), kHere, instruction));
    return instruction.computes;
  };
  EXPECT_TRUE(computes({0x83, 0x3b, 0x00}));         // cmpl $0,(%rbx)
  EXPECT_TRUE(computes({0x03, 0x03}));               // add (%rbx),%eax
  EXPECT_TRUE(computes({0xf6, 0x03, 0x04}));         // testb $4,(%rbx)
  EXPECT_FALSE(computes({0x8b, 0x03}));              // mov (%rbx),%eax
  EXPECT_FALSE(computes({0x48, 0x63, 0x03}));        // movslq (%rbx),%rax
  EXPECT_FALSE(computes({0x0f, 0xb6, 0x03}));        // movzbl (%rbx),%eax
  EXPECT_FALSE(computes({0xf3, 0x0f, 0x58, 0x03}));  // addss (%rbx),%xmm0
  EXPECT_FALSE(computes({0x0f, 0x44, 0x03}));        // cmove (%rbx),%eax
}

TEST(DecoderTest, Jumps) {
  const auto is_jump = [](std::initializer_list<int> code) {
    const std::vector<uint8_t> bytes(code.begin(), code.end());
    Instruction instruction;
    EXPECT_TRUE(decode_bytes(bytes.data(), bytes.size(), kHere, instruction));
    return instruction.is_jump;
  };
  EXPECT_TRUE(is_jump({0xeb, 0x02}));         // jmp
  EXPECT_TRUE(is_jump({0xe9, 0, 0, 0, 0}));   // jmp
  EXPECT_TRUE(is_jump({0xff, 0xe0}));         // jmp *%rax
  EXPECT_FALSE(is_jump({0x74, 0x02}));        // je
  EXPECT_FALSE(is_jump({0xe8, 0, 0, 0, 0}));  // call
  EXPECT_FALSE(is_jump({0xc3}));              // ret
}

TEST(DecoderTest, ChangedRegisters) {
  const auto changed = [](std::initializer_list<int> code) {
    const std::vector<uint8_t> bytes(code.begin(), code.end());
    Instruction instruction;
    EXPECT_TRUE(decode_bytes(bytes.data(), bytes.size(), kHere, instruction));
    return instruction.changed;
  };
  const auto bits = [](std::initializer_list<unsigned> registers) {
    uint16_t mask = 0;
    for (const unsigned i : registers) mask = static_cast<uint16_t>(mask | 1u << i);
    return mask;
  };
  EXPECT_EQ(changed({0x48, 0x8d, 0x6c, 0x24, 0x88}), bits({kRbp}));  // lea -0x78(%rsp),%rbp
  EXPECT_EQ(changed({0x48, 0x89, 0x03}), 0);                         // mov %rax,(%rbx)
  EXPECT_EQ(changed({0xb4, 0x01}), bits({kRax}));                    // mov $1,%ah
  EXPECT_EQ(changed({0x66, 0x41, 0xff, 0xc0}), bits({8}));           // inc %r8w
  EXPECT_EQ(changed({0x39, 0xc8}), 0);                               // cmp %ecx,%eax
  EXPECT_EQ(changed({0x0f, 0x44, 0xc1}), bits({kRax}));              // cmove %ecx,%eax
  EXPECT_EQ(changed({0x55}), bits({kRsp}));                          // push %rbp
  EXPECT_EQ(changed({0x5b}), bits({kRsp, kRbx}));                    // pop %rbx
  EXPECT_EQ(changed({0xf3, 0x48, 0xa5}), bits({kRcx, kRsi, kRdi}));  // rep movsq
  EXPECT_EQ(changed({0x48, 0xf7, 0xe1}), bits({kRax, kRdx}));        // mul %rcx
  EXPECT_EQ(changed({0x66, 0x0f, 0x6f, 0xc1}), 0);                   // movdqa %xmm1,%xmm0
}

TEST(DecoderTest, WhatCannotBeSaidIsUnknown) {
  struct Case {
    std::vector<uint8_t> code;
    bool reads, writes;
  };
  const Case cases[] = {
      {{0x0f, 0x05}, true, true},                                 // syscall
      {{0x62, 0xf2, 0x7d, 0x49, 0x90, 0x0c, 0x90}, true, false},  // vpgatherdd
      {{0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x0c, 0x90}, false, true},  // vpscatterdd
      {{0x0f, 0x01, 0xfc}, true, true},                           // clzero
  };
  for (const Case& one : cases) {
    Instruction instruction;
    ASSERT_TRUE(decode_bytes(one.code.data(), one.code.size(), kHere, instruction));
    EXPECT_EQ(instruction.unknown_read, one.reads);
    EXPECT_EQ(instruction.unknown_write, one.writes);
  }
}

TEST(DecoderTest, Kinds) {
  Instruction instruction;
  const uint8_t locked[] = {0xf0, 0x0f, 0xb1, 0x13}, exchange[] = {0x87, 0x03},
                registers_only[] = {0x87, 0xc3};
  ASSERT_TRUE(decode_bytes(locked, sizeof(locked), kHere, instruction));
  EXPECT_TRUE(instruction.is_locked);
  ASSERT_TRUE(decode_bytes(exchange, sizeof(exchange), kHere, instruction));
  EXPECT_TRUE(instruction.is_locked);
  ASSERT_TRUE(decode_bytes(registers_only, sizeof(registers_only), kHere, instruction));
  EXPECT_FALSE(instruction.is_locked);
  const uint8_t branch[] = {0x75, 0xfe};
  ASSERT_TRUE(decode_bytes(branch, sizeof(branch), kHere, instruction));
  EXPECT_TRUE(instruction.is_branch && instruction.has_target);
  EXPECT_EQ(instruction.target, kHere);
  const uint8_t fence[] = {0x0f, 0xae, 0xf0};
  ASSERT_TRUE(decode_bytes(fence, sizeof(fence), kHere, instruction));
  EXPECT_TRUE(instruction.is_fence);
  const uint8_t invalid[] = {0x06}, cut[] = {0x48, 0x8b};
  EXPECT_FALSE(decode_bytes(invalid, sizeof(invalid), kHere, instruction));
  EXPECT_FALSE(decode_bytes(cut, sizeof(cut), kHere, instruction));
}

TEST(RegistersTest, SignalRegistersLandWhereInstructionsExpectThem) {
  greg_t gregs[NGREG] = {};
  gregs[REG_RAX] = 1, gregs[REG_RCX] = 2, gregs[REG_RSP] = 3, gregs[REG_RDI] = 4,
  gregs[REG_R15] = 5;
  gregs[REG_RIP] = 6, gregs[REG_EFL] = 7, gregs[REG_RBX] = 8, gregs[REG_R8] = 9,
  gregs[REG_RBP] = 10;
  Registers registers = registers_of_gregs(gregs);
  EXPECT_EQ(registers.general[kRax], 1u);
  EXPECT_EQ(registers.general[kRcx], 2u);
  EXPECT_EQ(registers.general[kRsp], 3u);
  EXPECT_EQ(registers.general[kRdi], 4u);
  EXPECT_EQ(registers.general[kR15], 5u);
  EXPECT_EQ(registers.rip, 6u);
  EXPECT_EQ(registers.rflags, 7u);
  EXPECT_EQ(registers.general[kRbx], 8u);
  EXPECT_EQ(registers.general[kR8], 9u);
  EXPECT_EQ(registers.general[kRbp], 10u);
}

}  // namespace
