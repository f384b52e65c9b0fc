// Assembly is read line by line, and all of it comes out again: lines are added, none is changed.
//
// 1. Sections. Writable data is in .data, .bss and sections whose names begin so: one for each
//    variable with -fdata-sections, which the driver asks for. A section may be left and come back
//    (.section, .pushsection, .popsection, .previous, .data, .bss, .text).
// 2. A variable is a label in such a section that the compiler calls an object by `.type`. Before
//    the label, .balign begins a page. When its section is left or the next variable begins,
//    .balign ends the last one. A variable that has no section (.local and .comm) is given one.
// 3. Each variable has an entry of two words in a section of their own: the distance from the entry
//    to the variable, by a label that no other module can take the place of, and its size. No
//    relocation is left of it at run time. The entry's section belongs to the group that the
//    variable belongs to (inline variables), and is linked to the variable's (flag o). So a linker
//    that leaves the one out leaves out the other.
//
// What is between #APP and #NO_APP is the program's own assembly: sections are followed, labels are
// left alone.

#include "compiler/assembly.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weir::cc {

namespace {

constexpr std::string_view kBegin = "\t.balign\t4096\n", kSpace = " \t";

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// The first word; the rest of the text goes on behind it.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const size_t end = text.find_first_of(kSpace);
  const std::string_view word = text.substr(0, end);
  text = end == text.npos ? std::string_view{} : trimmed(text.substr(end));
  return word;
}

