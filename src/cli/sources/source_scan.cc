// What is known of a source file and all that it includes (its closure): which names may stand for
// something atomic.
//
//   macros      whose definition has a name that may; there may be several definitions, any of them
//               counts
//   functions   that are declared inline, or defined in a header, with such a name in their body:
//               their instructions may be taken for the caller's line
//   variables, members, parameters, types   whose declaration has such a name before theirs, or is
//                                           a typedef or `using` that has one
//
// They are found from each other until there are no more. What is declared inside a function counts
// there only.
//
// A header that is not found, and a name that is called and that nothing declares, may be a macro
// of any kind: such a statement is not plain.
#include "cli/sources/source_scan.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "cli/sources/included_file.h"
#include "cli/sources/source_map.h"
#include "cli/sources/source_text.h"
#include "cli/sources/source_tokens.h"

namespace weir::cli {
namespace {

constexpr size_t kMaxFiles = 4000;

bool is_any(std::string_view word, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* one) { return word == one; });
}

bool is_keyword(std::string_view word) {
  return is_any(word,
                {"if",       "while",    "for",      "switch",        "return",         "sizeof",
                 "alignof",  "_Alignof", "decltype", "typeof",        "__typeof__",     "noexcept",
                 "catch",    "throw",    "new",      "delete",        "else",           "do",
                 "case",     "defined",  "int",      "char",          "long",           "short",
                 "unsigned", "signed",   "float",    "double",        "bool",           "void",
                 "auto",     "this",     "operator", "static_assert", "_Static_assert", "const",
                 "volatile", "and",      "or",       "not",           "co_await",       "co_return",
                 "alignas",  "size_t",   "_Pragma"});
}

// The file that an #include names, perhaps by a guess; empty: it is not found.
std::string resolve(const Include& include, const std::string& from,
                    const std::vector<std::string>& unit) {
  std::string file = included_file(include, from, unit);
  return file.empty() ? guess_included_file(include, from) : file;
}

bool is_header(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || path.find('/', dot) != std::string::npos ||
         std::tolower(static_cast<unsigned char>(path[dot + 1])) == 'h' ||
         is_any(path.substr(dot), {".inl", ".inc", ".ipp", ".tcc", ".def"});
}

// As macros are written.
bool is_loud(const std::string& name) {
  return name.size() > 1 &&
         std::ranges::none_of(name, [](unsigned char c) { return std::islower(c); }) &&
         std::ranges::any_of(name, [](unsigned char c) { return std::isupper(c); });
}

// Not in what stands before a function's first brace.
bool is_in_body(const std::vector<Token>& tokens, size_t at) {
  const int function = tokens[at].function;
  for (size_t i = at; function != 0 && i-- > 0 && tokens[i].function == function;) {
    if (tokens[i].text == "{") return true;
  }
  return false;
}

// The name of a function, in front of what it is defined with: nothing of it stands before.
bool is_defined_there(const std::vector<Token>& tokens, size_t at) {
  for (size_t i = at; i-- > 0 && tokens[i].function == tokens[at].function;) {
    if (is_any(tokens[i].text, {"(", "{", "=", ";"})) return false;
  }
  return true;
}

// A name that a declaration gives to a type, a namespace, a variable or a parameter.
bool is_declared_entity(const std::vector<Token>& tokens, size_t at) {
  if (at == 0) return false;
  const Token& before = tokens[at - 1];
  if (is_any(before.text, {"namespace", "struct", "class", "union", "enum", "typename"}))
    return true;
  const std::string next = at + 1 < tokens.size() ? tokens[at + 1].text : "";
  if (before.text == "using" && next == "=") return true;
  const bool is_type =
      before.is_name && !is_any(before.text, {"return", "else", "do", "case", "throw", "goto",
                                              "and", "or", "not", "co_return", "co_await", "new",
                                              "delete", "sizeof", "define", "operator"});
  return is_type && is_any(next, {";", "=", "[", "{", ",", ")", ">", ":"});
}

