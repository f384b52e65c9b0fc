// Strings of wide characters (interpose/libc/library.h).

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

// Characters that are read of a string: with the one that ends it, where that is among the first
// `most`.
size_t length_read(const Call& call, const wchar_t* text, size_t most = SIZE_MAX) {
  const wchar_t* const seen = call.seen(text);
  size_t length = 0;
  while (length < most && seen[length]) length++;
  return length < most ? length + 1 : length;
}

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

}  // namespace weir::interpose::library::checked
