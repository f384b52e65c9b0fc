// Which process writes FILE. The command (cli/launch/launch.cc) has left an empty FILE.PID.part,
// PID being its own number. The program keeps that number, also if it becomes another program by
// exec. A process that ends and finds a part of that name with its own number is the program. It
// fills the part and renames it to FILE: FILE is there as a whole or not at all. All other
// processes are children of the program. A child that had threads of its own writes FILE.PID, the
// others nothing.

#include "stats/exit_json.h"

#include <errno.h>
#include <fcntl.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "control/options.h"
#include "control/process.h"
#include "memory/backing.h"
#include "memory/userfault.h"
#include "stats/counts.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"

namespace weir::runtime {

namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}

  void text(const char* bytes) {
    for (; *bytes; bytes++) put(*bytes);
  }

  void number(uint64_t value, int digits_at_least = 1) {
    char digits[21];
    int count = 0;
    for (; value || count < digits_at_least; value /= 10)
      digits[count++] = static_cast<char>('0' + value % 10);
    while (count) put(digits[--count]);
  }

  void key(const char* name, const char* behind = "") {
    text(separator_);
    separator_ = ", ";
    put('"');
    for (; *name; name++) put(*name == ' ' ? '_' : *name);
    text(behind);
    text("\": ");
  }

  void count(const char* name, uint64_t value) {
    key(name);
    number(value);
  }

  void seconds(const char* name, uint64_t nanoseconds) {
    key(name, "_seconds");
    number(nanoseconds / 1'000'000'000);
    put('.');
    number(nanoseconds % 1'000'000'000, 9);
  }

  // Null where nothing can be said.
  void ratio(const char* name, uint64_t part, uint64_t whole) {
    constexpr uint64_t kDigits = 10'000;
    key(name);
    if (!whole) {
      text("null");
      return;
    }
    // Of numbers that large the last digits say nothing.
    for (; part > ~uint64_t{0} / kDigits; part >>= 1) whole = whole > 1 ? whole >> 1 : 1;
    number(part / whole);
    put('.');
    number(part % whole * kDigits / whole, 4);
  }

  // A name that the kernel gave: any bytes. What is no UTF-8 cannot be said in JSON.
  void string(const char* name, const char* bytes) {
    key(name);
    put('"');
    for (const auto* at = reinterpret_cast<const uint8_t*>(bytes); *at;) {
      const size_t length = utf8_length(reinterpret_cast<const char*>(at));
      if (*at < 0x20 || length == 0) {
        text("\\u");
        text(*at < 0x20 ? "00" : "ff");
        text(*at < 0x20 ? (*at < 0x10 ? "0" : "1") : "f");
        put(*at < 0x20 ? "0123456789abcdef"[*at & 15] : 'd');
        at++;
        continue;
      }
      if (*at == '"' || *at == '\\') put('\\');
      for (size_t i = 0; i < length; i++) put(static_cast<char>(*at++));
    }
    put('"');
  }

  void open(const char* name, const char* bracket) {
    if (name) {
      key(name);
    } else {
      text(separator_);
    }
    text(bracket);
    separator_ = "";
  }

  void close(const char* bracket) {
    text(bracket);
    separator_ = ", ";
  }

  void next_line() {
    if (*separator_) separator_ = ",\n  ";
    else separator_ = "\n  ";
  }

  // 0 or -errno of the first write that failed.
  long finish() {
    flush();
    return error_;
  }

 private:
  void put(char c) {
    if (length_ == sizeof bytes_) flush();
    bytes_[length_++] = c;
  }

  void flush() {
    for (size_t done = 0; done < length_ && !error_;) {
      const long written = write_unsignalled(descriptor_, bytes_ + done, length_ - done);
      if (written == -EINTR) continue;
      if (written <= 0) error_ = written ? written : -EIO;
      else done += static_cast<size_t>(written);
    }
    length_ = 0;
  }

  int descriptor_;
  long error_ = 0;
  size_t length_ = 0;
  const char* separator_ = "";
  char bytes_[4096];
};

constexpr size_t kPath = sizeof(Options::json_path) + 32;

// FILE, and behind it, if `pid` is not 0, .PID and `behind`.
void make_path(char (&path)[kPath], int pid, const char* behind) {
  char* end = append_text(path, options().json_path);
  if (pid) append_text(append_number(append_text(end, "."), static_cast<uint64_t>(pid)), behind);
}

void put_row(File& file, const TaskCounters& counters) {
  for (const Column& column : kColumn) {
    if (column.unit == Unit::kCount) file.count(column.name, column.of(counters));
    else file.seconds(column.name, value(column, counters));
  }
}

void put_all(File& file, int pid) {
  char program[4096];
  const long length = sys::raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                               reinterpret_cast<long>(program), sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  file.open(nullptr, "{");
  file.count("version", 1);
  file.string("program", program);
  file.count("process", static_cast<uint64_t>(pid));
  file.string("order", options().order == Order::kToken    ? "token"
                       : options().order == Order::kRecord ? "record"
                                                           : "free");
  file.string("view", plan().view);
  const page::Tracker tracker = page::tracker();
  file.string("pages", tracker == page::Tracker::kUserfault    ? "userfaultfd"
                       : tracker == page::Tracker::kPageTables ? "mprotect"
                                                               : "untracked");
  TaskCounters total{}, counters{};
  file.next_line();
  file.open("tasks", "[");
  for (uint64_t number = 0; next_task(&number, &counters); number++) {
    add(total, counters);
    file.next_line();
    file.open(nullptr, "{");
    file.count("task", number);
    put_row(file, counters);
    file.close("}");
  }
  if (other_tasks(&counters)) {
    add(total, counters);
    file.next_line();
    file.open(nullptr, "{");
    file.string("task", "others");
    put_row(file, counters);
    file.close("}");
  }
  file.close("]");
  file.next_line();
  file.open("total", "{");
  put_row(file, total);
  file.close("}");
  const Summary made = summary(total);
  file.next_line();
  file.count("threads made", made.threads_made);
  file.count("threads from pool", made.from_pool);
  file.count("processes made", made.processes_made);
  file.count("rounds", made.rounds);
  file.next_line();
  file.seconds("wall", made.wall_ns);
  file.seconds("processor", made.processor_ns);
  file.seconds("threads", made.threads_ns);
  file.seconds("serial phase", made.serial_ns);
  file.ratio("serial share", made.serial_ns, made.threads_ns);
  file.seconds("conversion", shared().spent.conversions_us * 1000);
  file.next_line();
  const Floor& floor = shared().spent.floor;
  file.seconds("floor", floor::today(shared()));
  file.seconds("floor side by side", floor.longest);
  file.seconds("floor code in turn", floor.kept);
  file.seconds("floor code in turn beside", floor.kept_beside);
  file.seconds("floor events", floor.turn);
  file.seconds("floor without kept turns", floor::unkept(shared()));
  file.seconds("floor without fences", floor::unfenced(shared()));
  file.seconds("floor in turns", floor::in_turns(shared()));
  file.seconds("floor by waits", floor::by_waits(shared()));
  file.seconds("own code", floor.own);
  file.next_line();
  file.count("transactions", total.transactions);
  file.key("transaction", "_seconds");
  if (total.transactions) {
    file.number(made.program_ns / total.transactions / 1'000'000'000);
    file.text(".");
    file.number(made.program_ns / total.transactions % 1'000'000'000, 9);
  } else {
    file.text("null");
  }
  file.count("dirtied pages", made.dirtied);
  file.ratio("dirtied pages a transaction", made.dirtied, total.transactions);
  file.ratio("hit rate", total.predicted, made.dirtied);
  file.ratio("accuracy", total.predicted, total.prefetched);
  file.text("\n");
  file.close("}\n");
}

long write_to(long descriptor, int pid) {
  File file(static_cast<int>(descriptor));
  put_all(file, pid);
  const long result = file.finish();
  page::close_hidden(static_cast<int>(descriptor));
  return result;
}

}  // namespace

void write_json() {
  const Shared& s = shared();
  const int pid = s.program.multi && plan().has_processes()
                      ? s.program.monitor
                      : static_cast<int>(sys::raw(SYS_getpid));
  char part[kPath], path[kPath];
  make_path(part, pid, ".part");
  make_path(path, 0, "");
  long result = page::open_hidden(SYS_open, reinterpret_cast<long>(part), O_WRONLY | O_CLOEXEC, 0);
  if (result == -ENOENT) {
    if (!s.program.multi) return;
    make_path(path, pid, "");
    result = page::open_hidden(SYS_open, reinterpret_cast<long>(part),
                               O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  }
  if (result >= 0) {
    result = write_to(result, pid);
    if (result == 0)
      result = sys::raw(SYS_rename, reinterpret_cast<long>(part), reinterpret_cast<long>(path));
    if (result < 0) sys::raw(SYS_unlink, reinterpret_cast<long>(part));
  }
  if (result < 0) report("cannot write %s (error %d)", path, int64_t{-result});
}

}  // namespace weir::runtime