void add_enumerators(const std::vector<Token>& tokens, std::set<std::string>* names) {
  for (size_t i = 0; i < tokens.size(); i++) {
    if (tokens[i].text != "enum") continue;
    size_t at = i + 1;
    while (at < tokens.size() && !is_any(tokens[at].text, {"{", ";", "(", ")", "="})) at++;
    if (at >= tokens.size() || tokens[at].text != "{") continue;
    for (; at + 1 < tokens.size() && tokens[at].text != "}"; at++) {
      if (is_any(tokens[at].text, {"{", ","}) && tokens[at + 1].is_name &&
          tokens[at + 1].depth == tokens[at].depth)
        names->insert(tokens[at + 1].text);
    }
  }
}

// Where a parenthesis that opens at `open` closes.
size_t close_of(const std::vector<Token>& tokens, size_t open, size_t last) {
  size_t close = open + 1;
  while (close < last && !(tokens[close].text == ")" && tokens[close].depth == tokens[open].depth))
    close++;
  return close;
}

bool is_assembly(std::string_view name) { return is_any(name, {"asm", "__asm", "__asm__"}); }

using Name = std::tuple<std::string, int, std::string>;  // file and function in which it counts (""
                                                         // and 0: everywhere), name

}  // namespace

bool is_atomic_word(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (small.find("sig_atomic_t") != std::string::npos)
    return false;  // in a thread and its handlers, not between threads
  for (const char* part :
       {"atomic", "__sync_", "interlocked", "access_once", "read_once", "write_once", "once_flag",
        "load_acquire", "store_release", "ck_pr_", "load_relaxed", "store_relaxed", "cmpxchg",
        "compare_and_swap", "rcu_dereference", "rcu_assign"}) {
    if (small.find(part) != std::string::npos) return true;
  }
  return is_assembly(name);  // what is in it is not read
}

struct SourceScan::Closure {
  std::vector<std::pair<std::string, const SourceFile*>> files;
  std::set<Name> atomic;
  std::set<std::string> declared;  // names of functions, types and variables
  // Of types, namespaces, variables and enumerators, by a declaration: no macro has such a name, or
  // it would stand in the declaration's place.
  std::set<std::string> entities;
  std::string missing;  // an #include that is not found
  // _Atomic or atomic_ref: what is atomic by those is a plain variable for debug information.
  bool has_qualifier = false;
  bool is_atomic(const std::string& file, int function, const std::string& name) const {
    return is_atomic_word(name) || atomic.contains({"", 0, name}) ||
           (function && atomic.contains({file, function, name}));
  }
  bool add(const std::string& file, int function, const std::string& name) {
    return !is_keyword(name) &&
           atomic.insert(function ? Name{file, function, name} : Name{"", 0, name}).second;
  }
  bool is_macro(const std::string& name) const {
    return std::ranges::any_of(files,
                               [&](const auto& one) { return one.second->macros.contains(name); });
  }
  void add_names(const std::string& path, const SourceFile& file);
  bool add_macros();
  bool add_functions(const std::string& path, const SourceFile& file);
  bool add_declared(const std::string& path, const std::vector<Token>& tokens, size_t start,
                    size_t limit);
  bool add_declared(const std::string& path, const SourceFile& file);
};

// A name that stands behind a type, or anywhere without a call, is no macro with parameters.
void SourceScan::Closure::add_names(const std::string& path, const SourceFile& file) {
  if (is_system_header(path)) declared.insert(file.callables.begin(), file.callables.end());
  for (size_t i = 0; i < file.tokens.size(); i++) {
    if (!file.tokens[i].is_name) continue;
    const bool is_call = i + 1 < file.tokens.size() && file.tokens[i + 1].text == "(";
    const Token* before = i > 0 ? &file.tokens[i - 1] : nullptr;
    const bool has_type =
        before && ((before->is_name &&
                    !is_any(before->text, {"return", "else", "do", "case", "throw", "co_return",
                                           "co_await", "new", "and", "or", "not"})) ||
                   before->text == ">" ||
                   (is_any(before->text, {"*", "&"}) && i >= 2 &&
                    (file.tokens[i].function == 0 || is_defined_there(file.tokens, i))));
    if (!is_call || has_type) declared.insert(file.tokens[i].text);
    has_qualifier |=
        !is_system_header(path) && is_any(file.tokens[i].text, {"_Atomic", "atomic_ref"});
    if (is_declared_entity(file.tokens, i)) entities.insert(file.tokens[i].text);
  }
  add_enumerators(file.tokens, &entities);
}

