#include "record/stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/atomic_enum.h"
#include "channel/wait.h"
#include "control/control.h"
#include "control/event.h"
#include "control/options.h"
#include "control/process.h"
#include "memory/backing.h"
#include "order/external_log.h"
#include "order/waiting.h"
#include "record/divergence_stack.h"
#include "record/input.h"
#include "record/shared_memory.h"
#include "sys/futex.h"
#include "sys/report.h"

namespace weir::input {

Mode g_mode = Mode::kNone;

}  // namespace weir::input

namespace weir::recording {

using channel::Entry;
using channel::Header;
using channel::Kind;
using channel::Ring;
using channel::State;

namespace {

// The command at the other end has died, or can go on no more.
[[noreturn]] void end_with_command() {
  if (channel::is_gone(header()) && header().why[0]) {
    report("%s", header().why);
  } else {
    report("the command that keeps the recording has died");
  }
  die(125);
}

// This process is the program's process `ordinal`.
void note_process(uint32_t ordinal) {
  Header& h = header();
  __atomic_store_n(&h.pid[ordinal], static_cast<int>(sys::raw(SYS_getpid)), __ATOMIC_RELEASE);
  uint32_t processes = __atomic_load_n(
      &h.processes, __ATOMIC_ACQUIRE);  // a replay takes ordinals from the recording
  while (processes <= ordinal &&
         !__atomic_compare_exchange_n(&h.processes, &processes, ordinal + 1, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {}
}

// Finds the slot of a stream; recording, takes a new one where there is none. kMaxStreams: none.
uint32_t slot_of(uint32_t process, uint32_t task) {
  Header& h = header();
  const uint32_t slots = __atomic_load_n(&h.slots, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < slots && i < channel::kMaxStreams; i++) {
    if (h.slot[i].process == process && h.slot[i].task == task && h.slot[i].state != State::kFree)
      return i;
  }
  if (!input::recording()) return channel::kMaxStreams;
  const uint32_t index = __atomic_fetch_add(&h.slots, 1u, __ATOMIC_ACQ_REL);
  if (index >= channel::kMaxStreams) {
    report("the recording has no room for another stream (%u tasks of all processes together)",
           uint64_t{channel::kMaxStreams});
    die(125);
  }
  WEIR_CHECK(h.slot[index].state == State::kFree);  // invariant 4 of ring.h
  h.slot[index].process = process;
  h.slot[index].task = task;
  store_enum<__ATOMIC_RELEASE>(h.slot[index].state, State::kOpen);
  return index;
}

}  // namespace

void put_into(Ring& ring, const Entry& entry, const void* first, uint32_t first_size,
              const void* second) {
  if (!channel::put_waiting(header(), ring, entry, first, first_size, second)) end_with_command();
  WEIR_DEBUG_CHECK(ring.used() <= channel::kRingSize);  // invariant 1 of ring.h
}

const Entry* peek_in(Ring& ring) {
  const Entry* entry = channel::peek_waiting(header(), ring);
  if (!entry && !channel::is_closed(*ring.slot)) end_with_command();
  // Invariant 2 of ring.h.
  WEIR_DEBUG_CHECK(!entry || ring.slot->tail % channel::kRingSize + channel::bytes_of(*entry) <=
                                 channel::kRingSize);
  return entry;
}

void take_from(Ring& ring, const Entry& entry) { channel::take_waking(header(), ring, &entry); }

bool find_stream(uint32_t number, uint32_t& known) {
  if (known) return true;
  const uint32_t index = slot_of(shared().recording.ordinal, number);
  if (index == channel::kMaxStreams) return false;
  known = index + 1;
  return true;
}

namespace {

// The stream of the task, opened at its first entry. False: a replay has none.
bool stream_of(Task& task, Ring& ring) {
  if (!task.recorded.stream) {
    uint32_t& known = shared().recording.streams[task.id];
    // A vfork child has another process's record.
    const bool own = task.recorded.ordinal == shared().recording.ordinal;
    if (!own || !known) {
      const uint32_t index = slot_of(task.recorded.ordinal, task.id);
      if (index == channel::kMaxStreams) return false;
      if (own) known = index + 1;
      task.recorded.stream = index + 1;
    } else {
      task.recorded.stream = known;
    }
  }
  ring = Ring::at(channel::kChannel, task.recorded.stream - 1);
  return true;
}

Ring order_ring() {
  Shared& s = shared();
  if (!find_stream(channel::kOrderTask, s.recording.order_stream)) return {nullptr, nullptr};
  return Ring::at(channel::kChannel, s.recording.order_stream - 1);
}

// Whether the recording is worth keeping depends on the program's first process alone, until it
// executes something: others may fail, or be killed, while they start, and the run goes on.
bool g_is_first_image = false;
bool counts_start() {
  return input::recording() && g_is_first_image && shared().recording.ordinal == 0;
}

}  // namespace

void attach() {
  const int descriptor = options().trace;
  if (descriptor < 0) return;
  const long at = sys::raw(SYS_mmap, static_cast<long>(channel::kChannel),
                           static_cast<long>(channel::kChannelSize), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, descriptor, 0);
  if (at != static_cast<long>(channel::kChannel)) {
    report("cannot map the recording (error %d)", int64_t{-at});
    die(125);
  }
  page::dump_only_used();
  const Header& h = header();
  if (h.magic != channel::kMagic || h.version != channel::kFormatVersion) {
    report("the command and the library are not of one version of Weir");
    die(125);
  }
  page::keep_hidden(descriptor);
  take_options({(h.options & channel::kWithStat) != 0, (h.options & channel::kWithFingerprint) != 0,
                (h.options & channel::kWithoutUserfault) != 0, h.log});
  if (h.mode == channel::Mode::kReplay && h.stop.progress) {
    sys::g_probe_signal = sys::kProbeSignalDebugged;
    runtime::begin_process();
  }
  input::g_mode = h.mode == channel::Mode::kRecord ? input::Mode::kRecord : input::Mode::kReplay;
  set_death_note(&header().failed);
  g_is_first_image = __atomic_load_n(&header().processes, __ATOMIC_ACQUIRE) == 0;
  begin_start();
}

void begin_start() {
  if (counts_start()) __atomic_fetch_add(&header().starting, 1u, __ATOMIC_ACQ_REL);
}

void end_start() {
  if (counts_start()) __atomic_fetch_sub(&header().starting, 1u, __ATOMIC_ACQ_REL);
}

void begin_image(int argc, char** argv) {
  if (!input::is_on()) return;
  Header& h = header();
  Shared& s = shared();
  const int pid = static_cast<int>(sys::raw(SYS_getpid));
  uint32_t known = 0;
  const uint32_t processes = __atomic_load_n(&h.processes, __ATOMIC_ACQUIRE);
  while (known < processes && known < channel::kMaxProcesses && h.pid[known] != pid) known++;
  if (known == processes)
    known = new_ordinal();  // the first, or one that came here through a program that knows nothing
                            // of Weir
  s.recording.compares_memory = processes == 0;
  note_process(known);
  s.recording.ordinal = known;
  Task& task = self();
  task.recorded.ordinal = known;
  shared_memory::leave(task);  // of the program before
  if (input::recording()) {
    put_image(task, argc, argv);
  } else {
    take_image(task);
  }
  log_user(argv, argc);
  task.identity.virtual_tid =
      static_cast<int>(input::log_number(input::What::kTid, task.identity.tid));
  s.program.shown_pid = task.identity.virtual_tid;
  take_logged_output(known);
  if (input::replaying() && task.identity.clear_child_tid)
    *reinterpret_cast<int*>(task.identity.clear_child_tid) = task.identity.virtual_tid;
}

uint32_t new_ordinal() {
  Header& h = header();
  const uint32_t ordinal = __atomic_fetch_add(&h.processes, 1u, __ATOMIC_ACQ_REL);
  if (ordinal < channel::kMaxProcesses) return ordinal;
  report("the recording has no room for another process (%u)", uint64_t{channel::kMaxProcesses});
  die(125);
}

void begin_process(uint32_t ordinal) {
  Shared& s = shared();
  Task& task = self();
  note_process(ordinal);
  s.recording.ordinal = task.recorded.ordinal = ordinal;
  s.recording.order_stream = task.recorded.stream = 0;
  s.recording.compares_memory = s.recording.is_dying = 0;
  s.order.decisions = 0;
  s.order.is_ended = 0;
  for (auto& stream : s.recording.streams) stream = 0;
  for (auto& stream : s.recording.point_streams) stream = 0;
  task.identity.virtual_tid =
      static_cast<int>(input::log_number(input::What::kTid, task.identity.tid));
  s.program.shown_pid = task.identity.virtual_tid;
}

void begin_borrower(Task& task, uint32_t ordinal) {
  note_process(ordinal);
  task.recorded.ordinal = ordinal;
  task.recorded.stream = 0;
}

uint32_t stream_number(Task& task) {
  Ring ring;
  if (!task.recorded.stream) stream_of(task, ring);
  return task.recorded.stream - 1;
}

void put(Task& task, Entry entry, const void* first, const void* second, uint32_t first_size) {
  // Invariant 2 of record/input.h; a task that is being made, or of a vfork, has no record of its
  // own.
  WEIR_DEBUG_CHECK(&task == &self() || task.identity.in_vfork || self().identity.in_vfork);
  Ring ring;
  stream_of(task, ring);
  entry.event = progress_of(task);
  put_into(ring, entry, first, second ? first_size : entry.size, second);
}

void wait_until_taken(Task& task) {
  Ring ring;
  if (stream_of(task, ring) && !channel::drain_waiting(header(), ring)) end_with_command();
}

const Entry* peek(Task& task) {
  Ring ring;
  return stream_of(task, ring) ? peek_in(ring) : nullptr;
}

bool ring_of(uint32_t process, uint32_t task, Ring& ring) {
  const uint32_t index = slot_of(process, task);
  if (index == channel::kMaxStreams) return false;
  ring = Ring::at(channel::kChannel, index);
  return true;
}

void note_end() {
  __atomic_fetch_add(&header().at_end, 1u, __ATOMIC_ACQ_REL);
  channel::ring_bell(header());
}

void Looking::sleep() {
  constexpr uint64_t kLongest = 20'000'000;
  uint32_t never = 0;
  sys::futex_wait(&never, 0, sleep_);
  sleep_ = sleep_ * 5 / 4 < kLongest ? sleep_ * 5 / 4 : kLongest;
  end_if_gone();
}

void end_if_gone() {
  if (channel::is_gone(header()) || channel::is_dead(header())) end_with_command();
}

const Entry& next(Task& task) {
  const Entry* entry = peek(task);
  if (!entry) ended(task);
  if (entry->event != progress_of(task) &&
      (entry->kind == Kind::kImage || entry->kind == Kind::kTask))
    let_other_execute(task);
  if (entry->event != progress_of(task))
    diverged(task, *entry, "it asks here, at", progress_of(task));
  return *entry;
}

void take(Task& task, const Entry& entry) {
  Ring ring;
  if (stream_of(task, ring)) take_from(ring, entry);
}

void end_different() {
  __atomic_store_n(&header().differs, 1u, __ATOMIC_RELEASE);
  die(125);
}

void diverged(const Task& task, const Entry& recorded, const char* what, int64_t now) {
  static const char* const kNames[] = {"padding",
                                       "a system call",
                                       "memory",
                                       "a signal",
                                       "an order",
                                       "a task's begin",
                                       "the cycle counter",
                                       "a file",
                                       "an end",
                                       "a number",
                                       "a program's begin",
                                       "turns",
                                       "a stop in a computation",
                                       "a page that processes share",
                                       "points"};
  const auto kind = static_cast<uint32_t>(recorded.kind);
  const char* const name = kind >= sizeof kNames / sizeof kNames[0] ? "?"
                           : !channel::is_death(recorded)           ? kNames[kind]
                           : recorded.number == channel::kProgramFaults
                               ? "a fault that ends the program (result: the signal)"
                               : "a signal that ends the program (result), sent by itself";
  report(
      "the replay differs from the recording in process %u, task %u, event %u (recorded at event "
      "%u):",
      uint64_t{task.recorded.ordinal}, uint64_t{task.id}, uint64_t{progress_of(task)},
      uint64_t{recorded.event});
  report("  recorded: %s, number %u, result %d, check %x", name, uint64_t{recorded.number},
         recorded.result, uint64_t{recorded.check});
  report("  now: %s %d, called from %x", what, now, task.frame ? task.frame->rip : 0);
  note_place(task);
  end_different();
}

void point_differs(const Task& task, const char* recorded, const char* now) {
  report("the replay differs from the recording in process %u, task %u, event %u:",
         uint64_t{task.recorded.ordinal}, uint64_t{task.id}, uint64_t{progress_of(task)});
  report("  recorded: %s", recorded);
  report("  now: %s", now);
  note_place(task);
  end_different();
}

namespace {

// All under the order's lock.
const Entry* peek_order() {
  Ring ring = order_ring();
  return ring.slot ? peek_in(ring) : nullptr;
}

bool peek_external(order::ExternalEvent& out) {
  const Entry* entry = peek_order();
  if (!entry) return false;
  out = {static_cast<order::Outside>(entry->number), entry->check,
         static_cast<uint64_t>(entry->result)};
  return true;
}

void take_external() {
  Ring ring = order_ring();
  take_from(ring, *peek_in(ring));
}

void log_external(const order::ExternalEvent& entry) {
  Ring ring = order_ring();
  put_into(ring,
           Entry{Kind::kOrder, 0, static_cast<uint16_t>(entry.kind), 0, entry.task, 0,
                 static_cast<int64_t>(entry.decisions)},
           nullptr, 0, nullptr);
}

static_assert(kMaxTasks <= 1u << channel::kTurnTaskBits);
static_assert(static_cast<uint32_t>(EventKind::kFault) <
              1u << channel::kTurnWhatBits);  // the last kind

// The steps are in this order: whenever it is killed, each turn is in the entry or here, and
// `first` says which it is where it is in both.
void put_turn(const order::Turn& turn) {
  channel::OpenTurns& open = header().turns[shared().recording.ordinal];
  open.turn[open.count] = channel::encoded(turn);
  __atomic_store_n(&open.count, open.count + 1, __ATOMIC_RELEASE);
  if (open.count < channel::OpenTurns::kMax) return;
  const Entry entry{Kind::kTurns, 0, 0, sizeof open.turn, 0, 0, static_cast<int64_t>(open.first)};
  Ring ring = order_ring();
  put_into(ring, entry, open.turn, entry.size, nullptr);
  __atomic_store_n(&open.count, 0u, __ATOMIC_RELEASE);
  open.first += channel::OpenTurns::kMax;
}

bool peek_turn(order::Turn& turn) {
  const Entry* entry = peek_order();
  uint16_t word;
  if (!entry || entry->kind != Kind::kTurns || entry->size < sizeof word) return false;
  copy_bytes(&word,
             static_cast<const uint8_t*>(payload(*entry)) +
                 header().turns[shared().recording.ordinal].count * sizeof word,
             sizeof word);
  turn = channel::decoded(word);
  return true;
}

void take_turn() {
  uint32_t& taken = header().turns[shared().recording.ordinal].count;
  Ring ring = order_ring();
  const Entry& entry = *peek_in(ring);
  if (++taken * sizeof(uint16_t) < entry.size) return;
  taken = 0;
  take_from(ring, entry);
}

void report_turn(const char* when, const order::Turn& turn) {
  static const char* const kHow[] = {"comes to", "has waited its time at",
                                     "gets a signal while it waits at",
                                     "comes, while others have the turn, to"};
  const bool after_wait = turn.how == order::How::kComes && !turn.what;
  report("  %s: task %u %s %s", when, uint64_t{turn.task},
         after_wait ? "goes on" : kHow[static_cast<uint32_t>(turn.how)],
         after_wait ? "after a wait" : name_of(static_cast<EventKind>(turn.what)));
}

// The recording was cut, and holds no more of the task.
bool is_cut_off(Task& task) {
  Ring ring;
  return __atomic_load_n(&header().cut, __ATOMIC_ACQUIRE) &&
         (!stream_of(task, ring) || !peek_in(ring));
}

// The task has the turn, or cannot have it: it waits, or there is none.
void turn_differs(const order::Turn& turn, const Task& task) {
  report("the replay differs from the recording in the order of process %u, turn %u:",
         uint64_t{shared().recording.ordinal}, shared().order.decisions);
  report_turn("recorded", turn);
  if (task.order.state == TaskState::kArrived) {
    report_turn("now", {task.id, static_cast<order::How>(task.order.how), task.order.what});
    report("  at its event %u", uint64_t{progress_of(task)});
  } else if (task.order.state == TaskState::kBlocked) {
    report("  now: task %u waits: %s", uint64_t{task.id},
           task.order.wait_what ? task.order.wait_what : "?");
  } else {
    report("  now: there is no task %u", uint64_t{turn.task});
  }
  end_different();
}

// Nobody can go on, and nobody need wait for the process's end.
void order_ended() {
  __atomic_store_n(&header().pid[shared().recording.ordinal], -1, __ATOMIC_RELEASE);
  note_end();
}

void external_differs(const order::ExternalEvent& entry, TaskState state) {
  report(
      "the replay differs from the recording in the order of process %u: task %u was to come from "
      "outside (kind %u) after %u decisions; now there were %u, and its state is %u",
      uint64_t{shared().recording.ordinal}, uint64_t{entry.task}, static_cast<uint64_t>(entry.kind),
      entry.decisions, shared().order.decisions, static_cast<uint64_t>(state));
  end_different();
}

}  // namespace

void keep_order() {
  order::set_external_log({input::recording(), input::replaying(), log_external, peek_external,
                           take_external, order_ended, external_differs, put_turn, peek_turn,
                           take_turn, turn_differs, is_cut_off,
                           input::replaying() ? &header().stop.pid : nullptr});
}

}  // namespace weir::recording
