// Functions of the C library that keep something for all threads between calls (localtime,
// getpwnam, lrand48). In a checked program two calls that nothing orders are reported
// (check/hazards/thread_unsafe.cc). In others each is the library's own.
//
// The exported functions have names of their own here, as in library.cc.
#include "interpose/libc/sharing_calls.h"

#include "check/core/hazards.h"
#include "interpose/event_call.h"
#include "sys/libc.h"

namespace weir::interpose::library {

namespace {

[[gnu::cold, gnu::noinline]] void note_while_checked(findings::SharingNumber call,
                                                     const Caller& caller) {
  const SignalsWait signals;
  if (signals.is_on()) hazards::before_sharing(call, caller);
}

}  // namespace

// In a replay the stack must be left as the recorded run left it: nothing is pushed here.
void note_sharing(findings::SharingNumber call, const Caller& caller) {
  if (happens::g_checked && !happens::g_replayed) note_while_checked(call, caller);
  else if (happens::notifies()) happens::notify<happens::NoticeKind::kShares>(call, caller.stack);
  level_all_registers();
}

// X(result, name, parameters, arguments)
// drand48's result is in a vector register, which nothing here touches. hsearch's entry is in two
// general ones.
#define WEIR_SHARING_FUNCTIONS(X)                                                                \
  X(struct tm*, localtime, (const time_t* time), (time))                                         \
  X(struct tm*, gmtime, (const time_t* time), (time))                                            \
  X(char*, ctime, (const time_t* time), (time))                                                  \
  X(char*, asctime, (const struct tm* time), (time))                                             \
  X(void, drand48, (), ())                                                                       \
  X(long, lrand48, (), ())                                                                       \
  X(long, mrand48, (), ())                                                                       \
  X(void, srand48, (long seed), (seed))                                                          \
  X(void*, getpwnam, (const char* name), (name))                                                 \
  X(void*, getpwuid, (unsigned user), (user))                                                    \
  X(void*, getpwent, (), ())                                                                     \
  X(void*, getgrnam, (const char* name), (name))                                                 \
  X(void*, getgrgid, (unsigned group), (group))                                                  \
  X(void*, getgrent, (), ())                                                                     \
  X(void*, gethostbyname, (const char* name), (name))                                            \
  X(void*, gethostbyaddr, (const void* address, unsigned size, int type), (address, size, type)) \
  X(void*, getservbyname, (const char* name, const char* protocol), (name, protocol))            \
  X(void*, getservbyport, (int port, const char* protocol), (port, protocol))                    \
  X(void*, getprotobyname, (const char* name), (name))                                           \
  X(void*, getprotobynumber, (int number), (number))                                             \
  X(char*, ttyname, (int descriptor), (descriptor))                                              \
  X(void*, hsearch, (void* key, void* data, int action), (key, data, action))                    \
  X(void*, localeconv, (), ())                                                                   \
  X(char*, nl_langinfo, (int item), (item))                                                      \
  X(char*, getenv, (const char* name), (name))                                                   \
  X(char*, secure_getenv, (const char* name), (name))                                            \
  X(int, setenv, (const char* name, const char* value, int replaces), (name, value, replaces))   \
  X(int, putenv, (char* text), (text))                                                           \
  X(int, unsetenv, (const char* name), (name))                                                   \
  X(int, clearenv, (), ())

// Without a name it only asks.
static char* (*g_setlocale)(int category, const char* name);
extern "C" [[gnu::visibility("default")]] char* weir_shares_setlocale(
    int category, const char* name) __asm__("setlocale");
char* weir_shares_setlocale(int category, const char* name) {
  if (name) note_sharing(findings::kCall_setlocale, WEIR_CALLER);
  return libc::found(g_setlocale, "setlocale")(category, name);
}

// Looked up before the program has threads, as in interpose/library_work.cc.
#define WEIR_SHARING_KNOWN(result, name, parameters, arguments) result(*name) parameters;
static struct { WEIR_SHARING_FUNCTIONS(WEIR_SHARING_KNOWN) } g_known;
#define WEIR_SHARING_FIND(result, name, parameters, arguments) libc::found(g_known.name, #name);
__attribute__((constructor)) static void find_early(){WEIR_SHARING_FUNCTIONS(WEIR_SHARING_FIND)}

#define WEIR_SHARING_DOOR(result, name, parameters, arguments)                                   \
  extern "C" [[gnu::visibility("default")]] result weir_shares_##name parameters __asm__(#name); \
  result weir_shares_##name parameters {                                                         \
    note_sharing(findings::kCall_##name, WEIR_CALLER);                                           \
    return libc::found(g_known.name, #name) arguments;                                           \
  }
WEIR_SHARING_FUNCTIONS(WEIR_SHARING_DOOR)

}  // namespace weir::interpose::library
