// Calls that execute programs, whose names, arguments and environment may lie in shared memory.
// libc makes them where it blocks all signals (posix_spawn, system, popen), or a child by fork
// does, so the filter (kernel_filter.cc) leaves them alone and the kernel would find nothing. These
// functions stand before libc's and make accessible what is named. A node that would execute
// another program in its own place ends the job: the others would wait for it.
#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "dsm/base/failure.h"
#include "dsm/base/next.h"
#include "dsm/system_calls/kernel_calls.h"

namespace weir::dsm {
namespace {

bool is_shared(const void* address) { return address && CallBuffers().add(address, 1, false); }

// What is read here is read as the program would: it faults.
void add_word(CallBuffers& buffers, const char* word) {
  if (is_shared(word)) buffers.add(word, strlen(word) + 1, false);
}

void add_words(CallBuffers& buffers, char* const* words) {
  if (!words) return;
  size_t count = 0;
  for (; words[count]; count++) add_word(buffers, words[count]);
  buffers.add(words, (count + 1) * sizeof *words, false);
}

bool is_program(const char* path) {
  struct stat its {};
  return eaccess(path, X_OK) == 0 && stat(path, &its) == 0 && S_ISREG(its.st_mode);
}

// Whether an execution can succeed: a file that is none is the program's own mistake, and the call
// tells it. `searches`: PATH, as execvp does.
bool finds(const char* name, bool searches) {
  if (!searches || strchr(name, '/')) return is_program(name);
  const char* folders = getenv("PATH");
  if (!folders) folders = "/bin:/usr/bin";
  for (const char* at = folders;; at++) {
    const char* const end = strchrnul(at, ':');
    char path[PATH_MAX];
    const int size = static_cast<int>(end - at);
    if (snprintf(path, sizeof path, "%.*s%s%s", size, at, size ? "/" : "", name) < PATH_MAX &&
        is_program(path))
      return true;
    if (!*(at = end)) return false;
  }
}

template <typename Call>
int execute(const char* name, bool searches, char* const* words, char* const* environment,
            Call call) {
  CallBuffers buffers;
  add_word(buffers, name);
  add_words(buffers, words);
  add_words(buffers, environment);
  return static_cast<int>(buffers.make([&] {
    const int saved = errno;
    if (is_in_job() && finds(name, searches))
      fail("the program executes %s before weir_dsm_finish: no node would be left; fork before it",
           name);
    errno = saved;
    return call();
  }));
}

template <typename Call>
int spawn(pid_t* process, const char* name, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* words, char* const* environment,
          Call call) {
  CallBuffers buffers;
  add_word(buffers, name);
  add_words(buffers, words);
  add_words(buffers, environment);
  if (actions) buffers.add(actions, sizeof *actions, false);
  if (attributes) buffers.add(attributes, sizeof *attributes, false);
  pid_t its = 0;
  const int saved = errno;
  int error = 0;
  buffers.make([&] {
    errno = error = call(&its);
    return error ? -1 : 0;
  });
  errno = saved;
  if (process && error == 0) *process = its;
  return error;
}

// Of a call that names its words one by one, how many follow the first.
size_t count_words(const char* first, va_list& rest) {
  size_t count = 0;
  for (const char* word = first; word; word = va_arg(rest, const char*)) count++;
  return count;
}

}  // namespace
}  // namespace weir::dsm

using namespace weir::dsm;

// On the stack, as a child by vfork shares the heap and never comes back to free it.
#define WEIR_WORDS(words, first)                                                 \
  va_list rest;                                                                  \
  va_start(rest, first);                                                         \
  const size_t count = count_words(first, rest);                                 \
  va_end(rest);                                                                  \
  auto** const words = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  words[0] = const_cast<char*>(first);                                           \
  va_start(rest, first);                                                         \
  for (size_t i = 1; i <= count; i++) words[i] = va_arg(rest, char*)
#define WEIR_NEXT(name) static auto* const libc = next<decltype(name)>(#name)

extern "C" {

__attribute__((visibility("default"))) int execve(const char* name, char* const words[],
                                                  char* const environment[]) noexcept {
  WEIR_NEXT(execve);
  return execute(name, false, words, environment, [&] { return libc(name, words, environment); });
}

__attribute__((visibility("default"))) int execv(const char* name, char* const words[]) noexcept {
  return execve(name, words, environ);
}

__attribute__((visibility("default"))) int execvpe(const char* name, char* const words[],
                                                   char* const environment[]) noexcept {
  WEIR_NEXT(execvpe);
  return execute(name, true, words, environment, [&] { return libc(name, words, environment); });
}

__attribute__((visibility("default"))) int execvp(const char* name, char* const words[]) noexcept {
  return execvpe(name, words, environ);
}

__attribute__((visibility("default"))) int execl(const char* name, const char* word, ...) noexcept {
  WEIR_WORDS(words, word);
  va_end(rest);
  return execve(name, words, environ);
}

__attribute__((visibility("default"))) int execlp(const char* name, const char* word,
                                                  ...) noexcept {
  WEIR_WORDS(words, word);
  va_end(rest);
  return execvpe(name, words, environ);
}

__attribute__((visibility("default"))) int execle(const char* name, const char* word,
                                                  ...) noexcept {
  WEIR_WORDS(words, word);
  char* const* const environment = va_arg(rest, char**);
  va_end(rest);
  return execve(name, words, environment);
}

__attribute__((visibility("default"))) int posix_spawn(pid_t* process, const char* name,
                                                       const posix_spawn_file_actions_t* actions,
                                                       const posix_spawnattr_t* attributes,
                                                       char* const words[],
                                                       char* const environment[]) {
  WEIR_NEXT(posix_spawn);
  return spawn(process, name, actions, attributes, words, environment, [&](pid_t* its) {
    return libc(its, name, actions, attributes, words, environment);
  });
}

__attribute__((visibility("default"))) int posix_spawnp(pid_t* process, const char* name,
                                                        const posix_spawn_file_actions_t* actions,
                                                        const posix_spawnattr_t* attributes,
                                                        char* const words[],
                                                        char* const environment[]) {
  WEIR_NEXT(posix_spawnp);
  return spawn(process, name, actions, attributes, words, environment, [&](pid_t* its) {
    return libc(its, name, actions, attributes, words, environment);
  });
}

__attribute__((visibility("default"))) int system(const char* command) {
  WEIR_NEXT(system);
  return is_shared(command) ? libc(std::string(command).c_str()) : libc(command);
}

__attribute__((visibility("default"))) FILE* popen(const char* command, const char* mode) {
  WEIR_NEXT(popen);
  return is_shared(command) ? libc(std::string(command).c_str(), mode) : libc(command, mode);
}

}  // extern "C"
