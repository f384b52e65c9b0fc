// Strings of wide characters (interpose/libc/library.h).

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

void reads(Call& call, const wchar_t* text, size_t count) {
  call.reads(text, count * sizeof *text);
}
void writes(Call& call, wchar_t* text, size_t count) { call.writes(text, count * sizeof *text); }

// `read` characters become `written` ones.
template <typename Copy>
wchar_t* copy(Call& call, wchar_t* to, const wchar_t* from, size_t read, size_t written,
              Copy real) {
  reads(call, from, read);
  writes(call, to, written);
  call.notify();
  real(call.seen(to, written * sizeof *to), call.seen(from, read * sizeof *from));
  return to;
}

template <typename Append>
wchar_t* append(Call& call, wchar_t* to, const wchar_t* from, Append real) {
  const size_t before = length_read(call, to), count = length_read(call, from);
  reads(call, to, before);
  reads(call, from, count);
  writes(call, to + before - 1, count);
  call.notify();
  real(call.seen(to, (before + count) * sizeof *to), call.seen(from, count * sizeof *from));
  return to;
}

size_t less(size_t a, size_t b) { return a < b ? a : b; }

// Both as far as they are alike.
int compare(Call& call, const wchar_t* a, const wchar_t* b, size_t most) {
  const wchar_t *const one = call.seen(a), *const other = call.seen(b);
  size_t at = 0;
  while (at < most && one[at] == other[at] && one[at]) at++;
  const size_t read = at < most ? at + 1 : most;
  const int result = at == most || one[at] == other[at] ? 0 : one[at] < other[at] ? -1 : 1;
  reads(call, a, read);
  reads(call, b, read);
  call.notify();
  return result;
}

wchar_t* find(Call& call, const wchar_t* text, wchar_t value, size_t most, bool ends) {
  const wchar_t* const seen = call.seen(text);
  size_t at = 0;
  while (at < most && seen[at] != value && (seen[at] || !ends)) at++;
  const bool is_found = at < most && seen[at] == value;
  reads(call, text, at < most ? at + 1 : most);
  call.notify();
  return is_found ? const_cast<wchar_t*>(text) + at : nullptr;
}

}  // namespace

