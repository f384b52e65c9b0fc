// Programs that the recorded one executes. When one begins, it logs what it consists of: its file,
// the name by which it was executed, and the files that the loader has mapped before the library
// could see it. The command keeps copies of those that may change.
//
// A replay executes those files, whatever has become of the names: the program may have written
// them itself, a script may be gone, and the working directory is not the recorded one. The kernel
// puts the name by which a program is executed on its stack. So the replay uses a name of the same
// length: /proc/self/fd/////9, or ./////9 in that directory if the recorded one is shorter. The new
// program then puts the recorded name in its place. The recording has what the kernel makes of a
// script (an interpreter and its arguments), and the replay executes that.

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "channel/wait.h"
#include "control/control.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/input.h"
#include "record/stream.h"
#include "sys/futex.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::recording {

using channel::Entry;
using channel::Kind;
using channel::MappedFile;
using channel::Ring;

namespace {

constexpr uint64_t kMaxText = 16 << 10;  // of an image's entry
// That the kernel makes of a script: two for each interpreter, and the first.
constexpr uint32_t kMaxArguments = 12;

const char* last_part(const char* path) {
  const char* part = path;
  for (const char* at = path; *at; at++) {
    if (*at == '/') part = at + 1;
  }
  return part;
}

// What the loader has mapped: of the program itself `name` is the path that the kernel says.
// Neither this library nor the vDSO.
template <typename Visit>
void for_each_object(const char* program, Visit visit) {
  struct Context {
    const char* program;
    Visit& visit;
  } context{program, visit};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* at) {
        const auto& [program, visit] = *static_cast<Context*>(at);
        const char* name = object->dlpi_name[0] ? object->dlpi_name : program;
        const bool is_own = page::own_image().contains(object->dlpi_addr);
        if (!is_own && last_part(name) != name) visit(name);
        return 0;
      },
      &context);
}

// Strings one after the other, each with its NUL.
struct Texts {
  char* at;
  const char* limit;
  bool put(const char* text) {
    const size_t size = string_length(text) + 1;
    if (size > static_cast<size_t>(limit - at)) return false;
    copy_bytes(at, text, size);
    at += size;
    return true;
  }
};

// How many of the arguments may be the kernel's: of a script the last is the name by which it was
// executed.
uint32_t made_by_kernel(int argc, char** argv, const char* name) {
  uint32_t count = 0;
  for (uint32_t i = 1; i < static_cast<uint32_t>(argc) && i < kMaxArguments; i++) {
    if (equal_strings(argv[i], name)) count = i + 1;
  }
  return count;
}

const char* executed_by() {
  const auto name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return name ? name : "";
}

// The strings of an image's entry, in turn. Behind the last one there are empty ones.
class ImageTexts {
 public:
  explicit ImageTexts(const Entry& entry)
      : at_(reinterpret_cast<const char*>(payload(entry))), limit_(at_ + entry.size) {}
  bool is_at_end() const { return at_ >= limit_; }
  const char* next() {
    const char* text = at_;
    while (at_ < limit_ && *at_) at_++;
    if (at_ >= limit_) return "";
    at_++;
    return text;
  }

 private:
  const char* at_;
  const char* limit_;
};

}  // namespace

void put_image(Task& task, int argc, char** argv) {
  static char text[kMaxText], program[PATH_MAX];
  const long length = sys::raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                               reinterpret_cast<long>(program), sizeof program - 1);
  program[length < 0 ? 0 : length] = 0;
  const char* name = executed_by();
  uint32_t objects = 0;
  for_each_object(program, [&](const char*) { objects++; });
  const uint32_t first = __atomic_fetch_add(&header().files, objects, __ATOMIC_RELAXED);
  Texts texts{text, text + sizeof text};
  bool fits = texts.put(program) && texts.put(name);
  for (uint32_t i = 0; i < made_by_kernel(argc, argv, name) && fits; i++) fits = texts.put(argv[i]);
  put(task,
      Entry{Kind::kImage, 0, static_cast<uint16_t>(objects), static_cast<uint32_t>(texts.at - text),
            static_cast<uint32_t>(argc), 0, first},
      text);
  uint32_t number = first;
  for_each_object(program, [&](const char* object) {
    const char* opened = object == program ? "/proc/self/exe" : object;
    struct stat status {};
    sys::raw(SYS_stat, reinterpret_cast<long>(opened), reinterpret_cast<long>(&status));
    const MappedFile facts = facts_of(status, -1);
    put(task,
        Entry{Kind::kFile, 0, channel::kOfImage,
              static_cast<uint32_t>(sizeof facts + string_length(object)), 0, 0, number++},
        &facts, object, sizeof facts);
  });
  wait_until_taken(task);
}

