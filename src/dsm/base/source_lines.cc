// Calls of weir/dsm.hpp are inlined into the program's functions, or are functions of the program's
// file: the line that a user knows is that of their caller.
#include "dsm/base/source_lines.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weir::dsm {

namespace {

constexpr size_t kAtOnce = 256;  // places in one command line
constexpr size_t kMaxOfName = 60;

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string path_of(const link_map* module) {
  if (module->l_name && *module->l_name) return module->l_name;
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

// Of what is loaded here, by its name without folders.
std::string path_of(const std::string& module) {
  std::pair<const std::string*, std::string> search{&module, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, size_t, void* data) {
        auto& [wanted, found] = *static_cast<std::pair<const std::string*, std::string>*>(data);
        link_map named{};
        named.l_name = const_cast<char*>(loaded->dlpi_name);
        std::string path = path_of(&named);
        if (base_of(path) != *wanted) return 0;
        found = std::move(path);
        return 1;
      },
      &search);
  return search.second;
}

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Without what a launcher preloads into this process.
  std::vector<char*> environment;
  for (char** one = environ; *one; one++) {
    if (strncmp(*one, "LD_PRELOAD=", 11)) environment.push_back(*one);
  }
  environment.push_back(nullptr);
  pid_t process;
  const int error =
      posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t size; !error && ((size = read(ends[0], buffer, sizeof buffer)) > 0 ||
                                (size < 0 && errno == EINTR));) {
    if (size > 0) text.append(buffer, static_cast<size_t>(size));
  }
  close(ends[0]);
  if (!error) waitpid(process, nullptr, 0);
  return text;
}

// "(anonymous namespace)::relax(double*)" is relax.
std::string without_parameters(std::string function) {
  static const std::string kUnnamed = "(anonymous namespace)::";
  for (size_t at; (at = function.find(kUnnamed)) != std::string::npos;)
    function.erase(at, kUnnamed.size());
  // Of template arguments and of lambdas' names, which have parentheses of their own.
  int depth = 0;
  for (size_t at = 0; at < function.size(); at++) {
    depth += function[at] == '<' || function[at] == '{'   ? 1
             : function[at] == '>' || function[at] == '}' ? -1
                                                          : 0;
    if (function[at] == '(' && depth <= 0) return function.substr(0, at);
  }
  return function;
}

// "0x11d9", then for each function, the innermost first, its name and a line "/path/sor.cc:88
// (discriminator 2)".
std::string line_in(const std::vector<std::string>& lines) {
  std::string best;
  for (size_t i = 0; i + 1 < lines.size(); i += 2) {
    std::string where = base_of(lines[i + 1].substr(0, lines[i + 1].find(" (")));
    if (where.empty() || where[0] == '?' || where.find(":?") != std::string::npos ||
        where.ends_with(":0"))
      continue;
    std::string function = without_parameters(lines[i]);
    if (function.size() > kMaxOfName) function.clear();
    best = where + (function.empty() || function[0] == '?' ? "" : " in " + function);
    if (lines[i + 1].find("/weir/dsm.hpp:") == std::string::npos) return best;
  }
  return best;
}

const void* start_of_file(const void* instruction) {
  Dl_info found;
  return dladdr(instruction, &found) ? found.dli_fbase : nullptr;
}

}  // namespace

CodePlace place_of(const void* program_counter) {
  Dl_info where{};
  link_map* module = nullptr;
  if (!program_counter ||
      !dladdr1(program_counter, &where, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) ||
      !module)
    return {};
  return {base_of(path_of(module)), reinterpret_cast<uint64_t>(program_counter) - module->l_addr};
}

std::string text_of(const CodePlace& place) {
  if (place.module.empty()) return "nowhere";
  char offset[32];
  snprintf(offset, sizeof offset, "+0x%lx", place.offset);
  return place.module + offset;
}

CodePlace place_in(const std::string& text) {
  const size_t plus = text.rfind("+0x");
  if (plus == std::string::npos || plus == 0) return {};
  char* end;
  const uint64_t offset = strtoull(text.c_str() + plus + 3, &end, 16);
  return *end ? CodePlace() : CodePlace{text.substr(0, plus), offset};
}

const void* outside_libc(const void* program_counter) {
  static const void* const libc =
      start_of_file(reinterpret_cast<const void*>(&gnu_get_libc_version));
  if (!libc || start_of_file(program_counter) != libc) return program_counter;
  void* frames[48];
  const int count = backtrace(frames, 48);
  int at = 0;
  while (at < count && frames[at] != program_counter) at++;
  while (++at < count) {
    const void* call = static_cast<const uint8_t*>(frames[at]) - 1;
    if (start_of_file(call) != libc) return call;
  }
  return program_counter;
}

void SourceLines::want(const std::string& name) {
  if (name.starts_with("at ")) want(place_in(name.substr(3)));
}

std::string SourceLines::name(const std::string& name) const {
  const CodePlace place = name.starts_with("at ") ? place_in(name.substr(3)) : CodePlace();
  return place.module.empty() ? name : "memory allocated at " + at(place);
}

std::string SourceLines::name_now(const std::string& name) {
  SourceLines lines;
  lines.want(name);
  lines.look_up();
  return lines.name(name);
}

void SourceLines::look_up() {
  std::map<std::string, std::vector<CodePlace>> by_module;
  for (const auto& [place, line] : found_) {
    if (line.empty() && !place.module.empty()) by_module[place.module].push_back(place);
  }
  for (const auto& entry : by_module) {
    const std::vector<CodePlace>& places = entry.second;  // no binding: clang 14 captures none
    const std::string path = path_of(entry.first);
    if (path.empty()) continue;
    for (size_t first = 0; first < places.size(); first += kAtOnce) {
      std::vector<std::string> command = {"addr2line", "-a", "-f", "-C", "-i", "-e", path};
      for (size_t i = first; i < places.size() && i < first + kAtOnce; i++) {
        char offset[32];
        snprintf(offset, sizeof offset, "0x%lx", places[i].offset);
        command.push_back(offset);
      }
      const std::string text = output_of(command);
      std::vector<std::string> lines;
      size_t next = first;
      const auto take = [&] {
        if (next > first && next - 1 < places.size()) found_[places[next - 1]] = line_in(lines);
        lines.clear();
        next++;
      };
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("0x")) take();
        else lines.push_back(std::move(line));
      }
      take();
    }
  }
}

std::string SourceLines::at(const CodePlace& place) const {
  const auto found = found_.find(place);
  return found == found_.end() || found->second.empty() ? text_of(place) : found->second;
}

}  // namespace weir::dsm