wchar_t* wcsncpy(wchar_t* to, const wchar_t* from, size_t count) {
  Call call(WEIR_CALLER);
  return copy(call, to, from, length_read(call, from, count), count,
              [=](wchar_t* seen, const wchar_t* f) { g_library.wcsncpy(seen, f, count); });
}
wchar_t* __wcsncpy_chk(wchar_t* to, const wchar_t* from, size_t count, size_t room) {
  Call call(WEIR_CALLER);
  return copy(
      call, to, from, length_read(call, from, count), less(count, room),
      [=](wchar_t* seen, const wchar_t* f) { g_library.__wcsncpy_chk(seen, f, count, room); });
}
wchar_t* __wcscpy_chk(wchar_t* to, const wchar_t* from, size_t room) {
  Call call(WEIR_CALLER);
  const size_t read = length_read(call, from);
  return copy(call, to, from, read, less(read, room),
              [=](wchar_t* seen, const wchar_t* f) { g_library.__wcscpy_chk(seen, f, room); });
}
wchar_t* wcscat(wchar_t* to, const wchar_t* from) {
  Call call(WEIR_CALLER);
  return append(call, to, from, [](wchar_t* seen, const wchar_t* f) { g_library.wcscat(seen, f); });
}
wchar_t* __wcscat_chk(wchar_t* to, const wchar_t* from, size_t room) {
  Call call(WEIR_CALLER);
  return append(call, to, from,
                [=](wchar_t* seen, const wchar_t* f) { g_library.__wcscat_chk(seen, f, room); });
}
// As far as `most` characters of `from`.
wchar_t* wcsncat(wchar_t* to, const wchar_t* from, size_t most) {
  Call call(WEIR_CALLER);
  const size_t before = length_read(call, to), read = length_read(call, from, most);
  const size_t copied = read && !call.seen(from)[read - 1] ? read - 1 : read;
  reads(call, to, before);
  reads(call, from, read);
  writes(call, to + before - 1, copied + 1);
  call.notify();
  g_library.wcsncat(call.seen(to, (before + copied) * sizeof *to),
                    call.seen(from, read * sizeof *from), most);
  return to;
}
wchar_t* wcpcpy(wchar_t* to, const wchar_t* from) {
  Call call(WEIR_CALLER);
  const size_t read = length_read(call, from);
  return copy(call, to, from, read, read,
              [](wchar_t* seen, const wchar_t* f) { g_library.wcscpy(seen, f); }) +
         read - 1;
}
wchar_t* wcpncpy(wchar_t* to, const wchar_t* from, size_t count) {
  Call call(WEIR_CALLER);
  const size_t read = length_read(call, from, count);
  const size_t copied = read && !call.seen(from)[read - 1] ? read - 1 : read;
  return copy(call, to, from, read, count,
              [=](wchar_t* seen, const wchar_t* f) { g_library.wcsncpy(seen, f, count); }) +
         copied;
}
wchar_t* wmempcpy(wchar_t* to, const wchar_t* from, size_t count) {
  Call call(WEIR_CALLER);
  return copy(call, to, from, count, count,
              [=](wchar_t* seen, const wchar_t* f) { g_library.wmemcpy(seen, f, count); }) +
         count;
}
size_t wcsnlen(const wchar_t* text, size_t most) {
  Call call(WEIR_CALLER);
  const size_t read = length_read(call, text, most);
  const bool has_end = read && !call.seen(text)[read - 1];
  reads(call, text, read);
  call.notify();
  return has_end ? read - 1 : read;
}
wchar_t* wcsrchr(const wchar_t* text, wchar_t value) {
  Call call(WEIR_CALLER);
  const size_t read = length_read(call, text);
  reads(call, text, read);
  call.notify();
  const wchar_t* const seen = call.seen(text, read * sizeof *text);
  return back(g_library.wcsrchr(seen, value), seen, text);
}
wchar_t* wcsstr(const wchar_t* text, const wchar_t* wanted) {
  Call call(WEIR_CALLER);
  const size_t most = length_read(call, text), length = length_read(call, wanted);
  const wchar_t* const seen = call.seen(text, most * sizeof *text);
  const wchar_t* const found = g_library.wcsstr(seen, call.seen(wanted, length * sizeof *wanted));
  reads(call, wanted, length);
  reads(call, text, found ? static_cast<size_t>(found - seen) + length - 1 : most);
  call.notify();
  return back(found, seen, text);
}
wchar_t* wcsdup(const wchar_t* text) {
  Call call(WEIR_CALLER);
  const size_t count = length_read(call, text);
  reads(call, text, count);
  call.notify();
  wchar_t* const made = g_library.wcsdup(call.seen(text, count * sizeof *text));
  call.gives(made, count * sizeof *text);
  call.notify();
  if (made) writes(call, made, count);
  call.notify();
  return made;
}
int wcscmp(const wchar_t* a, const wchar_t* b) {
  Call call(WEIR_CALLER);
  return compare(call, a, b, SIZE_MAX);
}
int wcsncmp(const wchar_t* a, const wchar_t* b, size_t most) {
  Call call(WEIR_CALLER);
  return compare(call, a, b, most);
}
wchar_t* wcschr(const wchar_t* text, wchar_t value) {
  Call call(WEIR_CALLER);
  return find(call, text, value, SIZE_MAX, true);
}
wchar_t* wmemchr(const wchar_t* at, wchar_t value, size_t count) {
  Call call(WEIR_CALLER);
  return find(call, at, value, count, false);
}
wchar_t* __wmemcpy_chk(wchar_t* to, const wchar_t* from, size_t count, size_t room) {
  Call call(WEIR_CALLER);
  return copy(call, to, from, count, less(count, room), [=](wchar_t* seen, const wchar_t* f) {
    g_library.__wmemcpy_chk(seen, f, count, room);
  });
}
wchar_t* __wmemmove_chk(wchar_t* to, const wchar_t* from, size_t count, size_t room) {
  Call call(WEIR_CALLER);
  return copy(call, to, from, count, less(count, room), [=](wchar_t* seen, const wchar_t* f) {
    g_library.__wmemmove_chk(seen, f, count, room);
  });
}
wchar_t* __wmemset_chk(wchar_t* at, wchar_t value, size_t count, size_t room) {
  Call call(WEIR_CALLER);
  writes(call, at, less(count, room));
  call.notify();
  g_library.__wmemset_chk(call.seen(at, less(count, room) * sizeof *at), value, count, room);
  return at;
}

// The next word of `text`, or of what `place` leads to; `between` ends one.
wchar_t* wcstok(wchar_t* text, const wchar_t* between, wchar_t** place) {
  Call call(WEIR_CALLER);
  wchar_t** const seen_place = call.seen(place, sizeof *place);
  if (!text) {
    call.reads(place, sizeof *place);
    text = *seen_place;
  }
  reads(call, between, length_read(call, between));
  if (!text) {
    call.notify();
    return nullptr;
  }
  wchar_t* const seen = call.seen(text);
  const wchar_t* const set = call.seen(between);
  const auto is_between = [=](wchar_t value) {
    const wchar_t* at = set;
    while (*at && *at != value) at++;
    return *at != 0;
  };
  size_t begin = 0;
  while (seen[begin] && is_between(seen[begin])) begin++;
  size_t end = begin;
  while (seen[end] && !is_between(seen[end])) end++;
  const bool is_last = !seen[end];
  reads(call, text, end + 1);
  if (!is_last && end != begin) writes(call, text + end, 1);
  call.writes(place, sizeof *place);
  call.notify();
  if (!is_last && end != begin) seen[end] = 0;
  *seen_place = end == begin ? nullptr : is_last ? nullptr : text + end + 1;
  return end == begin ? nullptr : text + begin;
}

#define WEIR_WIDE_NUMBER(name)                                                                \
  return read_number(Call(WEIR_CALLER), text, end, [=](const wchar_t* seen, wchar_t** stop) { \
    return g_library.name(seen, stop, base);                                                  \
  })

long wcstol(const wchar_t* text, wchar_t** end, int base) { WEIR_WIDE_NUMBER(wcstol); }
long long wcstoll(const wchar_t* text, wchar_t** end, int base) { WEIR_WIDE_NUMBER(wcstoll); }
unsigned long wcstoul(const wchar_t* text, wchar_t** end, int base) { WEIR_WIDE_NUMBER(wcstoul); }
unsigned long long wcstoull(const wchar_t* text, wchar_t** end, int base) {
  WEIR_WIDE_NUMBER(wcstoull);
}

}  // namespace weir::interpose::library::checked
