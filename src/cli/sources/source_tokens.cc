#include "cli/sources/source_tokens.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "cli/sources/conditions.h"
#include "cli/sources/source_text.h"

namespace weir::cli {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool is_name_part(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Scanner {
 public:
  Scanner(std::string_view text, SourceFile* file) : text_(text), file_(file) {}

  void scan() {
    bool is_line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        is_line_start = true;
        line_++, at_++;
      } else if (std::isspace(static_cast<unsigned char>(c)) || is_spliced()) {
        skip_spaces();
      } else if (starts("//") || starts("/*")) {
        skip_comment();
      } else if (c == '#' && is_line_start) {
        directive();
      } else {
        is_line_start = false;
        token(conditions_.is_live() ? &file_->tokens : &left_out_);
        left_out_.clear();
      }
    }
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  bool is_spliced() const { return starts("\\\n"); }

  int column_here() {
    if (column_line_ != line_) {
      column_line_ = line_;
      line_start_ = text_.rfind('\n', at_) + 1;  // of the first line: npos is -1
    }
    return static_cast<int>(at_ - line_start_) + 1;
  }

  void skip_spaces() {
    if (is_spliced()) {
      line_++, at_ += 2;
    } else {
      at_++;
    }
  }

  void skip_comment() {
    const bool is_block = text_[at_ + 1] == '*';
    at_ += 2;
    while (at_ < text_.size() && !(is_block ? starts("*/") : text_[at_] == '\n')) {
      if (is_spliced()) at_++;
      if (text_[at_] == '\n') line_++;
      at_++;
    }
    if (is_block) at_ = std::min(at_ + 2, text_.size());
  }

  void skip_text(char quote) {
    for (at_++; at_ < text_.size() && text_[at_] != quote; at_++) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) at_++;
      else if (text_[at_] == '\n') return;  // it does not end: what looked like one was none
      if (text_[at_] == '\n') line_++;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_raw_text() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return skip_text('"');
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t limit =
        std::min(text_.find(end, open), text_.size() - std::min(end.size(), text_.size()));
    line_ +=
        static_cast<int>(std::count(text_.begin() + static_cast<long>(at_),
                                    text_.begin() + static_cast<long>(std::max(limit, at_)), '\n'));
    at_ = std::max(limit + end.size(), at_ + 1);
  }

  void token(std::vector<Token>* out) {
    const size_t start = at_;
    const int line = line_, column = column_here();
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      skip_text(c);
      out->push_back({std::string(1, c), line, column});
    } else if (is_name_start(c)) {
      while (at_ < text_.size() && is_name_part(text_[at_])) at_++;
      const std::string_view name = text_.substr(start, at_ - start);
      if (at_ < text_.size() && text_[at_] == '"' && name.ends_with('R') && name.size() <= 3)
        return skip_raw_text();
      out->push_back({std::string(name), line, column, true});
      // What it says is a text, which is not kept.
      if (name == "_Pragma" &&
          text_.substr(at_, text_.find(')', at_) - at_).find("atomic") != std::string_view::npos)
        out->back().text = "_Pragma atomic";
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      while (at_ < text_.size() &&
             (is_name_part(text_[at_]) || text_[at_] == '.' || text_[at_] == '\''))
        at_++;
      out->push_back({"0", line, column});
    } else {
      at_++;
      out->push_back({std::string(1, c), line, column});
    }
  }

  // To the end of the logical line.
  void directive() {
    std::vector<Token> words;
    std::string include;
    std::vector<std::string> spelled;  // as `words`, numbers too
    for (at_++; at_ < text_.size() && text_[at_] != '\n';) {
      const bool names_file = words.size() == 1 && words[0].text.starts_with("include");
      if (std::isspace(static_cast<unsigned char>(text_[at_])) || is_spliced()) {
        skip_spaces();
      } else if (starts("//") || starts("/*")) {
        skip_comment();
      } else if (names_file && (text_[at_] == '"' || text_[at_] == '<')) {
        const bool is_quoted = text_[at_] == '"';
        const size_t start = at_ + 1, limit = std::min(text_.find(is_quoted ? '"' : '>', start),
                                                       text_.find('\n', start));
        include = text_.substr(start, std::min(limit, text_.size()) - start);
        if (conditions_.is_live()) file_->includes.push_back({include, is_quoted});
        at_ = std::min(limit, text_.size());
        if (at_ < text_.size() && text_[at_] != '\n') at_++;
        words.push_back({"file", line_});
      } else {
        const size_t start = at_;
        token(&words);
        spelled.emplace_back(text_.substr(start, at_ - start));
      }
    }
    if (words.empty()) return;
    const std::string name = words[0].text;
    if (spelled.size() == words.size()) spelled.erase(spelled.begin());
    if (conditions_.take(name, spelled) || !conditions_.is_live()) return;
    if (name == "pragma" &&
        std::ranges::any_of(words, [](const Token& word) { return word.text == "atomic"; }))
      file_->atomic_from.push_back(file_->tokens.size());
    if (words.size() < 2 || name != "define") return;
    std::vector<std::string>& body = file_->macros[words[1].text];
    for (size_t i = 2; i < words.size(); i++) {
      if (words[i].is_name) body.push_back(words[i].text);
    }
  }

  const std::string_view text_;
  SourceFile* file_;
  Conditions conditions_;
  std::vector<Token> left_out_;
  size_t at_ = 0;
  int line_ = 1;
  int column_line_ = 0;
  size_t line_start_ = 0;  // of column_line_
};