void log_user(char** argv, int argc) {
  char** end = argv + argc + 1;
  while (*end) end++;  // of the environment
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(end + 1); entry->a_type != AT_NULL; entry++) {
    switch (entry->a_type) {
      case AT_UID:
      case AT_EUID:
      case AT_GID:
      case AT_EGID:
      case AT_SECURE:
        entry->a_un.a_val = static_cast<uint64_t>(
            input::log_number(input::What::kUser, static_cast<int64_t>(entry->a_un.a_val)));
    }
  }
}

void take_image(Task& task) {
  const Entry& entry = next(task);
  if (entry.kind != Kind::kImage) diverged(task, entry, "a program began", 0);
  ImageTexts texts(entry);
  static char program[PATH_MAX];
  const char* path = texts.next();
  if (string_length(path) < sizeof program) append_text(program, path);
  const char* name = texts.next();
  const auto now = const_cast<char*>(executed_by());
  if (string_length(now) == string_length(name)) copy_bytes(now, name, string_length(name));
  sys::raw(SYS_prctl, PR_SET_NAME, reinterpret_cast<long>(last_part(name)));
  const uint32_t objects = entry.number;
  take(task, entry);
  uint32_t seen = 0;
  for_each_object(program, [&](const char* object) {
    const Entry& file = next(task);
    const size_t length = string_length(object);
    const bool same = file.kind == Kind::kFile && file.number == channel::kOfImage &&
                      file.size == sizeof(MappedFile) + length &&
                      __builtin_memcmp(payload(file) + sizeof(MappedFile), object, length) == 0;
    if (!same || ++seen > objects) {
      report("the loader has loaded %s, as it did not when this was recorded", object);
      diverged(task, file, "a file of a program", seen);
    }
    take(task, file);
  });
  if (seen != objects) diverged(task, next(task), "the program consists of fewer files:", seen);
}

namespace {

// As Ring::peek, for one who may not be the only one to take.
const Entry* look_at(const Ring& ring) {
  uint64_t tail = __atomic_load_n(&ring.slot->tail, __ATOMIC_ACQUIRE);
  while (__atomic_load_n(&ring.slot->head, __ATOMIC_ACQUIRE) != tail) {
    const uint64_t at = tail % channel::kRingSize, left = channel::kRingSize - at;
    const auto* entry = reinterpret_cast<const Entry*>(ring.bytes + at);
    if (left >= sizeof(Entry) && entry->kind != Kind::kPad) return entry;
    tail += left;
  }
  return nullptr;
}

// A descriptor of one digit, or of two, by which the program is executed. No descriptor of the
// program's is open in a replay, but what the user sees.
long place_for(long opened, bool two_digits) {
  for (int number = two_digits ? 99 : 9; number >= (two_digits ? 10 : 3); number--) {
    if (page::is_hidden(number)) continue;
    if (opened == number) return opened;
    if (sys::failed(sys::raw(SYS_dup3, opened, number, O_CLOEXEC))) continue;
    sys::raw(SYS_close, opened);
    return number;
  }
  return -1;
}

// Where there are tasks the monitor does, when they are gone.
int who_executes() {
  const bool monitored = has_monitor() && !self().identity.in_vfork;
  return monitored ? shared().program.monitor : static_cast<int>(sys::raw(SYS_getpid));
}

// A name of the descriptor with `length` bytes; where it is a short one, in a working directory
// that is set.
bool name_descriptor(char* name, size_t length, long opened) {
  constexpr const char kFolder[] = "/proc/self/fd";
  char folder[32];
  append_text(append_number(append_text(folder, "/proc/"), static_cast<uint64_t>(who_executes())),
              "/fd");
  const long number = place_for(opened, length == 2);
  if (number < 0 || length == 0 || length >= PATH_MAX) return false;
  const size_t digits = number > 9 ? 2 : 1;
  size_t used = 0;
  if (length >= sizeof kFolder + digits) {
    used = sizeof kFolder - 1;
    copy_bytes(name, kFolder, used);
  } else {
    if (sys::failed(sys::raw(SYS_chdir, reinterpret_cast<long>(folder)))) return false;
    if (length > digits) name[used++] = '.';
  }
  while (used < length - digits) name[used++] = '/';
  append_number(name + used, static_cast<uint64_t>(number));
  name[length] = 0;
  return true;
}

long open_program(uint32_t number, const char* path) {
  char copy[600];
  append_number(append_text(append_text(copy, header().directory), "/files/"), number);
  const long opened = sys::raw(SYS_open, reinterpret_cast<long>(copy), O_PATH | O_CLOEXEC);
  return sys::failed(opened) ? sys::raw(SYS_open, reinterpret_cast<long>(path), O_PATH | O_CLOEXEC)
                             : opened;
}

uint64_t count_of(long vector) {
  uint64_t count = 0;
  for (long text;
       vector && trap::from_program(text, vector + static_cast<long>(count * 8)) == 0 && text;
       count++) {}
  return count;
}

// Looks until `is_there`, or for too long.
template <typename IsThere>
void await(IsThere is_there) {
  constexpr uint64_t kMaxWaitNs = 5'000'000'000;
  Looking looking;
  for (const uint64_t since = sys::monotonic_ns();
       !is_there() && sys::monotonic_ns() - since < kMaxWaitNs;) {
    channel::ring_bell(header());
    looking.sleep();
  }
}

// The execution ends the other tasks, which may still be on the way to where they were when it
// ended them.
void await_others(uint32_t ordinal, uint32_t task) {
  const uint32_t slots = __atomic_load_n(&header().slots, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < slots && i < channel::kMaxStreams; i++) {
    const Ring ring = Ring::at(channel::kChannel, i);
    if (ring.slot->process != ordinal || ring.slot->task == channel::kOrderTask ||
        channel::is_points(ring.slot->task) || ring.slot->task == task || ring.slot->task == 0)
      continue;
    await([&] {
      const bool closed = channel::is_closed(*ring.slot);
      const Entry* entry = look_at(ring);
      return entry ? entry->kind == Kind::kTask : closed;  // a task of the program that is executed
    });
  }
}

}  // namespace

