// Functions that read floating-point numbers (interpose/library.h): their results are in vector registers, so this file may use those.

#include <dlfcn.h>

#include "interpose/library.h"

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
    g_floats.strtod = reinterpret_cast<decltype(g_floats.strtod)>(dlsym(RTLD_NEXT, "strtod"));
    g_floats.strtof = reinterpret_cast<decltype(g_floats.strtof)>(dlsym(RTLD_NEXT, "strtof"));
    g_floats.strtold = reinterpret_cast<decltype(g_floats.strtold)>(dlsym(RTLD_NEXT, "strtold"));
  }
  return g_floats;
}
__attribute__((constructor)) void find_early() { floats(); }

template <typename Number>
Number convert(Call&& call, const char* text, char** end, Number (*real)(const char*, char**)) {
  const Text t = call.text(text);
  char* stop;
  const Number result = real(t.seen, &stop);
  const auto used = static_cast<size_t>(stop - t.seen);
  call.reads(text, used < t.read ? used + 1 : used);
  if (end) {
    call.writes(end, sizeof *end);
    *call.seen(end, sizeof *end) = const_cast<char*>(text) + used;
  }
  call.tell();
  return result;
}

[[gnu::noinline]] double checked_strtod(const char* text, char** end) { return convert(Call(WEIR_CALLER), text, end, floats().strtod); }
[[gnu::noinline]] float checked_strtof(const char* text, char** end) { return convert(Call(WEIR_CALLER), text, end, floats().strtof); }
[[gnu::noinline]] long double checked_strtold(const char* text, char** end) { return convert(Call(WEIR_CALLER), text, end, floats().strtold); }

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
double weir_call_strtod(const char* text, char** end) __asm__("strtod");
float weir_call_strtof(const char* text, char** end) __asm__("strtof");
long double weir_call_strtold(const char* text, char** end) __asm__("strtold");
double weir_call_atof(const char* text) __asm__("atof");
#pragma GCC visibility pop
}

double weir_call_strtod(const char* text, char** end) { return __builtin_expect(happens::g_checked, 0) ? checked_strtod(text, end) : floats().strtod(text, end); }
float weir_call_strtof(const char* text, char** end) { return __builtin_expect(happens::g_checked, 0) ? checked_strtof(text, end) : floats().strtof(text, end); }
long double weir_call_strtold(const char* text, char** end) {
  return __builtin_expect(happens::g_checked, 0) ? checked_strtold(text, end) : floats().strtold(text, end);
}
double weir_call_atof(const char* text) {
  return __builtin_expect(happens::g_checked, 0) ? checked_strtod(text, nullptr) : floats().strtod(text, nullptr);
}

}  // namespace weir::interpose::library
