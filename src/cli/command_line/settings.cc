#include "cli/command_line/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/command_line/help_text.h"
#include "cli/command_line/spelling.h"
#include "cli/common/failure.h"

namespace weir::cli {
namespace {

constexpr const char* kVariable = "WEIR_OPTS";

[[noreturn]] void refuse(const std::string& from, const std::string& why) {
  throw Failure(kWeirFailed, fmt::format("{}: {}", from, why));
}

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

bool is_no_setting(const std::string& option) {
  return option == "--help" || option == "-h" || option == "--version" || option == "--config";
}

// Those that may have it: all, or the one that is named.
std::vector<const Command*> commands_for(const std::string& command,
                                         const Application& application) {
  std::vector<const Command*> found;
  for (const Command& one : application.commands) {
    if (command.empty() || one.app->get_name() == command) found.push_back(&one);
  }
  return found;
}

// What is known of the option: by the first of the subcommands that has it. Throws Failure where
// none has.
const CLI::Option& option_for(const std::string& from, const std::string& name,
                              const std::string& command, const Application& application) {
  std::vector<std::string> known;
  for (const Command* one : commands_for(command, application)) {
    const CLI::Option* option = is_no_setting(name) ? nullptr : one->app->get_option_no_throw(name);
    if (option) return *option;
    for (const std::string& other : option_names(*one->app)) {
      if (!is_no_setting(other)) known.push_back(other);
    }
  }
  refuse(from, fmt::format("{} has an option {}{}",
                           command.empty() ? "no subcommand" : "weir " + command + " never", name,
                           did_you_mean(name, known)));
}

// CLI11 says what is wrong with a value when it parses it: each setting alone, so that the message
// can name its place. What it says of options that are missing beside it is no fault of the
// setting's.
void check_value(const Setting& setting, const Application& application) {
  for (const Command* command : commands_for(setting.command, application)) {
    if (!command->app->get_option_no_throw(setting.option)) continue;
    const Application alone = make_application(command->app->get_name());
    Words words = {command->app->get_name()};
    words.insert(words.end(), setting.words.begin(), setting.words.end());
    std::reverse(words.begin(), words.end());
    try {
      alone.app->parse(words);
    } catch (const CLI::RequiredError&) {
    } catch (const CLI::RequiresError&) {
    } catch (const CLI::ExcludesError&) {
    } catch (const CLI::ParseError& error) { refuse(setting.from, error.what()); }
  }
}

// A line of the file. CLI11's reader drops what stands behind a # even inside quotes, and what is
// shorter than three letters.
Setting setting_in_line(const std::string& from, const std::string& line,
                        const std::string& section, const Application& application) {
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 ? c == '"' || c == '\'' : c == quote) quote = quote == 0 ? c : 0;
    if (c == '#' && quote == 0) break;
    if (c == '#')
      refuse(from,
             "a value with # cannot be written here: give it by WEIR_OPTS or on the command line");
  }
  std::istringstream text(line);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(text);
  } catch (const CLI::ParseError& error) { refuse(from, error.what()); }
  if (items.size() != 1 || items.front().name.empty() || !items.front().parents.empty())
    refuse(from, fmt::format("'{}' is not OPTION = VALUE", line));
  const CLI::ConfigItem& item = items.front();
  Setting setting{from, section, "--" + item.name, {}};
  const CLI::Option& option = option_for(from, setting.option, section, application);
  const bool has_value = line.substr(0, line.find('#')).find('=') != std::string::npos;
  const bool is_empty =
      std::ranges::any_of(item.inputs, [](const std::string& value) { return value.empty(); });
  if (item.inputs.empty() || is_empty || (takes_value(option) && !has_value)) {
    refuse(from, fmt::format("{} {}: the value is missing", item.name, value_words(option)));
  }
  if (takes_value(option) && !is_list(option) && item.inputs.size() != 1) {
    refuse(from,
           fmt::format("{} {}: there are {} values; one with a space or a comma stands in quotes",
                       item.name, value_words(option), item.inputs.size()));
  }
  for (const std::string& value : item.inputs)
    setting.words.push_back(setting.option + "=" + value);
  return setting;
}

}  // namespace

Words split_like_a_shell(const std::string& text) {
  Words words;
  std::string word;
  bool is_word = false;  // "" is one
  char quote = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    const bool has_next = i + 1 < text.size();
    if (quote == 0 && strchr(" \t\n", c)) {
      if (is_word) words.push_back(std::move(word));
      word.clear();
      is_word = false;
      continue;
    }
    is_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && has_next &&
               (quote == 0 || (quote == '"' && strchr("\"\\$`", text[i + 1])))) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != 0) refuse(kVariable, fmt::format("a quote ({}) does not end", quote));
  if (is_word) words.push_back(std::move(word));
  return words;
}

