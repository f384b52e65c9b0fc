// A program that executes another one may pass an environment of its own making (env -i,
// posix_spawn, a test harness). The loader would then leave the library out, and the new program
// would run without Weir. So each execve gets a new vector of variables: the program's own strings
// where they are, and the library's behind them or in place of theirs.
//
// The new program must not see what was added. The last variable of all, WEIR_PUT, says which
// variables were. The library takes those out, and WEIR_PUT itself (take_environment). The tunable
// and LD_BIND_NOW have values that nobody else writes, and are always taken out. The strings are
// cleared, because they are memory of the program.
//
// 1. A program that passes LD_PRELOAD with a libweir.so in it, or WEIR_OPTIONS, has reasons: they
//    stay as they are.
// 2. The vector lies in the runtime's own range of addresses, at a place of the task's: threads of
//    one process may execute at the same time, and a child of vfork leaves it to its maker.
#include "task/exec/environment.h"

#include <limits.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "control/control.h"
#include "control/options.h"
#include "control/static_program.h"
#include "memory/program_memory.h"
#include "sys/built_with.h"
#include "sys/syscall_x86_64.h"
#include "task/exec/outside.h"

namespace weir::tasks {

namespace {

constexpr char kPreload[] = "LD_PRELOAD=", kOptions[] = "WEIR_OPTIONS=",
               kTunables[] = "GLIBC_TUNABLES=", kBind[] = "LD_BIND_NOW=";
constexpr char kPut[] = "WEIR_PUT=";
constexpr char kLibraryName[] = "/libweir.so";
enum : char {
  kPutPreload = 1,
  kPutBeforePreload = 2,
  kPutOptions = 4,
  kPutFirst = 8  // also by the command: kPutFirst in control/options.h
};               // in one digit behind kPut

// A vector for each task, in the range of the runtime's own memory.
constexpr uint64_t kVectors = 0x318000000000;
// The kernel takes less than 8 MiB of arguments and variables.
constexpr uint64_t kVectorRoom = 16 << 20;
constexpr uint64_t kLongestText = 132 << 10;  // the kernel's limit is 128 KiB
constexpr uint64_t kMaxAdded = 7;             // variables, and the null behind them

constexpr uint64_t kArgumentsAt = kVectorRoom / 2;  // in a task's room

char g_host[512 + sizeof loader::kHostName];
char g_library[512], g_options_text[4096 + sizeof kOptions];  // as they are given to programs;
                                                              // empty: this one was not given them

// The text after `prefix` in `text`, or null.
char* after(char* text, const char* prefix) {
  while (*prefix != 0) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

char* end_of(char* text) { return text + string_length(text); }

// The name of a libweir.so among the libraries of LD_PRELOAD: [at, limit), or null.
const char* find_library(const char* list, const char** limit) {
  while (*list) {
    const char* end = list;
    while (*end && *end != ':' && *end != ' ' && *end != '\t' && *end != '\n') end++;
    constexpr size_t kLength = sizeof kLibraryName - 1;
    if (static_cast<size_t>(end - list) >= kLength && starts_with(end - kLength, kLibraryName))
      return *limit = end, list;
    list = *end ? end + 1 : end;
  }
  return nullptr;
}

void take_out(char** variable) {
  zero_bytes(*variable, string_length(*variable));
  do variable[0] = variable[1];
  while (*variable++ != nullptr);
}

// Each variable that begins with `prefix`: visit(where it stands in the vector, its value), which
// returns true if it took it out.
template <typename Visit>
void each(char** environment, const char* prefix, Visit visit) {
  while (*environment) {
    char* value = after(*environment, prefix);
    if (!value || !visit(environment, value)) environment++;
  }
}

void keep(char** environment) {
  each(environment, kPreload, [](char**, char* value) {
    const char* limit;
    const char* name = find_library(value, &limit);
    if (name && starts_with(limit, kThreadsApart)) limit += sizeof kThreadsApart - 1;
    const auto length = static_cast<size_t>(name ? limit - name : 0);
    if (!name || length >= sizeof g_library) return false;
    copy_bytes(g_library, name, length);
    g_library[length] = 0;
    copy_bytes(g_host, g_library, length);
    append_text(g_host + length + 2 - sizeof kLibraryName, loader::kHostName);
    return false;
  });
  each(environment, kOptions, [](char** variable, char*) {
    const size_t length = string_length(*variable);
    if (length < sizeof g_options_text) copy_bytes(g_options_text, *variable, length + 1);
    return false;
  });
}

int take_put(char** environment) {
  int put = 0;
  each(environment, kPut, [&](char** variable, char* value) {
    put = *value - '0';
    take_out(variable);
    return true;
  });
  return put;
}

// The first library of the list, and what separates it from the next.
void take_first_back(char** environment) {
  each(environment, kPreload, [](char** variable, char* value) {
    while (*value && *value != ':') value++;
    if (!*value) return false;
    char* start = value + 1 - (sizeof kPreload - 1);
    zero_bytes(*variable, static_cast<size_t>(start - *variable));
    copy_bytes(start, kPreload, sizeof kPreload - 1);
    *variable = start;
    return false;
  });
}

void take_preload_back(char** environment, bool is_all) {
  each(environment, kPreload, [=](char** variable, char* value) {
    if (is_all) return take_out(variable), true;
    char* theirs = after(value, g_library);
    if (!theirs || *theirs != ':') return false;
    // The library's name is longer than the variable's.
    char* start = theirs + 1 - (sizeof kPreload - 1);
    zero_bytes(*variable, static_cast<size_t>(start - *variable));
    copy_bytes(start, kPreload, sizeof kPreload - 1);
    *variable = start;
    return false;
  });
}

// The C library has read how many stacks of ended threads it keeps (cli/launch/launch.cc), and the
// program finds the variable as it was.
void take_tunable_back(char** environment) {
  each(environment, kTunables, [](char** variable, char* value) {
    constexpr size_t kLength = sizeof kStackTunable - 1;
    char* end = end_of(value);
    if (static_cast<size_t>(end - value) < kLength || !equal_strings(end - kLength, kStackTunable))
      return false;
    char* ours = end - kLength;
    if (ours == value) return take_out(variable), true;
    if (ours[-1] == ':') zero_bytes(ours - 1, static_cast<size_t>(end - (ours - 1)));
    return false;
  });
}

// The loader keeps to it, for what the program loads later too.
void take_bind_now_back(char** environment) {
  each(environment, kBindNow, [](char** variable, char* rest) {
    if (*rest == 0) take_out(variable);
    return *rest == 0;
  });
}

// Of a new vector: variables of the program's are pointers into its own memory.
class Builder {
 public:
  Builder(uint64_t at, uint64_t count)
      : vector_(reinterpret_cast<uint64_t*>(at)),
        texts_(reinterpret_cast<char*>(at) + (count + kMaxAdded) * 8),
        count_(count) {}

  // The last variable that begins with `prefix`, as a text of the runtime's own that may be added
  // to; null: there is none.
  char* find(const char* prefix, uint64_t* index) {
    const size_t length = string_length(prefix);
    for (uint64_t i = count_; i-- > 0;) {
      char begin[16];
      if (string_copy(begin, vector_[i], length + 1) < static_cast<long>(length) ||
          !starts_with(begin, prefix))
        continue;
      if (string_copy(texts_, vector_[i], kLongestText) >= static_cast<long>(kLongestText))
        return nullptr;
      *index = i;
      return texts_;
    }
    return nullptr;
  }

  // In place of the variable `index`, or behind all (count()): `text` and what follows it.
  void put(uint64_t index, const char* text, const char* more = "", const char* last = "") {
    char* const at = texts_;
    const size_t length = string_length(text);
    if (text != at) copy_bytes(at, text, length + 1);
    texts_ = append_text(append_text(at + length, more), last) + 1;
    vector_[index] = reinterpret_cast<uint64_t>(at);
    if (index == count_) vector_[++count_] = 0;
  }
  uint64_t count() const { return count_; }

 private:
  static long string_copy(char* to, uint64_t from, uint64_t capacity) {
    const long length = trap::string_from_program(to, static_cast<long>(from), capacity);
    if (length >= 0)
      to[length < static_cast<long>(capacity) ? length : static_cast<long>(capacity) - 1] = 0;
    return length;
  }

  uint64_t* vector_;
  char* texts_;
  uint64_t count_;
};

uint64_t vector_of(const Task& task) { return kVectors + task.id * kVectorRoom; }

// Puts `name` and a colon in front of a list that `room` allows to grow.
void put_in_front(char* list, const char* name) {
  const size_t length = string_length(list), added = string_length(name);
  for (size_t i = length + 1; i-- > 0;) list[added + 1 + i] = list[i];
  copy_bytes(list, name, added);
  list[added] = ':';
}

// LD_PRELOAD and WEIR_OPTIONS. `first`: the library that must come first, or an empty text.
// Returns which of them were put there.
int put_own(Builder& builder, const char* first) {
  int put = 0;
  uint64_t index;
  const char* limit;
  char* text = builder.find(kPreload, &index);
  char* const list = text ? text + sizeof kPreload - 1 : nullptr;
  if (!text && first[0]) {
    char both[sizeof sys::BuiltWith::first + sizeof g_library];
    append_text(append_text(append_text(both, first), ":"), g_library);
    builder.put(builder.count(), kPreload, both);
    put |= kPutPreload;
  } else if (!text) {
    builder.put(builder.count(), kPreload, g_library);
    put |= kPutPreload;
  } else {
    const bool has_library = find_library(list, &limit);
    if (!has_library) put_in_front(list, g_library);
    if (first[0]) put_in_front(list, first);
    if (!has_library) put |= kPutBeforePreload;
    if (first[0]) put |= kPutFirst;
    if (!has_library || first[0]) builder.put(index, text);
  }
  if (!builder.find(kOptions, &index)) {
    builder.put(builder.count(), g_options_text);
    put |= kPutOptions;
  }
  return put;
}

void put_loaders(Builder& builder) {
  uint64_t index;
  char* text = builder.find(kTunables, &index);
  if (!text) {
    builder.put(builder.count(), kTunables, kStackTunable);
  } else if (!contains_text(text, "glibc.pthread.stack_cache_size=")) {
    builder.put(index, text, text[sizeof kTunables - 1] ? ":" : "", kStackTunable);
  }
  const bool is_bound = options().order != Order::kFree || options().view == View::kChecked;
  if (is_bound && !builder.find(kBind, &index)) builder.put(builder.count(), kBindNow);
}

}  // namespace

void take_environment(char** environment) {
  keep(environment);
  const int put = take_put(environment);
  if (put & kPutFirst) take_first_back(environment);
  if (put & (kPutPreload | kPutBeforePreload)) take_preload_back(environment, put & kPutPreload);
  if (put & kPutOptions)
    each(environment, kOptions, [](char** variable, char*) { return take_out(variable), true; });
  take_tunable_back(environment);
  take_bind_now_back(environment);
}

const char* host_file() { return g_library[0] && g_options_text[0] ? g_host : ""; }

// Of a script: the interpreter's words in place of the script's own first one.
bool ExecutedEnvironment::make_arguments(const Hosted& hosted, uint64_t at) {
  auto* vector = reinterpret_cast<uint64_t*>(at);
  constexpr uint64_t kRoom = (kVectorRoom - kArgumentsAt) / 8;
  uint64_t count = 0;
  for (const char* word = hosted.words; count < hosted.word_count; count++) {
    vector[count] = reinterpret_cast<uint64_t>(word);
    word += string_length(word) + 1;
  }
  long text = 0;
  if (arguments_ && trap::from_program(text, arguments_) != 0) return false;
  for (uint64_t from = 1; count < kRoom; from++, count++) {
    if (text && trap::from_program(text, arguments_ + static_cast<long>(from * 8)) != 0)
      return false;
    vector[count] = static_cast<uint64_t>(text);
    if (!text) break;
  }
  arguments_ = static_cast<long>(at);
  return count < kRoom;
}

ExecutedEnvironment::ExecutedEnvironment(Task& task, long arguments, long variables, int directory,
                                         long path, const Hosted* hosted)
    : task_(task), arguments_(arguments), variables_(variables) {
  if (!g_library[0] || !g_options_text[0]) return;
  uint64_t count = 0;
  for (long text; variables; count++) {
    if (trap::from_program(text, variables + static_cast<long>(count * 8)) != 0)
      return;  // the kernel's business
    if (!text) break;
  }
  constexpr uint64_t kTexts = 4 * kLongestText;
  const uint64_t needed = page_up((count + kMaxAdded) * 8 + kTexts), at = vector_of(task);
  if (needed > kArgumentsAt) return;  // as is this
  const uint64_t room = hosted ? kVectorRoom : needed;
  const long mapped =
      sys::raw(SYS_mmap, static_cast<long>(at), static_cast<long>(room), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != static_cast<long>(at)) return;
  task_.identity.environment_room = room;
  if (count && trap::from_program(reinterpret_cast<void*>(at), variables, count * 8) != 0) return;
  Builder builder(at, count);
  char name[PATH_MAX];
  sys::BuiltWith program;
  if (trap::string_from_program(name, path, sizeof name) > 0) {
    name[sizeof name - 1] = 0;
    program = sys::built_with(directory, name);
  }
  const int put = put_own(builder, program.first);
  put_loaders(builder);
  if (hosted && (hosted->word_count == 0 || make_arguments(*hosted, at + kArgumentsAt))) {
    builder.put(builder.count(), loader::kProgramVariable, hosted->path);
    is_hosted_ = true;
  }
  const char digit[] = {static_cast<char>('0' + put), 0};
  if (put) builder.put(builder.count(), kPut, digit);
  variables_ = static_cast<long>(at);
}

ExecutedEnvironment::~ExecutedEnvironment() { end_borrowed_environment(task_); }

void end_borrowed_environment(Task& borrower) {
  if (!borrower.identity.environment_room) return;
  sys::raw(SYS_munmap, static_cast<long>(vector_of(borrower)),
           static_cast<long>(borrower.identity.environment_room));
  borrower.identity.environment_room = 0;
}

}  // namespace weir::tasks
