// Functions that copy strings (interpose/libc/library.h).

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

size_t less(size_t a, size_t b) { return a < b ? a : b; }

// `from` becomes `written` bytes at `to`.
template <typename Copy>
char* copy(Call&& call, char* to, const char* from, const Text& text, size_t written, Copy real) {
  call.reads(from, text.read);
  call.writes(to, written);
  call.notify();
  char* const seen = call.seen(to, written);
  return back(real(seen, text.seen), seen, to);
}

// Behind what is at `to`.
template <typename Append>
char* append(Call&& call, char* to, const char* from, size_t most, Append real) {
  const Text before = call.text(to), text = call.text(from, most);
  call.reads(to, before.read);
  call.reads(from, text.read);
  call.writes(to + before.length, text.length + 1);
  call.notify();
  char* const seen = call.seen(to, before.length + text.length + 1);
  real(seen, text.seen);
  return to;
}

}  // namespace

size_t strlen(const char* text) {
  Call call(WEIR_CALLER);
  const Text t = call.text(text);
  call.reads(text, t.read);
  call.notify();
  return t.length;
}

size_t strnlen(const char* text, size_t most) {
  Call call(WEIR_CALLER);
  const Text t = call.text(text, most);
  call.reads(text, t.read);
  call.notify();
  return t.length;
}

#define WEIR_COPY(name, text, written, ...)                                                     \
  Call call(WEIR_CALLER);                                                                       \
  const Text t = text;                                                                          \
  return copy(static_cast<Call&&>(call), to, from, t, written, [=](char* seen, const char* f) { \
    return g_library.name(seen, f __VA_OPT__(, ) __VA_ARGS__);                                  \
  })

char* strcpy(char* to, const char* from) { WEIR_COPY(strcpy, call.text(from), t.read); }
char* stpcpy(char* to, const char* from) { WEIR_COPY(stpcpy, call.text(from), t.read); }
char* strncpy(char* to, const char* from, size_t size) {
  WEIR_COPY(strncpy, call.text(from, size), size, size);
}
char* stpncpy(char* to, const char* from, size_t size) {
  WEIR_COPY(stpncpy, call.text(from, size), size, size);
}
char* __strcpy_chk(char* to, const char* from, size_t room) {
  WEIR_COPY(__strcpy_chk, call.text(from), less(t.read, room), room);
}
char* __stpcpy_chk(char* to, const char* from, size_t room) {
  WEIR_COPY(__stpcpy_chk, call.text(from), less(t.read, room), room);
}
char* __strncpy_chk(char* to, const char* from, size_t size, size_t room) {
  WEIR_COPY(__strncpy_chk, call.text(from, size), less(size, room), size, room);
}
char* __stpncpy_chk(char* to, const char* from, size_t size, size_t room) {
  WEIR_COPY(__stpncpy_chk, call.text(from, size), less(size, room), size, room);
}

#define WEIR_APPEND(name, most, ...)                                                \
  return append(Call(WEIR_CALLER), to, from, most, [=](char* seen, const char* f) { \
    g_library.name(seen, f __VA_OPT__(, ) __VA_ARGS__);                             \
  })

char* strcat(char* to, const char* from) { WEIR_APPEND(strcat, SIZE_MAX); }
char* strncat(char* to, const char* from, size_t most) { WEIR_APPEND(strncat, most, most); }
char* __strcat_chk(char* to, const char* from, size_t room) {
  WEIR_APPEND(__strcat_chk, SIZE_MAX, room);
}
char* __strncat_chk(char* to, const char* from, size_t most, size_t room) {
  WEIR_APPEND(__strncat_chk, most, most, room);
}

namespace {

template <typename Copy>
char* copy_to_heap(Call&& call, const char* from, const Text& text, Copy real) {
  call.reads(from, text.read);
  call.notify();
  char* const to = real(text.seen);
  call.gives(to, text.length + 1);
  call.notify();
  if (to) call.writes(to, text.length + 1);
  call.notify();
  return to;
}

}  // namespace

char* strdup(const char* text) {
  Call call(WEIR_CALLER);
  return copy_to_heap(static_cast<Call&&>(call), text, call.text(text),
                      [](const char* seen) { return g_library.strdup(seen); });
}
char* __strdup(const char* text) {
  Call call(WEIR_CALLER);
  return copy_to_heap(static_cast<Call&&>(call), text, call.text(text),
                      [](const char* seen) { return g_library.strdup(seen); });
}
char* strndup(const char* text, size_t most) {
  Call call(WEIR_CALLER);
  return copy_to_heap(static_cast<Call&&>(call), text, call.text(text, most),
                      [=](const char* seen) { return g_library.strndup(seen, most); });
}

size_t wcslen(const wchar_t* text) {
  Call call(WEIR_CALLER);
  const size_t length = g_library.wcslen(call.seen(text));
  call.reads(text, (length + 1) * sizeof *text);
  call.notify();
  return length;
}

wchar_t* wcscpy(wchar_t* to, const wchar_t* from) {
  Call call(WEIR_CALLER);
  const wchar_t* const seen = call.seen(from);
  const size_t size = (g_library.wcslen(seen) + 1) * sizeof *to;
  call.reads(from, size);
  call.writes(to, size);
  call.notify();
  g_library.wcscpy(call.seen(to, size), seen);
  return to;
}

}  // namespace weir::interpose::library::checked
