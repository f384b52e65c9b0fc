#include "sys/report.h"

#include <signal.h>
#include <stdarg.h>

#include "sys/signal.h"
#include "sys/syscall_x86_64.h"

namespace weir {

namespace {

int g_descriptor = 2;
uint32_t* g_death_note = nullptr;
uint32_t* g_broken = nullptr;
constexpr size_t kLine = 1024;

size_t append_number(char* out, uint64_t value, unsigned base) {
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value);
  for (size_t i = 0; i < count; i++) out[i] = digits[count - 1 - i];
  return count;
}

}  // namespace

void set_report_descriptor(int descriptor) { g_descriptor = descriptor; }
int report_descriptor() { return g_descriptor; }
void set_death_note(uint32_t* note) { g_death_note = note; }

void report(const char* format, ...) {
  char line[kLine + 32] = "weir: ";
  size_t at = 6;
  va_list arguments;
  va_start(arguments, format);
  for (const char* f = format; *f && at < kLine; f++) {
    if (*f != '%') {
      line[at++] = *f;
      continue;
    }
    f++;
    if (*f == 's') {
      const char* text = va_arg(arguments, const char*);
      for (text = text ? text : "(null)"; *text && at < kLine; text++) line[at++] = *text;
    } else if (*f == 'd') {
      int64_t value = va_arg(arguments, int64_t);
      if (value < 0) line[at++] = '-';
      at += append_number(
          line + at, value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value),
          10);
    } else if (*f == 'u') {
      at += append_number(line + at, va_arg(arguments, uint64_t), 10);
    } else if (*f == 'x') {
      at += append_number(line + at, va_arg(arguments, uint64_t), 16);
    } else {
      line[at++] = *f;
    }
  }
  va_end(arguments);
  line[at++] = '\n';
  write_unsignalled(g_descriptor, line, at);
}

long write_unsignalled(int descriptor, const char* bytes, size_t size) {
  constexpr uint64_t kSent = sys::signal_bit(SIGPIPE) | sys::signal_bit(SIGXFSZ);
  uint64_t before = 0, pending = 0;
  const auto change = [](int how, const uint64_t* to, uint64_t* was) {
    sys::raw(SYS_rt_sigprocmask, how, reinterpret_cast<long>(to), reinterpret_cast<long>(was),
             sizeof *to);
  };
  change(SIG_BLOCK, &kSent, &before);
  sys::raw(SYS_rt_sigpending, reinterpret_cast<long>(&pending), sizeof pending);
  const long result =
      sys::raw(SYS_write, descriptor, reinterpret_cast<long>(bytes), static_cast<long>(size));
  uint64_t came = 0;  // also where a pipe has taken a part before
  sys::raw(SYS_rt_sigpending, reinterpret_cast<long>(&came), sizeof came);
  came &= kSent & ~pending;
  if (came && result != static_cast<long>(size)) {
    const int64_t at_once[2] = {0, 0};
    sys::raw(SYS_rt_sigtimedwait, reinterpret_cast<long>(&came), 0, reinterpret_cast<long>(at_once),
             sizeof came);
  }
  change(SIG_SETMASK, &before, nullptr);
  return result;
}

void die(int status) {
  if (g_death_note) __atomic_store_n(g_death_note, 1u, __ATOMIC_RELEASE);
  leave(status);
}

void leave(int status) {
  for (;;) sys::raw(SYS_exit_group, status);
}

void set_broken_word(uint32_t* word) { g_broken = word; }

void leave_if_broken() {
  if (g_broken && __atomic_load_n(g_broken, __ATOMIC_ACQUIRE)) leave(125);
}

void check_failed(const char* condition, const char* file, int line) {
  report("internal check failed: %s (%s:%d), thread %d", condition, file, int64_t{line},
         int64_t{sys::raw(SYS_gettid)});
  if (g_broken) __atomic_store_n(g_broken, 1u, __ATOMIC_RELEASE);
  die(125);
}

}  // namespace weir
