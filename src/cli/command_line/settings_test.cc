#include "cli/command_line/settings.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

TEST(SplitLikeAShell, WordsQuotesAndBackslashes) {
  EXPECT_EQ(split_like_a_shell(""), Words{});
  EXPECT_EQ(split_like_a_shell("  \t\n"), Words{});
  EXPECT_EQ(split_like_a_shell("--log file --stat"), (Words{"--log", "file", "--stat"}));
  EXPECT_EQ(split_like_a_shell("--log 'a b'"), (Words{"--log", "a b"}));
  EXPECT_EQ(split_like_a_shell("a'b c'\"d e\"f"), (Words{"ab cd ef"}));
  EXPECT_EQ(split_like_a_shell(R"(a\ b \'c\\)"), (Words{"a b", "'c\\"}));
  EXPECT_EQ(split_like_a_shell(R"('a\b' "a\b" "a\"b\\" )"), (Words{"a\\b", "a\\b", "a\"b\\"}));
  EXPECT_EQ(split_like_a_shell("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(split_like_a_shell("$HOME *"), (Words{"$HOME", "*"}));  // split, not expanded
  EXPECT_THROW(split_like_a_shell("'a"), Failure);
  EXPECT_THROW(split_like_a_shell("\"a'"), Failure);
}

// The words that CLI11 gets for this command line.
Words with_settings(const std::string& words, const std::string& settings) {
  const Application application = make_application();
  CommandLine line = command_line(split_like_a_shell(words), application);
  add_settings(settings_in_words(settings, application), line);
  return line.own;
}

TEST(Settings, StandBehindTheSubcommand) {
  EXPECT_EQ(with_settings("det -- ls", "--stat"), (Words{"det", "--stat"}));
  EXPECT_EQ(with_settings("det --fingerprint -- ls", "--stat"),
            (Words{"det", "--stat", "--fingerprint"}));
  EXPECT_EQ(with_settings("det ls", "--log 'a b'"), (Words{"det", "--log", "a b"}));
}

TEST(Settings, TheCommandLineIsStronger) {
  EXPECT_EQ(with_settings("det --log mine ls", "--log theirs"), (Words{"det", "--log", "mine"}));
  EXPECT_EQ(with_settings("record -o mine ls", "--output=theirs"), (Words{"record", "-o", "mine"}));
}

TEST(Settings, TheLastOfSeveralCounts) {
  EXPECT_EQ(with_settings("det ls", "--log one --log two"), (Words{"det", "--log", "two"}));
}

TEST(Settings, ListsAddUp) {
  EXPECT_EQ(with_settings("check --suppressions a ls", "--suppressions b --suppressions=c"),
            (Words{"check", "--suppressions", "b", "--suppressions=c", "--suppressions", "a"}));
}

TEST(Settings, ASubcommandTakesWhatItHas) {
  EXPECT_EQ(with_settings("ls", "--log file --verify"), (Words{"ls"}));
  EXPECT_EQ(with_settings("replay", "--log file --verify --rehash 5").size(), 4u);
}

TEST(CommandLineWords, ProgramAndItsOptionsAreNotWeirs) {
  const Application application = make_application();
  const auto program = [&](const std::string& words) {
    return command_line(split_like_a_shell(words), application).program;
  };
  EXPECT_EQ(program("det -- ls -l"), (Words{"ls", "-l"}));
  EXPECT_EQ(program("det ls -l --stat"), (Words{"ls", "-l", "--stat"}));
  EXPECT_EQ(program("det --log file ls -- -l"), (Words{"ls", "--", "-l"}));
  EXPECT_EQ(program("det --log=file --stat ls"), (Words{"ls"}));
  EXPECT_EQ(program("det -- -x"), (Words{"-x"}));
  EXPECT_EQ(program("record -o dir ls"), (Words{"ls"}));
  EXPECT_EQ(program("record -odir ls"), (Words{"ls"}));
  EXPECT_EQ(program("det - ls"), (Words{"-", "ls"}));
  EXPECT_EQ(program("replay dir"), Words{});
  EXPECT_EQ(program(""), Words{});
}

TEST(CommandLineWords, EveryOptionWithAValueRefusesToTakeWhatFollows) {
  const Application application = make_application();
  for (const Command& command : application.commands) {
    for (const CLI::Option* option : command.app->get_options()) {
      if (option->get_positional() || !takes_value(*option)) continue;
      for (const std::string& name : option->get_lnames()) {
        const std::string subcommand = command.app->get_name();
        for (const Words& next :
             {Words{}, Words{"--"}, Words{"--", "ls"}, Words{"--help"}, Words{"-x"}, Words{""}}) {
          Words words = {subcommand, "--" + name};
          words.insert(words.end(), next.begin(), next.end());
          EXPECT_THROW(command_line(words, application), Failure) << subcommand << " --" << name;
        }
        EXPECT_THROW(command_line({subcommand, "--" + name + "=", "ls"}, application), Failure)
            << subcommand << " --" << name;
        EXPECT_NO_THROW(command_line({subcommand, "--" + name + "=--x"}, application));
        EXPECT_NO_THROW(command_line({subcommand, "--" + name, "-"}, application));
      }
    }
  }
}

}  // namespace
}  // namespace weir::cli
