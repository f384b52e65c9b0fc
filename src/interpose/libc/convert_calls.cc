// Functions that make one form of something of another: characters and wide characters, addresses,
// what matches an expression (interpose/libc/library.h). A state of conversion of the C library's
// own is not told.

#include <limits.h>
#include <stdint.h>

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

constexpr size_t kFailed = static_cast<size_t>(-1), kUnfinished = static_cast<size_t>(-2);

void changes(Call& call, void* at, size_t size) {
  call.reads(at, size);
  call.writes(at, size);
}

// Converts from `at` on, which `real` moves to behind what it has read, or clears behind the end.
// Returns what `real` does: units stored, of which the end is none.
template <typename From, typename To, typename Convert>
size_t convert(Call& call, const From*& at, To* to, size_t room, size_t length, Convert real) {
  const From* const from = at;
  const From* const seen = call.seen(from, length * sizeof *from);
  const From* stop = seen;
  const size_t result = real(to ? call.seen(to, room * sizeof *to) : nullptr, &stop);
  const bool is_whole = to ? !stop : result != kFailed;
  const size_t read = is_whole ? length : static_cast<size_t>(stop - seen);
  call.reads(from, (read < length ? read : length) * sizeof *from);
  if (to && result != kFailed) {
    call.writes(to, (result < room && is_whole ? result + 1 : result) * sizeof *to);
    at = is_whole ? nullptr : from + read;
  }
  call.notify();
  return result;
}

template <typename From, typename To, typename Convert>
size_t convert_by_place(Call&& call, To* to, const From** from, size_t room, mbstate_t* state,
                        Convert real) {
  call.reads(from, sizeof *from);
  if (to) call.writes(from, sizeof *from);
  if (state) changes(call, state, sizeof *state);
  const From* at = *call.seen(from, sizeof *from);
  const size_t length = length_read(call, at);
  const size_t result = convert(call, at, to, room, length, real);
  if (to) *call.seen(from, sizeof *from) = at;
  return result;
}

}  // namespace

size_t wcstombs(char* to, const wchar_t* from, size_t size) {
  Call call(WEIR_CALLER);
  mbstate_t state = {};
  const size_t length = length_read(call, from, to ? size : SIZE_MAX);
  return convert(call, from, to, size, length, [&](char* seen, const wchar_t** at) {
    return g_library.wcsrtombs(seen, at, size, &state);
  });
}
size_t mbstowcs(wchar_t* to, const char* from, size_t count) {
  Call call(WEIR_CALLER);
  mbstate_t state = {};
  const bool is_bounded = to && count < SIZE_MAX / MB_LEN_MAX;
  const size_t length = length_read(call, from, is_bounded ? count * MB_LEN_MAX : SIZE_MAX);
  return convert(call, from, to, count, length, [&](wchar_t* seen, const char** at) {
    return g_library.mbsrtowcs(seen, at, count, &state);
  });
}
size_t wcsrtombs(char* to, const wchar_t** from, size_t size, mbstate_t* state) {
  return convert_by_place(
      Call(WEIR_CALLER), to, from, size, state,
      [=](char* seen, const wchar_t** at) { return g_library.wcsrtombs(seen, at, size, state); });
}
size_t mbsrtowcs(wchar_t* to, const char** from, size_t count, mbstate_t* state) {
  return convert_by_place(
      Call(WEIR_CALLER), to, from, count, state,
      [=](wchar_t* seen, const char** at) { return g_library.mbsrtowcs(seen, at, count, state); });
}

