// Calls of the C library in a replay that is checked. The program tells them before it makes them
// (check/core/happens_before.h), and makes them as they were recorded. Their accesses to closed
// pages are checked as they come, on the caller's account.
//
// Nothing tells that a call is over. It is over if the stack pointer is above its return address,
// or if the return address has changed.

#include <initializer_list>

#include "check/core/hazards.h"
#include "check/core/state.h"
#include "check/replay/replay.h"
#include "heap/heap.h"
#include "memory/backing.h"

namespace weir::view::checked::replay {

namespace {

constexpr uint32_t kMaxCalls = 8;

// --- what each process keeps to itself, of the task that it runs

Call g_notified_calls[kMaxCalls];  // the innermost last
uint32_t g_call_count = 0;
uint32_t g_orders = 0;
uint64_t g_calls_of = 0;  // TaskIdentity::creation + 1

void begin_task() {
  if (g_calls_of == self().identity.creation + 1) return;
  g_calls_of = self().identity.creation + 1;
  g_call_count = 0;
  g_orders = thread_of(self()).library_orders;
}

}  // namespace

namespace {

uint64_t word_at(uint64_t address) {
  return page::backing_bytes_at(address) >= 8
             ? *reinterpret_cast<const volatile uint64_t*>(page::shared_view_of(address))
             : 0;
}
uint8_t byte_at(uint64_t address) {
  return *reinterpret_cast<const volatile uint8_t*>(page::shared_view_of(address));
}

// As far as the backing has it, and the same rule holds.
template <typename Ends>
uint64_t read_until(uint64_t from, uint64_t limit, Ends ends) {
  for (uint64_t at = from; at < limit; at++) {
    if (!page::backing_bytes_at(at) || ends(byte_at(at))) return at + 1;
  }
  return limit;
}

}  // namespace

namespace {

// To all that the call reads in that page.
bool widen(const Call& call, Access& access) {
  const uint64_t page = page_down(access.address);
  for (const uint64_t start : {call.first, call.second}) {
    if (access.address < start || access.address >= start + call.most) continue;
    access.address = start > page ? start : page;
    access.size = (start + call.most < page + kPageSize ? start + call.most : page + kPageSize) -
                  access.address;
    return true;
  }
  return true;
}

}  // namespace

namespace {

bool is_library_variable(uint64_t address) {
  constexpr uint64_t kMost = 16;  // tzname
  for (const uint64_t variable : happens::g_library_variable) {
    if (variable && address - variable < kMost) return true;
  }
  return false;
}

}  // namespace

const Call* call_at(uint64_t rsp) {
  begin_task();
  while (g_call_count) {
    const Call& call = g_notified_calls[g_call_count - 1];
    if (rsp <= call.slot && word_at(call.slot) == call.where) return &call;
    g_call_count--;
  }
  return nullptr;
}

bool orders() {
  begin_task();
  return g_orders != 0;
}

AccessSite site_of_call(const Call& call) {
  AccessSite site{};
  site.general[4] = call.slot + 8;
  site.general[5] = call.frame;
  site.rip = call.where;
  site.is_call = true;
  return site;
}

bool clip(const Call& call, Access& access) {
  using happens::CallKind;
  const auto kind = static_cast<CallKind>(call.kind);
  access.kind = (access.kind & (findings::kRead | findings::kWrite)) | findings::kByLibrary;
  const bool is_own_frame = access.address < call.slot && access.address + (1 << 20) > call.slot;
  if (is_own_frame || is_of_library(access.address) || is_library_variable(access.address))
    return false;
  if (kind == CallKind::kWhole) return widen(call, access);
  if (!(access.kind & findings::kRead) || access.size <= 8 || kind == CallKind::kExact) return true;
  constexpr uint64_t kEndless = uint64_t{1} << 47, kNear = 1 << 20;
  uint64_t from = access.address, limit = access.address + access.size;
  const auto begins = [&](uint64_t pointer) { return pointer > from && pointer < limit; };
  if (begins(call.first)) from = call.first;
  else if (call.second && begins(call.second)) from = call.second;
  switch (kind) {
    case CallKind::kSpan:
      if (call.most < kEndless && call.first + call.most < limit) limit = call.first + call.most;
      if (call.second < 0x100)
        limit = read_until(from, limit, [&](uint8_t byte) { return byte == call.second; });
      break;
    case CallKind::kUntil:
      limit = read_until(from, limit, [&](uint8_t byte) {
        return byte == 0 || byte == static_cast<uint8_t>(call.second);
      });
      break;
    case CallKind::kCompare: {
      uint64_t read = 0;
      while (read < call.most && page::backing_bytes_at(call.first + read) &&
             page::backing_bytes_at(call.second + read)) {
        const uint8_t one = byte_at(call.first + read), other = byte_at(call.second + read);
        read++;
        if (!one || one != other) break;
      }
      const uint64_t start = from >= call.second && (from < call.first || call.second > call.first)
                                 ? call.second
                                 : call.first;
      if (start + read < limit) limit = start + read;
      break;
    }
    case CallKind::kWide: {
      constexpr uint64_t kWideBytes = 4;
      uint64_t zeros = 0;
      limit = read_until(
          from, limit, [&](uint8_t byte) { return (zeros = byte ? 0 : zeros + 1) >= kWideBytes; });
      break;
    }
    default:
      // A string that begins at the end of a page is looked at from before its beginning, which is
      // not known here.
      if (!(limit % kPageSize) && from == access.address && from - call.first >= kNear &&
          from - call.second >= kNear)
        return false;
      limit = read_until(from, limit, [](uint8_t byte) { return byte == 0; });
  }
  if (from >= limit) return false;
  access.address = from;
  access.size = limit - from;
  return true;
}

}  // namespace weir::view::checked::replay