// What stands between commas, which may stand in quotes.
std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> found;
  bool is_quoted = false;
  size_t from = 0;
  for (size_t i = 0; i <= text.size(); i++) {
    if (i < text.size() && text[i] == '"') is_quoted = !is_quoted;
    if (i < text.size() && text[i] == '#' && !is_quoted) text = text.substr(0, i);  // a comment
    if (i == text.size() || (text[i] == ',' && !is_quoted)) {
      found.push_back(trimmed(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  return found;
}

// What compilers make for themselves, and touch by their own rules: guards of initialization,
// counters of coverage, pointers for unwinding.
bool is_compilers(std::string_view name) {
  return begins(name, "_ZGV") || begins(name, "DW.ref.") || begins(name, "__gcov") ||
         begins(name, "__llvm") || begins(name, "__prof") || begins(name, "__sanc") ||
         begins(name, ".L");
}

struct Section {
  bool is_data = false;
  std::string_view group;  // of inline variables
};

class Rewriting {
 public:
  explicit Rewriting(std::string_view text) : text_(text) {}

  std::string result() {
    each_line([this](std::string_view line) { note_type(line); });
    out_.reserve(text_.size() + text_.size() / 8);
    each_line([this](std::string_view line) { put_line(line); });
    end_variable();
    out_ += entries_;
    return std::move(out_);
  }

 private:
  template <typename Act>
  void each_line(Act act) const {
    for (size_t at = 0; at < text_.size();) {
      size_t end = text_.find('\n', at);
      if (end == text_.npos) end = text_.size();
      act(text_.substr(at, end - at));
      at = end + 1;
    }
  }

  void note_type(std::string_view line) {
    const std::string_view directive = take_word(line);
    if (directive != ".type" && directive != ".size" && directive != ".local") return;
    const std::vector<std::string_view> arguments = arguments_of(line);
    if (directive == ".local") locals_.insert(arguments[0]);
    if (arguments.size() < 2) return;
    if (directive == ".size") sizes_[arguments[0]] = arguments[1];
    else if (arguments[1] == "@object" || arguments[1] == "@gnu_unique_object")
      objects_.insert(arguments[0]);
  }

  void put_line(std::string_view line) {
    const std::string_view whole = line;
    const std::string_view word = take_word(line);
    if (word == "#APP") in_program_ = true;
    if (word == "#NO_APP") in_program_ = false;
    if (!word.empty() && word[0] == '.' && word.back() != ':') follow(word, line);
    if (!in_program_ && section_.is_data && word.size() > 1 && word.back() == ':' &&
        objects_.count(word.substr(0, word.size() - 1))) {
      begin_variable(word.substr(0, word.size() - 1));
    }
    if (word == ".comm" && !in_program_ && put_local(line)) return;
    if (word == ".local" && !in_program_)
      return;  // a name of this file's unless it is said to be others'
    out_ += whole;
    out_ += '\n';
  }

  // A variable without a section, and of this file alone: it gets one. What other files may have as
  // well (-fcommon) keeps its form.
  bool put_local(std::string_view rest) {
    const std::vector<std::string_view> arguments = arguments_of(rest);
    if (arguments.size() < 2 || !locals_.count(arguments[0])) return false;
    const std::string name(arguments[0]), size(arguments[1]);
    sizes_[arguments[0]] = arguments[1];
    const Section outside = section_;
    end_variable();
    section_ = {true, {}};
    out_ += "\t.pushsection\t.bss." + name + ",\"aw\",@nobits\n";
    if (arguments.size() > 2) out_ += "\t.balign\t" + std::string(arguments[2]) + "\n";
    out_ += "\t.type\t" + name + ", @object\n\t.size\t" + name + ", " + size + "\n";
    begin_variable(arguments[0]);
    out_ += name + ":\n\t.zero\t" + size + "\n";
    end_variable();
    out_ += "\t.popsection\n";
    section_ = outside;
    return true;
  }

  // Before the directive.
  void follow(std::string_view directive, std::string_view rest) {
    if (directive == ".section" || directive == ".pushsection") {
      std::vector<std::string_view> arguments = arguments_of(rest);
      if (directive == ".pushsection") {
        stack_.push_back({section_, previous_});
        if (arguments.size() > 1 && (arguments[1].empty() || arguments[1][0] != '"'))
          arguments.erase(arguments.begin() + 1);  // a subsection
      }
      enter(section_of(arguments));
    } else if (directive == ".data" || directive == ".bss") {
      enter({true, {}});
    } else if (directive == ".text") {
      enter({});
    } else if (directive == ".popsection" && !stack_.empty()) {
      const auto [section, previous] = stack_.back();
      stack_.pop_back();
      enter(section);
      previous_ = previous;
    } else if (directive == ".previous") {
      enter(previous_);
    }
  }

  static Section section_of(const std::vector<std::string_view>& arguments) {
    if (arguments.empty()) return {};
    const std::string_view name = arguments[0],
                           flags = arguments.size() > 1 ? arguments[1] : std::string_view{};
    const bool is_named =
        name == ".data" || name == ".bss" || begins(name, ".data.") || begins(name, ".bss.");
    Section section;
    section.is_data =
        is_named && !begins(name, ".data.rel.ro") &&
        (flags.empty() || (flags.find('w') != flags.npos && flags.find('T') == flags.npos));
    if (flags.find('G') != flags.npos && arguments.size() > 3) section.group = arguments[3];
    return section;
  }

  void enter(const Section& section) {
    end_variable();
    previous_ = section_;
    section_ = section;
  }

  void end_variable() {
    if (is_open_) out_ += kBegin;
    is_open_ = false;
  }

  void begin_variable(std::string_view name) {
    end_variable();
    if (is_compilers(name)) return;
    is_open_ = true;
    out_ += kBegin;
    const auto size = sizes_.find(name);
    if (size == sizes_.end() ||
        size->second.find_first_not_of("0123456789") != std::string_view::npos ||
        size->second == "0")
      return;
    const std::string label = ".Lweir_" + std::to_string(count_++);
    out_ += label + ":\n";
    entries_ += "\t.section\tweir_statics,\"a";
    if (!section_.group.empty()) entries_ += 'G';
    entries_ += "o\",@progbits," + label;
    if (!section_.group.empty()) entries_ += "," + std::string(section_.group) + ",comdat";
    entries_ +=
        "\n\t.balign\t8\n\t.quad\t" + label + "-.\n\t.quad\t" + std::string(size->second) + "\n";
  }

  std::string_view text_;
  std::unordered_set<std::string_view> objects_, locals_;
  std::unordered_map<std::string_view, std::string_view> sizes_;
  std::string out_, entries_;
  Section section_, previous_;
  std::vector<std::pair<Section, Section>> stack_;
  bool is_open_ = false, in_program_ = false;
  uint64_t count_ = 0;
};

}  // namespace

bool is_compiled(std::string_view assembly) {
  for (size_t at = 0; (at = assembly.find(".ident", at)) != assembly.npos; at++) {
    const std::string_view rest = trimmed(assembly.substr(at + 6, 80));
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (begins(line, "\"GCC: ") || line.find("clang version") != line.npos) return true;
  }
  return false;
}

std::string with_own_pages(std::string_view assembly) { return Rewriting(assembly).result(); }

}  // namespace weir::cc
