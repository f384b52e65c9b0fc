// Where the sources lie of which debug information says where they were: on another machine, in a
// container, in a folder that has been moved.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weir::cli {

struct SourcePlaces {
  // Folders (or files) as debug information names them, and where they are now.
  std::vector<std::pair<std::string, std::string>> maps;
  std::vector<std::string> folders;  // searched by the last parts of a name, the longest first
  // Searched likewise, after the others: what is found there may be another file of that name.
  std::vector<std::string> guesses;
};

// For all that follows; whatever was found before is forgotten. Called before the first source is
// asked for.
void set_source_places(SourcePlaces places);

// Where a file is that debug information names. Itself: it is there, or nowhere else.
std::string found_source(const std::string& path);
// Whether a file was found in one of the guesses, only by its name.
bool is_guessed_source(const std::string& path);

bool is_file(const std::string& path);
std::string normal(const std::filesystem::path& path);

// "FROM=TO" of --source-map. Throws Failure where it is none.
std::pair<std::string, std::string> source_map_of(const std::string& text);

}  // namespace weir::cli
