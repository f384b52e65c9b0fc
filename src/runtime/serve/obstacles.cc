// A run that is forked must be the run from the start. Of what the kernel has of the process
//
// - fork copies memory, dispositions and masks of signals, limits, names, the working directory;
// - offsets of files that are only read are put back before each fork, as runs come one after the
//   other;
// - standard output and error are given to each run anew;
// - the rest is asked for here, and is a reason not to fork: what lies in pipes, sockets and
//   memory that is shared, files that were changed, timers, children, locks on files.
//
// What the program did to files is known from its system calls (lasting.cc). What was open
// when it was started it has in common with every other run that the command starts.
#include "runtime/serve/obstacles.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "control/address_map.h"
#include "control/control.h"
#include "control/served.h"
#include "memory/backing.h"
#include "sys/descriptor.h"
#include "sys/folder.h"
#include "sys/maps.h"
#include "sys/syscall_x86_64.h"

namespace weir::runtime {

namespace {

constexpr uint32_t kMaxInherited = 64;
struct Inherited {
  int32_t descriptor;
  uint64_t device, inode;
};
Inherited g_inherited[kMaxInherited];
uint32_t g_inherited_count = 0;

// Text of bounded length.
class Reason {
 public:
  explicit Reason(char (&to)[ServerWord::kMaxText]) : at_(to), end_(to + sizeof to - 1) {
    *at_ = 0;
  }
  Reason& put(const char* text) {
    while (*text && at_ < end_) *at_++ = *text++;
    *at_ = 0;
    return *this;
  }
  Reason& put(uint64_t number) {
    char digits[24];
    append_number(digits, number);
    return put(digits);
  }

