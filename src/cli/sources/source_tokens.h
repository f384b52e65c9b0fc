// The words of a C or C++ source file: without comments and texts, directives apart.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::cli {

struct Token {
  std::string text;
  int line = 0, column = 0;  // from 1; columns are bytes
  bool is_name = false;
  int depth = 0;     // of parentheses in this block
  int function = 0;  // in whose body or parameters it stands, counted from 1; 0: in none
};

struct Include {
  std::string name;
  bool is_quoted;  // "name", not <name>
};

struct SourceFile {
  bool is_readable = false;
  std::vector<Token> tokens;
  std::map<std::string, std::vector<std::string>> macros;  // name to all names in its definitions
  std::vector<Include> includes;
  std::set<std::string> callables;  // names that a parenthesis follows somewhere
  std::vector<size_t> atomic_from;  // tokens behind `#pragma omp atomic` and its like
};

// Returns the scanned file, which is read once. For headers of the system the tokens are not kept.
const SourceFile& scanned_file(const std::string& path);
bool is_system_header(const std::string& path);

// Scans a text; for scanned_file(), and for tests.
SourceFile scan_text(const std::string& text);

// Whether a token ends what stands before it.
bool is_boundary(const Token& token);

}  // namespace weir::cli
