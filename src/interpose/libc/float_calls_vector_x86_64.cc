// Functions that read floating-point numbers (interpose/libc/library.h): their results are in
// vector registers, so this file may use those.

#include "interpose/libc/library.h"

#include "sys/libc.h"

namespace weir::interpose::library {

namespace {

struct Floats {
  double (*strtod)(const char*, char**);
  float (*strtof)(const char*, char**);
  long double (*strtold)(const char*, char**);
};
constinit Floats g_floats{};

const Floats& floats() {
  if (__builtin_expect(!g_floats.strtold, 0)) {
    g_floats.strtod = reinterpret_cast<decltype(g_floats.strtod)>(libc::find("strtod"));
    g_floats.strtof = reinterpret_cast<decltype(g_floats.strtof)>(libc::find("strtof"));
    g_floats.strtold = reinterpret_cast<decltype(g_floats.strtold)>(libc::find("strtold"));
  }
  return g_floats;
}
__attribute__((constructor)) void find_early() { floats(); }

[[gnu::noinline]] double checked_strtod(const char* text, char** end) {
  return read_number(Call(WEIR_CALLER), text, end, floats().strtod);
}
[[gnu::noinline]] float checked_strtof(const char* text, char** end) {
  return read_number(Call(WEIR_CALLER), text, end, floats().strtof);
}
[[gnu::noinline]] long double checked_strtold(const char* text, char** end) {
  return read_number(Call(WEIR_CALLER), text, end, floats().strtold);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
double weir_call_strtod(const char* text, char** end) __asm__("strtod");
float weir_call_strtof(const char* text, char** end) __asm__("strtof");
long double weir_call_strtold(const char* text, char** end) __asm__("strtold");
double weir_call_atof(const char* text) __asm__("atof");
#pragma GCC visibility pop
}

#define WEIR_NOTIFIED_OR_REPLACED(checked, real)                            \
  if (__builtin_expect(happens::calls_are<happens::Calls::kNotified>(), 0)) \
    WEIR_NOTIFY_CALL(text);                                                 \
  level_registers();                                                        \
  return __builtin_expect(happens::calls_are<happens::Calls::kReplaced>(), 0) ? checked : real

double weir_call_strtod(const char* text, char** end) {
  WEIR_NOTIFIED_OR_REPLACED(checked_strtod(text, end), floats().strtod(text, end));
}
float weir_call_strtof(const char* text, char** end) {
  WEIR_NOTIFIED_OR_REPLACED(checked_strtof(text, end), floats().strtof(text, end));
}
long double weir_call_strtold(const char* text, char** end) {
  WEIR_NOTIFIED_OR_REPLACED(checked_strtold(text, end), floats().strtold(text, end));
}
double weir_call_atof(const char* text) {
  WEIR_NOTIFIED_OR_REPLACED(checked_strtod(text, nullptr), floats().strtod(text, nullptr));
}

}  // namespace weir::interpose::library