size_t mbrtowc(wchar_t* to, const char* from, size_t size, mbstate_t* state) {
  Call call(WEIR_CALLER);
  if (state) changes(call, state, sizeof *state);
  call.notify();
  const size_t result = g_library.mbrtowc(to, from, size, state);
  if (from && result != kFailed) {
    call.reads(from, result == kUnfinished ? size : result ? result : 1);
    if (to && result != kUnfinished) call.writes(to, sizeof *to);
  }
  call.notify();
  return result;
}
size_t wcrtomb(char* to, wchar_t value, mbstate_t* state) {
  Call call(WEIR_CALLER);
  if (state) changes(call, state, sizeof *state);
  call.notify();
  const size_t result = g_library.wcrtomb(to, value, state);
  if (to && result != kFailed) call.writes(to, result);
  call.notify();
  return result;
}
int mbtowc(wchar_t* to, const char* from, size_t size) {
  Call call(WEIR_CALLER);
  const int result = g_library.mbtowc(to, from, size);
  if (from && result >= 0) {
    call.reads(from, result ? static_cast<size_t>(result) : 1);
    if (to) call.writes(to, sizeof *to);
  }
  call.notify();
  return result;
}
int wctomb(char* to, wchar_t value) {
  Call call(WEIR_CALLER);
  const int result = g_library.wctomb(to, value);
  if (to && result > 0) call.writes(to, static_cast<size_t>(result));
  call.notify();
  return result;
}

size_t strxfrm(char* to, const char* from, size_t size) {
  Call call(WEIR_CALLER);
  const Text text = call.text(from);
  call.reads(from, text.read);
  call.notify();
  const size_t result = g_library.strxfrm(size ? call.seen(to, size) : to, text.seen, size);
  if (result < size) call.writes(to, result + 1);
  call.notify();
  return result;
}

// What it has moved the places by has been read and written.
size_t iconv(iconv_t how, char** from, size_t* left, char** to, size_t* room) {
  Call call(WEIR_CALLER);
  if (!from || !left || !to || !room) return g_library.iconv(how, from, left, to, room);
  char *const first = *call.seen(from, sizeof *from), *const made = *call.seen(to, sizeof *to);
  changes(call, from, sizeof *from);
  changes(call, left, sizeof *left);
  changes(call, to, sizeof *to);
  changes(call, room, sizeof *room);
  call.notify();
  const size_t result = g_library.iconv(how, from, left, to, room);
  call.reads(first, static_cast<size_t>(*call.seen(from, sizeof *from) - first));
  call.writes(made, static_cast<size_t>(*call.seen(to, sizeof *to) - made));
  call.notify();
  return result;
}

namespace {

size_t size_of_address(int family) {
  return family == AF_INET ? sizeof(in_addr) : family == AF_INET6 ? sizeof(in6_addr) : 0;
}

}  // namespace

int inet_pton(int family, const char* text, void* to) {
  Call call(WEIR_CALLER);
  const Text t = call.text(text);
  const int result = g_library.inet_pton(family, t.seen, to);
  call.reads(text, t.read);
  if (result == 1) call.writes(to, size_of_address(family));
  call.notify();
  return result;
}
const char* inet_ntop(int family, const void* from, char* to, uint32_t size) {
  Call call(WEIR_CALLER);
  call.reads(from, size_of_address(family));
  call.notify();
  char* const seen = call.seen(to, size);
  if (!g_library.inet_ntop(family, from, seen, size)) return nullptr;
  call.writes(to, g_library.strlen(seen) + 1);
  call.notify();
  return to;
}
int inet_aton(const char* text, in_addr* to) {
  Call call(WEIR_CALLER);
  const Text t = call.text(text);
  const int result = g_library.inet_aton(t.seen, to);
  call.reads(text, t.read);
  if (result && to) call.writes(to, sizeof *to);
  call.notify();
  return result;
}

void swab(const void* from, void* to, ssize_t size) {
  Call call(WEIR_CALLER);
  const size_t swapped = size > 1 ? static_cast<size_t>(size) / 2 * 2 : 0;
  call.reads(from, swapped);
  call.writes(to, swapped);
  call.notify();
  g_library.swab(from, to, size);
}

// What it looks at of the text is not told: how far it goes is its own affair.
int regexec(const regex_t* expression, const char* text, size_t count, regmatch_t* matches,
            int flags) {
  Call call(WEIR_CALLER);
  const int result = g_library.regexec(expression, text, count, matches, flags);
  const bool tells = matches && !expression->no_sub;
  if (result == 0 && tells) call.writes(matches, count * sizeof *matches);
  call.notify();
  return result;
}

}  // namespace weir::interpose::library::checked
