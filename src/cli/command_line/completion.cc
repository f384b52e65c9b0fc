// Each shell gets a script with tables in it: starting weir for each key would be slower, and only
// names of recordings change. What a word may be follows from what help calls it: FILE and DIR are
// files, RECORDING is what `weir ls` lists. Behind `--`, or the first word that is no option, the
// program's own completion goes on.
#include "cli/command_line/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace weir::cli {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

// What a shell may offer for a value: words, a kind of thing, or nothing.
enum class Kind { kNone, kFree, kWords, kFile, kFolder, kRecording };

Kind kind_of(const OptionModel& option) {
  if (option.value.empty()) return Kind::kNone;
  if (!option.values.empty()) return Kind::kWords;
  if (option.value == "FILE") return Kind::kFile;
  if (option.value == "RECORDING") return Kind::kRecording;
  if (option.value == "DIR") return Kind::kFolder;
  return Kind::kFree;
}

std::vector<std::string> names_of_commands(const Model& model) {
  std::vector<std::string> names;
  for (const CommandModel& command : model.commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> words_of(const OptionModel& option, const Model& model) {
  return option.value == "SUBCOMMAND" ? names_of_commands(model) : option.values;
}

// The options that help lists, and of them those whose value is the next word.
std::vector<std::string> names_of(const CommandModel& command, bool only_with_value) {
  std::vector<std::string> names;
  for (const OptionModel& option : command.options) {
    if (only_with_value && (option.value.empty() || option.is_optional)) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// --- bash

std::string bash_offer(const OptionModel& option, const Model& model) {
  const std::vector<std::string> words = words_of(option, model);
  if (!words.empty())
    return fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")",
                       quoted(fmt::format("{}", fmt::join(words, " "))));
  switch (kind_of(option)) {
    case Kind::kFile: return "_weir_files -f";
    case Kind::kFolder: return "_weir_files -d";
    case Kind::kRecording: return "_weir_recordings";
    default: return ":";
  }
}

std::string bash_part(const CommandModel& command, const Model& model) {
  std::string text = fmt::format(
      "    {})\n", command.name.empty() || &command == &model.top ? "''" : command.name);
  text += fmt::format("      options={} valued={} program={}\n",
                      quoted(fmt::format("{}", fmt::join(names_of(command, false), " "))),
                      quoted(fmt::format(" {} ", fmt::join(names_of(command, true), " "))),
                      command.takes_program ? "yes" : "''");
  text += "      case $about in\n";
  for (const OptionModel& option : command.options) {
    if (!option.value.empty())
      text += fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"),
                          bash_offer(option, model));
  }
  for (const OptionModel& option : command.positionals)
    text += fmt::format("        positional) {} ;;\n", bash_offer(option, model));
  return text + "      esac\n      ;;\n";
}

constexpr const char* kBashHead = R"(# bash completion for weir; written by `weir completion bash`.

_weir_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}

_weir_recordings() {
  local names
  names=$("${COMP_WORDS[0]/#\~/$HOME}" ls 2>/dev/null | sed -n '2,$s/ .*//p')
  _weir_files -d
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$names" -- "$word")
}

# The program and its words, from COMP_WORDS[$1] on, as if weir were not there.
_weir_program() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$1" = "$COMP_CWORD" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
  else
    _weir_files -f
  fi
}

# Sets options, valued and program for $command, and offers what belongs behind $about: an option,
# `positional`, or nothing.
_weir_table() {
  case $command in
)";

constexpr const char* kBashTail = R"(  esac
}

_weir() {
  local word=${COMP_WORDS[COMP_CWORD]} command='' about='' options valued program i
  COMPREPLY=()
  _weir_table
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --)
        [ -z "$program" ] || _weir_program $((i + 1))
        return
        ;;
      =) ;;  # bash takes --option=value apart
      -*)
        about=${COMP_WORDS[i]}
        if [ "${COMP_WORDS[i + 1]}" = = ]; then
          if [ $((i + 1)) = "$COMP_CWORD" ]; then
            word=''
            _weir_table
            return
          fi
          i=$((i + 1))
        elif [[ "$valued" != *" $about "* ]]; then
          about=''
          continue
        fi
        if [ $((i + 1)) -ge "$COMP_CWORD" ]; then
          _weir_table
          return
        fi
        i=$((i + 1))  # the value
        about=''
        ;;
      *)
        if [ -z "$command" ]; then
          command=${COMP_WORDS[i]}
          options='' valued='' program=''
          _weir_table
        elif [ -n "$program" ]; then
          _weir_program "$i"
          return
        fi
        ;;
    esac
  done
  if [[ "$word" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif [ -n "$program" ]; then
    _weir_program "$COMP_CWORD"
  else
    about=positional
    _weir_table
  fi
}

complete -F _weir weir
)";

std::string bash(const Model& model) {
  CommandModel top = model.top;
  OptionModel subcommand;
  subcommand.value = "SUBCOMMAND";
  top.name.clear();
  top.positionals = {subcommand};
  std::string text = kBashHead + bash_part(top, model);
  for (const CommandModel& command : model.commands) text += bash_part(command, model);
  return text + kBashTail;
}

