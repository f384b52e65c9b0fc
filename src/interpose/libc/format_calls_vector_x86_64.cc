// The printf family (interpose/libc/library.h). Arguments come in vector registers, too, so this
// file may use those; all of it is program code.
//
// Read are the format and the strings that its %s name; written is the result. A format that
// numbers its arguments, or has what is not known here, is not followed further: the arguments
// behind are then not looked at.

#include "interpose/libc/library.h"

namespace weir::interpose::library {

namespace {

struct Length {
  int longs = 0;   // l, ll, j, z, t
  int shorts = 0;  // h, hh
  bool is_long_double = false;
};

bool is_digit(char value) { return value >= '0' && value <= '9'; }
bool is_among(char value, const char* set) {
  while (*set && *set != value) set++;
  return *set != 0;
}

// A number, or * for an argument. -1: there is none.
int number(const char*& at, va_list& args) {
  if (*at == '*') {
    at++;
    return va_arg(args, int);
  }
  if (!is_digit(*at)) return -1;
  int value = 0;
  while (is_digit(*at) && value < 100'000'000) value = value * 10 + (*at++ - '0');
  return value;
}

void string_read(Call& call, const char* text, int precision) {
  if (!text) return;
  call.reads(text, call.text(text, precision < 0 ? SIZE_MAX : static_cast<size_t>(precision)).read);
}

void wide_string_read(Call& call, const wchar_t* text, int precision) {
  if (!text || precision >= 0) return;
  call.reads(text, (g_library.wcslen(call.seen(text)) + 1) * sizeof *text);
}

// False: what follows is not known.
bool read_argument(Call& call, const char*& at, va_list& args) {
  while (is_among(*at, "-+ #0'I")) at++;
  number(at, args);
  if (*at == '$') return false;
  int precision = -1;
  if (*at == '.') {
    at++;
    precision = *at == '*' || is_digit(*at) ? number(at, args) : 0;
    if (*at == '$') return false;
  }
  Length length;
  for (; is_among(*at, "hlLqjzt"); at++) {
    if (*at == 'h') length.shorts++;
    else if (*at == 'L' || *at == 'q') length.is_long_double = true, length.longs += 2;
    else length.longs++;
  }
  const char conversion = *at;
  if (!conversion) return false;
  at++;
  if (is_among(conversion, "diouxX")) {
    if (length.longs) va_arg(args, long);
    else va_arg(args, int);
  } else if (is_among(conversion, "aAeEfFgG")) {
    if (length.is_long_double) va_arg(args, long double);
    else va_arg(args, double);
  } else if (conversion == 's' || conversion == 'S') {
    if (conversion == 'S' || length.longs)
      wide_string_read(call, va_arg(args, const wchar_t*), precision);
    else string_read(call, va_arg(args, const char*), precision);
  } else if (conversion == 'c' || conversion == 'C') {
    va_arg(args, int);
  } else if (conversion == 'p') {
    va_arg(args, void*);
  } else if (conversion == 'n') {
    const size_t size = length.longs        ? sizeof(long)
                        : length.shorts > 1 ? 1
                        : length.shorts     ? sizeof(short)
                                            : sizeof(int);
    call.writes(va_arg(args, void*), size);
  } else {
    return conversion == '%' || conversion == 'm';
  }
  return true;
}

void read_all(Call& call, const char* format, va_list given) {
  if (!call.is_on()) return;
  const Text text = call.text(format);
  call.reads(format, text.read);
  va_list args;
  va_copy(args, given);
  for (const char* at = text.seen; *at;) {
    if (*at++ == '%' && !read_argument(call, at, args)) break;
  }
  va_end(args);
  call.notify();
}

template <typename Print>
int print(Call&& call, const char* format, va_list args, Print real) {
  read_all(call, format, args);
  return real();
}

template <typename Print>
int print_to_stream(Call&& call, const char* format, va_list args, Print real) {
  call.uses_stream();
  return print(static_cast<Call&&>(call), format, args, real);
}

template <typename Print>
int print_to(Call&& call, char* to, size_t size, const char* format, va_list args, Print real) {
  read_all(call, format, args);
  const int result = real(call.seen(to, size < SIZE_MAX ? size : 1));
  if (result >= 0 && size)
    call.writes(to, static_cast<size_t>(result) < size ? static_cast<size_t>(result) + 1 : size);
  call.notify();
  return result;
}

template <typename Print>
int print_new(Call&& call, char** to, const char* format, va_list args, Print real) {
  read_all(call, format, args);
  const int result = real();
  call.writes(to, sizeof *to);
  if (result >= 0) call.gives(*call.seen(to), static_cast<size_t>(result) + 1);
  call.notify();
  if (result >= 0) call.writes(*call.seen(to), static_cast<size_t>(result) + 1);
  call.notify();
  return result;
}

}  // namespace

namespace checked {

int vsprintf(char* to, const char* format, va_list args) {
  return print_to(Call(WEIR_CALLER), to, SIZE_MAX, format, args,
                  [&](char* seen) { return g_library.vsprintf(seen, format, args); });
}
int vsnprintf(char* to, size_t size, const char* format, va_list args) {
  return print_to(Call(WEIR_CALLER), to, size, format, args,
                  [&](char* seen) { return g_library.vsnprintf(seen, size, format, args); });
}
int __vsprintf_chk(char* to, int flag, size_t room, const char* format, va_list args) {
  return print_to(Call(WEIR_CALLER), to, SIZE_MAX, format, args, [&](char* seen) {
    return g_library.__vsprintf_chk(seen, flag, room, format, args);
  });
}
int __vsnprintf_chk(char* to, size_t size, int flag, size_t room, const char* format,
                    va_list args) {
  return print_to(Call(WEIR_CALLER), to, size, format, args, [&](char* seen) {
    return g_library.__vsnprintf_chk(seen, size, flag, room, format, args);
  });
}
int vprintf(const char* format, va_list args) {
  return print_to_stream(Call(WEIR_CALLER), format, args,
                         [&] { return g_library.vprintf(format, args); });
}
int vfprintf(FILE* stream, const char* format, va_list args) {
  return print_to_stream(Call(WEIR_CALLER), format, args,
                         [&] { return g_library.vfprintf(stream, format, args); });
}
int vdprintf(int file, const char* format, va_list args) {
  return print(Call(WEIR_CALLER), format, args,
               [&] { return g_library.vdprintf(file, format, args); });
}
int __vprintf_chk(int flag, const char* format, va_list args) {
  return print_to_stream(Call(WEIR_CALLER), format, args,
                         [&] { return g_library.__vprintf_chk(flag, format, args); });
}
int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list args) {
  return print_to_stream(Call(WEIR_CALLER), format, args,
                         [&] { return g_library.__vfprintf_chk(stream, flag, format, args); });
}
int __vdprintf_chk(int file, int flag, const char* format, va_list args) {
  return print(Call(WEIR_CALLER), format, args,
               [&] { return g_library.__vdprintf_chk(file, flag, format, args); });
}
int __vasprintf_chk(char** to, int flag, const char* format, va_list args) {
  return print_new(Call(WEIR_CALLER), to, format, args,
                   [&] { return g_library.__vasprintf_chk(to, flag, format, args); });
}
int vasprintf(char** to, const char* format, va_list args) {
  return print_new(Call(WEIR_CALLER), to, format, args,
                   [&] { return g_library.vasprintf(to, format, args); });
}

}  // namespace checked

