#include "cli/sources/source_map.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "cli/common/failure.h"
#include "cli/sources/source_tokens.h"

namespace weir::cli {
namespace {

SourcePlaces g_places;
std::map<std::string, std::string> g_found;
std::set<std::string> g_guessed;

// Whether `path` is `folder` or below it.
bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

// The file in one of the folders whose name ends as long as possible like this; empty: none.
std::string by_ending(const std::string& path, const std::vector<std::string>& folders) {
  if (folders.empty()) return "";
  for (size_t at = 0; at != std::string::npos;) {
    const std::string ending = path.substr(at == 0 && path.starts_with('/') ? 1 : at);
    for (const std::string& folder : folders) {
      const std::string there = normal(std::filesystem::path(folder) / ending);
      if (!ending.empty() && is_file(there)) return there;
    }
    const size_t slash = path.find('/', at == 0 && path.starts_with('/') ? 1 : at);
    at = slash == std::string::npos ? slash : slash + 1;
  }
  return "";
}

std::string find(const std::string& path) {
  for (const auto& [from, to] : g_places.maps) {
    if (!is_below(path, from)) continue;
    const std::string rest = path.substr(from.size());
    const std::string there =
        rest.empty() ? to : normal(std::filesystem::path(to) / rest.substr(rest.starts_with('/')));
    if (is_file(there)) return there;
  }
  if (is_file(path)) return path;
  if (const std::string there = by_ending(path, g_places.folders); !there.empty()) return there;
  if (is_system_header(path)) return path;
  const std::string there = by_ending(path, g_places.guesses);
  if (there.empty()) return path;
  g_guessed.insert(there);
  return there;
}

}  // namespace

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string normal(const std::filesystem::path& path) { return path.lexically_normal().string(); }

void set_source_places(SourcePlaces places) {
  g_places = std::move(places);
  g_found.clear();
  g_guessed.clear();
}

std::string found_source(const std::string& path) {
  if (path.empty()) return path;
  const auto known = g_found.find(path);
  if (known != g_found.end()) return known->second;
  return g_found[path] = find(path);
}

bool is_guessed_source(const std::string& path) { return g_guessed.contains(path); }

std::pair<std::string, std::string> source_map_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Failure(kWeirFailed,
                  fmt::format("--source-map {}: it is FROM=TO: the folder as debug information "
                              "names it, and where it is now",
                              text));
  }
  return {text.substr(0, equals), std::filesystem::absolute(text.substr(equals + 1)).string()};
}

}  // namespace weir::cli
