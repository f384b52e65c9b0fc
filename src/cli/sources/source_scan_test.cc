// Each case is a source file in which one line is marked; whether that line's statement is
// certainly no atomic operation.
#include "cli/sources/source_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/sources/source_tokens.h"

namespace weir::cli {
namespace {

class SourceScanTest : public testing::Test {
 protected:
  SourceScanTest() : folder_(testing::TempDir() + "weir_scan_XXXXXX") {
    if (!mkdtemp(folder_.data())) throw std::runtime_error("mkdtemp");
  }
  ~SourceScanTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // The first line with "HERE" in a comment.
  SourceScan::Found look(const std::string& text, const std::string& name = "", int column = 0) {
    const std::string path =
        write(name.empty() ? "case" + std::to_string(++cases_) + ".c" : name, text);
    const size_t at = text.find("HERE");
    return SourceScan().look(
        path,
        1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n')),
        column, unit_);
  }
  bool plain(const std::string& text) { return look(text).is_plain; }

  std::string folder_;
  std::vector<std::string> unit_;
  int cases_ = 0;
};

TEST_F(SourceScanTest, PlainStatements) {
  EXPECT_TRUE(plain("int x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_TRUE(plain("int x; int g(int);\nint f(void) {\n  return g(x) + 1;  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("struct s { int a, b; };\nvoid f(struct s* p) {\n  p->b = p->a;  // HERE\n}\n"));
  EXPECT_TRUE(plain("int x;\nvoid f(void) {\n  while (!x) {}  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("int x[4];\nvoid f(int n) {\n  for (int i = 0; i < n; i++) x[i]++;  // HERE\n}\n"));
  EXPECT_TRUE(plain("volatile int x;\nint f(void) {\n  return x;  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("#include <stdio.h>\nint x;\nvoid f(void) {\n  printf(\"%d\", x);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, WordsThatSaySo) {
  for (const char* statement :
       {"atomic_store(&x, 1);", "__atomic_store_n(&x, 1, 0);", "__sync_lock_release(&x);",
        "WRITE_ONCE(x, 1);", "*(_Atomic int*)&x = 1;", "InterlockedExchange(&x, 1);",
        "smp_store_release(&x, 1);", "asm volatile(\"movl $1, %0\" : \"=m\"(x));",
        "ck_pr_store_int(&x, 1);", "ACCESS_ONCE(x) = 1;", "std::atomic_ref<int>(x).store(1);"}) {
    EXPECT_FALSE(plain(std::string("int x;\nvoid f(void) {\n  ") + statement + "  // HERE\n}\n"))
        << statement;
  }
}

TEST_F(SourceScanTest, PragmasThatSaySo) {
  const auto in_body = [](const std::string& body) {
    return "int x, v;\nvoid f(void) {\n" + body + "}\n";
  };
  EXPECT_FALSE(plain(in_body("#pragma omp atomic write\n  x = 7;  // HERE\n")));
  EXPECT_FALSE(plain(in_body("# pragma omp \\\n  atomic read\n  v = x;  // HERE\n")));
  EXPECT_FALSE(plain(in_body("  if (v)\n#pragma omp atomic\n    x++;  // HERE\n")));
  EXPECT_FALSE(
      plain(in_body("#pragma omp atomic capture\n  {\n    v = x;\n    x++;  // HERE\n  }\n")));
  EXPECT_FALSE(plain(in_body("  _Pragma(\"omp atomic\") x += 1;  // HERE\n")));
  EXPECT_FALSE(plain("#define ADD _Pragma(\"omp atomic\")\n" + in_body("  ADD x++;  // HERE\n")));
  EXPECT_TRUE(plain(in_body("#pragma omp atomic\n  v++;\n  x = 7;  // HERE\n")));
  EXPECT_TRUE(plain(in_body("#pragma omp atomic capture\n  { v = x; x++; }\n  x = 7;  // HERE\n")));
  EXPECT_TRUE(plain(in_body("  x = 7;  // HERE\n#pragma omp atomic\n  v++;\n")));
  EXPECT_TRUE(plain(in_body("#pragma omp critical\n  x = 7;  // HERE\n")));
  EXPECT_TRUE(plain(in_body("  _Pragma(\"omp critical\") x = 7;  // HERE\n")));
}

TEST_F(SourceScanTest, WordsInCommentsAndTextsSayNothing) {
  EXPECT_TRUE(
      plain("int x; void g(const char*);\nvoid f(void) {\n  /* atomic_load */ x = 1;  // HERE "
            "atomic\n}\n"));
  EXPECT_TRUE(
      plain("int x; void g(const char*, int);\nvoid f(void) {\n  g(\"atomic \\\" _Atomic\", x);  "
            "// HERE\n}\n"));
  EXPECT_TRUE(
      plain("int x; char c;\nvoid f(void) {\n  c = '\"'; x = 1;  // HERE\n  g(\"atomic\");\n}\n"));
  EXPECT_TRUE(
      plain("int x; void g(const char*, int);\nvoid f(void) {\n  g(R\"x(atomic \" )x\", x);  // "
            "HERE\n}\n"));
}

TEST_F(SourceScanTest, AStatementOfSeveralLinesIsOne) {
  EXPECT_FALSE(plain("int x, y;\nvoid f(void) {\n  y = x +  // HERE\n      atomic_load(&x);\n}\n"));
  EXPECT_FALSE(plain("int x, y;\nvoid f(void) {\n  y = atomic_load(\n      &x);  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("int x, y;\nvoid f(void) {\n  y = 2;\n  x = 1;  // HERE\n  y = atomic_load(&x);\n}\n"));
  EXPECT_TRUE(plain("int x, y;\nvoid f(void) {\n  y = atomic_load(&x);\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("int x, y;\nvoid f(void) {\n  for (y = 0;\n       y < atomic_load(&x);  // HERE\n      "
            " y++) {}\n}\n"));
  EXPECT_FALSE(
      plain("int x;\nvoid f(void) {\n  for (int y = 0;  // HERE\n       y < atomic_load(&x); y++) "
            "{}\n}\n"));
  EXPECT_TRUE(plain("int x;\nvoid f(void) {\n  if (x) {  // HERE\n    atomic_load(&x);\n  }\n}\n"));
}

TEST_F(SourceScanTest, ByItsColumnAStatementIsOneOfSeveral) {
  const std::string two = "int x, y;\nvoid f(void) {\n  x = 1; y = atomic_load(&x);  // HERE\n}\n";
  EXPECT_FALSE(look(two).is_plain);
  EXPECT_TRUE(look(two, "", 5).is_plain);    // =
  EXPECT_FALSE(look(two, "", 14).is_plain);  // atomic_load
  EXPECT_FALSE(look(two, "", 4).is_plain);   // no token begins there: all that is at the line
}

TEST_F(SourceScanTest, ByItsColumnAHeadIsToldFromWhatItStandsBefore) {
  const std::string branch =
      "int x, y;\nvoid f(void) {\n  if (atomic_load(&x)) y = 1;  // HERE\n  else if (x) y = "
      "atomic_load(&x);\n}\n";
  EXPECT_FALSE(look(branch).is_plain);
  EXPECT_FALSE(look(branch, "", 7).is_plain);
  EXPECT_TRUE(look(branch, "", 26).is_plain);
  const std::string other =
      "int x, y;\nvoid f(void) {\n  if (x) y = 1;\n  else if (x > (y)) y = atomic_load(&x);  // "
      "HERE\n}\n";
  EXPECT_TRUE(look(other, "", 12).is_plain);
  EXPECT_FALSE(look(other, "", 23).is_plain);
  const std::string loop =
      "int x[9];\nvoid f(int n) {\n  for (int i = 0; i < n; i++) x[i] = i, use(atomic_load(&n));  "
      "// HERE\n}\n";
  EXPECT_TRUE(look(loop, "", 21).is_plain);
  EXPECT_FALSE(look(loop, "", 36).is_plain);
}

TEST_F(SourceScanTest, Macros) {
  EXPECT_FALSE(
      plain("#define LOAD(p) __atomic_load_n(p, 0)\nint x;\nint f(void) {\n  return LOAD(&x);  // "
            "HERE\n}\n"));
  EXPECT_FALSE(
      plain("#define RAW(p) __atomic_load_n(p, 0)\n#define LOAD(p) (RAW(p) \\\n  + 0)\nint x;\nint "
            "f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("#define COUNT \\\n  __atomic_load_n(&x, 0)\nint x;\nint f(void) {\n  return COUNT;  "
            "// HERE\n}\n"));
  EXPECT_FALSE(
      plain("#if 0\n#define LOAD(p) *(p)\n#else\n#define LOAD(p) __atomic_load_n(p, "
            "0)\n#endif\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("#define LOAD(p) (*(p))\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_FALSE(plain("int x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, PartsThatAreNotCompiledHere) {
  const std::string head = "#ifdef _WIN32\n#include <windows.h>\n#endif\n";
  EXPECT_TRUE(plain(head + "int X1;\nvoid f(void) {\n  X1 = FLAG;  // HERE\n}\n"));
  EXPECT_FALSE(plain("#include <windows.h>\nint x;\nvoid f(void) {\n  x = FLAG;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("#ifdef OTHER\n#include <windows.h>\n#endif\nint x;\nvoid f(void) {\n  x = "
            "FLAG;  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("#ifdef _WIN32\n#define LOAD(p) __atomic_load_n(p, 0)\n#else\n#define LOAD(p) "
            "(*(p))\n#endif\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("#if defined(__linux__) && 1\n#define LOAD(p) __atomic_load_n(p, 0)\n#else\n#define "
            "LOAD(p) (*(p))\n#endif\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, NamesInCapitalsThatAreNoMacros) {
  const std::string head = "#include \"missing.h\"\n";
  for (const char* declaration :
       {"static int NAME;", "int NAME[4];", "enum { FIRST, NAME };", "enum kind { NAME = 3 };",
        "struct NAME { int x; };", "typedef int NAME;", "int OTHER = 2, *p; int NAME = 3;"}) {
    EXPECT_TRUE(plain(head + declaration + "\nint x;\nvoid f(void) {\n  x = NAME;  // HERE\n}\n"))
        << declaration;
  }
  EXPECT_TRUE(
      look(head + "namespace NAME { int x; }\nvoid f() {\n  NAME::x = 1;  // HERE\n}\n", "n.cc")
          .is_plain);
  EXPECT_TRUE(look(head + "template <typename NAME> void f(NAME* p, int* q) {\n  *q = "
                          "sizeof(NAME);  // HERE\n}\n",
                   "t.cc")
                  .is_plain);
  EXPECT_FALSE(plain(head + "int x;\nint g(void) { return NAME; }\nvoid f(void) {\n  x = NAME;  "
                            "// HERE\n}\n"));
}

TEST_F(SourceScanTest, MacrosOfHeaders) {
  write("macros.h", "#include \"deep/inner.h\"\n");
  write("deep/inner.h", "#define LOAD(p) __atomic_load_n(p, 0)\n#define PEEK(p) (*(p))\n");
  EXPECT_FALSE(
      plain("#include \"macros.h\"\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("#include \"macros.h\"\nint x;\nint f(void) {\n  return PEEK(&x);  // HERE\n}\n"));
  unit_ = {write("include/project/one.h", "#define TAKE(p) __atomic_load_n(p, 0)\n")};
  EXPECT_FALSE(
      plain("#include <project/one.h>\nint x;\nint f(void) {\n  return TAKE(&x);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, AHeaderOfTheSystemIsNotOneThatItIncludes) {
  unit_ = {"/usr/include/x86_64-linux-gnu/bits/dirent.h"};
  EXPECT_TRUE(
      plain("#include <dirent.h>\nvoid* x;\nvoid f(DIR* d) {\n  x = readdir(d);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, AHeaderThatIsMissingMayDefineAnything) {
  EXPECT_FALSE(
      plain("#include \"gone.h\"\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
  EXPECT_FALSE(plain("#include \"gone.h\"\nint x;\nint f(void) {\n  return COUNT;  // HERE\n}\n"));
  EXPECT_TRUE(plain("#include \"gone.h\"\nint x;\nint f(void) {\n  return x;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, InlineFunctions) {
  EXPECT_FALSE(
      plain("static inline int load(int* p) { return __atomic_load_n(p, 0); }\nint x;\nint f(void) "
            "{\n  return load(&x);  // HERE\n}\n"));
  EXPECT_TRUE(
      plain("static inline int load(int* p) { return *p; }\nint x;\nint f(void) {\n  return "
            "load(&x);  // HERE\n}\n"));
  EXPECT_FALSE(plain(
      "static inline int raw(int* p) { return __atomic_load_n(p, 0); }\nstatic inline int "
      "load(int* p) { return raw(p); }\nint x;\nint f(void) {\n  return load(&x);  // HERE\n}\n"));
  write("in.h", "int load(int* p) { return __atomic_load_n(p, 0); }\n");
  EXPECT_FALSE(plain("#include \"in.h\"\nint x;\nint f(void) {\n  return load(&x);  // HERE\n}\n"));
}

TEST_F(SourceScanTest, FunctionsThatReturnPointers) {
  const std::string type = "struct s { int x; };\nstruct s one;\n";
  EXPECT_TRUE(plain(type + "static struct s* get(void) { return &one; }\nvoid f(void) {\n  "
                           "get()->x = 1;  // HERE\n}\n"));
  EXPECT_TRUE(plain(type + "struct s *get(void);\nvoid f(void) {\n  get()->x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain(type + "int g(void) { return 2 * get(1); }\nvoid f(void) {\n  "
                            "get(2)->x = 1;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, AssemblyInAFunctionThatIsCalled) {
  EXPECT_TRUE(
      plain("static inline void use(long value) { __asm__ volatile(\"\" : : \"r\"(value) : "
            "\"memory\"); }\nint x;\nvoid f(void) {\n  use(x);  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("static inline int load(int* p) {\n  int value;\n  __asm__ volatile(\"mov %1, %0\" : "
            "\"=r\"(value) : \"m\"(*p));  // HERE\n  return value;\n}\n"));
}

TEST_F(SourceScanTest, WhatSignalHandlersMayWriteIsNotAtomicBetweenThreads) {
  EXPECT_TRUE(plain(
      "#include <signal.h>\nvolatile sig_atomic_t x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain(
      "#include <signal.h>\n_Atomic sig_atomic_t x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, DeclaredTypes) {
  EXPECT_FALSE(plain("_Atomic int x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("_Atomic(int) x, y;\nvoid f(void) {\n  y = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("int _Atomic x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("static atomic_int x = 0;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain(
      "struct s { int a; atomic_int* b; };\nvoid f(struct s* p) {\n  *p->b = 1;  // HERE\n}\n"));
  EXPECT_TRUE(plain(
      "struct s { int a; atomic_int b; };\nvoid f(struct s* p) {\n  p->a = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("void f(int n, atomic_int* p) {\n  *p = 1;  // HERE\n}\n"));
  EXPECT_TRUE(plain("void f(atomic_int* p, int* n) {\n  *n = 1;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("typedef _Atomic int number;\nnumber x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("typedef struct { atomic_int value; } number;\nnumber x;\nvoid f(void) {\n  x.value = "
            "1;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("#define SHARED _Atomic\nSHARED int x;\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(
      plain("using Flag = std::atomic<bool>;\nFlag x;\nvoid f() {\n  x = true;  // HERE\n}\n"));
  EXPECT_FALSE(plain("std::atomic<int> x{0};\nvoid f() {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("std::vector<std::atomic<int>> x(3);\nvoid f() {\n  x[1] = 1;  // HERE\n}\n"));
  write("type.h", "struct s { _Atomic long count; };\n");
  EXPECT_FALSE(plain("#include \"type.h\"\nvoid f(struct s* p) {\n  p->count = 1;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, WhatAnAtomicObjectIsMadeOfIsNotAtomicItself) {
  const std::string counted = "void f() {\n  x++;  // HERE\n}\n";
  EXPECT_TRUE(plain("int x;\nvoid g() { std::atomic_ref<int>(x).fetch_add(1); }\n" + counted));
  EXPECT_TRUE(plain("int x;\nvoid g() { std::atomic_ref<int> r(x), s(x); r++; }\n" + counted));
  EXPECT_TRUE(plain("int x;\nstd::atomic<int> g(int x, int* y) { return x; }\n" + counted));
  EXPECT_FALSE(plain("int y;\nstd::atomic<int> z(y), x(1);\n" + counted));
  EXPECT_FALSE(plain("std::atomic<int>(x);\n" + counted));
  EXPECT_FALSE(plain("_Atomic(int) x;\n" + counted));
}

TEST_F(SourceScanTest, WhatIsDeclaredInAFunctionCountsThere) {
  EXPECT_TRUE(
      plain("int x;\nvoid g(void) {\n  atomic_int x;\n}\nvoid f(void) {\n  x = 1;  // HERE\n}\n"));
  EXPECT_FALSE(plain("void f(void) {\n  atomic_int x;\n  x = 1;  // HERE\n}\n"));
  EXPECT_TRUE(plain("void g(atomic_int* p) { }\nvoid f(int* p) {\n  *p = 1;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, UsedAtomicallyElsewhereIsNoDeclaration) {
  EXPECT_TRUE(
      plain("int x;\nvoid g(void) { __atomic_store_n(&x, 1, 0); int y = atomic_load(&x); }\nint "
            "f(void) {\n  return x;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, AStaticVariableInAFunctionHasAGuard) {
  EXPECT_FALSE(plain("int g();\nint f() {\n  static int x = g();  // HERE\n  return x;\n}\n"));
  EXPECT_TRUE(plain("static int f(int* p) { return *p; }  // HERE\n"));
  EXPECT_TRUE(plain("static int x;\nint f() {\n  return x;  // HERE\n}\n"));
}

TEST_F(SourceScanTest, WhatCannotBeReadProvesNothing) {
  EXPECT_FALSE(SourceScan().look(folder_ + "/none.c", 1, 0, {}).is_plain);
  EXPECT_FALSE(SourceScan().look(folder_, 1, 0, {}).is_plain);
  const std::string path = write("short.c", "int x;\n\nvoid f(void) { x = 1; }\n");
  EXPECT_FALSE(SourceScan().look(path, 2, 0, {}).is_plain);
  EXPECT_FALSE(SourceScan().look(path, 9, 0, {}).is_plain);
  EXPECT_FALSE(SourceScan().look(path, -1, 0, {}).is_plain);
  EXPECT_TRUE(SourceScan().look(path, 3, 0, {}).is_plain);
}

TEST_F(SourceScanTest, IncludesInACircleEnd) {
  write("a.h", "#include \"b.h\"\n");
  write("b.h", "#include \"a.h\"\n#define LOAD(p) __atomic_load_n(p, 0)\n");
  EXPECT_FALSE(plain("#include \"a.h\"\nint x;\nint f(void) {\n  return LOAD(&x);  // HERE\n}\n"));
}

TEST(ScanText, AnyBytesAreSurvived) {
  uint64_t state = 88172645463325252;
  const std::string alphabet = "{}()<>;,\"'#/\\*\n =ab0R_\xff";
  for (int round = 0; round < 20000; round++) {
    std::string text;
    for (int i = 0; i < 40; i++) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      text += alphabet[state % alphabet.size()];
    }
    scan_text(text + (round % 2 ? "\n#include \"x" : "\n#define R\"("));
  }
}

// All that says atomic is a declaration, beside which another one may be the program's.
TEST_F(SourceScanTest, DeclaredTwice) {
  const std::string either =
      "#include <atomic>\n#if RACY\nusing Count = int;\n#else\nusing Count = std::atomic<int>;\n"
      "#endif\n";
  const SourceScan::Found one =
      look(either + "Count alive;\nvoid f() {\n  alive++;  // HERE\n}\n", "twice.cc");
  EXPECT_TRUE(one.says_atomic);
  EXPECT_EQ(one.declared, "alive");
  EXPECT_TRUE(one.is_class);
  const SourceScan::Found loaded = look(
      either + "Count alive;\nint f() {\n  return alive + std::atomic_load(&alive);  // HERE\n}\n",
      "loaded.cc");
  EXPECT_TRUE(loaded.says_atomic);
  EXPECT_EQ(loaded.declared, "");
  const SourceScan::Found unknown = look(
      either + "Count alive;\nint f() {\n  return alive + unknown(1);  // HERE\n}\n", "unknown.cc");
  EXPECT_TRUE(unknown.says_atomic);
  EXPECT_EQ(unknown.declared, "");
  // What debug information says of these is no proof.
  EXPECT_FALSE(look("#if RACY\nint alive;\n#else\n_Atomic int alive;\n#endif\nvoid f(void) {\n  "
                    "alive++;  // HERE\n}\n",
                    "qualified.cc")
                   .is_class);
  EXPECT_FALSE(look(either + "struct View {\n  std::atomic_ref<int> hits;\n};\nvoid f(View& view) "
                             "{\n  view.hits++;  // HERE\n}\n",
                    "view.cc")
                   .is_class);
}

}  // namespace
}  // namespace weir::cli