// What a variable list of arguments behind `last` is given to.
#define WEIR_WITH_ARGUMENTS(last, checked, real)                                             \
  va_list args;                                                                              \
  va_start(args, last);                                                                      \
  if (__builtin_expect(happens::calls_are<happens::Calls::kNotified>(), 0))                  \
    WEIR_NOTIFY_CALL(format);                                                                \
  level_registers();                                                                         \
  const int result =                                                                         \
      __builtin_expect(happens::calls_are<happens::Calls::kReplaced>(), 0) ? checked : real; \
  va_end(args);                                                                              \
  return result

#define WEIR_EXPORTED(name) __asm__(#name)
extern "C" {
#pragma GCC visibility push(default)
int weir_call_sprintf(char* to, const char* format, ...) WEIR_EXPORTED(sprintf);
int weir_call_snprintf(char* to, size_t size, const char* format, ...) WEIR_EXPORTED(snprintf);
int weir_call_printf(const char* format, ...) WEIR_EXPORTED(printf);
int weir_call_fprintf(FILE* stream, const char* format, ...) WEIR_EXPORTED(fprintf);
int weir_call_dprintf(int file, const char* format, ...) WEIR_EXPORTED(dprintf);
int weir_call_asprintf(char** to, const char* format, ...) WEIR_EXPORTED(asprintf);
int weir_call_sprintf_chk(char* to, int flag, size_t room, const char* format, ...)
    WEIR_EXPORTED(__sprintf_chk);
int weir_call_snprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, ...)
    WEIR_EXPORTED(__snprintf_chk);
