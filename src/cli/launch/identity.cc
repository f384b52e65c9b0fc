// If LD_TRACE_LOADED_OBJECTS is set, the loader lists what it would load, and starts nothing; ldd
// does the same. For a script the loader of its interpreter lists it. The content decides whether a
// file has changed; size and time only spare reading it.
#include "cli/launch/identity.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "cli/common/child_output.h"
#include "cli/common/failure.h"
#include "cli/launch/launch.h"
#include "recording/bytes.h"
#include "sys/maps.h"

namespace weir::cli {
namespace {

using recording::File;
using recording::Identity;
using recording::modified;

constexpr const char* kChannel = "LD_TRACE_LOADED_OBJECTS=1";
// It maps these itself.
constexpr const char* kLoaderFiles[] = {"/etc/ld.so.preload", "/etc/ld.so.cache"};

// Of the note with the GNU build id; empty where there is none.
std::string build_id(const File& file) {
  const auto at = [&](uint64_t offset, size_t size) {
    std::string bytes = file.read(offset, size);
    bytes.resize(size);
    return bytes;
  };
  Elf64_Ehdr header;
  memcpy(&header, at(0, sizeof header).data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (unsigned i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    memcpy(&segment, at(header.e_phoff + i * sizeof segment, sizeof segment).data(),
           sizeof segment);
    if (segment.p_type != PT_NOTE || segment.p_filesz > 1 << 16) continue;
    const std::string notes = at(segment.p_offset, segment.p_filesz);
    for (size_t offset = 0; offset + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note;
      memcpy(&note, notes.data() + offset, sizeof note);
      const size_t name = offset + sizeof note,
                   content = name + (note.n_namesz + size_t{3}) / 4 * 4;
      const size_t next = content + (note.n_descsz + size_t{3}) / 4 * 4;
      if (next > notes.size()) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          memcmp(notes.data() + name, "GNU", 4) == 0) {
        std::string id;
        for (size_t k = 0; k < note.n_descsz; k++)
          id += fmt::format("{:02x}", static_cast<unsigned char>(notes[content + k]));
        return id;
      }
      offset = next;
    }
  }
  return "";
}

// What the loader prints when it is asked what it would load.
std::string loaded_objects(const Program& program, const std::vector<std::string>& environment) {
  std::vector<char*> arguments, variables;
  for (const std::string& word : program.argv) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : environment) variables.push_back(const_cast<char*>(word.c_str()));
  variables.push_back(const_cast<char*>(kChannel));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  const std::string file = executed_file(program, environment);
  return output_of([&] { execve(file.c_str(), arguments.data(), variables.data()); });
}

// Of each script in turn, the program first.
void add_interpreters(std::vector<std::string>& paths) {
  for (int depth = 0; depth < 5; depth++) {
    const std::vector<std::string> line = interpreter_line(File::reading(paths.back()));
    if (line.empty()) return;
    paths.push_back(line.front());
  }
}

}  // namespace

bool is_installed(const std::string& path) {
  constexpr const char* kFolders[] = {"/usr/",   "/bin/", "/sbin/",      "/lib/",       "/lib64/",
                                      "/lib32/", "/opt/", "/nix/store/", "/gnu/store/", "/snap/"};
  return std::ranges::any_of(kFolders,
                             [&](const char* folder) { return path.starts_with(folder); });
}

uint64_t vdso_size() {
  std::string maps = recording::rest_of(File::reading("/proc/self/maps").descriptor());
  uint64_t size = 0;
  sys::MapLine line;
  for (char* cursor = maps.data(); (cursor = sys::next_map_line(cursor, &line));) {
    const std::string_view name = line.name;
    if (name == "[vdso]" || name == "[vvar]" || name == "[vvar_vclock]") size += line.range.size();
  }
  return size;
}

std::vector<std::string> interpreter_line(const File& file) {
  std::string line = file.read(0, 256);
  if (!line.starts_with("#!")) return {};
  line = line.substr(2, line.find('\n') - 2);
  const auto trim = [](std::string& text) {
    text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
    text.erase(text.find_last_not_of(" \t") + 1);
  };
  trim(line);
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::vector<std::string> words = {line.substr(0, end)};
  line.erase(0, end);
  trim(line);
  if (!line.empty()) words.push_back(line);
  return words.front().empty() ? std::vector<std::string>{} : words;
}

Identity identity_of(const std::string& path, const Keeping& keeping) {
  const File file = File::reading(path);
  struct stat status;
  if (!file.is_open() || fstat(file.descriptor(), &status) != 0) {
    throw Failure(kCannotRun, fmt::format("{}: {}, so a recording could not say what it was", path,
                                          strerror(errno)));
  }
  auto known = keeping.store.known(status);
  const bool is_new = !known;
  const bool is_kept = !keeping.folder.empty();
  if (is_new) known = recording::Store::Known{0, build_id(file)};
  if (is_kept) {
    const auto sum =
        keeping.store.keep(file, is_new ? std::nullopt : std::optional(known->sum), keeping.folder);
    if (!sum) {
      throw Failure(kWeirFailed,
                    fmt::format("{}: the recording cannot keep it: {}; --files name keeps no files",
                                path, strerror(errno)));
    }
    known->sum = *sum;
  } else if (is_new) {
    known->sum = sum_of_file(file);
  }
  if (is_new) keeping.store.learn(status, *known);
  return {path,
          static_cast<uint64_t>(status.st_size),
          modified(status),
          known->build,
          known->sum,
          is_kept,
          recording::facts_of(status)};
}

std::vector<Identity> identities(const Program& program,
                                 const std::vector<std::string>& environment,
                                 const Keeping& keeping) {
  std::vector<std::string> paths = {program.path};
  add_interpreters(paths);
  const std::string text = loaded_objects(program, environment);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    const size_t arrow = line.find(" => "), address = line.rfind(" (0x");
    if (address == std::string::npos) continue;
    line = arrow != std::string::npos ? line.substr(arrow + 4, address - arrow - 4)
                                      : line.substr(0, address);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.find('/') != std::string::npos &&
        std::find(paths.begin(), paths.end(), line) == paths.end())
      paths.push_back(line);
  }
  for (const char* path : kLoaderFiles) {
    if (access(path, R_OK) == 0) paths.emplace_back(path);
  }
  std::vector<Identity> files;
  for (const std::string& path : paths)
    files.push_back(
        identity_of(std::filesystem::absolute(path).lexically_normal().string(), keeping));
  return files;
}

std::string change_of(const Identity& then) {
  const File file = File::reading(then.path);
  struct stat status;
  if (!file.is_open() || fstat(file.descriptor(), &status) != 0)
    return fmt::format("{}: {}", then.path, strerror(errno));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size != then.size)
    return fmt::format("{} has changed since: it has {} bytes instead of {}", then.path, size,
                       then.size);
  if (modified(status) == then.modified || sum_of_file(file) == then.sum) return "";
  const std::string build = build_id(file);
  if (build == then.build) return fmt::format("{} has changed since", then.path);
  return fmt::format("{} has changed since: build id {} instead of {}", then.path,
                     build.empty() ? "none" : build, then.build.empty() ? "none" : then.build);
}

}  // namespace weir::cli
