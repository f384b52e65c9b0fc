// Weir enters a program by LD_PRELOAD. So glibc's dynamic loader must start the program, on this
// processor, and must obey the environment for it. (It does not for programs that gain rights by
// being executed.) A statically linked one is mapped by weir-host, which the loader starts. Every
// other program would run without Weir, silently, and the user would believe otherwise. So it is
// refused by name, with what to do instead. What the kernel would refuse anyway is refused here in
// words.
#include "cli/launch/program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/common/failure.h"

namespace weir::cli {
namespace {

constexpr int kMaxInterpreters = 5;  // the kernel's own limit

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool readable() const { return descriptor_ >= 0; }

  // Up to `size` bytes from `offset`; shorter at the end of the file.
  std::string read(size_t size, off_t offset) const {
    std::string bytes(size, '\0');
    size_t got = 0;
    while (got < size) {
      ssize_t n =
          pread(descriptor_, bytes.data() + got, size - got, offset + static_cast<off_t>(got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    bytes.resize(got);
    return bytes;
  }

  template <typename T>
  T read_struct(off_t offset) const {
    T value;
    std::string bytes = read(sizeof(T), offset);
    if (bytes.size() != sizeof(T)) {
      throw Failure(kCannotRun,
                    fmt::format("{} is damaged: it ends in the middle of its ELF headers", path_));
    }
    memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

 private:
  const std::string& path_;
  int descriptor_;
};

const char* machine_name(unsigned machine) {
  switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_AARCH64: return "64-bit ARM";
    case EM_ARM: return "32-bit ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "64-bit PowerPC";
    case EM_S390: return "IBM Z";
    case EM_MIPS: return "MIPS";
    case EM_LOONGARCH: return "LoongArch";
    default: return "another processor";
  }
}

// Position independent programs say that they are none but programs; libraries do not.
bool is_library(const File& file, const Elf64_Phdr& dynamic) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.read_struct<Elf64_Dyn>(static_cast<off_t>(dynamic.p_offset + at));
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE)) return false;
  }
  return true;
}

ProgramKind check_elf(const std::string& path, const File& file) {
  auto ident = file.read_struct<std::array<unsigned char, EI_NIDENT>>(0);
  // The fields up to e_machine lie at the same place in both classes.
  auto machine = file.read_struct<uint16_t>(offsetof(Elf64_Ehdr, e_machine));
  if (ident[EI_DATA] != ELFDATA2LSB || (machine != EM_X86_64 && machine != EM_386)) {
    unsigned shown = ident[EI_DATA] == ELFDATA2MSB ? __builtin_bswap16(machine) : machine;
    throw Failure(
        kCannotRun,
        fmt::format(
            "{} is a program for {}; this is a 64-bit x86 machine: build it for this machine", path,
            machine_name(shown)));
  }
  if (ident[EI_CLASS] != ELFCLASS64 || machine != EM_X86_64) {
    throw Failure(
        kCannotRun,
        fmt::format("{} is a 32-bit program; Weir runs 64-bit programs only: build it with -m64",
                    path));
  }
  auto header = file.read_struct<Elf64_Ehdr>(0);
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    throw Failure(
        kCannotRun,
        fmt::format("{} is an ELF file but not a program (an object file or a core dump?)", path));
  }
  if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    throw Failure(kCannotRun,
                  fmt::format("{} is damaged: its program headers have an impossible size", path));
  }
  bool may_be_library = header.e_type == ET_DYN;
  for (unsigned i = 0; i < header.e_phnum; i++) {
    auto segment =
        file.read_struct<Elf64_Phdr>(static_cast<off_t>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    if (segment.p_type == PT_DYNAMIC && may_be_library) may_be_library = is_library(file, segment);
    if (segment.p_type != PT_INTERP) continue;
    std::string loader = file.read(std::min<size_t>(segment.p_filesz, PATH_MAX),
                                   static_cast<off_t>(segment.p_offset));
    loader.resize(strnlen(loader.data(), loader.size()));
    if (loader.empty()) {
      throw Failure(kCannotRun,
                    fmt::format("{} is damaged: it ends before the name of its loader", path));
    }
    if (loader.substr(loader.rfind('/') + 1) != "ld-linux-x86-64.so.2") {
      throw Failure(
          kCannotRun,
          fmt::format(
              "{} is not started by glibc's loader but by '{}'; Weir runs programs built for "
              "glibc only",
              path, loader));
    }
    if (access(loader.c_str(), X_OK) != 0) {
      throw Failure(kCannotRun,
                    fmt::format("{} needs the loader {}, which is not there", path, loader));
    }
    return ProgramKind::kDynamic;
  }
  if (may_be_library || header.e_entry == 0)
    throw Failure(kCannotRun, fmt::format("{} is a shared library and no program", path));
  return ProgramKind::kStatic;
}

