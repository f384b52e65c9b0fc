#include "cli/command_line/command_model.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command_line/application.h"
#include "cli/command_line/help_text.h"
#include "cli/common/point.h"

namespace weir::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find(',', from), text.size());
    if (end > from) parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

// CLI11 says what a value may be behind its type: "TEXT:{free,token}".
std::vector<std::string> values_in(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return split(type.substr(open + 1, close - open - 1));
}

OptionModel model_of(const CLI::Option& option) {
  OptionModel model;
  for (const std::string& name : option.get_snames()) model.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) model.names.push_back("--" + name);
  model.text = option.get_description();
  const std::string initial = option.get_default_str();
  if (!initial.empty()) model.text += "; default: " + initial;
  if (option.get_positional()) {
    model.value = option.get_name(true);
    model.is_optional = !option.get_required();
    model.is_repeated = option.get_expected_max() > 1;
    model.values = values_in(option.get_type_name());
    return model;
  }
  if (option.get_expected_max() == 0) return model;
  const std::string type = option.get_type_name();
  model.values = values_in(type);
  // Views are judged when the command runs, as not each is for each command.
  if (model.values.empty() && option.check_lname("view")) model.values = kViews;
  model.is_optional = option.get_expected_min() == 0;
  model.is_repeated = option.get_expected_max() > 1;
  if (!model.values.empty()) {
    for (const std::string& value : model.values)
      model.value += (model.value.empty() ? "" : "|") + value;
  } else {
    model.value = value_words(option);
    // Without a name of its own for the value, its type says little: a number, or words.
    if (model.value == "UINT" || model.value == "INT") model.value = "N";
  }
  return model;
}

CommandModel model_of(const CLI::App& app, bool takes_program) {
  CommandModel model;
  model.name = app.get_name();
  model.text = app.get_description();
  model.footer = app.get_footer();
  model.takes_program = takes_program;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? model.positionals : model.options).push_back(model_of(*option));
  }
  return model;
}

}  // namespace

Model command_model() {
  const Application application = make_application();
  Model model;
  model.top = model_of(*application.app, false);
  for (const Command& command : application.commands) {
    if (!command.app->get_group().empty())
      model.commands.push_back(model_of(*command.app, command.takes_program));
  }
  return model;
}

}  // namespace weir::cli
