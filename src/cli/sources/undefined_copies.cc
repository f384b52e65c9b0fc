// `Result r; r.ok = may_look; if (may_look) r.value = shared; return r;` is right, and clang makes
// of it a load of `shared` that is always made and always used: where the condition does not hold,
// any value will do. No instruction behind the load tells, since none chooses. The load's line may
// be the copy's, or any, since a load that was moved keeps none of its own.
//
// The function is told by its words: a statement `local[.member] = ... variable ...;`, under a
// condition, of a local that is declared without a value. In a function that is inlined the same
// holds for what a parameter refers to.

#include "cli/sources/undefined_copies.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace weir::cli {
namespace {

using Tokens = std::vector<Token>;

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* one) { return word == one; });
}

struct Function {
  size_t first = 0, body = 0, limit = 0;  // tokens
};

Function function_at(const Tokens& tokens, int line) {
  const auto at_line = std::ranges::lower_bound(tokens, line, {}, &Token::line);
  if (at_line == tokens.end() || at_line->function == 0) return {};
  Function function;
  function.first = function.limit = static_cast<size_t>(at_line - tokens.begin());
  const int number = at_line->function;
  while (function.first > 0 && tokens[function.first - 1].function == number) function.first--;
  while (function.limit < tokens.size() && tokens[function.limit].function == number)
    function.limit++;
  function.body = function.first;
  while (function.body < function.limit && tokens[function.body].text != "{") function.body++;
  return function;
}

// Where the parenthesis opens that closes there.
size_t open_of(const Tokens& tokens, size_t close, size_t first) {
  size_t open = close;
  while (open > first && !(tokens[open].text == "(" && tokens[open].depth == tokens[close].depth))
    open--;
  return open;
}

// What ends there is the head of a condition or a loop.
bool is_head(const Tokens& tokens, size_t last, size_t first) {
  if (is_one_of(tokens[last].text, {"else", "do"})) return tokens[last].text == "else";
  if (tokens[last].text != ")") return false;
  size_t open = open_of(tokens, last, first);
  if (open > first && tokens[open - 1].text == "constexpr") open--;
  return open > first && is_one_of(tokens[open - 1].text, {"if", "while", "for", "switch"});
}

bool is_under_condition(const Tokens& tokens, size_t at, const Function& function) {
  if (is_head(tokens, at - 1, function.first)) return true;
  int closed = 0;
  for (size_t i = at; i-- > function.body + 1;) {
    if (tokens[i].text == "}") closed++;
    if (tokens[i].text == "{" && closed-- == 0) {
      if (is_head(tokens, i - 1, function.first)) return true;
      closed = 0;
    }
  }
  return false;
}

bool begins_statement(const Tokens& tokens, size_t at, const Function& function) {
  const Token& before = tokens[at - 1];
  return is_boundary(before) || before.text == ":" || is_head(tokens, at - 1, function.first);
}

// `T name;`, `T* name, other;` in the function's body.
bool is_unset_local(const Tokens& tokens, const std::string& name, const Function& function) {
  for (size_t i = function.body + 2; i + 1 < function.limit; i++) {
    if (tokens[i].text != name || !is_one_of(tokens[i + 1].text, {";", ",", "["})) continue;
    size_t first = i;
    while (first > function.body + 1 && !is_boundary(tokens[first - 1]) &&
           !is_one_of(tokens[first - 1].text, {"(", ":"}))
      first--;
    const bool is_declaration =
        first + 1 <= i && tokens[first].is_name &&
        (tokens[first + 1].is_name || is_one_of(tokens[first + 1].text, {"*", "<", ":"})) &&
        !is_one_of(tokens[first].text,
                   {"return", "case", "goto", "delete", "throw", "co_return", "static"});
    if (is_declaration) return true;
  }
  return false;
}

bool is_parameter(const Tokens& tokens, const std::string& name, const Function& function) {
  return std::any_of(tokens.begin() + static_cast<long>(function.first),
                     tokens.begin() + static_cast<long>(function.body),
                     [&](const Token& token) { return token.text == name; });
}

struct Copy {
  size_t first = 0, value = 0, limit = 0;  // tokens; value: behind the `=`
};

// A copy into what may be undefined that begins there, else one without tokens.
Copy copy_at(const Tokens& tokens, size_t at, const Function& function, bool is_inlined) {
  size_t next = at;
  const bool is_through = tokens[next].text == "*";
  if (is_through) next++;
  if (next >= function.limit || !tokens[next].is_name) return {};
  const std::string& name = tokens[next++].text;
  bool is_pointer = is_through;
  for (; next < function.limit && tokens[next].text != "=" && !is_boundary(tokens[next]); next++) {
    if (is_one_of(tokens[next].text, {"(", "+", "*", "/", "&", "|", "^", "%", "<", ":"})) return {};
    is_pointer |= tokens[next].text == ">";
    if (tokens[next].is_name && !is_one_of(tokens[next - 1].text, {".", ">", "["})) return {};
  }
  if (next + 1 >= function.limit || tokens[next].text != "=" || tokens[next + 1].text == "=")
    return {};
  const bool may_be = is_pointer ? is_inlined
                                 : is_unset_local(tokens, name, function) ||
                                       (is_inlined && is_parameter(tokens, name, function));
  if (!may_be) return {};
  size_t limit = next;
  while (limit < function.limit && !is_boundary(tokens[limit])) limit++;
  return {at, next + 1, limit};
}

bool mentions(const Tokens& tokens, size_t first, size_t limit, const std::string& variable) {
  for (size_t i = first; i < limit; i++) {
    if (tokens[i].text == variable) return true;
  }
  return false;
}

}  // namespace

bool copies_into_undefined(const SourceFile& file, int line, const std::string& variable,
                           bool is_inlined) {
  const Tokens& tokens = file.tokens;
  const Function function = function_at(tokens, line);
  bool has_copy = false, may_return = false;
  for (size_t i = function.body + 1; i < function.limit; i++) {
    may_return |= tokens[i].text == "return";
    if (!begins_statement(tokens, i, function)) continue;
    const Copy copy = copy_at(tokens, i, function, is_inlined);
    if (copy.limit == 0 || !(is_under_condition(tokens, i, function) || (is_inlined && may_return)))
      continue;
    const bool is_there = tokens[copy.first].line <= line && line <= tokens[copy.limit - 1].line;
    if (variable.empty() ? is_there : mentions(tokens, copy.value, copy.limit, variable)) {
      if (is_there) return true;
      has_copy = true;
    }
  }
  return has_copy && std::ranges::none_of(tokens, [&](const Token& token) {
           return token.line == line && token.text == variable;
         });
}

}  // namespace weir::cli
