#include "host/start_stack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace weir::loader {
namespace {

// A stack as the kernel leaves it, in the middle of an array.
class Words {
 public:
  Words(std::vector<std::string> arguments, std::vector<std::string> variables)
      : texts_{std::move(arguments), std::move(variables)} {
    std::vector<uint64_t> words{texts_[0].size()};
    for (std::vector<std::string>& list : texts_) {
      for (std::string& text : list) words.push_back(reinterpret_cast<uint64_t>(text.data()));
      words.push_back(0);
    }
    for (uint64_t one :
         {uint64_t{AT_PHDR}, uint64_t{1}, uint64_t{AT_PHNUM}, uint64_t{2}, uint64_t{AT_ENTRY},
          uint64_t{3}, uint64_t{AT_PAGESZ}, uint64_t{4096}, uint64_t{AT_BASE}, uint64_t{5},
          uint64_t{AT_EXECFN}, uint64_t{6}, uint64_t{AT_NULL}, uint64_t{0}})
      words.push_back(one);
    begin_ = words_ + 16;
    std::memcpy(begin_, words.data(), words.size() * sizeof words[0]);
  }
  char** arguments() { return reinterpret_cast<char**>(begin_ + 1); }

 private:
  std::vector<std::string> texts_[2];
  alignas(16) uint64_t words_[128] = {};
  uint64_t* begin_;
};

std::vector<std::string> list(char** at) {
  std::vector<std::string> all;
  while (*at) all.emplace_back(*at++);
  return all;
}

uint64_t fact(const StartStack& stack, uint64_t type) {
  for (const Elf64_auxv_t* at = stack.facts; at->a_type != AT_NULL; at++) {
    if (at->a_type == type) return at->a_un.a_val;
  }
  return ~uint64_t{0};
}

// As a program's first instructions read it.
StartStack begins_with(uint64_t pointer) {
  EXPECT_EQ(pointer % 16, 0u);
  const uint64_t count = *reinterpret_cast<uint64_t*>(pointer);
  StartStack stack;
  stack.arguments = reinterpret_cast<char**>(pointer + 8);
  stack.variables = stack.arguments + count + 1;
  char** at = stack.variables;
  while (*at) at++;
  stack.facts = reinterpret_cast<Elf64_auxv_t*>(at + 1);
  return stack;
}

TEST(StartStackTest, WithoutAChangeNothingMoves) {
  Words words({"program", "a"}, {"HOME=/", "LANG=C"});
  const StartStack stack = start_stack_of(words.arguments());
  EXPECT_EQ(list(stack.variables), (std::vector<std::string>{"HOME=/", "LANG=C"}));
  EXPECT_EQ(fact(stack, AT_PAGESZ), 4096u);
}

TEST(StartStackTest, VariablesAreTakenOut) {
  Words words({"program"}, {"A=1", "AB=2", "C="});
  const StartStack stack = start_stack_of(words.arguments());
  EXPECT_EQ(take_variable(stack, "B="), nullptr);
  EXPECT_STREQ(take_variable(stack, "AB="), "2");
  EXPECT_EQ(take_variable(stack, "AB="), nullptr);
  EXPECT_STREQ(take_variable(stack, "C="), "");
  EXPECT_EQ(list(stack.variables), (std::vector<std::string>{"A=1"}));
  // Read again, behind the hole.
  EXPECT_EQ(fact(start_stack_of(words.arguments()), AT_EXECFN), 6u);
}

TEST(StartStackTest, DescribesTheProgram) {
  Words words({"program"}, {"A=1"});
  const StartStack stack = start_stack_of(words.arguments());
  ElfImage image;
  image.entry = 0x300, image.headers = 0x100, image.header_count = 7;
  describe(stack, image, 0x500, "name");
  EXPECT_EQ(fact(stack, AT_PHDR), 0x100u);
  EXPECT_EQ(fact(stack, AT_PHNUM), 7u);
  EXPECT_EQ(fact(stack, AT_ENTRY), 0x300u);
  EXPECT_EQ(fact(stack, AT_BASE), 0x500u);
  EXPECT_EQ(fact(stack, AT_PAGESZ), 4096u);
  EXPECT_STREQ(reinterpret_cast<const char*>(fact(stack, AT_EXECFN)), "name");
}

// For numbers of words that are even and odd, and holes of each size.
TEST(StartStackTest, TheHoleIsClosed) {
  for (unsigned arguments = 1; arguments < 5; arguments++) {
    for (unsigned kept = 0; kept < 4; kept++) {
      for (unsigned taken = 1; taken < 4; taken++) {
        std::vector<std::string> given, variables, left;
        for (unsigned i = 0; i < arguments; i++) given.push_back("a" + std::to_string(i));
        for (unsigned i = 0; i < kept; i++) left.push_back("K" + std::to_string(i) + "=");
        variables = left;
        for (unsigned i = 0; i < taken; i++)
          variables.insert(variables.begin() + std::min(i, kept), "T" + std::to_string(i) + "=");
        Words words(given, variables);
        StartStack stack = start_stack_of(words.arguments());
        for (unsigned i = 0; i < taken; i++)
          EXPECT_NE(take_variable(stack, ("T" + std::to_string(i) + "=").c_str()), nullptr);
        const StartStack begun = begins_with(lay_out(stack));
        EXPECT_EQ(list(begun.arguments), given);
        EXPECT_EQ(list(begun.variables), left);
        EXPECT_EQ(fact(begun, AT_PHDR), 1u);
        EXPECT_EQ(fact(begun, AT_EXECFN), 6u);
      }
    }
  }
}

}  // namespace
}  // namespace weir::loader
