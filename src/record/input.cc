// The kernel's results: asked for and logged, or read from the recording.
//
// What a call wrote to memory is logged by the table in effects. A replay writes it again,
// in the order in which it was found. An address on the runtime's own stack (handlers in syscall/
// pass copies) is logged relative to the stack's top, because it does not matter to the recording
// which of the stacks a task stands on.

#include "record/input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "base/frame.h"
#include "control/control.h"
#include "control/process.h"
#include "control/signals.h"
#include "effects/effects.h"
#include "memory/backing.h"
#include "memory/program_memory.h"
#include "record/call_digest.h"
#include "record/clock_input.h"
#include "record/shared_memory.h"
#include "record/stream.h"
#include "record/unrecorded.h"
#include "sys/descriptor.h"
#include "sys/report.h"
#include "sys/syscall_x86_64.h"
#include "view/coherent/coherent.h"
#include "view/view.h"

// signal/interruptible_x86_64.S
extern "C" long weir_program_call(long number, long a, long b, long c, long d, long e, long f);

namespace weir::input {

namespace {

using channel::Entry;
using channel::Kind;

constexpr uint64_t kOnStack = uint64_t{1}
                              << 63;  // of a kept address: relative to the runtime stack's top

uint64_t kept_address(const Task& task, uint64_t address) {
  return recording::on_own_stack(task, address) ? kOnStack | (task.stack_top - address) : address;
}

uint64_t address_now(const Task& task, uint64_t kept) {
  return kept & kOnStack ? task.stack_top - (kept & ~kOnStack) : kept;
}

struct Pieces {
  Task* task;
  bool failed;     // the call, or it wrote more than it says: not all that is visited need be there
  uint32_t count;  // of entries; then of those still to be put
};

// As much from the start as the kernel may have written to. At View coherent the task holds that
// for the call; to read another page would be an event, and a replay has none there.
uint64_t writable(uint64_t address, uint64_t size) {
  const bool asks = plan().gives_pages() && g_tasks_active;
  for (uint64_t at = address; at < address + size; at = page_down(at) + kPageSize) {
    const bool is_closed =
        asks && page::backing_bytes_at(at) && !page::may_access(page_down(at), true);
    if (is_closed || !trap::read_byte(at)) return at - address;
  }
  return size;
}

uint32_t entries_for(uint64_t size) {
  return static_cast<uint32_t>((size + channel::kMaxPayload - 1) / channel::kMaxPayload);
}

void count_pieces(void* context, uint64_t address, uint64_t size) {
  auto& pieces = *static_cast<Pieces*>(context);
  pieces.count += entries_for(pieces.failed ? writable(address, size) : size);
}

void put_pieces(void* context, uint64_t address, uint64_t size) {
  auto& pieces = *static_cast<Pieces*>(context);
  if (pieces.failed) size = writable(address, size);
  for (uint64_t done = 0; done < size;) {
    const uint64_t left = size - done;
    const auto length =
        static_cast<uint32_t>(left < channel::kMaxPayload ? left : channel::kMaxPayload);
    const uint8_t flags = --pieces.count ? channel::kMore : uint8_t{0};
    recording::put(*pieces.task,
                   Entry{Kind::kMemory, flags, 0, length, 0, 0,
                         static_cast<int64_t>(kept_address(*pieces.task, address + done))},
                   reinterpret_cast<const void*>(address + done));
    done += length;
  }
}

// A read beside the page cache (O_DIRECT) that comes to the file's end fills whole blocks, up to
// the end of the buffer.
bool fills_blocks(const effects::Request& request, long result) {
  constexpr long kBlock = 512;  // the smallest; what ends at one has no rest
  if (result <= 0 || result % kBlock == 0) return false;
  switch (request.number) {
    case SYS_read:
    case SYS_pread64:
      if (request.a[2] % kBlock != 0) return false;  // the kernel takes whole blocks only
      break;
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2: break;
    default: return false;
  }
  const long flags = sys::raw(SYS_fcntl, request.a[0], F_GETFL);
  return flags > 0 && (flags & O_DIRECT);
}

void keep(Task& task, const effects::Request& request, const effects::Before& before, long result) {
  const bool is_direct = fills_blocks(request, result);
  Pieces pieces{&task, result < 0 || is_direct, 0};
  const long written = is_direct ? INT32_MAX : result;
  effects::written_memory(request, before, written, count_pieces, &pieces);
  const uint8_t flags = pieces.count ? channel::kMore : uint8_t{0};
  recording::put(task, Entry{Kind::kCall, flags, static_cast<uint16_t>(request.number), 0,
                             recording::check_of(task, request, result), 0, result});
  if (pieces.count) effects::written_memory(request, before, written, put_pieces, &pieces);
}

void check(const Task& task, const Entry& entry, const effects::Request& request) {
  if (entry.kind != Kind::kCall || entry.number != request.number ||
      entry.check != recording::check_of(task, request, entry.result)) {
    recording::diverged(task, entry, effects::name_of(request.number), request.number);
  }
}

// The answer, with what goes with it. `made`: what the call answered now, of one that a replay
// makes too.
long take_answer(Task& task, const effects::Request& request, const long* made = nullptr) {
  const Entry* entry = &recording::next(task);
  check(task, *entry, request);
  const long result = entry->result;
  // The program may not write to a file that it has mapped, but to the recording's copy.
  const bool is_copy = made && request.number == SYS_mprotect && result == -EACCES;
  if (is_copy) page::protect(request.a[0], request.a[1], PROT_READ);
  if (made && *made != result && !is_copy) recording::diverged(task, *entry, "it answers", *made);
  bool more = entry->flags & channel::kMore;
  recording::take(task, *entry);
  while (more) {
    entry = &recording::next(task);
    if (entry->kind != Kind::kMemory)
      recording::diverged(task, *entry, effects::name_of(request.number), request.number);
    more = entry->flags & channel::kMore;
    const uint64_t to = address_now(task, static_cast<uint64_t>(entry->result));
    // A call that failed may not have written all that it could have.
    if (trap::to_program(static_cast<long>(to), recording::payload(*entry), entry->size) != 0 &&
        result >= 0) {
      recording::diverged(task, *entry, "there is no memory to write to for system call",
                          request.number);
    }
    recording::take(task, *entry);
  }
  return result;
}

// A wait, or a wake-up, of a program of one task: the outside world's.
bool is_plain_futex(const effects::Request& request) {
  if (request.number != SYS_futex) return false;
  switch (request.a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAKE_OP:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI: return false;
    default: return true;
  }
}

long make(const effects::Request& r) {
  return weir_program_call(r.number, r.a[0], r.a[1], r.a[2], r.a[3], r.a[4], r.a[5]);
}

void refuse(const effects::Request& request) {
  const char* name = effects::name_of(request.number);
  report(
      "a recording cannot hold the system call %s (number %u, arguments %x, %x, %x): it would not "
      "be replayed as it was. The program ends here.",
      name ? name : "?", static_cast<uint64_t>(request.number), static_cast<uint64_t>(request.a[0]),
      static_cast<uint64_t>(request.a[1]), static_cast<uint64_t>(request.a[2]));
  die(125);
}

// Returns where it failed.
long replay_execution(Task& task, const effects::Request& request) {
  const Entry* entry = recording::peek(task);
  // If a task of the program that is executed has the same number, it goes on in this stream.
  const bool is_next_program = !entry || entry->kind == Kind::kImage || entry->kind == Kind::kTask;
  if (!is_next_program) return take_answer(task, request);
  entry = recording::await_image(task);
  if (!entry) recording::end_unrecorded(task);
  recording::log_output(task);
  const long vectors = request.number == SYS_execve ? 1 : 2;
  const recording::Execution execution = recording::execution_of(task, *entry, request.a[vectors]);
  const long now = sys::raw(SYS_execve, reinterpret_cast<long>(execution.path), execution.argv,
                            request.a[vectors + 1]);
  recording::diverged(task, *entry, "a program cannot be executed: error", -now);
}

long map_file(Task& task, effects::Request request) {
  bool anonymous = request.a[3] & MAP_ANONYMOUS;
  const bool shared = (request.a[3] & MAP_TYPE) != MAP_PRIVATE;
  if (recording()) {
    const long result = make(request);
    if (!anonymous && !sys::failed(result) && !sys::is_zero_device(request.a[4]))
      recording::put_file(task, request.a[4], shared);
    recording::put(task,
                   Entry{Kind::kCall, 0, static_cast<uint16_t>(request.number), 0, 0, 0, result});
    return result;
  }
  const bool maps_file = !anonymous && recording::next(task).kind == Kind::kFile;
  if (maps_file) request.a[4] = recording::open_file(task, shared);
  const Entry& entry = recording::next(task);
  anonymous |= !maps_file && !sys::failed(entry.result);  // /dev/zero
  if (anonymous) request.a[3] |= MAP_ANONYMOUS;
  // Where the kernel puts a mapping depends on the file system too: a copy may lie elsewhere than
  // what it was made of.
  if (!(request.a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) && !sys::failed(entry.result)) {
    request.a[0] = entry.result;
    request.a[3] |= MAP_FIXED_NOREPLACE;
  }
  const long result = anonymous || maps_file ? make(request) : entry.result;
  if (maps_file) close_file(request.a[4], shared);
  if (entry.kind != Kind::kCall || entry.number != request.number || entry.result != result)
    recording::diverged(task, entry, "mmap answers", result);
  recording::take(task, entry);
  return result;
}

void map_again(const effects::Request& request);

// A page that the task has the right to, and has touched for this call, may not be mapped when the
// kernel looks, on a crowded machine. The kernel then answers EFAULT where a thread would find it.
// So what the task has is mapped again, without an event, and the call made once more.
template <typename Ask>
long with_memory(const effects::Request& request, Ask ask) {
  const long result = ask(request);
  if (result != -EFAULT || plan().memory != Plan::Memory::kCoherent || !self().pages.holds_call ||
      request.number == SYS_ioctl)
    return result;
  map_again(request);
  return ask(request);
}

// `ask`: how the kernel is asked.
template <typename Ask>
long answer(const effects::Request& request, Ask ask) {
  Task& task = self();
  if (request.number == SYS_exit || request.number == SYS_exit_group) {  // a vfork child's
    if (shared_memory::g_active) shared_memory::leave(task);
    return make(request);
  }
  const shared_memory::SleepScope sleeps(task);
  const effects::Replay replay =
      is_plain_futex(request) ? effects::Replay::kAnswer : effects::replay_of(request);
  if (replay == effects::Replay::kRefuse) {  // the same answer in every replay: nothing is kept
    if (const long error = effects::error_without(request))
      return note_left_out(request.number), error;
    refuse(request);
  }
  if (request.number == SYS_mmap) return map_file(task, request);
  if (recording()) {
    effects::Before before;
    effects::prepare(request, &before);
    if (request.number == SYS_execve || request.number == SYS_execveat) recording::log_output(task);
    const recording::PrintScope prints(task, request);
    const long result =
        replay == effects::Replay::kMake ? with_memory(request, make) : with_memory(request, ask);
    if (put_clock(task, request, result)) return result;
    keep(task, request, before, result);
    if (replay != effects::Replay::kMake) recording::note_result(task, request, result);
    return result;
  }
  if (request.number == SYS_execve || request.number == SYS_execveat)
    return replay_execution(task, request);
  if (replay == effects::Replay::kMake) {
    const long made = with_memory(request, make);
    return take_answer(task, request, &made);
  }
  if (take_clock(task, request)) return 0;
  const long result = take_answer(task, request);
  recording::note_result(task, request, result);
  if (request.number == SYS_wait4 && result > 0) {
    int status = 0;
    if (!request.a[1] || trap::from_program(status, request.a[1]) != 0 || WIFEXITED(status) ||
        WIFSIGNALED(status))
      note_child_end(result, status);
  }
  return result;
}

}  // namespace

long call(long number, long a, long b, long c, long d, long e, long f) {
  if (!is_on()) return with_memory({number, {a, b, c, d, e, f}}, make);
  return answer({number, {a, b, c, d, e, f}}, make);
}

long sleeping_call(long number, long a, long b, long c, long d, long e, long f) {
  if (!is_on()) return trap::interruptible(number, a, b, c, d, e, f);
  return answer({number, {a, b, c, d, e, f}}, [](const effects::Request& r) {
    return trap::interruptible(r.number, r.a[0], r.a[1], r.a[2], r.a[3], r.a[4], r.a[5]);
  });
}

namespace {

// The strings of an execve: as far as they can be read.
void touch_strings(long vector) {
  char piece[256];
  for (long string; vector && trap::from_program(string, vector) == 0 && string;
       vector += static_cast<long>(sizeof string)) {
    while (trap::string_from_program(piece, string, sizeof piece) ==
           static_cast<long>(sizeof piece))
      string += static_cast<long>(sizeof piece);
  }
}

// What the kernel may read, however the call ends.
void visit_reads(const effects::Request& request, const effects::Before& before,
                 effects::Visit visit) {
  constexpr long kAll = 0x7fffffff, kMaxMessages = 1024;
  if (request.number == SYS_sendmmsg) {  // of which the table says what has been sent
    effects::leading_memory(request, visit, nullptr);
    for (long i = 0; i < request.a[2] && i < kMaxMessages; i++) {
      const effects::Request one{
          SYS_sendmsg,
          {request.a[0], request.a[1] + i * static_cast<long>(sizeof(mmsghdr)), request.a[3]}};
      effects::read_memory(one, before, kAll, visit, nullptr);
    }
    return;
  }
  effects::leading_memory(request, visit, nullptr);
  effects::read_memory(request, before, kAll, visit, nullptr);
  effects::read_memory(request, before, 0, visit, nullptr);
}

void map_again(const effects::Request& request) {
  const auto maps = [](void*, uint64_t at, uint64_t size) {
    view::coherent::map_again(self(), at, size);
  };
  effects::Before before;
  effects::prepare(request, &before);
  visit_reads(request, before, maps);
  effects::written_memory(request, before, -EFAULT, maps, nullptr);
}

void touch_arguments(const effects::Request& request) {
  const long vectors = request.number == SYS_execve ? 1 : request.number == SYS_execveat ? 2 : 0;
  for (long i = 0; vectors && i < 2; i++) touch_strings(request.a[vectors + i]);
}

}  // namespace

namespace {

// A vfork child has borrowed all of the View's pages, and is no task that could come to an event.
void touch(uint64_t at, uint64_t size, bool writes) {
  Task& task = self();
  if (!task.identity.in_vfork) view::current().touch(at, size, writes);
  if (shared_memory::g_active) shared_memory::touch(task, at, size, !writes);
}

}  // namespace

void hold_memory(Task& task) {
  const Frame& frame = *task.frame;
  const auto argument = [](uint64_t value) { return static_cast<long>(value); };
  effects::Request request{task.pages.holds_call - 1L,
                           {argument(frame.rdi), argument(frame.rsi), argument(frame.rdx),
                            argument(frame.r10), argument(frame.r8), argument(frame.r9)}};
  if (request.number == SYS_vmsplice)  // only one of the two
    request.number = log_if(What::kFlags, [&] { return sys::is_only_read(request.a[0]); })
                         ? SYS_readv
                         : SYS_writev;
  effects::Before before;
  effects::prepare(request, &before);
  const auto reads = [](void*, uint64_t at, uint64_t size) { touch(at, size, false); };
  const auto writes = [](void*, uint64_t at, uint64_t size) { touch(at, size, true); };
  for (uint64_t events = ~uint64_t{0};
       events !=
       task.spent.counters.events + shared_memory::taken();) {  // until it has all at once
    events = task.spent.counters.events + shared_memory::taken();
    visit_reads(request, before, reads);
    effects::written_memory(request, before, -EFAULT, writes, nullptr);
    touch_arguments(request);
  }
}

void bytes(void* at, uint64_t size) {
  if (!is_on()) return;
  Task& task = self();
  if (recording()) {
    recording::put(task, Entry{Kind::kMemory, 0, 0, static_cast<uint32_t>(size), 0, 0, 0}, at);
    return;
  }
  const Entry& entry = recording::next(task);
  if (entry.kind != Kind::kMemory || entry.size != size)
    recording::diverged(task, entry, "bytes of the runtime's", static_cast<int64_t>(size));
  copy_bytes(at, recording::payload(entry), size);
  recording::take(task, entry);
}

long file(long descriptor, bool shared) {
  if (!is_on()) return descriptor;
  Task& task = self();
  if (recording()) return recording::put_file(task, descriptor, shared), descriptor;
  return recording::open_file(task, shared);
}

void close_file(long descriptor, bool shared) {
  if (replaying() && !shared && descriptor >= 0) sys::raw(SYS_close, descriptor);
}

void use_table() {
  effects::set_fetch([](void* to, uint64_t from, uint64_t size) {
    return trap::from_program(to, static_cast<long>(from), size) == 0;
  });
}

uint32_t new_process() {
  recording::note_shared_memory();
  return static_cast<uint32_t>(log_value(What::kOrdinal, recording::new_ordinal));
}

long note_child(long pid, uint32_t ordinal) {
  const long told = log_number(What::kChild, pid);
  if (replaying() && told > 0) recording::note_child(static_cast<int>(told), ordinal);
  return told;
}

void note_child_end(long pid, int status) {
  if (replaying() && pid > 0)
    recording::await_child(static_cast<int>(pid), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

void begin_process(uint32_t ordinal) {
  if (!is_on()) return;
  recording::begin_process(ordinal);
  shared_memory::begin_process(self());
}

void begin_borrower(Task& task, uint32_t ordinal) {
  if (is_on()) recording::begin_borrower(task, ordinal);
}

bool is_visible(long descriptor) { return is_on() && recording::visible(self(), descriptor) != 0; }

void begin_task(Task& task) {
  shared_memory::begin_process(task);
  if (recording())
    recording::put(task,
                   Entry{Kind::kTask, 0, 0, 0, 0, 0, static_cast<int64_t>(task.identity.creation)});
  if (!replaying()) return;
  const Entry& entry = recording::next(task);
  if (entry.kind != Kind::kTask || entry.result != static_cast<int64_t>(task.identity.creation))
    recording::diverged(task, entry, "a task began", static_cast<int64_t>(task.identity.creation));
  recording::take(task, entry);
}

bool execution_fails(Task& task) {
  if (is_on()) recording::log_output(task);
  if (!replaying()) return false;
  const Entry* entry = recording::peek(task);
  return entry && entry->kind == Kind::kValue &&
         entry->number == static_cast<uint16_t>(What::kMonitorCall);
}

}  // namespace weir::input
