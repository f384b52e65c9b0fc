// The program's end of a recording (channel/ring.h): the task's own stream, entry by entry.
// Implemented in record/.
// Signal-safe, on the runtime's stack.
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "channel/ring.h"
#include "control/task.h"
#include "effects/effects.h"

namespace weir::recording {

inline channel::Header& header() { return *reinterpret_cast<channel::Header*>(channel::kChannel); }
// Maps the channel that WEIR_OPTIONS names, if it names one, and sets input::g_mode. At the start,
// before any entry.
void attach();
// Between the two Weir makes its preparations, for a program (attach() begins them) or for its
// first thread: the recording of a program that it ends there is of no use.
void begin_start();
void end_start();
// The first entries of a program image: what it is.
void begin_image(int argc, char** argv);
// Logs what the program that begins here consists of, and returns when the command has it. In a
// replay: checks that it is that program, which has its recorded name from here on.
void put_image(Task& task, int argc, char** argv);
void take_image(Task& task);
// The user's ids that the kernel has put on the new program's stack: a replay may be another's.
void log_user(char** argv, int argc);
// Replay only. Returns the entry with which the program begins that the task's process executes
// next, when its other tasks have come to where that ended them. Null: it executes none.
const channel::Entry* await_image(const Task& task);
// What must be executed instead of the program that was named, so that the same program begins with
// the same stack. Does not return if it cannot be had.
struct Execution {
  char path[4096];
  long argv;
};
Execution execution_of(Task& task, const channel::Entry& image, long argv);
// Before a program is executed: which of its descriptors are visible output; and when it begins, of
// those that are still open.
void log_output(const Task& task);
void take_logged_output(uint32_t ordinal);
// Which of the command's outputs, 1 or 2, a descriptor of the program was; 0 none. A vfork child
// has its own, of the first few.
uint8_t visible(const Task& task, long descriptor);
void set_visible(const Task& task, long descriptor, uint8_t what);
// Recording only. While a call writes to what the user sees, other writers wait, so that prints are
// counted in the order in which the kernel made them. They wait for a while only: a writer may wait
// for the user, who reads the other output first, and it may be killed.
class PrintScope {
 public:
  PrintScope(const Task& task, const effects::Request& request);
  ~PrintScope();
  PrintScope(const PrintScope&) = delete;
  PrintScope& operator=(const PrintScope&) = delete;

 private:
  uint32_t* printer_ = nullptr;
  uint32_t own_;
};

// The program's call has been answered: what it did to descriptors is followed, and what it printed
// is, in a replay, printed again.
void note_result(const Task& task, const effects::Request& request, long result);
// Replay only. The child that the program knows as `pid` is process `ordinal`. And: the program is
// told that the child has ended, so it should have; what the child prints comes before what the
// program prints now.
void note_child(int pid, uint32_t ordinal);
// `signal`: what ended it; 0 none or not known. One that computes, with nothing more recorded of
// it, is ended as it was.
void await_child(int pid, int signal);
// In a forked child: `ordinal` is its own among the program's processes.
void begin_process(uint32_t ordinal);
// An ordinal for a process that is about to be made.
uint32_t new_ordinal();
// A vfork child borrows its parent's memory, except its record.
void begin_borrower(Task& task, uint32_t ordinal);

// Returns the task's progress: its count of entries into the runtime, and of events. It is the same
// in every replay.
inline uint32_t progress_of(const Task& task) {
  return static_cast<uint32_t>(task.recorded.entries + task.spent.counters.events);
}
// Returns the number of the task's stream among all streams. REQUIRES: recording.
uint32_t stream_number(Task& task);
// Finds a stream of this process by its number (a task, or channel::kPointsOf with one). `known`:
// its slot + 1, 0 if not known yet. Returns false if a replay has none.
bool find_stream(uint32_t number, uint32_t& known);
void put_into(channel::Ring& ring, const channel::Entry& entry, const void* first,
              uint32_t first_size, const void* second);
// Returns the ring's next entry, in place until take_from, or null at its end.
const channel::Entry* peek_in(channel::Ring& ring);
void take_from(channel::Ring& ring, const channel::Entry& entry);
// Puts an entry into the task's stream; waits while there is no room.
void put(Task& task, channel::Entry entry, const void* first = nullptr,
         const void* second = nullptr, uint32_t first_size = 0);
// Returns when the command has taken all that was put.
void wait_until_taken(Task& task);
// Returns the next entry of the task's stream, in place until take(). Does not return at the
// stream's end.
const channel::Entry& next(Task& task);
// Returns the next entry of the task's stream, in place until take(), or null at the stream's end.
const channel::Entry* peek(Task& task);
void take(Task& task, const channel::Entry& entry);
// The ring of a stream; false: there is none. And: ends the program where the command at the other
// end has died.
bool ring_of(uint32_t process, uint32_t task, channel::Ring& ring);
void end_if_gone();
// Replay only. A task is at the end of what the recording has for it. The command checks whether
// the program can go on.
void note_end();
// Replay only. The task has waited in vain for a while, again, for an operation of another task.
// Ends the replay if that task does not come. `since`: 0 at first.
void look_round(const Task& task, uint64_t& since);
// A sleep of a task that looks again and again whether another process has done something. Each is
// longer than the one before, so that the command sees that no task computes.
class Looking {
 public:
  void sleep();

