// weir manual: the manual pages, made from the model that --help is made from, so that they say the
// same. The build runs it. The pages are in man(7)'s language; every line that comes from the model
// is escaped.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/command_line/command_model.h"
#include "cli/command_line/commands.h"
#include "cli/command_line/completion.h"
#include "cli/common/failure.h"
#include "recording/bytes.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

std::string escaped(const std::string& text) {
  std::string result;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') result += "\\e";
    else if (c == '-') result += "\\-";
    else if (c == '~') result += "\\(ti";
    else if (c == '^') result += "\\(ha";
    else if (c == '`') result += "\\(ga";
    else if (c == '\'') result += "\\(aq";
    else if (c == '|') result += "|\\:";  // of choices a line may end there
    else result += c;
    starts_line = c == '\n';
  }
  return result;
}

// Paragraphs, which empty lines part; a sentence ends a line, as man pages want it.
std::string paragraphs(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    if (text.compare(i, 2, "\n\n") == 0) {
      result += "\n.PP\n";
      i++;
    } else if (text.compare(i, 2, ". ") == 0) {
      result += ".\n";
      i++;
    } else {
      result += escaped(std::string(1, text[i]));
    }
  }
  return result + "\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string sentence(std::string text) {
  while (!text.empty() && text.back() == '.') text.pop_back();
  return escaped(text) + ".\n";
}

std::string option_name(const OptionModel& option) {
  std::string text;
  for (const std::string& name : option.names) {
    if (!text.empty()) text += ", ";
    text += "\\fB" + escaped(name) + "\\fR";
    if (option.value.empty()) continue;
    const char* sign = name.starts_with("--") ? "=" : " ";
    const std::string value = fmt::format("\\fI{}\\fR", escaped(option.value));
    text += option.is_optional ? fmt::format("[{}{}]", sign, value) : sign + value;
  }
  return text;
}

std::string positional_name(const OptionModel& option) {
  const std::string name =
      fmt::format("\\fI{}\\fR{}", escaped(option.value), option.is_repeated ? "..." : "");
  return option.is_optional ? "[" + name + "]" : name;
}

std::string head(const std::string& page, const std::string& purpose) {
  // No date: the same source gives the same page.
  std::string text = fmt::format(".TH {} 1 \"\" \"weir {}\" \"Weir\"\n", upper(page), WEIR_VERSION);
  text += ".ad l\n";  // a line of one long name cannot be stretched
  return text + fmt::format(".SH NAME\n{} \\- {}\n", escaped(page), escaped(purpose));
}

std::string options_part(const CommandModel& command) {
  std::string text;
  for (const std::vector<OptionModel>* const options : {&command.positionals, &command.options}) {
    for (const OptionModel& option : *options) {
      const std::string name = option.names.empty() ? positional_name(option) : option_name(option);
      text += fmt::format(".TP\n{}\n{}", name, sentence(option.text));
    }
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

std::string page_of(const CommandModel& command) {
  std::string text = head("weir-" + command.name, lower_first(command.text));
  text += fmt::format(".SH SYNOPSIS\n\\fBweir {}\\fR [\\fIOPTIONS\\fR]", escaped(command.name));
  for (const OptionModel& option : command.positionals) text += " " + positional_name(option);
  if (command.takes_program) text += " \\fB\\-\\-\\fR \\fIPROGRAM\\fR [\\fIARGUMENTS\\fR]";
  text += "\n.SH DESCRIPTION\n" + sentence(command.text);
  if (command.takes_program) {
    text +=
        "The program starts behind\n.BR \\-\\- ,\n"
        "or with the first word that is neither an option nor the value of one.\n";
  }
  text += options_part(command);
  if (!command.footer.empty()) text += ".SH NOTES\n" + paragraphs(command.footer);
  return text + ".SH SEE ALSO\n.BR weir (1)\n";
}

std::string page_of_weir(const Model& model) {
  // Its text begins with the command's own name, which the page's line has already.
  std::string text =
      head("weir", model.top.text.starts_with("Weir ") ? lower_first(model.top.text.substr(5))
                                                       : lower_first(model.top.text));
  text +=
      ".SH SYNOPSIS\n\\fBweir\\fR \\fISUBCOMMAND\\fR [\\fIOPTIONS\\fR] [\\fB\\-\\-\\fR "
      "\\fIPROGRAM\\fR "
      "[\\fIARGUMENTS\\fR]]\n.SH DESCRIPTION\n" +
      sentence(model.top.text);
  text += ".SH SUBCOMMANDS\n";
  for (const CommandModel& command : model.commands) {
    text += fmt::format(".TP\n\\fBweir {0}\\fR\n{1}See\n.BR weir\\-{0} (1).\n",
                        escaped(command.name), sentence(command.text));
  }
  text += options_part(model.top);
  text += ".SH NOTES\n" + paragraphs(model.top.footer);
  text +=
      ".SH FILES\n.TP\n.I \\(ti/.local/share/weir\nRecordings; $XDG_DATA_HOME/weir if that is set, "
      "and $WEIR_RECORDINGS before both.\n"
      ".TP\n.I \\(ti/.cache/weir\nWhat Weir found in large libraries, so that later runs start "
      "faster. "
      "WEIR_CACHE=off keeps nothing, WEIR_CACHE=FOLDER keeps it there.\n"
      "WEIR_PAGES=mprotect tracks pages as on a kernel without userfaultfd.\n";
  text += ".SH SEE ALSO\n";
  for (const CommandModel& command : model.commands)
    text += fmt::format(".BR weir\\-{} (1),\n", escaped(command.name));
  return text + ".BR weir.h (3),\n.BR weir\\-region (3),\n.BR weir\\-dsm (3)\n";
}

void write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error || !recording::replace_file(path.string(), text)) {
    throw Failure(kWeirFailed,
                  fmt::format("{}: {}", path.string(), error ? error.message() : strerror(errno)));
  }
}

int write_manual(const fs::path& folder) {
  const Model model = command_model();
  for (const CommandModel& command : model.commands) {
    write(folder / "man/man1" / ("weir-" + command.name + ".1"), page_of(command));
  }
  write(folder / "bash-completion/completions/weir", completion_of(model, "bash"));
  write(folder / "zsh/site-functions/_weir", completion_of(model, "zsh"));
  write(folder / "fish/vendor_completions.d/weir.fish", completion_of(model, "fish"));
  write(folder / "man/man1/weir.1",
        page_of_weir(model));  // the last one: the build looks at its time
  return 0;
}

}  // namespace

Command add_manual(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("manual", "For the build: write manual pages and completions below DIR");
  command->group("");
  command->add_option("DIR", *folder, "Where they go")->required();
  return {command, false, [folder](const Words&) { return write_manual(*folder); }};
}

Command add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print what makes a shell complete weir's words");
  command->add_option("SHELL", *shell, "For bash: source <(weir completion bash)")
      ->required()
      ->check(CLI::IsMember(kShells));
  return {command, false, [shell](const Words&) {
            fmt::print("{}", completion_of(command_model(), *shell));
            return 0;
          }};
}

}  // namespace weir::cli