std::vector<Setting> settings_in_words(const std::string& text, const Application& application) {
  const Words words = split_like_a_shell(text);
  std::vector<Setting> settings;
  for (size_t at = 0; at < words.size();) {
    if (!words[at].starts_with("-") || words[at] == "--" || words[at] == "-") {
      refuse(kVariable,
             fmt::format(
                 "'{}' is no option: it holds options only, for the subcommands that have them",
                 words[at]));
    }
    const std::string place = kVariable, name = name_in(words[at]), none;
    const CLI::Option& option = option_for(place, name, none, application);
    GivenOption given;
    try {
      given = given_option(words, at, option);
    } catch (const Failure& failure) { refuse(kVariable, failure.what()); }
    at += given.words.size();
    settings.push_back({kVariable, "", given.name, std::move(given.words)});
    check_value(settings.back(), application);
  }
  return settings;
}

std::vector<Setting> settings_in_file(const std::string& path, const Application& application) {
  if (access(path.c_str(), R_OK) != 0) refuse(path, strerror(errno));
  if (std::filesystem::is_directory(path)) refuse(path, strerror(EISDIR));
  std::ifstream text(path);
  std::vector<Setting> for_all, for_one;
  std::string line, section;
  for (int number = 1; std::getline(text, line); number++) {
    const std::string from = fmt::format("{}:{}", path, number);
    CLI::detail::trim(line);
    if (line.empty() || line.starts_with("#") || line.starts_with(";")) continue;
    if (line.starts_with("[")) {
      const size_t end = line.find(']');
      const std::string rest =
          end == std::string::npos ? "" : CLI::detail::trim_copy(line.substr(end + 1));
      if (end == std::string::npos || !(rest.empty() || rest.starts_with("#")))
        refuse(from, fmt::format("'{}' is not [SUBCOMMAND]", line));
      section = CLI::detail::trim_copy(line.substr(1, end - 1));
      if (commands_for(section, application).size() != 1) {
        refuse(from, fmt::format("there is no subcommand '{}'{}", section,
                                 did_you_mean(section, command_names(application))));
      }
      continue;
    }
    std::vector<Setting>& settings = section.empty() ? for_all : for_one;
    settings.push_back(setting_in_line(from, line, section, application));
    check_value(settings.back(), application);
  }
  if (text.bad()) refuse(path, strerror(errno));
  for_all.insert(for_all.end(), for_one.begin(), for_one.end());
  return for_all;
}

std::string usual_settings_file() {
  if (const std::string folder = variable("XDG_CONFIG_HOME"); folder.starts_with("/"))
    return folder + "/weir/config";
  if (const std::string home = variable("HOME"); home.starts_with("/"))
    return home + "/.config/weir/config";
  return "";
}

void add_settings(const std::vector<Setting>& settings, CommandLine& line) {
  if (!line.command) return;
  std::map<const CLI::Option*, Words> chosen;
  for (const Setting& setting : settings) {
    if (!setting.command.empty() && setting.command != line.command->app->get_name()) continue;
    const CLI::Option* const option = line.command->app->get_option_no_throw(setting.option);
    if (!option) continue;
    if (line.given.contains(option) && !is_list(*option)) continue;
    Words& words = chosen[option];
    if (!is_list(*option)) words.clear();
    words.insert(words.end(), setting.words.begin(), setting.words.end());
  }
  auto at = line.own.begin() + static_cast<long>(line.name) + 1;
  for (const auto& [option, words] : chosen)
    at = line.own.insert(at, words.begin(), words.end()) + static_cast<long>(words.size());
}

std::vector<Setting> settings_for(const CommandLine& line) {
  const std::string path = line.has_config ? line.config : usual_settings_file();
  const bool has_file = !path.empty() && (line.has_config || access(path.c_str(), F_OK) == 0);
  const std::string words = variable(kVariable);
  unsetenv(kVariable);
  if (!has_file && words.empty()) return {};
  const Application application = make_application();  // a setting may be of any subcommand's
  std::vector<Setting> settings;
  if (has_file) settings = settings_in_file(path, application);
  const std::vector<Setting> stronger = settings_in_words(words, application);
  settings.insert(settings.end(), stronger.begin(), stronger.end());
  return settings;
}

}  // namespace weir::cli
