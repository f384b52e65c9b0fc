// The loader opens libraries by system calls, which the command answers
// (cli/launch/loader_files.h). But the kernel itself opens the program's interpreter, by the name
// that stands in the program (PT_INTERP). If another interpreter is there now, the program is
// executed from a copy in memory with another name in it, /proc/COMMAND/fd/N, which is as long. The
// recorded name stands behind the copy's end, and libweir puts it back before the program can see
// it (record/exec_image.cc).
#include "cli/launch/kept_files.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/common/failure.h"
#include "cli/launch/identity.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

namespace weir::cli {
namespace {

using recording::File;
using recording::Identity;

constexpr size_t kMaxProgram = size_t{4} << 30;
// The loader looks for it before it looks for libraries.
constexpr const char* kPreloads = "/etc/ld.so.preload";

// The names of programs in memory; their sums follow.
const std::string kInMemory = "weir-";

// Where PT_INTERP's text lies in the file; of size 0: there is none.
Elf64_Phdr interpreter_of(const File& file) {
  Elf64_Ehdr header;
  Elf64_Phdr segment{};
  if (file.read(0, reinterpret_cast<char*>(&header), sizeof header) != sizeof header ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof segment)
    return {};
  for (unsigned i = 0; i < header.e_phnum; i++) {
    if (file.read(header.e_phoff + i * sizeof segment, reinterpret_cast<char*>(&segment),
                  sizeof segment) != sizeof segment)
      return {};
    if (segment.p_type == PT_INTERP && segment.p_filesz <= 4096) return segment;
  }
  return {};
}

// A name of the descriptor in this process, as long as the recorded one: the kernel puts it on the
// program's stack. Short ones lie in a working directory that is set.
std::string name_of_length(int descriptor, size_t length) {
  constexpr std::string_view kFolder = "/proc/self/fd";
  const std::string digits = std::to_string(descriptor);
  std::string name;
  if (length > kFolder.size() + digits.size()) {
    name = kFolder;
  } else {
    if (chdir(std::string(kFolder).c_str()) != 0 || length < digits.size()) return "";
    if (length > digits.size()) name = ".";
    if (length == digits.size() + 1) name = "";
  }
  if (name.empty() && length != digits.size()) return "";
  name.resize(length - digits.size(), '/');
  return name + digits;
}

}  // namespace

void KeptFiles::refuse(const std::string& why) const {
  throw Failure(kWeirFailed, fmt::format("{}: {}", recording_.directory, why));
}

std::string KeptFiles::path_of(uint64_t sum) const {
  return recording_.path(recording::kept_name(sum));
}

KeptFiles::KeptFiles(const recording::Recording& recording) : recording_(recording) {
  for (const auto* files : {&recording.manifest.files, &recording.images}) {
    for (const Identity& file : *files) {
      by_path_.try_emplace(file.path, &file);
      const std::string change = change_of(file);
      if (change.empty()) continue;
      is_used_ = true;
      if (!file.is_kept) {
        refuse(
            fmt::format("{}; the recording has no copy of it (--files name): put back the file "
                        "that was recorded{}",
                        change, file.build.empty() ? "" : ", whose build id is " + file.build));
      }
    }
  }
  const bool is_elsewhere = access(directory().c_str(), X_OK) != 0;
  is_used_ = is_used_ || is_new(kPreloads) || (is_elsewhere && recording.manifest.has_kept());
  if (!is_used_) return;
  for (const auto& [path, file] : by_path_) {
    if (!file->is_kept) continue;
    const File content = File::reading(path_of(file->sum));
    const std::string damage = recording::damage_of(content, file->size, file->sum);
    if (!damage.empty()) {
      refuse(fmt::format("{}, its copy of {}: {}", recording::kept_name(file->sum), path, damage));
    }
  }
}

const Identity* KeptFiles::named(const std::string& path) const {
  namespace fs = std::filesystem;
  const auto found =
      by_path_.find((fs::path(recording_.manifest.directory) / path).lexically_normal().string());
  return found != by_path_.end() && found->second->is_kept ? found->second : nullptr;
}

bool KeptFiles::is_new(const std::string& path) const {
  return path == kPreloads && !by_path_.contains(path) && access(kPreloads, F_OK) == 0;
}

File KeptFiles::opened(const Identity& file) const { return File::reading(path_of(file.sum)); }

int KeptFiles::executable(uint64_t sum) {
  const auto known = executables_.find(sum);
  if (known != executables_.end()) return known->second;
  File program = File::reading(path_of(sum));
  if (!program.is_open()) refuse(fmt::format("{}: {}", recording::kept_name(sum), strerror(errno)));
  const int changed = with_interpreter(program, sum);
  return executables_[sum] = changed >= 0 ? changed : program.release();
}

// -1: the program's own will do.
int KeptFiles::with_interpreter(const File& program, uint64_t sum) {
  const Elf64_Phdr segment = interpreter_of(program);
  if (segment.p_filesz == 0) return -1;
  const std::string text = program.read(segment.p_offset, segment.p_filesz);
  const Identity* const interpreter = named(text.c_str());
  if (!interpreter || change_of(*interpreter).empty()) return -1;
  int& opened = interpreters_.try_emplace(interpreter->path, -1).first->second;
  if (opened < 0) opened = this->opened(*interpreter).release();
  std::string name = fmt::format("/proc/{}/fd", getpid());
  const std::string digits = std::to_string(opened);
  if (opened < 0 || name.size() + 2 + digits.size() > text.size()) {
    refuse(fmt::format("{} has changed since, and its name has no room for that of the copy",
                       interpreter->path));
  }
  name.resize(text.size() - 1 - digits.size(), '/');
  name += digits;
  name.push_back('\0');
  std::string content = program.read(0, std::min<uint64_t>(program.size(), kMaxProgram));
  content.replace(segment.p_offset, segment.p_filesz, name);
  content += text;
  const std::string label = kInMemory + recording::hex(sum);
  int memory = memfd_create(label.c_str(), MFD_CLOEXEC | MFD_EXEC);
  if (memory < 0) memory = memfd_create(label.c_str(), MFD_CLOEXEC);
  const File writable(memory);
  // What is open to be written cannot be executed.
  const int result =
      memory < 0 || !writable.write(content)
          ? -1
          : open(fmt::format("/proc/self/fd/{}", memory).c_str(), O_RDONLY | O_CLOEXEC);
  if (result < 0) refuse(fmt::format("a copy of the program in memory: {}", strerror(errno)));
  return result;
}

KeptFiles::Shown KeptFiles::shown(const std::string& mapped) const {
  const std::string folder = recording_.path(recording::kKept) + "/",
                    memory = "/memfd:" + kInMemory;
  const size_t start = mapped.starts_with(folder)   ? folder.size()
                       : mapped.starts_with(memory) ? memory.size()
                                                    : mapped.size();
  const std::string sum = mapped.substr(start, 16);
  for (const auto& [path, file] : by_path_) {
    if (file->is_kept && recording::hex(file->sum) == sum) return {path_of(file->sum), path};
  }
  return {mapped, mapped};
}

std::string KeptFiles::debugger_root() {
  namespace fs = std::filesystem;
  if (!root_.empty()) return root_;
  // What the program has loaded later is a copy.
  bool is_wanted = is_used_;
  for (const recording::Copy& copy : recording_.copies) {
    if (is_wanted) break;
    is_wanted = copy.path.starts_with("/") &&
                !recording::damage_of(File::reading(copy.path), copy.size, copy.sum).empty();
  }
  if (!is_wanted) return "";
  try {
    root_ = (fs::temp_directory_path() / "weir-files-XXXXXX").string();
    if (!mkdtemp(root_.data()))
      throw Failure(kWeirFailed, fmt::format("{}: {}", root_, strerror(errno)));
    fs::create_directory(root_ + kByLastPart);
    const auto add = [&](const std::string& path, const std::string& content) {
      std::error_code exists;
      const fs::path name = (fs::path(directory()) / path).lexically_normal();
      fs::create_directories(root_ + name.parent_path().string());
      fs::create_symlink(content, root_ + name.string(), exists);
      fs::create_symlink(content, root_ + kByLastPart + "/" + name.filename().string(), exists);
    };
    for (const auto& [path, file] : by_path_) {
      if (file->is_kept) add(path, path_of(file->sum));
    }
    for (const recording::Copy& copy : recording_.copies) {
      const std::string content =
          recording_.path(fmt::format("{}/{}", recording::kFiles, copy.number));
      if (access(content.c_str(), R_OK) == 0) add(copy.path, content);
    }
  } catch (const fs::filesystem_error& error) { throw Failure(kWeirFailed, error.what()); }
  return root_;
}

std::string KeptFiles::program_file() const {
  const Identity* const file = is_used_ ? named(recording_.manifest.program) : nullptr;
  return file ? path_of(file->sum) : recording_.manifest.program;
}

KeptFiles::~KeptFiles() {
  std::error_code error;
  if (!root_.empty()) std::filesystem::remove_all(root_, error);
}

Program KeptFiles::program() {
  const recording::Manifest& manifest = recording_.manifest;
  Program result{manifest.program, manifest.arguments};
  const Identity* file = named(manifest.program);
  // As the kernel does it, which would look for the interpreter itself.
  for (int depth = 0; file && depth < 5; depth++) {
    std::vector<std::string> line = interpreter_line(opened(*file));
    if (line.empty()) break;
    file = named(line.front());
    result.argv.front() = depth == 0 ? manifest.program : result.path;
    result.path = line.front();
    result.argv.insert(result.argv.begin(), line.begin(), line.end());
  }
  if (!file) refuse(fmt::format("{}: it has no copy of the program", result.path));
  const int descriptor = fcntl(executable(file->sum), F_DUPFD_CLOEXEC, 3);
  result.path = descriptor < 0 ? "" : name_of_length(descriptor, manifest.program.size());
  if (result.path.empty()) {
    refuse(
        fmt::format("{} has changed since, and its copy cannot be executed by a name of {} "
                    "letters: use fewer descriptors",
                    manifest.program, manifest.program.size()));
  }
  return result;
}

}  // namespace weir::cli
