// Functions that compare strings, look for something in them, take them apart, and read numbers
// (interpose/libc/library.h).

#include "interpose/libc/library.h"
#include "interpose/libc/sharing_calls.h"

namespace weir::interpose::library::checked {

namespace {

int folded(char value) { return value >= 'A' && value <= 'Z' ? value + ('a' - 'A') : value; }

// Strings are read as far as they are equal, and one character more.
template <typename Compare>
int compare(Call&& call, const char* a, const char* b, size_t most, bool folds, Compare real) {
  const Text x = call.text(a, most), y = call.text(b, most);
  size_t read = x.read < y.read ? x.read : y.read;
  if (!call.is_untrapped(a, read) || !call.is_untrapped(b, read)) {
    const volatile char *p = x.seen, *q = y.seen;
    for (size_t i = 0; i < read; i++) {
      const char one = p[i], other = q[i];
      if (one == other || (folds && folded(one) == folded(other))) continue;
      read = i + 1;
    }
    call.reads(a, read);
    call.reads(b, read);
    call.notify();
  }
  return real(x.seen, y.seen);
}

// What is looked for may be found: then what lies behind is not read. `length` of it is read where
// it was found.
template <typename Find>
char* find(Call&& call, const char* text, size_t length, Find real) {
  const Text t = call.text(text);
  const char* const found = real(t.seen);
  const size_t read = found ? static_cast<size_t>(found - t.seen) + length : t.read;
  call.reads(text, read < t.read ? read : t.read);
  call.notify();
  return back(found, t.seen, text);
}

// The same for one of a set, or another string.
template <typename Find>
char* find_of(Call&& call, const char* text, const char* wanted, bool is_whole, Find real) {
  const Text w = call.text(wanted);
  call.reads(wanted, w.read);
  return find(static_cast<Call&&>(call), text, is_whole ? w.length : 1,
              [&](const char* seen) { return real(seen, w.seen); });
}

template <typename Span>
size_t span(Call&& call, const char* text, const char* set, Span real) {
  const Text t = call.text(text), s = call.text(set);
  const size_t result = real(t.seen, s.seen);
  call.reads(text, result + 1);
  call.reads(set, s.read);
  call.notify();
  return result;
}

// A token from `text` on; its end becomes NUL. `next`: where the rest begins.
char* token(Call& call, char* text, const char* between, char*& next) {
  const Text t = call.text(text), b = call.text(between);
  const size_t begin = g_library.strspn(t.seen, b.seen);
  const size_t end = begin + g_library.strcspn(t.seen + begin, b.seen);
  call.reads(between, b.read);
  call.reads(text, end + 1);
  next = text + end;
  if (end < t.length) {
    call.writes(next, 1);
    call.notify();
    *call.seen(next) = 0;
    next++;
  }
  call.notify();
  return end == begin ? nullptr : text + begin;
}

}  // namespace

int strcmp(const char* a, const char* b) {
  return compare(Call(WEIR_CALLER), a, b, SIZE_MAX, false,
                 [](const char* x, const char* y) { return g_library.strcmp(x, y); });
}
int strncmp(const char* a, const char* b, size_t most) {
  return compare(Call(WEIR_CALLER), a, b, most, false,
                 [=](const char* x, const char* y) { return g_library.strncmp(x, y, most); });
}
int strcasecmp(const char* a, const char* b) {
  return compare(Call(WEIR_CALLER), a, b, SIZE_MAX, true,
                 [](const char* x, const char* y) { return g_library.strcasecmp(x, y); });
}
int strncasecmp(const char* a, const char* b, size_t most) {
  return compare(Call(WEIR_CALLER), a, b, most, true,
                 [=](const char* x, const char* y) { return g_library.strncasecmp(x, y, most); });
}

int strcoll(const char* a, const char* b) {
  Call call(WEIR_CALLER);
  const Text x = call.text(a), y = call.text(b);
  call.reads(a, x.read);
  call.reads(b, y.read);
  call.notify();
  return g_library.strcoll(x.seen, y.seen);
}

#define WEIR_FIND(name)                   \
  return find(Call(WEIR_CALLER), text, 1, \
              [=](const char* seen) { return g_library.name(seen, value); })

char* strchr(const char* text, int value) { WEIR_FIND(strchr); }
char* strchrnul(const char* text, int value) { WEIR_FIND(strchrnul); }
char* index(const char* text, int value) { WEIR_FIND(strchr); }
char* strrchr(const char* text, int value) {
  return find(Call(WEIR_CALLER), text, SIZE_MAX / 2,
              [=](const char* seen) { return g_library.strrchr(seen, value); });
}
char* rindex(const char* text, int value) {
  return find(Call(WEIR_CALLER), text, SIZE_MAX / 2,
              [=](const char* seen) { return g_library.strrchr(seen, value); });
}

#define WEIR_FIND_OF(name, second, is_whole)                \
  return find_of(Call(WEIR_CALLER), text, second, is_whole, \
                 [](const char* t, const char* s) { return g_library.name(t, s); })

char* strstr(const char* text, const char* wanted) { WEIR_FIND_OF(strstr, wanted, true); }
char* strcasestr(const char* text, const char* wanted) { WEIR_FIND_OF(strcasestr, wanted, true); }
char* strpbrk(const char* text, const char* set) { WEIR_FIND_OF(strpbrk, set, false); }

size_t strspn(const char* text, const char* set) {
  return span(Call(WEIR_CALLER), text, set,
              [](const char* t, const char* s) { return g_library.strspn(t, s); });
}
size_t strcspn(const char* text, const char* set) {
  return span(Call(WEIR_CALLER), text, set,
              [](const char* t, const char* s) { return g_library.strcspn(t, s); });
}

namespace {

char* next_token(Call&& call, char* text, const char* between, char** place) {
  char** const seen = call.seen(place, sizeof *place);
  if (!text) {
    call.reads(place, sizeof *place);
    text = *seen;
  }
  if (!text) return nullptr;
  char* next;
  char* const found = token(call, text, between, next);
  call.writes(place, sizeof *place);
  call.notify();
  *seen = next;
  return found;
}

}  // namespace

char* strtok_r(char* text, const char* between, char** place) {
  return next_token(Call(WEIR_CALLER), text, between, place);
}
char* __strtok_r(char* text, const char* between, char** place) {
  return next_token(Call(WEIR_CALLER), text, between, place);
}

// Where the rest begins only the C library knows: of a later token what was found, without what
// separates it.
char* strtok(char* text, const char* between) {
  note_sharing(findings::kCall_strtok, WEIR_CALLER);
  Call call(WEIR_CALLER);
  if (text) {
    const Text t = call.text(text), b = call.text(between);
    const size_t begin = g_library.strspn(t.seen, b.seen);
    const size_t end = begin + g_library.strcspn(t.seen + begin, b.seen);
    call.reads(text, end + 1);
    if (end < t.length) call.writes(text + end, 1);
  }
  call.reads(between, call.text(between).read);
  call.notify();
  char* const found = g_library.strtok(text, between);
  if (found && !text) call.reads(found, call.text(found).read);
  call.notify();
  return found;
}

char* strsep(char** place, const char* between) {
  Call call(WEIR_CALLER);
  char** const seen = call.seen(place, sizeof *place);
  char* const text = *seen;
  call.reads(place, sizeof *place);
  if (!text) return nullptr;
  const Text t = call.text(text), b = call.text(between);
  const size_t length = g_library.strcspn(t.seen, b.seen);
  const bool is_last = length == t.length;
  call.reads(text, length + 1);
  call.reads(between, b.read);
  call.writes(place, sizeof *place);
  if (!is_last) call.writes(text + length, 1);
  call.notify();
  if (!is_last) *call.seen(text + length) = 0;
  *seen = is_last ? nullptr : text + length + 1;
  return text;
}

#define WEIR_CONVERT(name)                                                              \
  return read_number(Call(WEIR_CALLER), text, end, [=](const char* seen, char** stop) { \
    return g_library.name(seen, stop, base);                                            \
  })

long strtol(const char* text, char** end, int base) { WEIR_CONVERT(strtol); }
long long strtoll(const char* text, char** end, int base) { WEIR_CONVERT(strtoll); }
unsigned long strtoul(const char* text, char** end, int base) { WEIR_CONVERT(strtoul); }
unsigned long long strtoull(const char* text, char** end, int base) { WEIR_CONVERT(strtoull); }
intmax_t strtoimax(const char* text, char** end, int base) { WEIR_CONVERT(strtoimax); }
uintmax_t strtoumax(const char* text, char** end, int base) { WEIR_CONVERT(strtoumax); }

#define WEIR_CONVERT_DECIMAL(name)                     \
  return read_number(Call(WEIR_CALLER), text, nullptr, \
                     [](const char* seen, char** stop) { return g_library.name(seen, stop, 10); })

int atoi(const char* text) {
  return static_cast<int>(
      read_number(Call(WEIR_CALLER), text, nullptr,
                  [](const char* seen, char** stop) { return g_library.strtol(seen, stop, 10); }));
}
long atol(const char* text) { WEIR_CONVERT_DECIMAL(strtol); }
long long atoll(const char* text) { WEIR_CONVERT_DECIMAL(strtoll); }

}  // namespace weir::interpose::library::checked