bool SourceScan::Closure::add_macros() {
  bool is_more = false;
  for (const auto& [path, file] : files) {
    for (const auto& [name, body] : file->macros) {
      if (std::ranges::any_of(body,
                              [&](const std::string& word) { return is_atomic("", 0, word); }))
        is_more |= add("", 0, name);
    }
  }
  return is_more;
}

bool SourceScan::Closure::add_functions(const std::string& path, const SourceFile& file) {
  bool is_more = false;
  const std::vector<Token>& tokens = file.tokens;
  for (size_t i = 0; i < tokens.size();) {
    const int function = tokens[i].function;
    size_t limit = i;
    while (limit < tokens.size() && tokens[limit].function == function) limit++;
    if (function != 0) {
      std::string name;
      bool is_inline = is_header(path), is_suspect = false, is_body = false;
      for (size_t j = i; j < limit; j++) {
        const Token& token = tokens[j];
        is_body |= token.text == "{";
        if (!is_body && is_any(token.text, {"inline", "__inline", "__inline__", "constexpr",
                                            "template", "always_inline"}))
          is_inline = true;
        if (!is_body && name.empty() && token.is_name && j + 1 < limit &&
            tokens[j + 1].text == "(" &&
            !is_any(token.text, {"__attribute__", "alignas", "noexcept"}))
          name = token.text;
        // Assembly in a function that is called is a barrier or a pause; its own instructions are
        // at its own line.
        if (is_body && token.is_name)
          is_suspect |= !is_assembly(token.text) && is_atomic(path, function, token.text);
      }
      if (is_inline && is_suspect && !name.empty()) is_more |= add("", 0, name);
    }
    i = limit;
  }
  return is_more;
}

// Of one statement.
bool SourceScan::Closure::add_declared(const std::string& path, const std::vector<Token>& tokens,
                                       size_t start, size_t limit) {
  bool is_more = false;
  for (size_t i = start; i < limit; i++) {
    const Token& type = tokens[i];
    if (!type.is_name || is_assembly(type.text) || !is_atomic(path, type.function, type.text))
      continue;
    const std::string next = i + 1 < limit ? tokens[i + 1].text : "";
    const std::string before = i > start ? tokens[i - 1].text : "";
    if (tokens[start].text == "using" && start + 2 < limit && tokens[start + 2].text == "=")
      is_more |= add(path, type.function, tokens[start + 1].text);
    if (before == "." || (before == ">" && i >= start + 2 && tokens[i - 2].text == "-"))
      continue;  // a member that is used
    const bool is_specifier = type.text == "_Atomic" && next == "(";
    if (!is_specifier && !is_any(next, {"*", "&", "<", ":"}) &&
        !(i + 1 < limit && tokens[i + 1].is_name))
      continue;
    size_t j = i + 1;
    if (is_specifier || next == "<") {  // what is in it belongs to the type
      int nested = 0;
      for (; j < limit; j++) {
        if (is_any(tokens[j].text, {"(", "<"})) nested++;
        if (is_any(tokens[j].text, {")", ">"}) && --nested == 0) break;
      }
    }
    // An object without a name, made of what stands in the parentheses: atomic_ref<int>(value).
    if (next == "<" && !is_specifier && j + 1 < limit && tokens[j].text == ">" &&
        tokens[j + 1].text == "(") {
      const size_t behind = close_of(tokens, j + 1, limit) + 1;
      if (behind < limit && !is_any(tokens[behind].text, {";", "=", "["})) continue;
    }
    // Names until the declaration's end; of parameters, until this one's.
    bool is_value = false;
    for (; j < limit; j++) {
      const Token& token = tokens[j];
      if (token.depth < type.depth || (token.text == ")" && token.depth <= type.depth - 1)) break;
      if (token.depth == type.depth && token.text == "=") is_value = true;
      if (token.depth == type.depth && token.text == ",") {
        if (type.depth > 0) break;
        is_value = false;
      }
      const std::string behind = j + 1 < tokens.size() ? tokens[j + 1].text : ";";
      if (is_value || !token.is_name || !is_any(behind, {";", "=", ",", "[", "{", ")", ":", "("}))
        continue;
      is_more |= add(path, type.function, token.text);
      if (behind == "(")
        j = close_of(tokens, j + 1, limit);  // what it is made of, or its parameters
    }
  }
  return is_more;
}