// A program that gains rights by being executed: the loader ignores LD_PRELOAD there.
void check_rights(const std::string& path, const struct stat& status) {
  const char* why = nullptr;
  if (status.st_mode & S_ISUID) why = "set-uid";
  else if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP)) why = "set-gid";
  else if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    why = "given capabilities";
  if (why) {
    throw Failure(
        kCannotRun,
        fmt::format(
            "{} is {}, and the loader keeps libraries like Weir's out of such programs: run a "
            "copy without that right (cp drops it)",
            path, why));
  }
}

// The interpreter of a `#!` line, or nothing where the kernel would not see one.
std::string interpreter_of(const std::string& head) {
  std::string line = head.substr(2, head.find('\n') - 2);
  size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return "";
  return line.substr(start, line.find_first_of(" \t\r", start) - start);
}

ProgramKind check_file(const std::string& path, int depth) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    throw Failure(errno == ENOENT ? kNotFound : kCannotRun,
                  fmt::format("{}: {}", path, strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw Failure(kCannotRun, fmt::format("{} is a directory", path));
  if (!S_ISREG(status.st_mode))
    throw Failure(kCannotRun, fmt::format("{} is not a regular file", path));
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) {
    throw Failure(
        kCannotRun,
        fmt::format("{} is not executable (chmod +x, or its file system forbids it)", path));
  }
  File file(path);
  if (!file.readable()) {
    throw Failure(
        kCannotRun,
        fmt::format("{} cannot be read ({}), so Weir cannot see what kind of program it is", path,
                    strerror(errno)));
  }
  std::string head = file.read(256, 0);
  if (head.starts_with(ELFMAG)) {
    check_rights(path, status);
    return check_elf(path, file);
  }
  if (head.starts_with("#!")) {
    std::string interpreter = interpreter_of(head);
    if (interpreter.empty())
      throw Failure(kCannotRun, fmt::format("{} names no interpreter after '#!'", path));
    if (depth == kMaxInterpreters)
      throw Failure(kCannotRun, fmt::format("{}: too many interpreters of interpreters", path));
    try {
      return check_file(interpreter, depth + 1);
    } catch (const Failure& failure) {
      throw Failure(kCannotRun,
                    fmt::format("{} is run by {}, and {}", path, interpreter, failure.what()));
    }
  }
  if (head.substr(0, head.find('\n')).find('\0') != std::string::npos) {
    throw Failure(kCannotRun, fmt::format("{} is neither an ELF program nor a script", path));
  }
  return ProgramKind::kText;
}

// Does what the kernel would do with a script whose last interpreter is a static program: the words
// become the interpreter's. The path of that.
std::string resolve_interpreters(std::string path, std::vector<std::string>& argv) {
  for (int depth = 0; depth < kMaxInterpreters; depth++) {
    const std::string head = File(path).read(256, 0);
    if (!head.starts_with("#!")) break;
    const std::string interpreter = interpreter_of(head);
    std::string line = head.substr(0, head.find('\n'));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const size_t behind = line.find(interpreter) + interpreter.size();
    const size_t argument = line.find_first_not_of(" \t", behind);
    argv.front() = path;
    if (argument != std::string::npos) argv.insert(argv.begin(), line.substr(argument));
    argv.insert(argv.begin(), interpreter);
    path = interpreter;
  }
  return path;
}