const Entry* await_image(const Task& task) {
  Ring ring;
  if (!ring_of(task.recorded.ordinal, 0, ring)) return nullptr;
  const Entry* entry = nullptr;
  await([&] {
    const bool closed = channel::is_closed(*ring.slot);
    entry = look_at(ring);
    return entry ? entry->kind == Kind::kImage : closed;
  });
  if (!entry || entry->kind != Kind::kImage) return nullptr;
  await_others(task.recorded.ordinal, task.id);
  return entry;
}

static bool prepare_execution(const Entry& image, uint32_t ordinal, long argv,
                              Execution& execution) {
  ImageTexts texts(image);
  const char* path = texts.next();
  const char* name = texts.next();
  const auto first = static_cast<uint32_t>(image.result);
  const long opened = open_program(first, path);
  if (sys::failed(opened) || !name_descriptor(execution.path, string_length(name), opened))
    return false;
  execution.argv = argv;
  __atomic_store_n(&header().pid[ordinal], who_executes(),
                   __ATOMIC_RELEASE);  // a thread may have found that its own recording ends here
  header().image[ordinal] = {first, image.number};
  const uint64_t given = count_of(argv), now = image.check;
  if (given == 0 || now <= given) return true;
  // The kernel made more of them, in place of the first.
  const uint64_t made = now - given + 1, room = (now + 1) * 8;
  if (made > kMaxArguments || room > kExecBufferLimit / 2) return false;
  auto* vector = reinterpret_cast<uint64_t*>(shared().exec.buffer + kExecBufferLimit - room);
  for (uint64_t i = 0; i < made; i++) {
    if (texts.is_at_end()) return false;
    vector[i] = reinterpret_cast<uint64_t>(texts.next());
  }
  for (uint64_t i = 1; i < given; i++) {
    if (trap::from_program(vector[made + i - 1], argv + static_cast<long>(i * 8)) != 0)
      return false;
  }
  vector[now] = 0;
  execution.argv = reinterpret_cast<long>(vector);
  return true;
}

Execution execution_of(Task& task, const Entry& image, long argv) {
  Execution execution;
  if (!prepare_execution(image, task.recorded.ordinal, argv, execution))
    diverged(task, image, "it cannot be executed", 0);
  return execution;
}

}  // namespace weir::recording
