// How a function of the C library's gets between the program and the C library, and how a checked
// one tells what it touches.
//
// The exported functions have names of their own here, so that nothing that headers or the compiler
// know of them gets in the way.

#include "interpose/libc/library.h"

#include "check/core/hazards.h"
#include "control/control.h"
#include "control/process.h"
#include "interpose/event_call.h"
#include "memory/backing.h"
#include "sys/libc.h"

namespace weir::interpose::library {

namespace {

[[gnu::cold, gnu::noinline]] void find_library() {
#define WEIR_FIND(result, name, parameters, arguments) \
  g_library.name = reinterpret_cast<result(*) parameters>(libc::find(#name));
  WEIR_LIBRARY_CALLS(WEIR_FIND)
#undef WEIR_FIND
}
__attribute__((constructor)) void find_early() { find_library(); }

// Called before any constructor has run.
#define WEIR_EARLY(result, name, parameters, arguments) \
  result early_##name parameters {                      \
    find_library();                                     \
    return g_library.name arguments;                    \
  }
WEIR_LIBRARY_CALLS(WEIR_EARLY)
#undef WEIR_EARLY

}  // namespace

constinit Real g_library{
#define WEIR_EARLY(result, name, parameters, arguments) .name = early_##name,
    WEIR_LIBRARY_CALLS(WEIR_EARLY)
#undef WEIR_EARLY
};

namespace {

using happens::CallKind;
using happens::CallRule;
using happens::Calls;

constexpr bool is_one_of(const char* name) {
  (void)name;
  return false;
}
template <typename... Names>
constexpr bool is_one_of(const char* name, const char* first, Names... rest) {
  const char* at = name;
  for (; *at && *at == *first; at++) first++;
  return (!*at && !*first) || is_one_of(name, rest...);
}
constexpr bool begins(const char* name, const char* with) {
  for (; *with; name++, with++) {
    if (*name != *with) return false;
  }
  return true;
}

constexpr int8_t kNone = CallRule::kNone, kNul = CallRule::kNul;

// What a function may touch of what its instructions load, and which of its arguments say so.
constexpr CallRule rule_of(const char* name) {
  if (is_one_of(name, "memcmp", "bcmp", "__memcmpeq")) return {CallKind::kWhole, 0, 1, 2};
  if (is_one_of(name, "memchr")) return {CallKind::kSpan, 0, 1, 2};
  if (is_one_of(name, "memrchr")) return {CallKind::kSpan, 0, kNone, 2};
  if (is_one_of(name, "rawmemchr")) return {CallKind::kSpan, 0, 1, kNone};
  if (is_one_of(name, "memccpy")) return {CallKind::kSpan, 1, 2, 3};
  if (is_one_of(name, "memmem")) return {CallKind::kSpan, 0, kNone, 1};
  if (is_one_of(name, "strnlen", "strndup")) return {CallKind::kSpan, 0, kNul, 1};
  if (is_one_of(name, "strncpy", "stpncpy", "__strncpy_chk", "__stpncpy_chk"))
    return {CallKind::kSpan, 1, kNul, 2};
  if (is_one_of(name, "strchr", "strchrnul", "index")) return {CallKind::kUntil, 0, 1, kNone};
  if (is_one_of(name, "strncmp", "strncasecmp")) return {CallKind::kCompare, 0, 1, 2};
  if (is_one_of(name, "strcmp", "strcasecmp", "strcoll")) return {CallKind::kCompare, 0, 1, kNone};
  if (is_one_of(name, "setvbuf")) return {CallKind::kBuffer, 0, 1, 3};
  if (is_one_of(name, "setbuffer")) return {CallKind::kBuffer, 0, 1, 2};
  if (is_one_of(name, "setbuf")) return {CallKind::kBuffer, 0, 1, kNone};
  if (is_one_of(name, "strtok")) return {CallKind::kText, 0, 1, kNone, findings::kCall_strtok + 1};
  if (is_one_of(name, "regexec", "iconv")) return {CallKind::kText, 1, kNone, kNone};
  if (is_one_of(name, "mbstowcs")) return {CallKind::kText, 1, kNone, kNone};
  if (begins(name, "wcs") || begins(name, "wcp")) return {CallKind::kWide, 0, 1, kNone};
  if (is_one_of(name, "vsscanf", "__isoc99_vsscanf")) return {CallKind::kText, 0, 1, kNone};
  if (is_one_of(name, "vsprintf", "vasprintf", "vfprintf", "vdprintf"))
    return {CallKind::kText, 1, kNone, kNone};
  if (is_one_of(name, "vsnprintf", "__vprintf_chk"))
    return {CallKind::kText, begins(name, "vs") ? int8_t{2} : int8_t{1}, kNone, kNone};
  if (is_one_of(name, "__vdprintf_chk", "__vasprintf_chk", "__vfprintf_chk"))
    return {CallKind::kText, 2, kNone, kNone};
  if (is_one_of(name, "__vsprintf_chk")) return {CallKind::kText, 3, kNone, kNone};
  if (is_one_of(name, "__vsnprintf_chk")) return {CallKind::kText, 4, kNone, kNone};
  if (begins(name, "str") || begins(name, "__str") || begins(name, "stp") ||
      begins(name, "__stp") || begins(name, "ato") || begins(name, "rindex") ||
      begins(name, "fputs") || begins(name, "puts") || begins(name, "vprintf"))
    return {CallKind::kText, 0, 1, kNone};
  return {CallKind::kExact, kNone, kNone, kNone};
}

#define WEIR_NUMBER(result, name, parameters, arguments) kNumberOf_##name,
enum Number : uint32_t { WEIR_LIBRARY_CALLS(WEIR_NUMBER) };
#undef WEIR_NUMBER
#define WEIR_RULE(result, name, parameters, arguments) rule_of(#name),
constexpr CallRule kRules[] = {WEIR_LIBRARY_CALLS(WEIR_RULE)};
#undef WEIR_RULE

// The registers are as they were when the function was called: nothing has been done but a look at
// a flag.
template <Number kNumber>
[[gnu::always_inline]] inline void notify_call() {
  weir_notify<static_cast<uint32_t>(happens::NoticeKind::kCalls) + kNumber>();
}

__attribute__((constructor)) void note_rules() {
  happens::g_call_rules = kRules;
  const void* const variables[] = {&tzname, &timezone, &daylight};
  static_assert(sizeof variables == sizeof happens::g_library_variable);
  for (uint32_t i = 0; i < happens::kLibraryVariables; i++)
    happens::g_library_variable[i] = reinterpret_cast<uint64_t>(variables[i]);
}

}  // namespace

#define WEIR_DOOR_IF(is_checked, is_notified, result, name, parameters, arguments)             \
  extern "C" [[gnu::visibility("default")]] result weir_call_##name parameters __asm__(#name); \
  result weir_call_##name parameters {                                                         \
    if (__builtin_expect(is_checked, 0)) {                                                     \
      if (!(is_notified)) return checked::name arguments;                                      \
      notify_call<kNumberOf_##name>();                                                         \
    }                                                                                          \
    return g_library.name arguments;                                                           \
  }
#define WEIR_DOOR(result, name, parameters, arguments)                                          \
  WEIR_DOOR_IF(happens::calls_are_not<Calls::kPlain>(), happens::calls_are<Calls::kNotified>(), \
               result, name, parameters, arguments)
WEIR_TOUCHING_CALLS(WEIR_DOOR)
#undef WEIR_DOOR
#define WEIR_DOOR(result, name, parameters, arguments)                                        \
  WEIR_DOOR_IF(happens::g_knows_blocks, happens::g_notifies_blocks, result, name, parameters, \
               arguments)
WEIR_BUFFER_CALLS(WEIR_DOOR)
#undef WEIR_DOOR
#undef WEIR_DOOR_IF

Call::Call(const Caller& caller) : caller_(caller), is_on_(is_task() && !self().in_runtime) {}

namespace {

// By protection keys tables are asked, whose locks nobody may have who stands in a signal's
// handler.
bool goes_untrapped(uint64_t start, size_t size, bool writes) {
  const SignalsWait signals(plan().has_keys());
  return happens::is_untrapped(start, size, writes);
}

}  // namespace

void Call::add(const void* at, size_t size, What what) {
  const auto start = reinterpret_cast<uint64_t>(at);
  if (!is_on_ || !size || goes_untrapped(start, size, what == What::kWrites)) return;
  if (count_ == kMax) notify();
  parts_[count_++] = {start, size, what};
}

bool Call::notify() {
  if (!count_) return false;
  weir_upcall(
      [](long at, long, long) -> long {
        const Call& call = *reinterpret_cast<const Call*>(at);
        for (uint32_t i = 0; i < call.count_; i++) {
          const Part& part = call.parts_[i];
          const Caller& caller = call.caller_;
          if (part.what == What::kGives)
            happens::on_allocated(part.start, part.size, part.size, caller.where, caller.stack,
                                  caller.frame);
          else
            happens::on_library(part.start, part.size, part.what == What::kWrites, caller.where,
                                caller.stack, caller.frame);
        }
        return 0;
      },
      reinterpret_cast<long>(this), 0, 0);
  count_ = 0;
  return true;
}

void tell_stored(const void* at, size_t size, const Caller& caller) {
  if (!at || !happens::calls_are<Calls::kReplaced>()) return;
  Call call(caller);
  call.writes(at, size);
  call.notify();
}

void Call::uses_stream() const {
  if (!is_on_ || !hazards::has_handlers()) return;
  const SignalsWait signals(true);
  hazards::before_unsafe(findings::UnsafeCall::kStreams, 0, caller_);
}

bool Call::is_untrapped(const void* at, size_t size) const {
  return !is_on_ || goes_untrapped(reinterpret_cast<uint64_t>(at), size, false);
}

// Memory whose protection the program has changed is left to the hardware.
uint64_t Call::place(uint64_t at, size_t size) const {
  if (!is_on_) return at;
  const uint64_t shared_view = page::shared_view_of(at);
  return shared_view == at || page::backing_bytes_at(at) < size || page::has_protection(at, size)
             ? at
             : shared_view;
}

Text Call::text(const char* at, size_t most) const {
  const auto address = reinterpret_cast<uint64_t>(at);
  const uint64_t shared_view = is_on_ ? page::shared_view_of(address) : address;
  if (shared_view != address) {
    const uint64_t extent = page::backing_bytes_at(address);
    const size_t limit = most < extent ? most : extent;
    const auto* seen = reinterpret_cast<const char*>(shared_view);
    const size_t length = g_library.strnlen(seen, limit);
    const size_t read = length < limit ? length + 1 : length;
    if ((length < limit || limit == most) && !page::has_protection(address, read))
      return {seen, length, read};
  }
  const size_t length = g_library.strnlen(at, most);
  return {at, length, length < most ? length + 1 : length};
}

}  // namespace weir::interpose::library
