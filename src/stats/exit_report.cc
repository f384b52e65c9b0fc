// What --stat prints. First a sentence says what the time went to. Then there are two tables, of
// counts and of times. Each has a line for each task in the order in which they were made (0 is the
// first thread), one line for many ended tasks together, and the sum. Below is what follows from
// the sum.
//
// Columns are as wide as their sums; those of which nothing was counted are left out. If the rest
// does not fit into a line of a hundred columns, a table goes on below itself.

#include "stats/exit_report.h"

#include "base/bytes.h"
#include "control/options.h"
#include "control/phase_timer.h"
#include "control/process.h"
#include "effects/effects.h"
#include "memory/backing.h"
#include "memory/userfault.h"
#include "order/waiting.h"
#include "record/input.h"
#include "record/stream.h"
#include "stats/counts.h"
#include "stats/exit_json.h"
#include "sys/futex.h"
#include "sys/maps.h"
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
    for (uint64_t unit = 100; unit; unit /= 10)
      put(static_cast<char>('0' + thousandths / unit % 10));
  }

  // A share of a whole in percent; a dash where there is none.
  void percent(uint64_t part, uint64_t whole) {
    if (!whole) {
      put('-');
      return;
    }
    const uint64_t tenths =
        whole > ~uint64_t{0} / 2000 ? part / (whole / 1000) : part * 1000 / whole;
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
constexpr size_t kLine = 94;  // a hundred, without "weir: "
constexpr size_t kGap = 2;    // between columns
constexpr uint64_t kMicrosecond = 1000;

// One of the two tables.
struct Part {
  size_t first, limit;  // columns
  const char* heading;
};
constexpr Part kParts[] = {{0, kCountColumns, "task"}, {kCountColumns, kColumns, "ms"}};

// As it is printed: a number, or thousandths of a millisecond.
uint64_t printed(const Column& column, const TaskCounters& counters) {
  return column.unit == Unit::kCount ? column.of(counters) : value(column, counters) / kMicrosecond;
}

size_t length_of(const char* text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

// No number in the column is longer than the sum.
size_t width_of(const Column& column, const TaskCounters& total) {
  char digits[21];
  append_number(
      digits, column.unit == Unit::kCount ? printed(column, total) : printed(column, total) / 1000);
  const size_t number = length_of(digits) + (column.unit == Unit::kCount ? 0 : 4),
               name = length_of(column.name);
  return kGap + (number > name ? number : name);
}

// Columns of one table that stand beside each other.
struct Block {
  size_t count = 0;
  size_t column[kColumns];
  size_t width[kColumns];
};

// Those from *next on that fit into a line. False: there are no more.
bool take_block(const Part& part, const TaskCounters& total, size_t* next, Block* block) {
  block->count = 0;
  size_t used = kFirstColumn;
  for (; *next < part.limit; ++*next) {
    const Column& column = kColumn[*next];
    if (!column.is_shown || (*next != part.first && printed(column, total) == 0)) continue;
    const size_t width = width_of(column, total);
    if (used + width > kLine && block->count) return true;
    used += width;
    block->column[block->count] = *next;
    block->width[block->count++] = width;
  }
  return block->count != 0;
}

void print_counters(Line& line, const Block& block, const TaskCounters& counters) {
  for (size_t i = 0; i < block.count; i++) {
    const Column& column = kColumn[block.column[i]];
    if (column.unit == Unit::kCount) line.number(printed(column, counters), block.width[i]);
    else line.decimal(printed(column, counters), block.width[i]);
  }
  line.print();
}

void print_row(const char* name, const Block& block, const TaskCounters& counters) {
  Line line;
  line.text(name, kFirstColumn);
  print_counters(line, block, counters);
}

void print_block(const Part& part, const Block& block, const TaskCounters& total) {
  Line heading;
  heading.text(part.heading, kFirstColumn);
  for (size_t i = 0; i < block.count; i++)
    heading.text(kColumn[block.column[i]].name, block.width[i]);
  heading.print();
  TaskCounters counters;
  for (uint64_t number = 0; next_task(&number, &counters); number++) {
    char digits[21];
    append_number(digits, number);
    print_row(digits, block, counters);
  }
  if (other_tasks(&counters)) print_row("others", block, counters);
  print_row("all", block, total);
}

TaskCounters sum_of_all() {
  TaskCounters total{}, counters;
  for (uint64_t number = 0; next_task(&number, &counters); number++) add(total, counters);
  if (other_tasks(&counters)) add(total, counters);
  return total;
}

// System calls that the program was told this kernel does not have.
void print_left_out() {
  Line line;
  bool any = false;
  for (unsigned number = 0; number < 8 * sizeof shared().program.left_out_calls; number++) {
    if (!(shared().program.left_out_calls[number / 64] >> number % 64 & 1)) continue;
    line.text(any ? ", " : "answered as by a kernel without them: ", 0);
    if (const char* name = effects::name_of(number)) line.text(name, 0);
    else line.number(number, 0);
    any = true;
  }
  if (any) line.print();
}

// What the time of all tasks went to, most of it first.
void print_sentence(const TaskCounters& total, const Summary& made) {
  struct Share {
    const char* what;
    uint64_t ns;
    bool is_program;
  };
  const auto in = [&](Phase phase) {
    return nanoseconds(total.phase_cycles[static_cast<uint32_t>(phase)]);
  };
  Share shares[] = {
      {"in the program's code", made.program_ns, true},
      {"waiting for turns", in(Phase::kWaiting), false},
      {"waiting for other tasks", in(Phase::kBlocked), false},
      {"asleep in the kernel", in(Phase::kOutside), false},
      {"finding and publishing changes", in(Phase::kScanning) + in(Phase::kPublishing), false},
      {"in events", in(Phase::kTurn) + in(Phase::kResuming), false},
  };
  constexpr size_t kShares = sizeof shares / sizeof shares[0];
  uint64_t whole = 0;
  for (const Share& share : shares) whole += share.ns;
  Line line;
  line.decimal(made.wall_ns / kMicrosecond, 0);
  line.text(" ms, ", 0);
  line.decimal(made.processor_ns / kMicrosecond, 0);
  line.text(" ms of processors", 0);
  if (!whole || !made.threads_made) {
    line.text("; the program made no thread", 0);
    line.print();
    return;
  }
  line.text("; its ", 0);
  line.number(made.threads_made + 1, 0);
  line.text(" tasks spent their time", 0);
  line.print();
  for (size_t i = 0; i < kShares; i++) {
    for (size_t j = i + 1; j < kShares; j++) {
      if (shares[j].ns <= shares[i].ns) continue;
      const Share other = shares[i];
      shares[i] = shares[j];
      shares[j] = other;
    }
  }
  Line rest;
  size_t used = 0, written = 0;
  for (const Share& share : shares) {
    if (share.ns < whole / 1000 && !share.is_program) continue;
    const size_t length = length_of(share.what) + 10;
    if (written && used + length > kLine) {
      rest.text(",", 0);
      rest.print();
      rest = Line();
      used = 0;
    } else if (written) {
      rest.text(", ", 0);
    }
    if (!used) rest.text("  ", 0);
    used += length;
    written++;
    rest.percent(share.ns, whole);
    rest.text(" ", 0);
    rest.text(share.what, 0);
  }
  rest.print();
}

// What the run would take if no task waited for a processor (control/floor.h).
void print_floor() {
  const Shared& s = shared();
  const Floor& floor = s.spent.floor;
  if (!floor.rounds || !plan().is_isolated()) return;
  Line today, kept, others, same;
  const auto put = [](Line& line, const char* text, uint64_t ns) {
    line.text(text, 0);
    line.decimal(ns / kMicrosecond, 0);
  };
  put(today, "at least ", floor::today(s));
  put(today, " ms with a processor for each task: ", floor.longest);
  today.text(" side by side,", 0);
  today.print();
  put(kept, "  ", floor.kept);
  put(kept, " of code in turn (", floor.kept_beside);
  put(kept, " while others could run), ", floor.turn);
  kept.text(" in events;", 0);
  kept.print();
  put(others, "  without kept turns ", floor::unkept(s));
  put(others, " ms, without fences ", floor::unfenced(s));
  put(others, "; own code ", floor.own);
  others.text(" ms;", 0);
  others.print();
  put(same, "  with these turns and no fence ", floor::in_turns(s));
  put(same, " ms, with waits for other tasks alone ", floor::by_waits(s));
  same.print();
}

// View coherent: what a page that goes from task to task costs. Processor time outside the
// program's code is none of the program's own; what it did in its code is real time, and may be
// longer.
void print_transfers(const TaskCounters& total, const Summary& made) {
  Line line;
  line.text("pages from other tasks ", 0);
  line.number(total.transfers, 0);
  line.text(", awaited ", 0);
  line.percent(total.page_waits, total.transfers);
  line.text("; us blocked for each ", 0);
  line.decimal(
      nanoseconds(total.phase_cycles[static_cast<uint32_t>(Phase::kBlocked)]) / total.transfers, 0);
  line.text(", with the turn ", 0);
  line.decimal(
      nanoseconds(total.phase_cycles[static_cast<uint32_t>(Phase::kTurn)]) / total.transfers, 0);
  line.text(", of processors ", 0);
  line.decimal(made.processor_ns / total.transfers, 0);
  line.print();
}

void print_table() {
  const TaskCounters total = sum_of_all();
  const Summary made = summary(total);
  print_sentence(total, made);
  for (const Part& part : kParts) {
    Block block;
    for (size_t next = part.first; take_block(part, total, &next, &block);)
      print_block(part, block, total);
  }
  if (total.transactions) {
    Line line;
    line.number(total.transactions, 0);
    line.text(" transactions, us each: ", 0);
    line.decimal(made.program_ns / total.transactions, 0);
    line.text(" of program code; pages dirtied ", 0);
    line.number(made.dirtied, 0);
    line.text(", each ", 0);
    line.decimal(made.dirtied * 1000 / total.transactions, 0);
    line.print();
    Line prediction;
    prediction.text("prediction: hit rate ", 0);
    prediction.percent(total.predicted, made.dirtied);
    prediction.text(", accuracy ", 0);
    prediction.percent(total.predicted, total.prefetched);
    prediction.text("; looks for copies saved ", 0);
    prediction.number(total.scans_saved, 0);
    prediction.print();
  }
  if (total.transfers) print_transfers(total, made);
  Line line;
  line.text("serial phases ", 0);
  line.percent(made.serial_ns, made.threads_ns);
  line.text(" of the time since the first thread; going multi took ", 0);
  line.number(shared().spent.conversions_us / 1000, 0);
  line.text(" ms", 0);
  line.print();
  print_floor();
  report("rounds %u, tasks made %u (%u from the pool), processes made %u", made.rounds,
         made.threads_made, made.from_pool, made.processes_made);
  if (const char* why = page::why_page_tables()) {
    Line pages;
    pages.text("pages are tracked by mprotect and pagemap: ", 0);
    pages.text(why, 0);
    pages.print();
  }
  print_left_out();
}

// What follows is not of the program's own process.
void tell_process() {
  char name[32];
  const long length = sys::read_own_file("/proc/self/comm", name);
  if (length > 0) name[length - 1] = 0;  // the line's end
  // The id that the program knows: a replay says what was recorded.
  const long known = shared().program.constant_pid;
  const long shown = known ? known : shared().program.shown_pid;
  report("of the forked process %d (%s):", int64_t{shown ? shown : sys::raw(SYS_getpid)},
         length > 0 ? name : "?");
}

}  // namespace

void prints_at_exit(int code) {
  Shared& s = shared();
  if (__atomic_exchange_n(&s.program.end_reported, 1u, __ATOMIC_ACQ_REL)) {
    uint32_t never = 0;
    for (;;) sys::futex_wait(&never, 0);
  }
  const bool comparable = !input::is_on() || s.recording.compares_memory;
  const bool kept = input::is_on() && (recording::header().options & channel::kWithFingerprint);
  if (input::is_on()) recording::let_others_arrive(self());
  const uint64_t patience = input::replaying() ? 10'000'000'000 : 1'000'000'000;
  const bool wanted =
      comparable && (kept || options().fingerprint) && recording::compares_end(self());
  const auto stands = [patience] {
    return !g_tasks_active || !self().turn.depth || order::current().stand_still(self(), patience);
  };
  const uint64_t memory = wanted && stands() ? page::fingerprint() : 0;
  if (input::is_on()) recording::end_program(code, kept ? memory : 0);
  if (s.program.is_forked && (options().fingerprint || options().stat)) tell_process();
  if (options().fingerprint)
    report("fingerprint: memory %x, schedule %x", memory, s.order.schedule_hash);
  if (options().fingerprint && s.program.sets_timers && !input::is_on()) {
    report(
        "the program has set timers (setitimer, alarm, timer_settime): when they go off is input, "
        "and the schedule may be another in each run");
  }
  if (!options().counts()) return;
  stop_clock();
  if (options().stat) print_table();
  if (options().json_path[0]) write_json();
}

}  // namespace weir::runtime