int weir_call_printf_chk(int flag, const char* format, ...) WEIR_EXPORTED(__printf_chk);
int weir_call_fprintf_chk(FILE* stream, int flag, const char* format, ...)
    WEIR_EXPORTED(__fprintf_chk);
int weir_call_asprintf_chk(char** to, int flag, const char* format, ...)
    WEIR_EXPORTED(__asprintf_chk);
int weir_call_dprintf_chk(int file, int flag, const char* format, ...) WEIR_EXPORTED(__dprintf_chk);
#pragma GCC visibility pop
}

int weir_call_sprintf(char* to, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to(Call(WEIR_CALLER), to, SIZE_MAX, format, args,
                               [&](char* seen) { return g_library.vsprintf(seen, format, args); }),
                      g_library.vsprintf(to, format, args));
}
int weir_call_snprintf(char* to, size_t size, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(
      format,
      print_to(Call(WEIR_CALLER), to, size, format, args,
               [&](char* seen) { return g_library.vsnprintf(seen, size, format, args); }),
      g_library.vsnprintf(to, size, format, args));
}
int weir_call_printf(const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to_stream(Call(WEIR_CALLER), format, args,
                                      [&] { return g_library.vprintf(format, args); }),
                      g_library.vprintf(format, args));
}
int weir_call_fprintf(FILE* stream, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to_stream(Call(WEIR_CALLER), format, args,
                                      [&] { return g_library.vfprintf(stream, format, args); }),
                      g_library.vfprintf(stream, format, args));
}
int weir_call_dprintf(int file, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print(Call(WEIR_CALLER), format, args,
                            [&] { return g_library.vdprintf(file, format, args); }),
                      g_library.vdprintf(file, format, args));
}
int weir_call_asprintf(char** to, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_new(Call(WEIR_CALLER), to, format, args,
                                [&] { return g_library.vasprintf(to, format, args); }),
                      g_library.vasprintf(to, format, args));
}
int weir_call_asprintf_chk(char** to, int flag, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_new(Call(WEIR_CALLER), to, format, args,
                                [&] { return g_library.__vasprintf_chk(to, flag, format, args); }),
                      g_library.__vasprintf_chk(to, flag, format, args));
}
int weir_call_dprintf_chk(int file, int flag, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print(Call(WEIR_CALLER), format, args,
                            [&] { return g_library.__vdprintf_chk(file, flag, format, args); }),
                      g_library.__vdprintf_chk(file, flag, format, args));
}
int weir_call_sprintf_chk(char* to, int flag, size_t room, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to(Call(WEIR_CALLER), to, SIZE_MAX, format, args,
                               [&](char* seen) {
                                 return g_library.__vsprintf_chk(seen, flag, room, format, args);
                               }),
                      g_library.__vsprintf_chk(to, flag, room, format, args));
}
int weir_call_snprintf_chk(char* to, size_t size, int flag, size_t room, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to(Call(WEIR_CALLER), to, size, format, args,
                               [&](char* seen) {
                                 return g_library.__vsnprintf_chk(seen, size, flag, room, format,
                                                                  args);
                               }),
                      g_library.__vsnprintf_chk(to, size, flag, room, format, args));
}
int weir_call_printf_chk(int flag, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(format,
                      print_to_stream(Call(WEIR_CALLER), format, args,
                                      [&] { return g_library.__vprintf_chk(flag, format, args); }),
                      g_library.__vprintf_chk(flag, format, args));
}
int weir_call_fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  WEIR_WITH_ARGUMENTS(
      format,
      print_to_stream(Call(WEIR_CALLER), format, args,
                      [&] { return g_library.__vfprintf_chk(stream, flag, format, args); }),
      g_library.__vfprintf_chk(stream, flag, format, args));
}

}  // namespace weir::interpose::library