 private:
  char* at_;
  char* end_;
};

struct Name {
  char text[256] = {};
  explicit Name(int descriptor) { sys::name_of_descriptor(descriptor, text, sizeof text - 1); }
};

// Calls visit(descriptor, status) for each descriptor that is not Weir's until that returns false.
template <typename Visit>
bool each_descriptor(Visit visit) {
  const long folder = sys::open_own([] {
    return sys::raw(SYS_open, reinterpret_cast<long>("/proc/self/fd"),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  if (sys::failed(folder)) return false;
  const bool goes_on = sys::each_entry(folder, [&](const char* name) {
    if (*name < '0' || *name > '9') return true;
    int descriptor = 0;
    for (const char* c = name; *c; c++) descriptor = descriptor * 10 + (*c - '0');
    if (descriptor == folder || page::is_hidden(descriptor)) return true;
    struct stat status {};
    if (sys::raw(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) != 0) return true;
    return visit(descriptor, status);
  });
  sys::raw(SYS_close, folder);
  return goes_on;
}

bool is_same(const Inherited& one, const struct stat& status) {
  return one.device == status.st_dev && one.inode == status.st_ino;
}

// 1 or 2 if it is the memory that the command made for that; else 0.
int output_of(const struct stat& status) {
  for (uint32_t i = 0; i < g_inherited_count; i++) {
    const Inherited& one = g_inherited[i];
    if ((one.descriptor == 1 || one.descriptor == 2) && is_same(one, status)) return one.descriptor;
  }
  return 0;
}

bool is_inherited(int descriptor, const struct stat& status) {
  for (uint32_t i = 0; i < g_inherited_count; i++) {
    const Inherited& one = g_inherited[i];
    if (one.descriptor == descriptor && descriptor > 2 && is_same(one, status)) return true;
  }
  return false;
}

// What is in it is the same for all, and nobody changes it: /dev/null, zero, full, random, urandom.
bool is_stateless(const struct stat& status) {
  if (!S_ISCHR(status.st_mode) || major(status.st_rdev) != 1) return false;
  switch (minor(status.st_rdev)) {
    case 3:
    case 5:
    case 7:
    case 8:
    case 9: return true;
    default: return false;
  }
}

const char* kind_of(const struct stat& status) {
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "a device";
  return nullptr;
}

// With those descriptors of that output that were found before.
bool shares_offset(const OpenFiles& files, int output, int descriptor) {
  constexpr long kOpenFile = 0;  // KCMP_FILE
  const long own = sys::raw(SYS_getpid);
  for (uint32_t i = 0; i < files.count; i++) {
    const OpenFiles::File& file = files.files[i];
    if (file.output == output &&
        sys::raw(SYS_kcmp, own, own, kOpenFile, file.descriptor, descriptor) != 0)
      return false;
  }
  return true;
}

struct Status {
  uint64_t threads = 1;
  bool has_signal = false;
};

// Of the number behind `key` in /proc/self/status.
uint64_t number_of(const char* text, const char* key, unsigned base) {
  for (; *text; text++) {
    if (!starts_with(text, key)) continue;
    text += string_length(key);
    while (*text == ' ' || *text == '\t') text++;
    uint64_t value = 0;
    for (;; text++) {
      const char c = *text;
      const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                    : 16;
      if (digit >= base) return value;
      value = value * base + digit;
    }
  }
  return 0;
}

bool read_status(Status& status) {
  char text[4096];
  if (sys::read_own_file("/proc/self/status", text) <= 0) return false;
  status.threads = number_of(text, "\nThreads:", 10);
  status.has_signal =
      sys::status_signals(text, "SigPnd:\t") || sys::status_signals(text, "ShdPnd:\t");
  return true;
}

bool has_timer() {
  constexpr int kTimers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
  for (const int which : kTimers) {
    itimerval timer{};
    sys::raw(SYS_getitimer, which, reinterpret_cast<long>(&timer));
    if (timer.it_value.tv_sec || timer.it_value.tv_usec) return true;
  }
  return false;
}

bool has_child() {
  siginfo_t info{};
  return sys::raw(SYS_waitid, P_ALL, 0, reinterpret_cast<long>(&info),
                  WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL, 0) == 0;
}

}  // namespace

void note_inherited_files() {
  g_inherited_count = 0;
  (void)each_descriptor([](int descriptor, const struct stat& status) {
    if (g_inherited_count < kMaxInherited)
      g_inherited[g_inherited_count++] = {descriptor, status.st_dev, status.st_ino};
    return true;
  });
}

bool find_open_files(OpenFiles& files, char (&why)[ServerWord::kMaxText]) {
  Reason reason(why);
  files.count = 0;
  const bool is_all = each_descriptor([&](int descriptor, const struct stat& status) {
    const auto flags = static_cast<int>(sys::raw(SYS_fcntl, descriptor, F_GETFL));
    const int output = output_of(status);
    const bool is_read = (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH);
    if (!output && (is_inherited(descriptor, status) || is_stateless(status))) return true;
    const bool is_file = S_ISREG(status.st_mode) && (output || is_read);
    if (!is_file && !S_ISDIR(status.st_mode) && !(flags & O_PATH)) {
      const char* const kind = kind_of(status);
      reason.put("the program has ").put(kind ? kind : Name(descriptor).text);
      reason.put(S_ISREG(status.st_mode) ? " open for writing" : " open").put(" (descriptor ");
      reason.put(static_cast<uint64_t>(descriptor)).put(")");
      return false;
    }
    if (output && !shares_offset(files, output, descriptor)) {
      reason.put("the program has opened its output a second time (descriptor ");
      reason.put(static_cast<uint64_t>(descriptor)).put(")");
      return false;
    }
    if (files.count == OpenFiles::kMost) {
      reason.put("the program has too many files open");
      return false;
    }
    files.files[files.count++] = {descriptor, output, sys::raw(SYS_lseek, descriptor, 0, SEEK_CUR),
                                  flags,
                                  static_cast<int32_t>(sys::raw(SYS_fcntl, descriptor, F_GETFD))};
    return true;
  });
  if (!is_all && !*why) reason.put("/proc/self/fd cannot be read");
  return is_all;
}

bool has_no_obstacle(char (&why)[ServerWord::kMaxText]) {
  Reason reason(why);
  if (const char* lasting = served::first_lasting()) {
    reason.put(lasting);
    return false;
  }
  Status status;
  if (!read_status(status)) {
    reason.put("/proc/self/status cannot be read");
    return false;
  }
  if (status.threads != 1) reason.put("the process has another thread already");
  else if (has_timer()) reason.put("the program has set a timer");
  else if (has_child()) reason.put("the program has a child process");
  else if (status.has_signal) reason.put("a signal waits for the program");
  if (*why) return false;
  char* text;
  if (sys::read_maps(&text) < 0) {
    reason.put("/proc/self/maps cannot be read");
    return false;
  }
  sys::MapLine line;
  for (char* cursor = text; (cursor = sys::next_map_line(cursor, &line));) {
    const bool is_ours =
        overlaps_runtime(line.range) ||
        (line.range.start >= kCountCode && line.range.limit <= kCountBlocks + kCountBlocksSize);
    if (is_ours || !line.shared || !line.writable) continue;
    reason.put("the program has shared memory").put(line.name[0] ? ": " : "").put(line.name);
    return false;
  }
  return true;
}

}  // namespace weir::runtime