// Where a shell would find `name`. An executable file wins over one that is not; the latter is
// still named, to complain.
std::string search_path(const std::string& name) {
  const char* variable = getenv("PATH");
  std::string path = variable ? variable : "/bin:/usr/bin";
  std::string refused;
  for (size_t start = 0; start <= path.size();) {
    size_t end = std::min(path.find(':', start), path.size());
    std::string folder = path.substr(start, end - start);
    std::string candidate = folder.empty() ? "./" + name : folder + "/" + name;
    struct stat status;
    if (stat(candidate.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      if (faccessat(AT_FDCWD, candidate.c_str(), X_OK, AT_EACCESS) == 0) return candidate;
      if (refused.empty()) refused = candidate;
    }
    start = end + 1;
  }
  return refused;
}

// What gcc's compiler for Go leaves: a section for packages that import this one, or the name of
// its library, in a program that needs it and in the library itself. A program may have no
// sections, and wrong ones do no harm when it is loaded: nothing is refused for that.
bool is_from_gccgo(const File& file, const Elf64_Ehdr& header) {
  constexpr size_t kLargest = 1 << 20;
  const auto section = [&](unsigned index) {
    Elf64_Shdr found{};
    const std::string bytes =
        file.read(sizeof found, static_cast<off_t>(header.e_shoff + index * sizeof found));
    if (index < header.e_shnum && bytes.size() == sizeof found)
      memcpy(&found, bytes.data(), sizeof found);
    return found;
  };
  const auto names_in = [&](unsigned index) {
    const Elf64_Shdr names = section(index);
    if (names.sh_type != SHT_STRTAB) return std::string();
    return file.read(std::min<size_t>(names.sh_size, kLargest),
                     static_cast<off_t>(names.sh_offset));
  };
  using std::string_view_literals::operator""sv;
  if (names_in(header.e_shstrndx).find("\0.go_export\0"sv) != std::string::npos) return true;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    const Elf64_Shdr dynamic = section(i);
    if (dynamic.sh_type == SHT_DYNAMIC)
      return names_in(dynamic.sh_link).find("\0libgo.so."sv) != std::string::npos;
  }
  return false;
}

}  // namespace

ProgramKind check_program(const std::string& path) { return check_file(path, 0); }

bool is_from_go(const std::string& path) {
  const File file(path);
  if (!file.readable() || file.read(SELFMAG, 0) != ELFMAG) return false;
  const auto header = file.read_struct<Elf64_Ehdr>(0);
  for (unsigned i = 0; i < header.e_phnum; i++) {
    const auto segment =
        file.read_struct<Elf64_Phdr>(static_cast<off_t>(header.e_phoff + i * sizeof(Elf64_Phdr)));
    constexpr uint64_t kLargest = 4096;
    if (segment.p_type != PT_NOTE) continue;
    const std::string notes = file.read(std::min<size_t>(segment.p_filesz, kLargest),
                                        static_cast<off_t>(segment.p_offset));
    if (notes.find(std::string("\4\0\0\0Go\0\0", 8)) != std::string::npos) return true;
  }
  return is_from_gccgo(file, header);
}

bool has_own_openmp(const std::string& path) {
  // Variables that the libraries of gcc and of LLVM look for.
  constexpr std::string_view kNames[] = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
  constexpr size_t kPiece = 1 << 20, kLongestName = 32;
  const File file(path);
  for (off_t at = 0;; at += kPiece - kLongestName) {
    const std::string bytes = file.read(kPiece, at);
    for (const std::string_view name : kNames) {
      if (bytes.find(name) != std::string::npos) return true;
    }
    if (bytes.size() < kPiece) return false;
  }
}

Program locate_program(const std::vector<std::string>& words) {
  Program program{words.front(), words};
  if (program.path.find('/') == std::string::npos) {
    program.path = program.path.empty() ? "" : search_path(program.path);
    if (program.path.empty()) {
      throw Failure(kNotFound,
                    fmt::format("{}: command not found (is it in PATH?)", words.front()));
    }
  }
  ProgramKind kind = check_program(program.path);
  if (kind == ProgramKind::kText) {
    program.argv.front() = program.path;
    program.argv.insert(program.argv.begin(), "/bin/sh");
    program.path = "/bin/sh";
    kind = check_program(program.path);
  }
  if (kind == ProgramKind::kStatic)
    program.static_program = resolve_interpreters(program.path, program.argv);
  return program;
}

}  // namespace weir::cli
