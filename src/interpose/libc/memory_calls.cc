// Functions on ranges of bytes, and sorting (interpose/libc/library.h).

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

// Both ranges are whole: `copy` gets where they are seen.
template <typename T, typename Copy>
auto copy(Call&& call, T* to, const T* from, size_t bytes, Copy real) {
  call.reads(from, bytes);
  call.writes(to, bytes);
  if (!call.notify()) return real(to, from);
  T* const seen = call.seen(to, bytes);
  return back(real(seen, call.seen(from, bytes)), seen, to);
}

template <typename T, typename Fill>
T* fill(Call&& call, T* at, size_t bytes, Fill real) {
  call.writes(at, bytes);
  if (call.notify()) real(call.seen(at, bytes));
  else real(at);
  return at;
}

template <typename T, typename Look>
int compare(Call&& call, const T* a, const T* b, size_t bytes, Look real) {
  call.reads(a, bytes);
  call.reads(b, bytes);
  return call.notify() ? real(call.seen(a, bytes), call.seen(b, bytes)) : real(a, b);
}

char* bytes(void* at) { return static_cast<char*>(at); }
const char* bytes(const void* at) { return static_cast<const char*>(at); }

}  // namespace

#define WEIR_COPY(name, ...)                                                                 \
  return copy(Call(WEIR_CALLER), bytes(to), bytes(from), size, [=](char* t, const char* f) { \
    return bytes(g_library.name(t, f, size __VA_OPT__(, ) __VA_ARGS__));                     \
  })

void* memcpy(void* to, const void* from, size_t size) { WEIR_COPY(memcpy); }
void* memmove(void* to, const void* from, size_t size) { WEIR_COPY(memmove); }
void* mempcpy(void* to, const void* from, size_t size) { WEIR_COPY(mempcpy); }
void* __memcpy_chk(void* to, const void* from, size_t size, size_t room) {
  WEIR_COPY(__memcpy_chk, room);
}
void* __memmove_chk(void* to, const void* from, size_t size, size_t room) {
  WEIR_COPY(__memmove_chk, room);
}
void* __mempcpy_chk(void* to, const void* from, size_t size, size_t room) {
  WEIR_COPY(__mempcpy_chk, room);
}
void bcopy(const void* from, void* to, size_t size) {
  copy(Call(WEIR_CALLER), bytes(to), bytes(from), size,
       [=](char* t, const char* f) { return bytes(g_library.memmove(t, f, size)); });
}

void* memccpy(void* to, const void* from, int last, size_t size) {
  Call call(WEIR_CALLER);
  const void* const found = g_library.memchr(call.seen(from, size), last, size);
  const size_t copied =
      found ? static_cast<size_t>(bytes(found) - bytes(call.seen(from, size))) + 1 : size;
  call.reads(from, copied);
  call.writes(to, copied);
  call.notify();
  g_library.memmove(call.seen(to, copied), call.seen(from, copied), copied);
  return found ? bytes(to) + copied : nullptr;
}

void* memset(void* at, int value, size_t size) {
  return fill(Call(WEIR_CALLER), bytes(at), size,
              [=](char* a) { g_library.memset(a, value, size); });
}
void* __memset_chk(void* at, int value, size_t size, size_t room) {
  return fill(Call(WEIR_CALLER), bytes(at), size,
              [=](char* a) { g_library.__memset_chk(a, value, size, room); });
}
void bzero(void* at, size_t size) {
  fill(Call(WEIR_CALLER), bytes(at), size, [=](char* a) { g_library.memset(a, 0, size); });
}
void explicit_bzero(void* at, size_t size) {
  fill(Call(WEIR_CALLER), bytes(at), size, [=](char* a) { g_library.explicit_bzero(a, size); });
}

void __explicit_bzero_chk(void* at, size_t size, size_t room) {
  fill(Call(WEIR_CALLER), bytes(at), size,
       [=](char* a) { g_library.__explicit_bzero_chk(a, size, room); });
}