bool SourceScan::Closure::add_declared(const std::string& path, const SourceFile& file) {
  bool is_more = false;
  size_t start = 0;
  for (size_t i = 0; i <= file.tokens.size(); i++) {
    if (i < file.tokens.size() && !is_boundary(file.tokens[i])) continue;
    is_more |= add_declared(path, file.tokens, start, i);
    start = i + 1;
  }
  return is_more;
}

SourceScan::SourceScan() = default;
SourceScan::~SourceScan() = default;

const SourceScan::Closure& SourceScan::closure_of(const std::string& path,
                                                  const std::vector<std::string>& unit) {
  std::unique_ptr<Closure>& closure = known_[path];
  if (closure) return *closure;
  closure = std::make_unique<Closure>();
  std::set<std::string> seen = {path};
  std::vector<std::string> waiting = {path};
  for (size_t i = 0; i < waiting.size() && i < kMaxFiles; i++) {
    const std::string from = waiting[i];
    const SourceFile& file = scanned_file(from);
    closure->files.emplace_back(from, &file);
    closure->add_names(from, file);
    for (const Include& include : file.includes) {
      const std::string found = resolve(include, from, unit);
      // The system's headers have includes for other systems.
      if (found.empty() && !is_system_header(from)) closure->missing = include.name;
      if (!found.empty() && seen.insert(found).second) waiting.push_back(found);
    }
  }
  for (bool is_more = true; is_more;) {
    is_more = closure->add_macros();
    for (const auto& [name, file] : closure->files) {
      is_more |= closure->add_declared(name, *file);
      is_more |= closure->add_functions(name, *file);
    }
  }
  return *closure;
}

namespace {

struct Statement {
  size_t first, last;  // tokens
};

// Of a statement `if (head) body`: that part in which the token is.
Statement part_of(const std::vector<Token>& tokens, Statement whole, size_t token) {
  for (size_t at = whole.first; at < token; at = whole.first) {
    if (is_any(tokens[at].text, {"else", "do"})) {
      whole.first = at + 1;
      continue;
    }
    if (!is_any(tokens[at].text, {"if", "while", "for", "switch"})) break;
    const size_t open = at + (tokens[at + 1].text == "constexpr" ? 2 : 1);
    if (open > whole.last || tokens[open].text != "(") break;
    const size_t close = close_of(tokens, open, whole.last);
    if (token <= close) return {at, close};
    whole.first = close + 1;
  }
  return whole;
}

// The tokens of the line, and what of statements is on others.
Statement statement_at(const std::vector<Token>& tokens, size_t first, size_t last) {
  while (first > 0 && !is_boundary(tokens[first - 1])) first--;
  // To the end of the statement; a brace behind a head of a block is one, too.
  int open = 0;
  for (; last + 1 < tokens.size() && !(open == 0 && is_boundary(tokens[last])); last++) {
    const Token& next = tokens[last + 1];
    if (next.text == "{" && !is_any(tokens[last].text, {")", "else", "do", "try", "const"})) open++;
    if (next.text == "}" && open > 0) open--;
    else if (next.text == "}") break;
  }
  return {first, last};
}

// The end of the statement or the block that begins there.
size_t last_of(const std::vector<Token>& tokens, size_t first) {
  int open = 0;
  for (size_t i = first; i < tokens.size(); i++) {
    if (tokens[i].text == "{") open++;
    if (tokens[i].text == "}") open--;
    if (open <= 0 && is_boundary(tokens[i])) return i;
  }
  return tokens.size();
}

// Whether a function, as debug information names it, stands in the file, and not behind the line.
bool has_function(const SourceFile& file, const std::string& function, int line) {
  std::string name;  // the last word of it, without what it is called with
  int depth = 0;
  for (const char c : function) {
    if (c == '(' || c == '<') depth++;
    else if (c == ')' || c == '>') depth--;
    else if (depth == 0 && c == ':') name.clear();
    else if (depth == 0) name += c;
  }
  if (name.empty() || name.starts_with("operator") || name.starts_with("~")) return true;
  return std::ranges::any_of(
      file.tokens, [&](const Token& token) { return token.line <= line && token.text == name; });
}

// What is found of a statement of which something else is in doubt: a name that may be atomic
// counts, but not as all that there is.
SourceScan::Found in_doubt(SourceScan::Found declared, const SourceScan::Found& found) {
  if (declared.is_plain) return found;
  declared.declared.clear();
  return declared;
}

}  // namespace

