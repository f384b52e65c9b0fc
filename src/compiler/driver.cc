// The compiler itself splits its command into steps, reads response files, names outputs and
// dependency files. Only one of the steps is changed: it looks for its assembler in the folder that
// -B names first, where a link named `as` leads back to this program.
//
// -fdata-sections stands before the user's words, so that these have the last one; the assembler
// step does not depend on it, but a linker that collects garbage does.

#include "compiler/driver.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/library_folders.h"
#include "compiler/assembly.h"

namespace weir::cc {

namespace {

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

// The folder that this program's bin lies in.
std::string prefix() {
  const std::string self = own_path();
  return self.substr(0, self.rfind('/', self.rfind('/') - 1));
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    size_t end = text.find(at, from);
    if (end == text.npos) end = text.size();
    if (end > from) parts.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? resolved : std::string();
}

// In these folders; "" where it is in none, or is this program in all of them. A name with a slash
// is its own place.
std::string find_other(const std::string& name, const char* folders) {
  if (name.find('/') != name.npos)
    return access(name.c_str(), X_OK) == 0 && real_path(name) != own_path() ? name : "";
  for (const std::string& folder : split(folders ? folders : "", ':')) {
    const std::string path = folder + "/" + name;
    struct stat status;
    if (stat(path.c_str(), &status) || !S_ISREG(status.st_mode) || access(path.c_str(), X_OK))
      continue;
    if (real_path(path) != own_path()) return path;
  }
  return "";
}

bool is_launcher(const std::string& word) {
  for (const char* name : {"ccache", "sccache", "distcc", "icecc", "env"}) {
    if (base_of(word) == name) return true;
  }
  return false;
}

// The word that names the compiler, behind a launcher and its settings.
size_t compiler_at(const std::vector<std::string>& words) {
  size_t at = 0;
  while (at + 1 < words.size() && (is_launcher(words[at]) || words[at].find('=') != words[at].npos))
    at++;
  return at;
}

bool is_there(const std::vector<std::string>& words) {
  return !words.empty() && !find_other(words[0], getenv("PATH")).empty() &&
         !find_other(words[compiler_at(words)], getenv("PATH")).empty();
}

int run(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  fprintf(stderr, "weir-cc: cannot execute %s: %s\n", pointers[0], strerror(errno));
  return errno == ENOENT ? 127 : 126;
}

bool read_all(const char* name, std::string& text) {
  const bool is_input = !strcmp(name, "-");
  const int file = is_input ? 0 : open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char part[1 << 16];
  ssize_t count;
  while ((count = read(file, part, sizeof part)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(part, static_cast<size_t>(count));
  }
  if (!is_input) close(file);
  return count == 0;
}

// In memory that the assembler reads as a file. "": that cannot be.
std::string as_file(const std::string& text) {
  const int file = memfd_create("weir-cc", 0);
  if (file < 0) return "";
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return "";
    done += static_cast<size_t>(count);
  }
  if (lseek(file, 0, SEEK_SET)) return "";
  return "/proc/self/fd/" + std::to_string(file);
}

// Whether the assembler's option has its value in the next word.
bool takes_next(std::string_view word) {
  for (const std::string_view option :
       {"-o", "-I", "-MD", "--MD", "--defsym", "-defsym", "--debug-prefix-map", "-t"}) {
    if (word == option) return true;
  }
  return false;
}

// `word` becomes what the assembler is to read instead of that file. What cannot be read stays, so
// that the assembler says so.
bool hand_on(const char* name, std::string& word) {
  std::string text;
  if (name[0] == '@' || !read_all(name, text)) return true;
  const bool is_taken = !strcmp(name, "-");  // it cannot be read again
  if (!is_compiled(text) && !is_taken) return true;
  word = as_file(is_compiled(text) ? with_own_pages(text) : text);
  if (word.empty())
    fprintf(stderr, "weir-cc: cannot hand %s on to the assembler: %s\n", name, strerror(errno));
  return !word.empty();
}

}  // namespace

std::vector<std::string> find_compiler(bool is_cxx) {
  for (const char* name : {is_cxx ? "WEIR_CXX" : "WEIR_CC", is_cxx ? "CXX" : "CC"}) {
    const char* value = getenv(name);
    const std::vector<std::string> words = split(value ? value : "", ' ');
    if (is_there(words)) return words;
    if (!words.empty() && name[0] == 'W')
      return words;  // it was asked for: say that it is not there
  }
  for (const char* name :
       {is_cxx ? "g++" : "gcc", is_cxx ? "clang++" : "clang", is_cxx ? "c++" : "cc"}) {
    if (is_there({name})) return {name};
  }
  return {};
}

bool is_clang(const std::vector<std::string>& compiler) {
  const std::string& name = compiler[compiler_at(compiler)];
  return base_of(name).find("clang") != name.npos ||
         base_of(real_path(find_other(name, getenv("PATH")))).find("clang") != name.npos;
}

int compile(bool is_cxx, int count, char** words) {
  std::vector<std::string> command = find_compiler(is_cxx);
  if (command.empty()) {
    fprintf(stderr, "%s: there is no compiler: install gcc or clang, or name one by %s\n",
            base_of(words[0]).c_str(), is_cxx ? "CXX" : "CC");
    return 127;
  }
  std::string folder, tried;
  for (const std::string place : kLibraryFolders) {
    const std::string path = (place[0] == '/' ? "" : prefix() + "/") + place + "/weir-cc/";
    if (!access((path + "as").c_str(), X_OK)) {
      folder = path;
      break;
    }
    if (tried.find(path) == tried.npos) tried += (tried.empty() ? "" : " or ") + path + "as";
  }
  if (folder.empty()) {
    fprintf(stderr, "%s: there is no %s: Weir is not installed completely\n",
            base_of(words[0]).c_str(), tried.c_str());
    return 127;
  }
  if (is_clang(command)) command.push_back("-fno-integrated-as");
  command.push_back("-B" + folder);
  command.push_back("-fdata-sections");
  // Installed beside this program, and behind all other folders: <weir/weir.h> is found without an
  // option.
  const std::string headers = prefix() + "/include";
  if (!access((headers + "/weir/weir.h").c_str(), R_OK)) command.push_back("-idirafter" + headers);
  for (int i = 1; i < count; i++) command.push_back(words[i]);
  return run(command);
}

int assemble(int count, char** words) {
  std::string real = find_other("as", getenv("COMPILER_PATH"));  // gcc's own
  if (real.empty()) real = find_other("as", getenv("PATH"));
  if (real.empty()) {
    fprintf(stderr, "weir-cc: there is no assembler: install binutils\n");
    return 127;
  }
  std::vector<std::string> command = {real};
  bool has_input = false;
  for (int i = 1; i < count; i++) {
    command.push_back(words[i]);
    if (takes_next(words[i]) && i + 1 < count) {
      command.push_back(words[++i]);
    } else if (words[i][0] != '-' || !words[i][1]) {
      has_input = true;
      if (!hand_on(words[i], command.back())) return 1;
    } else if (!strcmp(words[i], "--version") || !strcmp(words[i], "--help")) {
      has_input = true;
    }
  }
  if (!has_input) {  // gcc -pipe
    command.push_back("-");
    if (!hand_on("-", command.back())) return 1;
  }
  return run(command);
}

}  // namespace weir::cc
