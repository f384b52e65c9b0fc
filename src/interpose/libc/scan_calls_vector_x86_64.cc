// The scanf family (interpose/libc/library.h). It is declared with variable arguments, which begin
// by saving vector registers; all of it is program code.
//
// Read are the text and the format; written is what the conversions name that were made, which the
// answer counts. A format that numbers its arguments, or has what is not known here, is not
// followed further.

#include "interpose/libc/library.h"

namespace weir::interpose::library {

namespace {

bool is_digit(char value) { return value >= '0' && value <= '9'; }
bool is_among(char value, const char* set) {
  while (*set && *set != value) set++;
  return *set != 0;
}

struct Conversion {
  bool is_suppressed = false, allocates = false;
  size_t width = 0;  // 0: none
  int longs = 0, shorts = 0;
  char what = 0;
};

// `at` is behind the %; afterwards behind the conversion. False: it is not known.
bool read_conversion(const char*& at, Conversion& found) {
  if (*at == '*') found.is_suppressed = true, at++;
  while (is_digit(*at) && found.width < 100'000'000)
    found.width = found.width * 10 + static_cast<size_t>(*at++ - '0');
  if (*at == '$') return false;
  for (; is_among(*at, "hlLqjztm'"); at++) {
    if (*at == 'h') found.shorts++;
    else if (*at == 'm') found.allocates = true;
    else if (*at == 'L' || *at == 'q') found.longs += 2;
    else if (*at != '\'') found.longs++;
  }
  found.what = *at;
  if (!found.what) return false;
  at++;
  if (found.what != '[') return true;
  if (*at == '^') at++;
  if (*at == ']') at++;
  while (*at && *at != ']') at++;
  return *at && *at++;
}

size_t size_of_number(const Conversion& conversion) {
  if (is_among(conversion.what, "aAeEfFgG"))
    return conversion.longs > 1 ? sizeof(long double)
           : conversion.longs   ? sizeof(double)
                                : sizeof(float);
  if (conversion.what == 'p' || conversion.longs) return sizeof(long);
  return conversion.shorts > 1 ? 1 : conversion.shorts ? sizeof(short) : sizeof(int);
}

void text_written(Call& call, void* target, const Conversion& conversion) {
  const bool is_wide = conversion.longs || conversion.what == 'S' || conversion.what == 'C';
  void* text = target;
  if (conversion.allocates) {
    call.writes(target, sizeof text);
    text = *call.seen(static_cast<void**>(target));
    if (!text) return;
  }
  size_t size;
  if (conversion.what == 'c' || conversion.what == 'C')
    size = (conversion.width ? conversion.width : 1) * (is_wide ? sizeof(wchar_t) : 1);
  else if (is_wide)
    size = (g_library.wcslen(call.seen(static_cast<wchar_t*>(text))) + 1) * sizeof(wchar_t);
  else size = call.text(static_cast<char*>(text)).read;
  if (conversion.allocates) call.gives(text, size);
  else call.writes(text, size);
}

void written(Call& call, const Text& format, va_list args, int made) {
  for (const char* at = format.seen; *at;) {
    if (*at++ != '%') continue;
    if (*at == '%') {
      at++;
      continue;
    }
    Conversion conversion;
    if (!read_conversion(at, conversion)) return;
    if (conversion.is_suppressed) continue;
    const bool is_text = is_among(conversion.what, "sScC["),
               is_number = is_among(conversion.what, "diouxXnpaAeEfFgG");
    if (!is_text && !is_number) return;
    if (conversion.what != 'n' && made-- <= 0) return;
    void* const target = va_arg(args, void*);
    if (is_text) text_written(call, target, conversion);
    else call.writes(target, size_of_number(conversion));
  }
}

template <typename Scan>
int scan(Call&& call, const char* text, const char* format, va_list given, Scan real) {
  if (!call.is_on()) return real();
  const Text f = call.text(format);
  call.reads(format, f.read);
  if (text) call.reads(text, call.text(text).read);
  call.notify();
  va_list args;
  va_copy(args, given);
  const int result = real();
  written(call, f, args, result);
  va_end(args);
  call.notify();
  return result;
}

}  // namespace

namespace checked {

int vsscanf(const char* text, const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), text, format, args,
              [&] { return g_library.vsscanf(text, format, args); });
}
int vfscanf(FILE* stream, const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), nullptr, format, args,
              [&] { return g_library.vfscanf(stream, format, args); });
}
int vscanf(const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), nullptr, format, args,
              [&] { return g_library.vscanf(format, args); });
}
int __isoc99_vsscanf(const char* text, const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), text, format, args,
              [&] { return g_library.__isoc99_vsscanf(text, format, args); });
}
int __isoc99_vfscanf(FILE* stream, const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), nullptr, format, args,
              [&] { return g_library.__isoc99_vfscanf(stream, format, args); });
}
int __isoc99_vscanf(const char* format, va_list args) {
  return scan(Call(WEIR_CALLER), nullptr, format, args,
              [&] { return g_library.__isoc99_vscanf(format, args); });
}

}  // namespace checked

// Read by wide loads: the text, or a format without one.
[[gnu::always_inline]] static inline const char* scanned(const char* text, const char* format) {
  return text ? text : format;
}

// What a variable list of arguments behind `format` is given to.
#define WEIR_SCAN(text, real)                                                                \
  va_list args;                                                                              \
  va_start(args, format);                                                                    \
  if (__builtin_expect(happens::calls_are<happens::Calls::kNotified>(), 0))                  \
    WEIR_NOTIFY_CALL(scanned(text, format));                                                 \
  level_registers();                                                                         \
  const int result = __builtin_expect(happens::calls_are<happens::Calls::kReplaced>(), 0)    \
                         ? scan(Call(WEIR_CALLER), text, format, args, [&] { return real; }) \
                         : real;                                                             \
  va_end(args);                                                                              \
  return result

#define WEIR_EXPORTED(name) __asm__(#name)
extern "C" {
#pragma GCC visibility push(default)
int weir_call_sscanf(const char* text, const char* format, ...) WEIR_EXPORTED(sscanf);
int weir_call_fscanf(FILE* stream, const char* format, ...) WEIR_EXPORTED(fscanf);
int weir_call_scanf(const char* format, ...) WEIR_EXPORTED(scanf);
int weir_call_sscanf_c99(const char* text, const char* format, ...) WEIR_EXPORTED(__isoc99_sscanf);
int weir_call_fscanf_c99(FILE* stream, const char* format, ...) WEIR_EXPORTED(__isoc99_fscanf);
int weir_call_scanf_c99(const char* format, ...) WEIR_EXPORTED(__isoc99_scanf);
#pragma GCC visibility pop
}

int weir_call_sscanf(const char* text, const char* format, ...) {
  WEIR_SCAN(text, g_library.vsscanf(text, format, args));
}
int weir_call_fscanf(FILE* stream, const char* format, ...) {
  WEIR_SCAN(nullptr, g_library.vfscanf(stream, format, args));
}
int weir_call_scanf(const char* format, ...) { WEIR_SCAN(nullptr, g_library.vscanf(format, args)); }
int weir_call_sscanf_c99(const char* text, const char* format, ...) {
  WEIR_SCAN(text, g_library.__isoc99_vsscanf(text, format, args));
}
int weir_call_fscanf_c99(FILE* stream, const char* format, ...) {
  WEIR_SCAN(nullptr, g_library.__isoc99_vfscanf(stream, format, args));
}
int weir_call_scanf_c99(const char* format, ...) {
  WEIR_SCAN(nullptr, g_library.__isoc99_vscanf(format, args));
}

}  // namespace weir::interpose::library
