// The options are read from the parser, so that what is offered is what is understood. A value is a
// file, unless it is one of a few words. Behind the first word that is no option, what bash, zsh
// and fish would offer for that command goes on.
#include "dsm/commands/completion.h"

#include <fmt/format.h>

#include <regex>
#include <vector>

namespace weir::dsm {
namespace {

struct Offered {
  std::string name, words, what;  // words: of the value, with blanks; "": none, or a file
  bool has_value = false;
};

std::vector<Offered> options_of(const CLI::App& app) {
  std::vector<Offered> all;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    Offered one;
    one.what = std::regex_replace(option->get_description(), std::regex("['\\[\\]:]"), "");
    one.has_value = option->get_expected_max() > 0 && option->get_items_expected_max() > 0;
    std::smatch found;
    const std::string type = option->get_type_name();
    if (std::regex_search(type, found, std::regex("\\{([^}]*)\\}")))
      one.words = std::regex_replace(found[1].str(), std::regex(","), " ");
    for (const std::string& name : option->get_lnames()) {
      one.name = "--" + name;
      all.push_back(one);
    }
    for (const std::string& name : option->get_snames()) {
      one.name = "-" + name;
      all.push_back(one);
    }
  }
  return all;
}

std::string bash(const std::string& command, const std::vector<Offered>& options) {
  std::string function = "_" + std::regex_replace(command, std::regex("-"), "_"), names, valued;
  std::string cases;
  for (const Offered& one : options) {
    names += (names.empty() ? "" : " ") + one.name;
    if (!one.has_value) continue;
    valued += (valued.empty() ? "" : "|") + one.name;
    if (!one.words.empty())
      cases +=
          fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\"); return ;;\n",
                      one.name, one.words);
  }
  if (valued.empty()) valued = "''";
  return fmt::format(
      "{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${{COMP_WORDS[i]}} in\n"
      "      {1}) ((i++)) ;;\n"
      "      -*) ;;\n"
      "      *)\n"
      "        if declare -F _command_offset >/dev/null; then _command_offset \"$i\"; else\n"
      "          mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "        fi\n"
      "        return ;;\n"
      "    esac\n"
      "  done\n"
      "  case $before in\n"
      "{2}"
      "    {1}) mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '{3}' -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -c -- \"$word\"; compgen -f -- \"$word\")\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F {0} {4}\n",
      function, valued, cases, names, command);
}

std::string zsh(const std::string& command, const std::vector<Offered>& options) {
  std::string text = fmt::format("#compdef {}\n_arguments -S \\\n", command);
  for (const Offered& one : options) {
    text += fmt::format("  '{}[{}]{}' \\\n", one.name, one.what,
                        !one.has_value      ? ""
                        : one.words.empty() ? ":value:_files"
                                            : ":value:(" + one.words + ")");
  }
  return text + "  '*::command:_normal'\n";
}

std::string fish(const std::string& command, const std::vector<Offered>& options) {
  std::string text;
  for (const Offered& one : options) {
    const bool is_long = one.name.starts_with("--");
    text += fmt::format("complete -c {} -{} {}{} -d '{}'\n", command, is_long ? 'l' : 's',
                        one.name.substr(is_long ? 2 : 1),
                        !one.has_value      ? ""
                        : one.words.empty() ? " -r"
                                            : " -x -a '" + one.words + "'",
                        one.what);
  }
  return text + fmt::format("complete -c {} -x -a '(__fish_complete_subcommand)'\n", command);
}

}  // namespace

std::string completion_of(const CLI::App& app, const std::string& shell) {
  const std::vector<Offered> options = options_of(app);
  if (shell == "bash") return bash(app.get_name(), options);
  if (shell == "zsh") return zsh(app.get_name(), options);
  if (shell == "fish") return fish(app.get_name(), options);
  throw CLI::ValidationError("--completion", "is for bash, zsh and fish, not for " + shell);
}

}  // namespace weir::dsm
