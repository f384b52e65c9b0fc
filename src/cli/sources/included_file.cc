#include "cli/sources/included_file.h"

#include <filesystem>
#include <system_error>

#include "cli/sources/source_map.h"

namespace weir::cli {

namespace {

// Where the compilers of this machine look for <name>.
const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> kFolders = [] {
    std::vector<std::string> all = {"/usr/local/include", "/usr/include",
                                    "/usr/include/x86_64-linux-gnu"};
    std::error_code error;
    for (const char* parent : {"/usr/include/c++", "/usr/include/x86_64-linux-gnu/c++",
                               "/usr/lib/gcc/x86_64-linux-gnu", "/usr/lib/clang"}) {
      for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
        all.push_back(entry.path().string());
        all.push_back((entry.path() / "include").string());
      }
    }
    return all;
  }();
  return kFolders;
}

}  // namespace

std::string included_file(const Include& include, const std::string& from,
                          const std::vector<std::string>& unit) {
  if (include.name.empty()) return "";
  if (include.name[0] == '/') return is_file(include.name) ? include.name : "";
  if (std::string beside = normal(std::filesystem::path(from).parent_path() / include.name);
      include.is_quoted && is_file(beside))
    return beside;
  const auto in_unit = [&](bool is_system) {
    for (const std::string& file : unit) {
      if (file.ends_with("/" + normal(include.name)) && is_system_header(file) == is_system &&
          is_file(file))
        return file;
    }
    return std::string();
  };
  if (std::string file = in_unit(false); !file.empty()) return file;
  for (const std::string& system : system_folders()) {
    if (std::string path = normal(std::filesystem::path(system) / include.name); is_file(path))
      return path;
  }
  // Last: a header of the system may include one of its own name from another folder.
  return in_unit(true);
}

std::string guess_included_file(const Include& include, const std::string& from) {
  if (include.name.empty() || include.name[0] == '/') return "";
  std::filesystem::path folder = std::filesystem::path(from).parent_path();
  for (int i = 0; i < 8 && folder.has_relative_path(); i++, folder = folder.parent_path()) {
    for (const char* below : {".", "include", "src"}) {
      if (std::string path = normal(folder / below / include.name); is_file(path)) return path;
    }
  }
  return "";
}

}  // namespace weir::cli