// --- zsh

std::string zsh_text(const std::string& text) {
  std::string result = text;
  for (const char* special : {"\\", "[", "]", ":"})
    result = replaced(result, special, std::string("\\") + special);
  return result;
}

std::string zsh_offer(const OptionModel& option, const Model& model) {
  const std::vector<std::string> words = words_of(option, model);
  if (!words.empty()) return fmt::format("({})", fmt::join(words, " "));
  switch (kind_of(option)) {
    case Kind::kFile: return "_files";
    case Kind::kFolder: return "_files -/";
    case Kind::kRecording: return "_weir_recordings";
    default: return " ";
  }
}

std::string zsh_arguments(const CommandModel& command, const Model& model) {
  std::string text = "_arguments -s -S";
  for (const OptionModel& option : command.options) {
    for (const std::string& name : option.names) {
      std::string spec = name;
      if (!option.value.empty()) spec += name.starts_with("--") ? "=" : "+";
      spec += fmt::format("[{}]", zsh_text(option.text));
      if (!option.value.empty()) {
        spec += fmt::format("{}{}:{}", option.is_optional ? "::" : ":", zsh_text(option.value),
                            zsh_offer(option, model));
      }
      text += " \\\n        " + quoted(option.is_repeated ? "*" + spec : spec);
    }
  }
  for (const OptionModel& option : command.positionals) {
    text += " \\\n        " + quoted(fmt::format("{}:{}:{}",
                                                 option.is_repeated   ? "*"
                                                 : option.is_optional ? ":"
                                                                      : "",
                                                 option.value, zsh_offer(option, model)));
  }
  if (command.takes_program) text += " \\\n        '*::program:_normal'";
  return text + "\n";
}

std::string zsh(const Model& model) {
  std::string text = R"zsh(#compdef weir
# zsh completion for weir; written by `weir completion zsh`.

_weir_recordings() {
  local -a names
  names=(${(f)"$(weir ls 2>/dev/null | sed -n '2,$s/ .*//p')"})
  _describe recording names
  _files -/
}

_weir() {
  local curcontext=$curcontext state line
  local -a commands
  typeset -A opt_args
  commands=(
)zsh";
  for (const CommandModel& command : model.commands)
    text += "    " + quoted(command.name + ":" + replaced(command.text, ":", "\\:")) + "\n";
  std::string top = zsh_arguments(model.top, model);
  top.pop_back();
  text += "  )\n  " + replaced(top, "_arguments -s -S", "_arguments -C -s -S");
  text += R"( \
        '1:subcommand:->command' '*::words:->words'
  case $state in
  command) _describe subcommand commands ;;
  words)
    case $line[1] in
)";
  for (const CommandModel& command : model.commands)
    text += fmt::format("    {})\n      {}      ;;\n", command.name, zsh_arguments(command, model));
  return text + "    esac\n    ;;\n  esac\n}\n\n_weir \"$@\"\n";
}

// --- fish

std::string fish_offer(const OptionModel& option, const Model& model) {
  const std::vector<std::string> words = words_of(option, model);
  if (!words.empty()) return " -x -a " + quoted(fmt::format("{}", fmt::join(words, " ")));
  switch (kind_of(option)) {
    case Kind::kFile: return " -r -F";
    case Kind::kFolder: return " -x -a '(__fish_complete_directories)'";
    case Kind::kRecording: return " -x -a '(__weir_recordings)'";
    default: return " -x";
  }
}

std::string fish_part(const CommandModel& command, const Model& model, const std::string& where) {
  std::string text;
  for (const OptionModel& option : command.options) {
    text += "complete -c weir -n " + quoted(where);
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.value.empty() && !option.is_optional) text += fish_offer(option, model);
    text += " -d " + quoted(option.text) + "\n";
  }
  for (const OptionModel& option : command.positionals)
    text += "complete -c weir -n " + quoted(where) + fish_offer(option, model) + "\n";
  if (command.takes_program)
    text += "complete -c weir -n " + quoted(where) + " -x -a '(__weir_program)'\n";
  return text;
}

std::string fish(const Model& model) {
  std::string text = R"(# fish completion for weir; written by `weir completion fish`.

function __weir_recordings
    weir ls 2>/dev/null | sed -n '2,$s/ .*//p'
    __fish_complete_directories
end

# The program and its words, as if weir were not there.
function __weir_program
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    if test -n "$at"
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]))
    else
        __fish_complete_subcommand --fcs-skip=2
    end
end

complete -c weir -f
)";
  text += fish_part(model.top, model, "__fish_use_subcommand");
  for (const CommandModel& command : model.commands) {
    text += fmt::format("complete -c weir -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.text));
  }
  for (const CommandModel& command : model.commands)
    text += fish_part(command, model, "__fish_seen_subcommand_from " + command.name);
  return text;
}

}  // namespace

std::string completion_of(const Model& model, const std::string& shell) {
  return shell == "bash" ? bash(model) : shell == "zsh" ? zsh(model) : fish(model);
}

}  // namespace weir::cli
