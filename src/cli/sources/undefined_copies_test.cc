#include "cli/sources/undefined_copies.h"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

bool copies(const std::string& text, int line, const std::string& variable = "shared",
            bool is_inlined = false) {
  return copies_into_undefined(scan_text(text), line, variable, is_inlined);
}

TEST(UndefinedCopies, LocalThatIsSetUnderAConditionOnly) {
  const std::string text =
      "int shared;\n"
      "struct R get(int may) {\n"
      "  struct R r;\n"
      "  r.ok = may;\n"
      "  if (may)\n"
      "    r.value = shared;\n"
      "  return r;\n"
      "}\n";
  EXPECT_TRUE(copies(text, 6));
  EXPECT_TRUE(copies(text, 2));  // a load that was moved has the function's line
  EXPECT_TRUE(copies(text, 6, ""));
  EXPECT_FALSE(copies(text, 2, ""));
  EXPECT_FALSE(copies(text, 6, "other"));
}

TEST(UndefinedCopies, InABlockAndBehindElse) {
  EXPECT_TRUE(
      copies("void f() {\n  int v;\n  if (a) {\n    g();\n    v = shared + 1;\n  }\n}\n", 5));
  EXPECT_TRUE(copies("void f() {\n  int v;\n  if (a) g();\n  else v = shared;\n  h(v);\n}\n", 4));
  EXPECT_TRUE(copies("void f() {\n  T* u, *v;\n  while (a()) v = &shared[1];\n}\n", 3));
  EXPECT_TRUE(
      copies("void f() {\n  int v[2];\n  switch (a) {\n    case 1: v[0] = shared;\n  }\n}\n", 4));
}

TEST(UndefinedCopies, LocalWithAValueOrWithoutACondition) {
  EXPECT_FALSE(copies("void f() {\n  int v = 0;\n  if (a) v = shared;\n}\n", 3));
  EXPECT_FALSE(copies("void f() {\n  int v;\n  v = shared;\n  g(v);\n}\n", 3));
  EXPECT_FALSE(copies("void f() {\n  int v;\n  { v = shared; }\n  g(v);\n}\n", 3));
  EXPECT_FALSE(copies("int v;\nvoid f() {\n  if (a) v = shared;\n}\n", 3));
  EXPECT_FALSE(copies("void f() {\n  int v;\n  if (shared == 1) v = 2;\n}\n", 3));
}

TEST(UndefinedCopies, AnotherLineReadsTheVariable) {
  const std::string text = "void f() {\n  int v;\n  if (a) v = shared;\n  g(shared);\n  h(v);\n}\n";
  EXPECT_TRUE(copies(text, 3));
  EXPECT_FALSE(copies(text, 4));
  EXPECT_TRUE(copies(text, 5));
}

TEST(UndefinedCopies, ParameterOfAnInlinedFunction) {
  const std::string text =
      "bool try_get(int& out, int* to) {\n  if (!ready) return false;\n  out = shared;\n"
      "  *to = shared;\n  return true;\n}\n";
  EXPECT_TRUE(copies(text, 3, "shared", true));
  EXPECT_TRUE(copies(text, 4, "shared", true));
  EXPECT_FALSE(copies(text, 3, "shared", false));
  EXPECT_FALSE(copies("void set(int& out) {\n  out = shared;\n}\n", 2, "shared", true));
}

TEST(UndefinedCopies, NoFunctionThere) {
  EXPECT_FALSE(copies("int shared;\n", 1));
  EXPECT_FALSE(copies("", 3));
}

}  // namespace
}  // namespace weir::cli
