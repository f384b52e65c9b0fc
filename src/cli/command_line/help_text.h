// Help as the terminal has room for it: two columns, names and what they mean, and no line wider
// than the terminal.
#pragma once

#include <memory>
#include <string>

namespace CLI {
class App;
class FormatterBase;
class Option;
}  // namespace CLI

namespace weir::cli {

// "DIR", "text|json|sarif": what stands for the option's value.
std::string value_words(const CLI::Option& option);
// "-o,--output DIR", "--format text|json|sarif", "DIR"
std::string option_words(const CLI::Option& option);
// Its description, with its default and what it goes with.
std::string option_description(const CLI::Option& option);
// "weir det [OPTIONS] -- PROGRAM [ARGUMENTS]"
std::string usage_words(const CLI::App& command, bool takes_program);

std::shared_ptr<CLI::FormatterBase> formatter_of_weir();
std::shared_ptr<CLI::FormatterBase> formatter_of_subcommand(bool takes_program);

}  // namespace weir::cli