 private:
  uint64_t sleep_ = 100'000;  // nanoseconds
};
inline const uint8_t* payload(const channel::Entry& entry) {
  return reinterpret_cast<const uint8_t*>(&entry + 1);
}

// put_file() logs the file behind a descriptor that is about to be mapped, and returns when the
// command has made its copy. open_file() opens that copy.
void put_file(Task& task, long descriptor, bool is_shared);
long open_file(Task& task, bool shared);
channel::MappedFile facts_of(const struct stat& status, long descriptor);

// This process differs from the recording, and has said so: it ends. The command's status is 125
// then, whichever process it is.
[[noreturn]] void end_different();
// An ordering point (sync/object_order.h) differs from the recording. Says so in these words, and
// ends the program.
[[noreturn]] void point_differs(const Task& task, const char* recorded, const char* now);
// What a task was told or asked for differs from the recording. Says so, and ends the program.
[[noreturn]] void diverged(const Task& task, const channel::Entry& recorded, const char* what,
                           int64_t now);
// A task at the end of the recording: the program was ended there, or the recording is damaged.
// Waits to be ended.
[[noreturn]] void ended(Task& task);
// What the process executes here knew nothing of Weir: its calls are in no recording.
[[noreturn]] void end_unrecorded(Task& task);
// Replaying, before the program may end: tasks that computed when the recorded program ended had
// come further than their last event in order, and what they were told until then (the time, say)
// is taken. Not waited for where none takes any more.
void let_others_arrive(const Task& task);
// Replaying, where the task's next entry is of the program that another task executes in this one's
// place: it waits for that, in the call in which it was then, and does not return. It does if
// nothing goes on any more: then the replay differs.
void let_other_execute(const Task& task);
// Replaying, where the program ends: what is recorded of that has a hash of its memory. Recording:
// true.
bool compares_end(Task& task);
// The program ends in order: kEnd, with the hashes. `memory`: page::fingerprint(), 0 where it is
// not compared.
void end_program(int code, uint64_t memory);
// The task ends the program, by an instruction that faults. Recording: returns when it may die of
// it. Replaying: only where the same was recorded.
void end_by_fault(Task& task, int signal, const channel::Death& death);
// The task is about to send the program a signal, of which it dies unless it is blocked or ignored.
// Replaying: where that is recorded, it is the same call.
void note_deadly(Task& task, int signal, const channel::Death& call);

// order/ keeps in the order stream what comes from outside, or takes it from there.
void keep_order();

}  // namespace weir::recording
