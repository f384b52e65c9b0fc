#include "cli/command_line/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common/terminal.h"

namespace weir::cli {
namespace {

constexpr size_t kNames = 28;   // columns of names, the space before them and behind them included
constexpr size_t kNarrow = 64;  // columns of a terminal below which names have lines of their own
constexpr size_t kMax = 110;    // wider lines are hard to read

size_t columns() { return std::min(help_columns(), kMax); }

std::string row(const std::string& names, const std::string& meaning) {
  const bool is_narrow = columns() < kNarrow;
  const size_t indent = is_narrow ? 6 : kNames;
  std::string text = "  " + names;
  if (is_narrow || text.size() + 2 > kNames) text += "\n" + std::string(indent, ' ');
  else text.append(kNames - text.size(), ' ');
  return text + wrapped(meaning, columns(), indent) + "\n";
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

class WeirFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return wrapped("Usage: weir SUBCOMMAND [OPTIONS] [-- PROGRAM [ARGUMENTS]]", columns(), 7) +
           "\n";
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), columns(), 0) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? "" : wrapped(app->get_footer(), columns(), 0) + "\n";
  }
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    std::string result;  // one empty line where there are several, none at the end
    for (const char c : text) {
      if (c != '\n' || !result.ends_with("\n\n")) result += c;
    }
    while (result.ends_with("\n\n")) result.pop_back();
    return result;
  }
  std::string make_subcommand(const CLI::App* app) const override {
    return row(app->get_display_name(true), app->get_description());
  }
  std::string make_option(const CLI::Option* option, bool) const override {
    return row(option_words(*option), option_description(*option));
  }
};

// CLI11 never sees the words of a program.
class SubcommandFormatter : public WeirFormatter {
 public:
  explicit SubcommandFormatter(bool takes_program) : takes_program_(takes_program) {}
  std::string make_usage(const CLI::App* app, std::string) const override {
    return wrapped("Usage: " + usage_words(*app, takes_program_), columns(), 7) + "\n";
  }

 private:
  bool takes_program_;
};

}  // namespace

// CLI11 puts what a value must be behind a colon: "TEXT:{one,two}", "INT:INT in [0 - 255]".
std::string value_words(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const size_t begin = type.find(":{"), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos)
    return type.starts_with("[") ? type : type.substr(0, type.find(':'));
  type = type.substr(begin + 2, end - begin - 2);
  std::ranges::replace(type, ',', '|');
  return type;
}

std::string option_words(const CLI::Option& option) {
  const bool is_positional = option.get_positional();
  std::string words = option.get_name(is_positional, !is_positional);
  const std::string value = value_words(option);
  if (!is_positional && option.get_items_expected_max() > 0 && !value.empty()) words += " " + value;
  if (option.get_items_expected_max() > 1) words += "...";
  return words;
}

std::string option_description(const CLI::Option& option) {
  std::vector<std::string> more;
  if (!option.get_default_str().empty()) more.push_back("default: " + option.get_default_str());
  if (!option.get_needs().empty()) more.push_back("with " + names_of(option.get_needs()));
  if (!option.get_excludes().empty()) more.push_back("not with " + names_of(option.get_excludes()));
  return more.empty() ? option.get_description()
                      : fmt::format("{} ({})", option.get_description(), fmt::join(more, "; "));
}

std::string usage_words(const CLI::App& command, bool takes_program) {
  std::string words = takes_program ? " -- PROGRAM [ARGUMENTS]" : "";
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
    words += option->get_required() ? " " + name : " [" + name + "]";
  }
  return fmt::format("weir {} [OPTIONS]{}", command.get_name(), words);
}

std::shared_ptr<CLI::FormatterBase> formatter_of_weir() {
  return std::make_shared<WeirFormatter>();
}

std::shared_ptr<CLI::FormatterBase> formatter_of_subcommand(bool takes_program) {
  return std::make_shared<SubcommandFormatter>(takes_program);
}

}  // namespace weir::cli