namespace weir::happens {

const CallRule* g_call_rules = nullptr;
uint64_t g_library_variable[kLibraryVariables] = {};

namespace {

void note_call(CallKind kind, uint64_t slot, uint64_t first, uint64_t second, uint64_t most) {
  using namespace view::checked::replay;
  const uint64_t where = word_at(slot);
  if (view::checked::is_call_of_library(where)) return;
  (void)call_at(slot);  // those that are over go
  if (g_call_count == kMaxCalls) return;
  g_notified_calls[g_call_count++] = {slot,   where, self().frame->rbp,          first,
                                      second, most,  static_cast<uint32_t>(kind)};
}

void note_sharing(uint64_t call, const hazards::Caller& caller) {
  if (view::checked::replay::pass() == findings::Pass::kChecks)
    hazards::before_sharing(static_cast<findings::SharingNumber>(call), caller);
}

// Told where the function begins: its arguments are in the registers.
void note_call(const CallRule& rule, const Frame& frame) {
  const uint64_t arguments[] = {frame.rdi, frame.rsi, frame.rdx, frame.rcx, frame.r8, frame.r9};
  const auto at = [&](int8_t number, uint64_t none) {
    return number >= 0 ? arguments[number] : none;
  };
  if (rule.kind == CallKind::kBuffer) {
    constexpr uint64_t kUsualBuffer = 8192;  // BUFSIZ
    const uint64_t buffer = at(rule.second, 0);
    return view::checked::note_stream_buffer(at(rule.first, 0), buffer,
                                             buffer ? at(rule.most, kUsualBuffer) : 0);
  }
  if (!g_checked) return;
  if (rule.shares) {
    note_sharing(rule.shares - 1u,
                 {view::checked::replay::word_at(frame.rsp), frame.rsp + 8, frame.rbp});
  }
  note_call(rule.kind, frame.rsp, at(rule.first, 0),
            rule.second == CallRule::kNul ? 0 : at(rule.second, ~uint64_t{0}),
            at(rule.most, ~uint64_t{0}));
}

}  // namespace

namespace {

uint64_t seen_word(uint64_t address) {
  return g_checked ? view::checked::replay::word_at(address)
                   : *reinterpret_cast<const uint64_t*>(address);
}

uint64_t block_size(uint64_t start) {
  return heap_find(start,
                   [](uint64_t address) {
                     return reinterpret_cast<const void*>(g_checked ? page::shared_view_of(address)
                                                                    : address);
                   })
      .size();
}

void on_replayed_allocation(uint64_t start, uint64_t size, uint64_t stack) {
  const uint64_t usable = block_size(start);
  on_allocated(start, size, usable > size ? usable : size, seen_word(stack - 8), stack,
               seen_word(stack - 16));
}

void on_replayed_free(uint64_t start, uint64_t stack) {
  on_freed(start, block_size(start), seen_word(stack - 8), stack, seen_word(stack - 16));
}

void note_sharing(uint64_t call, uint64_t stack) {
  note_sharing(call, {seen_word(stack - 8), stack, seen_word(stack - 16)});
}

void begin_order() {
  using namespace view::checked::replay;
  begin_task();
  g_orders++;
}

void end_order() {
  using view::checked::replay::g_orders;
  if (g_orders) g_orders--;
}

}  // namespace

void on_notice(const Frame& frame, const Notice& notice) {
  const uint64_t a = notice.words[0], b = notice.words[1], c = notice.words[2];
  switch (static_cast<NoticeKind>(notice.what)) {
    case NoticeKind::kAcquire: return on_acquire(a);
    case NoticeKind::kRelease: return on_release(a);
    case NoticeKind::kLock: return on_lock(a, b);
    case NoticeKind::kUnlock: return on_unlock(a);
    case NoticeKind::kJoined: return on_acquire(a + b);
    case NoticeKind::kBeginsOrder: return begin_order();
    case NoticeKind::kEndsOrder: return end_order();
    case NoticeKind::kEndsProgram: return hazards::report_leaks();
    case NoticeKind::kAllocated: return on_replayed_allocation(a, b, c);
    case NoticeKind::kFreed: return on_replayed_free(a, b);
    case NoticeKind::kReads:
      return note_call(CallKind::kText, a - 8, b, ~uint64_t{0}, ~uint64_t{0});
    case NoticeKind::kShares: return note_sharing(a, b);
    default:
      return note_call(g_call_rules[notice.what - static_cast<uint64_t>(NoticeKind::kCalls)],
                       frame);
  }
}

}  // namespace weir::happens