#define WEIR_COMPARE(name)                                    \
  return compare(Call(WEIR_CALLER), bytes(a), bytes(b), size, \
                 [=](const char* x, const char* y) { return g_library.name(x, y, size); })

int memcmp(const void* a, const void* b, size_t size) { WEIR_COMPARE(memcmp); }
int __memcmpeq(const void* a, const void* b, size_t size) { WEIR_COMPARE(__memcmpeq); }
int bcmp(const void* a, const void* b, size_t size) { WEIR_COMPARE(bcmp); }

// Where something is found, what lies behind is not read (memrchr: before).
void* memchr(const void* at, int value, size_t size) {
  Call call(WEIR_CALLER);
  const char* const seen = bytes(call.seen(at, size));
  const char* const found = bytes(g_library.memchr(seen, value, size));
  call.reads(at, found ? static_cast<size_t>(found - seen) + 1 : size);
  call.notify();
  return back(found, seen, bytes(at));
}

void* memrchr(const void* at, int value, size_t size) {
  Call call(WEIR_CALLER);
  const char* const seen = bytes(call.seen(at, size));
  const char* const found = bytes(g_library.memrchr(seen, value, size));
  const size_t first = found ? static_cast<size_t>(found - seen) : 0;
  call.reads(bytes(at) + first, size - first);
  call.notify();
  return back(found, seen, bytes(at));
}

void* rawmemchr(const void* at, int value) {
  Call call(WEIR_CALLER);
  const char* const seen = bytes(call.seen(at));
  const char* const found = bytes(g_library.rawmemchr(seen, value));
  call.reads(at, static_cast<size_t>(found - seen) + 1);
  call.notify();
  return back(found, seen, bytes(at));
}

void* memmem(const void* at, size_t size, const void* wanted, size_t length) {
  Call call(WEIR_CALLER);
  const char* const seen = bytes(call.seen(at, size));
  const char* const found = bytes(g_library.memmem(seen, size, call.seen(wanted, length), length));
  call.reads(at, found ? static_cast<size_t>(found - seen) + length : size);
  call.reads(wanted, length);
  call.notify();
  return back(found, seen, bytes(at));
}

wchar_t* wmemcpy(wchar_t* to, const wchar_t* from, size_t size) {
  return copy(Call(WEIR_CALLER), to, from, size * sizeof *to,
              [=](wchar_t* t, const wchar_t* f) { return g_library.wmemcpy(t, f, size); });
}
wchar_t* wmemmove(wchar_t* to, const wchar_t* from, size_t size) {
  return copy(Call(WEIR_CALLER), to, from, size * sizeof *to,
              [=](wchar_t* t, const wchar_t* f) { return g_library.wmemmove(t, f, size); });
}
wchar_t* wmemset(wchar_t* at, wchar_t value, size_t size) {
  return fill(Call(WEIR_CALLER), at, size * sizeof *at,
              [=](wchar_t* a) { g_library.wmemset(a, value, size); });
}
int wmemcmp(const wchar_t* a, const wchar_t* b, size_t size) {
  return compare(Call(WEIR_CALLER), a, b, size * sizeof *a,
                 [=](const wchar_t* x, const wchar_t* y) { return g_library.wmemcmp(x, y, size); });
}

// The order of elements is the program's own business: its function gets them where they are.
void qsort(void* at, size_t count, size_t size, Compare compare) {
  Call call(WEIR_CALLER);
  if (count > 1) {
    call.reads(at, count * size);
    call.writes(at, count * size);
    call.notify();
  }
  g_library.qsort(at, count, size, compare);
}

void qsort_r(void* at, size_t count, size_t size, CompareWith compare, void* with) {
  Call call(WEIR_CALLER);
  if (count > 1) {
    call.reads(at, count * size);
    call.writes(at, count * size);
    call.notify();
  }
  g_library.qsort_r(at, count, size, compare, with);
}

}  // namespace weir::interpose::library::checked
