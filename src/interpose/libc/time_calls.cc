// Functions that take times apart and write them as text (interpose/libc/library.h). What they
// return in memory of the C library's own is not told.

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

// `from` becomes `to`.
template <typename From, typename To, typename Convert>
To* convert(Call&& call, const From* from, To* to, Convert real) {
  call.reads(from, sizeof *from);
  call.notify();
  To* const seen = call.seen(to);
  To* const result = real(call.seen(from), seen);
  if (result) call.writes(to, sizeof *to);
  call.notify();
  return result ? to : nullptr;
}

template <typename From, typename Print>
char* print(Call&& call, const From* from, char* to, Print real) {
  constexpr size_t kLongest = 26;  // as the standard has it
  call.reads(from, sizeof *from);
  call.notify();
  char* const seen = call.seen(to, kLongest);
  char* const result = real(call.seen(from), seen);
  if (result) call.writes(to, g_library.strlen(seen) + 1);
  call.notify();
  return result ? to : nullptr;
}

// Made to agree with itself.
template <typename Make>
time_t make(Call&& call, struct tm* time, Make real) {
  call.reads(time, sizeof *time);
  call.writes(time, sizeof *time);
  call.notify();
  return real(call.seen(time));
}

}  // namespace

size_t strftime(char* to, size_t size, const char* format, const struct tm* time) {
  Call call(WEIR_CALLER);
  const Text text = call.text(format);
  call.reads(format, text.read);
  call.reads(time, sizeof *time);
  call.notify();
  const size_t length = g_library.strftime(call.seen(to, size), size, text.seen, call.seen(time));
  if (length) call.writes(to, length + 1);
  call.notify();
  return length;
}
char* asctime_r(const struct tm* time, char* to) {
  return print(Call(WEIR_CALLER), time, to, g_library.asctime_r);
}
char* ctime_r(const time_t* time, char* to) {
  return print(Call(WEIR_CALLER), time, to, g_library.ctime_r);
}
struct tm* localtime_r(const time_t* time, struct tm* to) {
  return convert(Call(WEIR_CALLER), time, to, g_library.localtime_r);
}
struct tm* gmtime_r(const time_t* time, struct tm* to) {
  return convert(Call(WEIR_CALLER), time, to, g_library.gmtime_r);
}
time_t mktime(struct tm* time) { return make(Call(WEIR_CALLER), time, g_library.mktime); }
time_t timegm(struct tm* time) { return make(Call(WEIR_CALLER), time, g_library.timegm); }

}  // namespace weir::interpose::library::checked