bool is_any(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* one) { return word == one; });
}

// Whether the block that opens at `open` is the body of a function: `first` is where its head
// begins.
bool opens_function(const std::vector<Token>& tokens, size_t first, size_t open) {
  if (open == first) return false;
  bool has_parentheses = false;
  for (size_t i = first; i < open; i++) {
    has_parentheses |= tokens[i].text == ")";
    if (tokens[i].text == "=" && tokens[i].depth == 0 &&
        (i == first || tokens[i - 1].text != "operator"))
      return false;
  }
  if (!has_parentheses) return false;
  const bool is_type =
      is_any(tokens[first].text, {"namespace", "class", "struct", "union", "enum"});
  return !is_type || tokens[open - 1].text == ")";
}

// Which tokens stand in which function and how deep in parentheses.
void place(std::vector<Token>* tokens) {
  struct Block {
    int depth;
    bool is_function;
  };
  std::vector<Block> blocks;
  int depth = 0, functions = 0, inside = 0;
  size_t first = 0;
  for (size_t i = 0; i < tokens->size(); i++) {
    Token& token = (*tokens)[i];
    if (token.text == ")" && depth > 0) depth--;
    token.depth = depth;
    token.function = inside;
    if (token.text == "(") depth++;
    if (token.text == "{") {
      const bool is_function = inside == 0 && opens_function(*tokens, first, i);
      if (is_function) {
        inside = ++functions;
        for (size_t j = first; j <= i; j++) (*tokens)[j].function = inside;
      }
      blocks.push_back({depth, is_function});
      depth = 0;
    } else if (token.text == "}" && !blocks.empty()) {
      if (blocks.back().is_function) inside = 0;
      depth = blocks.back().depth;
      blocks.pop_back();
    }
    if (token.text == "{" || token.text == "}" || (token.text == ";" && depth == 0)) first = i + 1;
  }
}

}  // namespace

bool is_boundary(const Token& token) {
  return token.text == "{" || token.text == "}" || (token.text == ";" && token.depth == 0);
}

bool is_system_header(const std::string& path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/local/include/") ||
         path.starts_with("/usr/lib/");
}

SourceFile scan_text(const std::string& text) {
  SourceFile file;
  file.is_readable = true;
  Scanner(text, &file).scan();
  place(&file.tokens);
  for (size_t i = 0; i + 1 < file.tokens.size(); i++) {
    if (file.tokens[i].is_name && file.tokens[i + 1].text == "(")
      file.callables.insert(file.tokens[i].text);
  }
  return file;
}

const SourceFile& scanned_file(const std::string& path) {
  static std::map<std::string, SourceFile> known;
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  std::string text;
  for (const std::string& line : source_lines(path)) text += line + "\n";
  SourceFile& file = known[path];
  if (text.empty()) return file;
  file = scan_text(text);
  if (is_system_header(path)) file.tokens.clear();
  return file;
}

}  // namespace weir::cli
