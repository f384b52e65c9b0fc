// A symbolizer is a program that is started for each place, of which reports have few; the library carries no reader of debug information.
#include "dsm/places.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

namespace weir::dsm {

namespace {

constexpr size_t kMostOfName = 80;

// What a command prints; empty: it cannot be started, or fails.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t process;
  const int error = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got; !error && (got = TEMP_FAILURE_RETRY(read(ends[0], buffer, sizeof buffer))) > 0;) text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (error || (TEMP_FAILURE_RETRY(waitpid(process, &status, 0)) == process && status != 0)) return {};
  return text;
}

// From the two first lines that symbolizers print: function, file:line.
std::string joined(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return {};
  std::string line = text.substr(end + 1, text.find_first_of(" \n", end + 1) - end - 1);
  std::string function = text.substr(0, end);
  if (function.size() > kMostOfName) function = function.substr(0, kMostOfName) + "...";
  if (line.substr(0, 2) == "??" || line.empty()) return {};
  return function.substr(0, 2) == "??" ? line : function + " " + line;
}

const void* start_of_file(const void* instruction) {
  Dl_info found;
  return dladdr(instruction, &found) ? found.dli_fbase : nullptr;
}

}  // namespace

Place place_of(const void* instruction) {
  Dl_info found;
  link_map* map = nullptr;
  if (!instruction || !dladdr1(instruction, &found, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return {};
  Place place{map->l_name, reinterpret_cast<uint64_t>(instruction) - map->l_addr};
  if (!place.file.empty()) return place;
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size > 0) place.file.assign(program, static_cast<size_t>(size));
  return place;
}

std::string describe_place(const Place& place) {
  if (place.file.empty()) return "somewhere";
  static std::mutex mutex;
  static std::map<Place, std::string> known;
  const std::lock_guard<std::mutex> guard(mutex);
  std::string& text = known[place];
  if (!text.empty()) return text;
  char offset[32];
  snprintf(offset, sizeof offset, "%#lx", place.offset);
  text = joined(output_of({"addr2line", "-Cfe", place.file, offset}));
  if (text.empty()) text = joined(output_of({"llvm-symbolizer", "-Cf", "--inlines=0", "-e", place.file, offset}));
  if (text.empty()) text = place.file + "+" + offset;
  return text;
}

std::string short_line(const std::string& described) {
  const size_t from = described.find_last_of("/ ");
  return from == std::string::npos ? described : described.substr(from + 1);
}

const void* outside_libc(const void* instruction) {
  static const void* const libc = start_of_file(reinterpret_cast<const void*>(&gnu_get_libc_version));
  if (!libc || start_of_file(instruction) != libc) return instruction;
  void* frames[48];
  const int count = backtrace(frames, 48);
  int at = 0;
  while (at < count && frames[at] != instruction) at++;
  while (++at < count) {
    const void* call = static_cast<const uint8_t*>(frames[at]) - 1;
    if (start_of_file(call) != libc) return call;
  }
  return instruction;
}

}  // namespace weir::dsm