SourceScan::Found SourceScan::look(const std::string& path, int line, int column,
                                   const std::vector<std::string>& unit,
                                   const std::string& function) {
  const SourceFile& file = scanned_file(path);
  if (!file.is_readable) return {false, "the source file " + path + " is not found", true};
  if (is_guessed_source(path) && !has_function(file, function, line))
    return {false, path + " has no " + function + ": it is another source file", true};
  const std::vector<Token>& tokens = file.tokens;
  const auto at_line = std::ranges::lower_bound(tokens, line, {}, &Token::line);
  if (at_line == tokens.end() || at_line->line != line) return {false, "no statement at the line"};
  size_t first = static_cast<size_t>(at_line - tokens.begin()), last = first;
  while (last + 1 < tokens.size() && tokens[last + 1].line == line) last++;
  Statement statement{first, last};
  const auto token = std::find_if(tokens.begin() + static_cast<long>(first),
                                  tokens.begin() + static_cast<long>(last) + 1,
                                  [&](const Token& one) { return one.column == column; });
  const auto at = static_cast<size_t>(token - tokens.begin());
  if (at <= last) statement = part_of(tokens, statement_at(tokens, at, at), at);
  else statement = statement_at(tokens, first, last);

  for (const size_t from : file.atomic_from) {
    if (from <= statement.last && statement.first <= last_of(tokens, from))
      return {false, "a pragma says that it is atomic", false, true};
  }
  const Closure& closure = closure_of(path, unit);
  Found declared{true, ""};
  for (size_t i = statement.first; i <= statement.last; i++) {
    const Token& token = tokens[i];
    if (!token.is_name) continue;
    const bool is_called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    if (closure.is_atomic(path, token.function, token.text)) {
      Found found{false, token.text + " may be atomic", false, true, is_assembly(token.text)};
      const bool is_variable =
          !is_called && !is_atomic_word(token.text) && !closure.is_macro(token.text);
      if (!is_variable || !(declared.is_plain || declared.declared == token.text)) return found;
      declared = found;
      declared.declared = token.text;
      declared.is_class = !is_header(path) && !path.ends_with(".c") && !closure.has_qualifier;
      continue;
    }
    if (is_any(token.text, {"static", "thread_local"}) && is_in_body(tokens, i))
      return in_doubt(declared, {false, "a static variable is initialized there"});
    if (closure.is_macro(token.text) || is_keyword(token.text) ||
        token.text.starts_with("__builtin_"))
      continue;
    if (is_called && !closure.declared.contains(token.text))
      return in_doubt(declared, {false, "what " + token.text + " is, the sources do not say"});
    if (!closure.missing.empty() && is_loud(token.text) && !closure.entities.contains(token.text)) {
      return in_doubt(declared, {false,
                                 "what " + token.text + " is, may stand in " + closure.missing +
                                     ", which is not found",
                                 true});
    }
  }
  return declared;
}

}  // namespace weir::cli
