// What --stat prints is two tables, of counts and of times: a line for each task in the order in which they were made (0 is the
// first thread), of many ended ones one line together, and the sum; and below what follows from the sum.

#include "runtime/exit_report.h"

#include "base/bytes.h"
#include "base/options.h"
#include "effect/effects.h"
#include "event/input.h"
#include "order/rounds.h"
#include "page/store.h"
#include "runtime/counts.h"
#include "runtime/exit_json.h"
#include "runtime/recording.h"
#include "runtime/state.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::runtime {

namespace {

class Line {
 public:
  void text(const char* word, size_t width) {
    size_t length = 0;
    while (word[length]) length++;
    for (size_t i = length; i < width; i++) put(' ');
    for (size_t i = 0; i < length; i++) put(word[i]);
  }

  void number(uint64_t value, size_t width) {
    char digits[21];
    append_number(digits, value);
    text(digits, width);
  }

  // `thousandths` with three digits behind the point.
  void decimal(uint64_t thousandths, size_t width) {
    number(thousandths / 1000, width < 4 ? 0 : width - 4);
    put('.');
    for (uint64_t unit = 100; unit; unit /= 10) put(static_cast<char>('0' + thousandths / unit % 10));
  }

  // A share of a whole in percent; a dash where there is none.
  void percent(uint64_t part, uint64_t whole) {
    if (!whole) {
      put('-');
      return;
    }
    const uint64_t tenths = whole > ~uint64_t{0} / 2000 ? part / (whole / 1000) : part * 1000 / whole;
    number(tenths / 10, 0);
    put('.');
    number(tenths % 10, 0);
    text(" %", 0);
  }

  void print() {
    text_[length_] = 0;
    report("%s", text_);
  }

 private:
  void put(char c) {
    if (length_ + 1 < sizeof text_) text_[length_++] = c;
  }

  char text_[240];
  size_t length_ = 0;
};

constexpr size_t kFirstColumn = 7;
constexpr uint64_t kMicrosecond = 1000;

// One of the two tables.
struct Part {
  size_t first, limit;  // columns
  const char* heading;
};
constexpr Part kParts[] = {{0, kCountColumns, "task"}, {kCountColumns, kColumns, "ms"}};

void print_counters(Line& line, const Part& part, const TaskCounters& counters) {
  for (size_t i = part.first; i < part.limit; i++) {
    const Column& column = kColumn[i];
    if (!column.width) continue;
    if (column.unit == Unit::kCount) line.number(column.of(counters), column.width);
    else line.decimal(value(column, counters) / kMicrosecond, column.width);
  }
  line.print();
}

void print_row(const char* name, const Part& part, const TaskCounters& counters) {
  Line line;
  line.text(name, kFirstColumn);
  print_counters(line, part, counters);
}

void print_row(uint64_t task, const Part& part, const TaskCounters& counters) {
  Line line;
  line.number(task, kFirstColumn);
  print_counters(line, part, counters);
}

TaskCounters print_part(const Part& part) {
  Line heading;
  heading.text(part.heading, kFirstColumn);
  for (size_t i = part.first; i < part.limit; i++) {
    if (kColumn[i].width) heading.text(kColumn[i].name, kColumn[i].width);
  }
  heading.print();
  TaskCounters total{}, counters;
  for (uint64_t number = 0; next_task(&number, &counters); number++) {
    add(total, counters);
    print_row(number, part, counters);
  }
  if (other_tasks(&counters)) {
    add(total, counters);
    print_row("others", part, counters);
  }
  print_row("all", part, total);
  return total;
}

// System calls that the program was told this kernel does not have.
void print_left_out() {
  Line line;
  bool any = false;
  for (unsigned number = 0; number < 8 * sizeof shared().left_out_calls; number++) {
    if (!(shared().left_out_calls[number / 64] >> number % 64 & 1)) continue;
    line.text(any ? ", " : "answered as by a kernel without them: ", 0);
    if (const char* name = effects::name_of(number)) line.text(name, 0);
    else line.number(number, 0);
    any = true;
  }
  if (any) line.print();
}

void print_table() {
  TaskCounters total{};
  for (const Part& part : kParts) total = print_part(part);
  const Summary made = summary(total);
  if (total.transactions) {
    Line line;
    line.number(total.transactions, 0);
    line.text(" transactions, us each: ", 0);
    line.decimal(made.program_ns / total.transactions, 0);
    line.text(" of program code; pages dirtied ", 0);
    line.number(made.dirtied, 0);
    line.text(", each ", 0);
    line.decimal(made.dirtied * 1000 / total.transactions, 0);
    line.text("; prediction: hit rate ", 0);
    line.percent(total.foretold, made.dirtied);
    line.text(", accuracy ", 0);
    line.percent(total.foretold, total.prefetched);
    line.print();
  }
  Line line;
  line.text("serial phases ", 0);
  line.percent(made.serial_ns, made.threads_ns);
  line.text(" of the time since the first thread; ms in all: ", 0);
  line.decimal(made.wall_ns / kMicrosecond, 0);
  line.text(", of processors: ", 0);
  line.decimal(made.processor_ns / kMicrosecond, 0);
  line.print();
  report("rounds %u, tasks made %u (%u from the pool), processes made %u, looks for copies saved %u, going multi took %u ms",
         made.rounds, made.threads_made, made.from_pool, made.processes_made, total.scans_saved, shared().conversions_us / 1000);
  print_left_out();
}

}  // namespace

void prints_at_exit(int code) {
  Shared& s = shared();
  if (__atomic_exchange_n(&s.end_reported, 1u, __ATOMIC_ACQ_REL)) {
    uint32_t never = 0;
    for (;;) sys::futex_wait(&never, 0);
  }
  const bool comparable = !input::is_on() || s.compares_memory;
  const bool kept = input::is_on() && (recording::header().options & trace::kWithFingerprint);
  constexpr uint64_t kPatience = 1'000'000'000;
  const bool wanted = comparable && (kept || options().fingerprint);
  const auto stands = [] { return !g_tasks_active || !self().turn_depth || order::stand_still(self(), kPatience); };
  const uint64_t memory = wanted && stands() ? page::fingerprint() : 0;
  if (input::is_on()) recording::end_program(code, kept ? memory : 0);
  if (options().fingerprint) report("fingerprint: memory %x, schedule %x", memory, s.schedule_hash);
  if (!options().counts()) return;
  stop_clock();
  if (options().stat) print_table();
  if (options().json_path[0]) write_json();
}

}  // namespace weir::runtime
