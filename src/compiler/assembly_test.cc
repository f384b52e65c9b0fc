#include "compiler/assembly.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::cc {
namespace {

const char kIdent[] = "\t.ident\t\"GCC: (Debian 12.2.0-14) 12.2.0\"\n";

// The lines without the space at their begin; a tab within is a blank.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else if (c != '\t' || !line.empty()) {
      line += c == '\t' ? ' ' : c;
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Assembly, WhatCompilersWroteIsKnown) {
  EXPECT_TRUE(is_compiled(kIdent));
  EXPECT_TRUE(is_compiled("\t.ident\t\"Debian clang version 14.0.6\"\n"));
  EXPECT_FALSE(is_compiled("\t.data\nx:\t.long 4\n"));
  EXPECT_FALSE(is_compiled("\t.ident \"mine\"\n"));
}

TEST(Assembly, AVariableHasPagesAndAnEntry) {
  const Lines lines =
      lines_of(with_own_pages("\t.globl\tx\n\t.section\t.data.x,\"aw\"\n\t.align 4\n\t.type\tx, "
                              "@object\n\t.size\tx, 4\nx:\n\t.long\t4\n\t.text\n"));
  const Lines expected = {".globl x",   ".section .data.x,\"aw\"",
                          ".align 4",   ".type x, @object",
                          ".size x, 4", ".balign 4096",
                          ".Lweir_0:",  "x:",
                          ".long 4",    ".balign 4096",
                          ".text",      ".section weir_statics,\"ao\",@progbits,.Lweir_0",
                          ".balign 8",  ".quad .Lweir_0-.",
                          ".quad 4"};
  EXPECT_EQ(lines, expected);
}

TEST(Assembly, NeighboursInOneSectionArePartedOnce) {
  const std::string text = with_own_pages(
      "\t.data\n\t.type\ta, @object\n\t.size\ta, 1\na:\n\t.byte\t1\n\t.type\tb, "
      "@object\n\t.size\tb, 1\nb:\n\t.byte\t2\n");
  size_t count = 0;
  for (size_t at = 0; (at = text.find(".balign\t4096", at)) != text.npos; at++) count++;
  EXPECT_EQ(count, 4u);
  EXPECT_NE(text.find(".Lweir_1-."), text.npos);
}

TEST(Assembly, AnInlineVariablesEntryIsOfItsGroup) {
  const std::string text = with_own_pages(
      "\t.weak\tv\n\t.section\t.bss.v,\"awG\",@nobits,v,comdat\n\t.type\tv, "
      "@gnu_unique_object\n\t.size\tv, 48\nv:\n\t.zero\t48\n");
  EXPECT_NE(text.find(".section\tweir_statics,\"aGo\",@progbits,.Lweir_0,v,comdat"), text.npos);
}

TEST(Assembly, AVariableWithoutASectionGetsOne) {
  const std::string text = with_own_pages("\t.text\n\t.local\tz\n\t.comm\tz,40,32\n");
  EXPECT_EQ(text.find(".comm"), text.npos);
  EXPECT_EQ(text.find(".local"), text.npos);
  EXPECT_NE(
      text.find(
          ".pushsection\t.bss.z,\"aw\",@nobits\n\t.balign\t32\n\t.type\tz, @object\n\t.size\tz, "
          "40\n\t.balign\t4096\n.Lweir_0:\nz:\n\t.zero\t40\n\t.balign\t4096\n\t.popsection"),
      text.npos);
}

TEST(Assembly, OthersAreLeftAlone) {
  for (const char* section : {".section .rodata.x,\"a\"", ".section .tdata.x,\"awT\",@progbits",
                              ".section .data.rel.ro.x,\"aw\"", ".section mine,\"aw\"",
                              ".section .tbss,\"awT\",@nobits"}) {
    const std::string text =
        std::string("\t") + section + "\n\t.type\tx, @object\n\t.size\tx, 4\nx:\n\t.long\t4\n";
    EXPECT_EQ(with_own_pages(text), text) << section;
  }
  const std::string common = "\t.comm\tx,4,4\n\t.type\tx, @object\n\t.size\tx, 4\n";
  EXPECT_EQ(with_own_pages(common), common);
  const std::string guard =
      "\t.section\t.bss._ZGV1m,\"awG\",@nobits,_ZGV1m,comdat\n\t.type\t_ZGV1m, "
      "@gnu_unique_object\n\t.size\t_ZGV1m, 8\n_ZGV1m:\n\t.zero\t8\n";
  EXPECT_EQ(with_own_pages(guard), guard);
}

TEST(Assembly, TheProgramsOwnAssemblyIsFollowedOnly) {
  const std::string own =
      "#APP\n\t.pushsection weir_pages,1,\"aw\",@progbits\n.balign "
      "4096\n.popsection\n\t.data\n\t.type x, @object\nx: .long 3\n#NO_APP\n";
  EXPECT_EQ(with_own_pages(own), own);
  const std::string text = with_own_pages(
      "\t.section\t.data.x,\"aw\"\n\t.type\tx, @object\nx:\n#APP\n\t.pushsection "
      ".text\n\tnop\n\t.popsection\n#NO_APP\n");
  EXPECT_NE(text.find("\t.balign\t4096\n\t.pushsection .text"), text.npos);
}

TEST(Assembly, CutAnywhereItIsStillReadToTheEnd) {
  const std::string whole =
      "\t.section\t.data.x,\"aw\"\n\t.type\tx, @object\n\t.size\tx, "
      "4\nx:\n\t.long\t4\n\t.local\tz\n\t.comm\tz,4,4\n\t.popsection\n";
  for (size_t size = 0; size <= whole.size(); size++)
    EXPECT_GE(with_own_pages(whole.substr(0, size)).size() + 64, size);
}

}  // namespace
}  // namespace weir::cc
