// What can go wrong: a holder dies while it has pages, waits, or has a lock. Those that wait look
// after a while whether it lives; its memory is gone by then, even if nobody has waited for its end
// yet. Or a holder computes for long; a signal asks it what it does.

#include "shared_memory/page_table.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "channel/wait.h"
#include "record/stream.h"
#include "sys/futex.h"
#include "sys/maps.h"
#include "sys/report.h"
#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir::shared_table {

namespace {

using channel::Holder;
using channel::HolderState;
using channel::PageRequest;
using channel::SharedPage;

// Nanoseconds until a waiter looks who has the page now, whether it lives, and what it does: rarer
// with time.
constexpr uint64_t kFirstPollNs = 300'000, kMaxPollNs = 20'000'000, kSlower = 64;
constexpr uint64_t kTakesFromReader = 50'000'000;
constexpr uint32_t kSpinsAtLock = 1000;
constexpr uint64_t kMaxWaitNs = 10'000'000'000;
// Pages that no file has: their places say something of the whole file.
constexpr uint64_t kTrackedFile = ~uint64_t{0}, kReadFile = kTrackedFile - 1;

SharedPage& page_at(uint32_t entry) {
  return reinterpret_cast<SharedPage*>(channel::kChannel + channel::kSharedPagesAt)[entry];
}
Holder& holder_at(uint32_t stream) {
  return reinterpret_cast<Holder*>(channel::kChannel + channel::kHoldersAt)[stream];
}
uint32_t stream_of(uint64_t holder) {
  return static_cast<uint32_t>(holder & ((1u << channel::kHolderBits) - 1) & ~channel::kHanded) - 1;
}
Holder& own(Task& task) { return holder_at(recording::stream_number(task)); }

uint64_t key_of(uint64_t object, uint64_t page) {
  uint64_t key = (object ^ mix(page)) * 0xBF58476D1CE4E5B9;
  key = (key ^ key >> 31) * 0x94D049BB133111EB;
  key ^= key >> 29;
  return key ? key : 1;
}

uint64_t word_of(uint32_t stream) {
  return __atomic_load_n(&holder_at(stream).generation, __ATOMIC_ACQUIRE) << channel::kHolderBits |
         (stream + 1);
}
uint64_t word_of(Task& task) { return word_of(recording::stream_number(task)); }

bool is_nobody(uint64_t holder) {
  return !holder || (holder & ~channel::kHanded) != word_of(stream_of(holder));
}

// The pid namespace of this process. 0: not known, or in all of the recording none is.
uint32_t own_pid_space() {
  struct stat status {};
  constexpr char kName[] = "/proc/self/ns/pid";
  constexpr long kBehindProc = sizeof "/proc/" - 1;
  long result = sys::raw(SYS_stat, reinterpret_cast<long>(kName), reinterpret_cast<long>(&status));
  if (result == -ENOENT && *sys::g_proc_folder)
    result =
        sys::raw(SYS_newfstatat, *sys::g_proc_folder, reinterpret_cast<long>(kName) + kBehindProc,
                 reinterpret_cast<long>(&status), 0);
  return sys::failed(result) ? 0 : static_cast<uint32_t>(status.st_ino);
}

bool is_other_space(uint32_t space) {
  const uint32_t own = own_pid_space();
  return space && own && space != own;
}

// Its id is another process's here, or nobody's.
bool is_elsewhere(const Holder& h) { return h.pid > 0 && is_other_space(h.pid_space); }

bool is_dead(const Holder& h) {
  return h.pid > 0 && channel::has_no_memory(h.pid) && !is_elsewhere(h);
}

// Another process's lock, or this one's, for a few instructions.
class HolderLock {
 public:
  HolderLock(Holder& holder, uint32_t me) : holder_(holder) {
    for (uint32_t looks = 1;; looks++) {
      uint32_t who = 0;
      if (__atomic_compare_exchange_n(&holder_.lock, &who, me + 1, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        return;
      if (looks % kSpinsAtLock) {
        sys::cpu_relax();
        continue;
      }
      sys::raw(SYS_sched_yield);
      if (is_dead(holder_at(who - 1)) &&
          __atomic_compare_exchange_n(&holder_.lock, &who, me + 1, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        return;
    }
  }
  ~HolderLock() { __atomic_store_n(&holder_.lock, 0u, __ATOMIC_RELEASE); }
  HolderLock(const HolderLock&) = delete;
  HolderLock& operator=(const HolderLock&) = delete;

 private:
  Holder& holder_;
};

void wake_waiters(SharedPage& page) {
  __atomic_fetch_add(&page.word, 1u, __ATOMIC_SEQ_CST);
  if (!__atomic_exchange_n(&page.waiting, 0u, __ATOMIC_SEQ_CST)) return;
  sys::futex_wake(&page.word, 0x7fffffff);
}

// With the holder's lock. `requests`: room for all.
uint32_t move_requests(Holder& h, PageRequest* requests) {
  const uint32_t count = h.asked;
  for (uint32_t i = 0; i < count; i++) requests[i] = h.requests[i];
  __atomic_store_n(&h.asked, 0u, __ATOMIC_RELEASE);
  return count;
}

// The holder becomes one whose pages are free to take: who has asked for one looks again.
template <typename Change>
void change_and_wake(uint32_t me, Change change) {
  PageRequest requests[Holder::kMaxRequests];
  Holder& h = holder_at(me);
  uint32_t count;
  {
    HolderLock lock(h, me);
    change(h);
    count = move_requests(h, requests);
  }
  for (uint32_t i = 0; i < count; i++) wake_waiters(page_at(requests[i].entry));
}

bool change(SharedPage& page, uint64_t from, uint64_t to) {
  return __atomic_compare_exchange_n(&page.holder, &from, to, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

// From a holder that sleeps it is taken; one that computes is asked.
bool take_or_ask(uint32_t me, uint32_t entry, uint64_t holder, uint64_t waited) {
  SharedPage& page = page_at(entry);
  Holder& h = holder_at(stream_of(holder));
  HolderLock lock(h, me);
  if (__atomic_load_n(&page.holder, __ATOMIC_SEQ_CST) != holder) return false;
  const bool may_take = h.state == HolderState::kSleeps ||
                        (h.state == HolderState::kReads && waited > kTakesFromReader);
  if (may_take && !(holder & channel::kHanded)) {
    if (!change(page, holder, word_of(me))) return false;
    h.lost = 1;
    return true;
  }
  uint32_t i = 0;
  while (i < h.asked && (h.requests[i].entry != entry || h.requests[i].stream != me)) i++;
  if (i < h.asked || i == Holder::kMaxRequests) return false;
  h.requests[i] = {entry, me};
  __atomic_store_n(&h.asked, i + 1, __ATOMIC_RELEASE);
  return false;
}

uint64_t next_poll(uint64_t waited) {
  const uint64_t next = waited / kSlower;
  return next < kFirstPollNs ? kFirstPollNs : next > kMaxPollNs ? kMaxPollNs : next;
}

// Nobody has what a dead holder had.
void look_after(uint32_t me, uint64_t holder, uint64_t waited) {
  const uint32_t stream = stream_of(holder);
  Holder& h = holder_at(stream);
  if (is_dead(h)) {
    HolderLock lock(h, me);
    if ((holder & ~channel::kHanded) == word_of(stream))
      __atomic_fetch_add(&h.generation, 1u, __ATOMIC_ACQ_REL);
    return;
  }
  if (h.state != HolderState::kComputes || (holder & channel::kHanded)) return;
  if (is_elsewhere(h)) {
    if (waited > kMaxWaitNs && !__atomic_exchange_n(&h.told, 1u, __ATOMIC_ACQ_REL)) {
      report(
          "a process in another pid namespace has run %u s without an event, or has died, while "
          "another process waits for memory that they share; which of it cannot be told from here. "
          "Record it without that namespace",
          kMaxWaitNs / 1'000'000'000);
    }
    return;
  }
  sys::raw(SYS_tkill, h.pid, sys::g_probe_signal);
  if (waited > kMaxWaitNs && !__atomic_exchange_n(&h.told, 1u, __ATOMIC_ACQ_REL)) {
    report(
        "process %d has run %u s without an event while another process waits for memory that they "
        "share: it computes, or it waits in a loop "
        "that changes memory each time round, which cannot be told from computing. A call such as "
        "sched_yield() in the loop helps.",
        int64_t{h.pid}, kMaxWaitNs / 1'000'000'000);
  }
}

}  // namespace

uint32_t entry_of(uint64_t object, uint64_t page) {
  const uint64_t key = key_of(object, page);
  for (uint64_t i = 0; i < channel::kSharedPages; i++) {
    const auto entry = static_cast<uint32_t>((key + i) % channel::kSharedPages);
    uint64_t found = __atomic_load_n(&page_at(entry).key, __ATOMIC_ACQUIRE);
    if (!found && __atomic_compare_exchange_n(&page_at(entry).key, &found, key, false,
                                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return entry;
    if (found == key) return entry;
  }
  report("the program's processes share more than %u pages: a recording has no room for more",
         channel::kSharedPages);
  die(125);
}

namespace {

// Null: the table has no place for it.
const SharedPage* known_page(uint64_t object, uint64_t page) {
  const uint64_t key = key_of(object, page);
  for (uint64_t i = 0; i < channel::kSharedPages; i++) {
    const SharedPage& p = page_at(static_cast<uint32_t>((key + i) % channel::kSharedPages));
    const uint64_t found = __atomic_load_n(&p.key, __ATOMIC_ACQUIRE);
    if (found == key) return &p;
    if (!found) return nullptr;
  }
  return nullptr;
}

}  // namespace

bool is_held(uint64_t object, uint64_t page) {
  const SharedPage* const known = known_page(object, page);
  return known && !is_nobody(__atomic_load_n(&known->holder, __ATOMIC_SEQ_CST));
}

void note_tracked(uint64_t file) { entry_of(file, kTrackedFile); }
bool is_tracked(uint64_t file) { return known_page(file, kTrackedFile) != nullptr; }

void note_reader(uint64_t file) {
  const uint64_t me = uint64_t{own_pid_space()} << 32 | static_cast<uint32_t>(sys::raw(SYS_getpid));
  __atomic_store_n(&page_at(entry_of(file, kReadFile)).sum, me, __ATOMIC_RELEASE);
}

bool has_other_reader(uint64_t file) {
  const SharedPage* const known = known_page(file, kReadFile);
  const uint64_t reader = known ? __atomic_load_n(&known->sum, __ATOMIC_ACQUIRE) : 0;
  if (!reader) return false;
  const auto pid = static_cast<int>(reader);
  if (is_other_space(static_cast<uint32_t>(reader >> 32))) return true;
  return pid != static_cast<int>(sys::raw(SYS_getpid)) && !channel::has_no_memory(pid);
}

bool acquire(Task& task, uint32_t entry, uint32_t& previous_holder) {
  SharedPage& page = page_at(entry);
  const uint32_t stream = recording::stream_number(task);
  Holder& h = holder_at(stream);
  const int tid = static_cast<int>(sys::raw(SYS_gettid));
  if (h.pid != tid) {  // a process stays in its namespace: asked once for each task
    h.pid_space = own_pid_space();
    h.pid = tid;
  }
  const uint64_t me = word_of(stream);
  for (uint64_t since = 0, waited = 0;;) {
    const uint64_t holder = __atomic_load_n(&page.holder, __ATOMIC_SEQ_CST);
    if (holder == me) return true;
    if (holder == (me | channel::kHanded) || is_nobody(holder)) {
      const uint32_t gave = __atomic_load_n(&page.previous_holder, __ATOMIC_ACQUIRE);
      if (!change(page, holder, me)) continue;
      previous_holder = !holder || (holder & channel::kHanded) ? gave : stream_of(holder) + 1;
      h.waits_for = 0;
      return false;
    }
    const uint32_t seen = __atomic_load_n(&page.word, __ATOMIC_SEQ_CST);
    if (since) waited = sys::monotonic_ns() - since;
    if (take_or_ask(stream, entry, holder, waited)) {
      wake_waiters(page);  // they ask this one now
      previous_holder = stream_of(holder) + 1;
      h.waits_for = 0;
      return false;
    }
    if (!since) since = sys::monotonic_ns();
    __atomic_store_n(&h.waits_for, entry + 1, __ATOMIC_RELEASE);
    begin_sleep(task, HolderState::kSleeps);
    __atomic_store_n(&page.waiting, 1u, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page.holder, __ATOMIC_SEQ_CST) == holder &&
        sys::futex_wait(&page.word, seen, next_poll(waited)) == -ETIMEDOUT)
      look_after(stream, holder, waited);
    {
      HolderLock lock(h, stream);
      h.state = HolderState::kComputes;
    }
  }
}

void set_sum(uint32_t entry, uint64_t sum) { page_at(entry).sum = sum; }

uint64_t take_sum(uint32_t entry) {
  const uint64_t sum = page_at(entry).sum;
  page_at(entry).sum = 0;
  return sum;
}

bool has(Task& task, uint32_t entry) {
  return __atomic_load_n(&page_at(entry).holder, __ATOMIC_SEQ_CST) == word_of(task);
}

namespace {

// Before it goes: while it is the task's own nobody else says so.
void note_previous_holder(Task& task, uint32_t entry) {
  if (has(task, entry))
    __atomic_store_n(&page_at(entry).previous_holder, recording::stream_number(task) + 1,
                     __ATOMIC_RELEASE);
}

}  // namespace

void give(Task& task, uint32_t entry) {
  note_previous_holder(task, entry);
  if (change(page_at(entry), word_of(task), 0)) wake_waiters(page_at(entry));
}

void give_to(Task& task, const PageRequest& request) {
  SharedPage& page = page_at(request.entry);
  note_previous_holder(task, request.entry);
  // Who waits for what this task has goes on waiting.
  const bool waits =
      __atomic_load_n(&holder_at(request.stream).waits_for, __ATOMIC_ACQUIRE) == request.entry + 1;
  if (change(page, word_of(task), waits ? word_of(request.stream) | channel::kHanded : 0))
    wake_waiters(page);
}

uint32_t take_requests(Task& task, PageRequest* requests) {
  const uint32_t me = recording::stream_number(task);
  Holder& h = holder_at(me);
  HolderLock lock(h, me);
  h.told = 0;
  return move_requests(h, requests);
}

bool is_asked(Task& task) { return __atomic_load_n(&own(task).asked, __ATOMIC_RELAXED) != 0; }

void begin_sleep(Task& task, HolderState state) {
  change_and_wake(recording::stream_number(task),
                  [&](Holder& h) { h.state = state; });  // they take it
}

namespace {

bool take_lost(Holder& h) {
  const bool lost = h.lost != 0;
  h.lost = 0;
  return lost;
}

}  // namespace

bool was_taken_from(Task& task) {
  const uint32_t me = recording::stream_number(task);
  Holder& h = holder_at(me);
  HolderLock lock(h, me);
  return take_lost(h);
}

bool end_sleep(Task& task) {
  const uint32_t me = recording::stream_number(task);
  Holder& h = holder_at(me);
  HolderLock lock(h, me);
  h.state = HolderState::kComputes;
  if (!task.identity.in_vfork)
    h.pid = task.identity.tid;  // another process may run it since it took the first page
  return take_lost(h);
}

void leave(Task& task) {
  change_and_wake(recording::stream_number(task), [](Holder& h) {
    __atomic_fetch_add(&h.generation, 1u, __ATOMIC_ACQ_REL);
    h.state = HolderState::kComputes;
    h.lost = 0;
  });
}

}  // namespace weir::shared_table
