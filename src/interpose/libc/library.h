// Functions of the C library that access their caller's memory: strings, numbers, streams, sorting.
// In a checked program their accesses count as their caller's (docs/guide/check.md).
//
// In a program that is not checked each is a jump to the C library's own function. In a checked
// one, a function tells which ranges it reads and writes (Call), unless the task may touch them
// untrapped anyway. It does its work where the runtime sees the memory, because on a trapped page
// each access of the C library would fault.
#pragma once

#include <arpa/inet.h>
#include <iconv.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include "check/core/happens_before.h"
#include "interpose/caller.h"

namespace weir::interpose::library {

using Compare = int (*)(const void*, const void*);
using CompareWith = int (*)(const void*, const void*, void*);

// X(result, name, parameters, arguments)
#define WEIR_MEMORY_CALLS(X)                                                                       \
  X(void*, memcpy, (void* to, const void* from, size_t size), (to, from, size))                    \
  X(void*, memmove, (void* to, const void* from, size_t size), (to, from, size))                   \
  X(void*, mempcpy, (void* to, const void* from, size_t size), (to, from, size))                   \
  X(void*, memccpy, (void* to, const void* from, int last, size_t size), (to, from, last, size))   \
  X(void, bcopy, (const void* from, void* to, size_t size), (from, to, size))                      \
  X(void*, memset, (void* at, int value, size_t size), (at, value, size))                          \
  X(void, bzero, (void* at, size_t size), (at, size))                                              \
  X(void, explicit_bzero, (void* at, size_t size), (at, size))                                     \
  X(int, memcmp, (const void* a, const void* b, size_t size), (a, b, size))                        \
  X(int, __memcmpeq, (const void* a, const void* b, size_t size), (a, b, size))                    \
  X(int, bcmp, (const void* a, const void* b, size_t size), (a, b, size))                          \
  X(void*, memchr, (const void* at, int value, size_t size), (at, value, size))                    \
  X(void*, memrchr, (const void* at, int value, size_t size), (at, value, size))                   \
  X(void*, rawmemchr, (const void* at, int value), (at, value))                                    \
  X(void*, memmem, (const void* at, size_t size, const void* wanted, size_t length),               \
    (at, size, wanted, length))                                                                    \
  X(wchar_t*, wmemcpy, (wchar_t * to, const wchar_t* from, size_t size), (to, from, size))         \
  X(wchar_t*, wmemmove, (wchar_t * to, const wchar_t* from, size_t size), (to, from, size))        \
  X(wchar_t*, wmemset, (wchar_t * at, wchar_t value, size_t size), (at, value, size))              \
  X(int, wmemcmp, (const wchar_t* a, const wchar_t* b, size_t size), (a, b, size))                 \
  X(void*, __memcpy_chk, (void* to, const void* from, size_t size, size_t room),                   \
    (to, from, size, room))                                                                        \
  X(void*, __memmove_chk, (void* to, const void* from, size_t size, size_t room),                  \
    (to, from, size, room))                                                                        \
  X(void*, __mempcpy_chk, (void* to, const void* from, size_t size, size_t room),                  \
    (to, from, size, room))                                                                        \
  X(void*, __memset_chk, (void* at, int value, size_t size, size_t room), (at, value, size, room)) \
  X(void, __explicit_bzero_chk, (void* at, size_t size, size_t room), (at, size, room))            \
  X(void, qsort, (void* at, size_t count, size_t size, Compare compare),                           \
    (at, count, size, compare))                                                                    \
  X(void, qsort_r, (void* at, size_t count, size_t size, CompareWith compare, void* with),         \
    (at, count, size, compare, with))

#define WEIR_STRING_CALLS(X)                                                          \
  X(size_t, strlen, (const char* text), (text))                                       \
  X(size_t, strnlen, (const char* text, size_t most), (text, most))                   \
  X(char*, strcpy, (char* to, const char* from), (to, from))                          \
  X(char*, stpcpy, (char* to, const char* from), (to, from))                          \
  X(char*, strncpy, (char* to, const char* from, size_t size), (to, from, size))      \
  X(char*, stpncpy, (char* to, const char* from, size_t size), (to, from, size))      \
  X(char*, strcat, (char* to, const char* from), (to, from))                          \
  X(char*, strncat, (char* to, const char* from, size_t most), (to, from, most))      \
  X(char*, __strcpy_chk, (char* to, const char* from, size_t room), (to, from, room)) \
  X(char*, __stpcpy_chk, (char* to, const char* from, size_t room), (to, from, room)) \
  X(char*, __strncpy_chk, (char* to, const char* from, size_t size, size_t room),     \
    (to, from, size, room))                                                           \
  X(char*, __stpncpy_chk, (char* to, const char* from, size_t size, size_t room),     \
    (to, from, size, room))                                                           \
  X(char*, __strcat_chk, (char* to, const char* from, size_t room), (to, from, room)) \
  X(char*, __strncat_chk, (char* to, const char* from, size_t most, size_t room),     \
    (to, from, most, room))                                                           \
  X(char*, strdup, (const char* text), (text))                                        \
  X(char*, __strdup, (const char* text), (text))                                      \
  X(char*, strndup, (const char* text, size_t most), (text, most))                    \
  X(size_t, wcslen, (const wchar_t* text), (text))                                    \
  X(wchar_t*, wcscpy, (wchar_t * to, const wchar_t* from), (to, from))

#define WEIR_WIDE_CALLS(X)                                                                      \
  X(wchar_t*, wcsncpy, (wchar_t * to, const wchar_t* from, size_t count), (to, from, count))    \
  X(wchar_t*, wcscat, (wchar_t * to, const wchar_t* from), (to, from))                          \
  X(wchar_t*, wcsdup, (const wchar_t* text), (text))                                            \
  X(int, wcscmp, (const wchar_t* a, const wchar_t* b), (a, b))                                  \
  X(int, wcsncmp, (const wchar_t* a, const wchar_t* b, size_t most), (a, b, most))              \
  X(wchar_t*, wcschr, (const wchar_t* text, wchar_t value), (text, value))                      \
  X(wchar_t*, wmemchr, (const wchar_t* at, wchar_t value, size_t count), (at, value, count))    \
  X(wchar_t*, wcsncat, (wchar_t * to, const wchar_t* from, size_t most), (to, from, most))      \
  X(wchar_t*, wcpcpy, (wchar_t * to, const wchar_t* from), (to, from))                          \
  X(wchar_t*, wcpncpy, (wchar_t * to, const wchar_t* from, size_t count), (to, from, count))    \
  X(wchar_t*, wmempcpy, (wchar_t * to, const wchar_t* from, size_t count), (to, from, count))   \
  X(size_t, wcsnlen, (const wchar_t* text, size_t most), (text, most))                          \
  X(wchar_t*, wcsrchr, (const wchar_t* text, wchar_t value), (text, value))                     \
  X(wchar_t*, wcsstr, (const wchar_t* text, const wchar_t* wanted), (text, wanted))             \
  X(wchar_t*, wcstok, (wchar_t * text, const wchar_t* between, wchar_t** place),                \
    (text, between, place))                                                                     \
  X(long, wcstol, (const wchar_t* text, wchar_t** end, int base), (text, end, base))            \
  X(long long, wcstoll, (const wchar_t* text, wchar_t** end, int base), (text, end, base))      \
  X(unsigned long, wcstoul, (const wchar_t* text, wchar_t** end, int base), (text, end, base))  \
  X(unsigned long long, wcstoull, (const wchar_t* text, wchar_t** end, int base),               \
    (text, end, base))                                                                          \
  X(wchar_t*, __wcscpy_chk, (wchar_t * to, const wchar_t* from, size_t room), (to, from, room)) \
  X(wchar_t*, __wcsncpy_chk, (wchar_t * to, const wchar_t* from, size_t count, size_t room),    \
    (to, from, count, room))                                                                    \
  X(wchar_t*, __wcscat_chk, (wchar_t * to, const wchar_t* from, size_t room), (to, from, room)) \
  X(wchar_t*, __wmemcpy_chk, (wchar_t * to, const wchar_t* from, size_t count, size_t room),    \
    (to, from, count, room))                                                                    \
  X(wchar_t*, __wmemmove_chk, (wchar_t * to, const wchar_t* from, size_t count, size_t room),   \
    (to, from, count, room))                                                                    \
  X(wchar_t*, __wmemset_chk, (wchar_t * at, wchar_t value, size_t count, size_t room),          \
    (at, value, count, room))

#define WEIR_TIME_CALLS(X)                                                                \
  X(size_t, strftime, (char* to, size_t size, const char* format, const struct tm* time), \
    (to, size, format, time))                                                             \
  X(char*, asctime_r, (const struct tm* time, char* to), (time, to))                      \
  X(char*, ctime_r, (const time_t* time, char* to), (time, to))                           \
  X(struct tm*, localtime_r, (const time_t* time, struct tm* to), (time, to))             \
  X(struct tm*, gmtime_r, (const time_t* time, struct tm* to), (time, to))                \
  X(time_t, mktime, (struct tm * time), (time))                                           \
  X(time_t, timegm, (struct tm * time), (time))

#define WEIR_SEARCH_CALLS(X)                                                                    \
  X(int, strcmp, (const char* a, const char* b), (a, b))                                        \
  X(int, strncmp, (const char* a, const char* b, size_t most), (a, b, most))                    \
  X(int, strcasecmp, (const char* a, const char* b), (a, b))                                    \
  X(int, strncasecmp, (const char* a, const char* b, size_t most), (a, b, most))                \
  X(int, strcoll, (const char* a, const char* b), (a, b))                                       \
  X(char*, strchr, (const char* text, int value), (text, value))                                \
  X(char*, strchrnul, (const char* text, int value), (text, value))                             \
  X(char*, strrchr, (const char* text, int value), (text, value))                               \
  X(char*, index, (const char* text, int value), (text, value))                                 \
  X(char*, rindex, (const char* text, int value), (text, value))                                \
  X(char*, strstr, (const char* text, const char* wanted), (text, wanted))                      \
  X(char*, strcasestr, (const char* text, const char* wanted), (text, wanted))                  \
  X(size_t, strspn, (const char* text, const char* set), (text, set))                           \
  X(size_t, strcspn, (const char* text, const char* set), (text, set))                          \
  X(char*, strpbrk, (const char* text, const char* set), (text, set))                           \
  X(char*, strtok, (char* text, const char* between), (text, between))                          \
  X(char*, strtok_r, (char* text, const char* between, char** place), (text, between, place))   \
  X(char*, __strtok_r, (char* text, const char* between, char** place), (text, between, place)) \
  X(char*, strsep, (char** place, const char* between), (place, between))                       \
  X(long, strtol, (const char* text, char** end, int base), (text, end, base))                  \
  X(long long, strtoll, (const char* text, char** end, int base), (text, end, base))            \
  X(unsigned long, strtoul, (const char* text, char** end, int base), (text, end, base))        \
  X(unsigned long long, strtoull, (const char* text, char** end, int base), (text, end, base))  \
  X(intmax_t, strtoimax, (const char* text, char** end, int base), (text, end, base))           \
  X(uintmax_t, strtoumax, (const char* text, char** end, int base), (text, end, base))          \
  X(int, atoi, (const char* text), (text))                                                      \
  X(long, atol, (const char* text), (text))                                                     \
  X(long long, atoll, (const char* text), (text))

#define WEIR_STREAM_CALLS(X)                                                                       \
  X(size_t, fread, (void* to, size_t size, size_t count, FILE* stream), (to, size, count, stream)) \
  X(size_t, fread_unlocked, (void* to, size_t size, size_t count, FILE* stream),                   \
    (to, size, count, stream))                                                                     \
  X(size_t, __fread_chk, (void* to, size_t room, size_t size, size_t count, FILE* stream),         \
    (to, room, size, count, stream))                                                               \
  X(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* stream),                   \
    (from, size, count, stream))                                                                   \
  X(size_t, fwrite_unlocked, (const void* from, size_t size, size_t count, FILE* stream),          \
    (from, size, count, stream))                                                                   \
  X(char*, fgets, (char* to, int size, FILE* stream), (to, size, stream))                          \
  X(char*, fgets_unlocked, (char* to, int size, FILE* stream), (to, size, stream))                 \
  X(char*, __fgets_chk, (char* to, size_t room, int size, FILE* stream), (to, room, size, stream)) \
  X(int, fputs, (const char* text, FILE* stream), (text, stream))                                  \
  X(int, fputs_unlocked, (const char* text, FILE* stream), (text, stream))                         \
  X(int, puts, (const char* text), (text))                                                         \
  X(ssize_t, getline, (char** line, size_t* room, FILE* stream), (line, room, stream))             \
  X(ssize_t, getdelim, (char** line, size_t* room, int last, FILE* stream),                        \
    (line, room, last, stream))                                                                    \
  X(ssize_t, __getdelim, (char** line, size_t* room, int last, FILE* stream),                      \
    (line, room, last, stream))

// Those that have no fixed parameters, or vector registers for them, end in one of these
// (*_vector_x86_64.cc).
#define WEIR_BEHIND_CALLS(X)                                                                  \
  X(int, vsprintf, (char* to, const char* format, va_list args), (to, format, args))          \
  X(int, vsnprintf, (char* to, size_t size, const char* format, va_list args),                \
    (to, size, format, args))                                                                 \
  X(int, vprintf, (const char* format, va_list args), (format, args))                         \
  X(int, vfprintf, (FILE * stream, const char* format, va_list args), (stream, format, args)) \
  X(int, vdprintf, (int file, const char* format, va_list args), (file, format, args))        \
  X(int, vasprintf, (char** to, const char* format, va_list args), (to, format, args))        \
  X(int, __vdprintf_chk, (int file, int flag, const char* format, va_list args),              \
    (file, flag, format, args))                                                               \
  X(int, __vasprintf_chk, (char** to, int flag, const char* format, va_list args),            \
    (to, flag, format, args))                                                                 \
  X(int, __vsprintf_chk, (char* to, int flag, size_t room, const char* format, va_list args), \
    (to, flag, room, format, args))                                                           \
  X(int, __vsnprintf_chk,                                                                     \
    (char* to, size_t size, int flag, size_t room, const char* format, va_list args),         \
    (to, size, flag, room, format, args))                                                     \
  X(int, __vprintf_chk, (int flag, const char* format, va_list args), (flag, format, args))   \
  X(int, __vfprintf_chk, (FILE * stream, int flag, const char* format, va_list args),         \
    (stream, flag, format, args))

// As the C standards before and since 1999 have them.
#define WEIR_SCAN_CALLS(X)                                                                    \
  X(int, vsscanf, (const char* text, const char* format, va_list args), (text, format, args)) \
  X(int, vfscanf, (FILE * stream, const char* format, va_list args), (stream, format, args))  \
  X(int, vscanf, (const char* format, va_list args), (format, args))                          \
  X(int, __isoc99_vsscanf, (const char* text, const char* format, va_list args),              \
    (text, format, args))                                                                     \
  X(int, __isoc99_vfscanf, (FILE * stream, const char* format, va_list args),                 \
    (stream, format, args))                                                                   \
  X(int, __isoc99_vscanf, (const char* format, va_list args), (format, args))

// Between characters and wide characters, and between other forms.
#define WEIR_CONVERT_CALLS(X)                                                                    \
  X(size_t, wcstombs, (char* to, const wchar_t* from, size_t size), (to, from, size))            \
  X(size_t, mbstowcs, (wchar_t * to, const char* from, size_t count), (to, from, count))         \
  X(size_t, wcsrtombs, (char* to, const wchar_t** from, size_t size, mbstate_t* state),          \
    (to, from, size, state))                                                                     \
  X(size_t, mbsrtowcs, (wchar_t * to, const char** from, size_t count, mbstate_t* state),        \
    (to, from, count, state))                                                                    \
  X(size_t, mbrtowc, (wchar_t * to, const char* from, size_t size, mbstate_t* state),            \
    (to, from, size, state))                                                                     \
  X(size_t, wcrtomb, (char* to, wchar_t value, mbstate_t* state), (to, value, state))            \
  X(int, mbtowc, (wchar_t * to, const char* from, size_t size), (to, from, size))                \
  X(int, wctomb, (char* to, wchar_t value), (to, value))                                         \
  X(size_t, strxfrm, (char* to, const char* from, size_t size), (to, from, size))                \
  X(size_t, iconv, (iconv_t how, char** from, size_t* left, char** to, size_t* room),            \
    (how, from, left, to, room))                                                                 \
  X(int, inet_pton, (int family, const char* text, void* to), (family, text, to))                \
  X(const char*, inet_ntop, (int family, const void* from, char* to, uint32_t size),             \
    (family, from, to, size))                                                                    \
  X(int, inet_aton, (const char* text, in_addr* to), (text, to))                                 \
  X(void, swab, (const void* from, void* to, ssize_t size), (from, to, size))                    \
  X(int, regexec,                                                                                \
    (const regex_t* expression, const char* text, size_t count, regmatch_t* matches, int flags), \
    (expression, text, count, matches, flags))

// What the C library tells in memory of its caller's.
#define WEIR_TOLD_CALLS(X)                                                                  \
  X(int, sigemptyset, (sigset_t * set), (set))                                              \
  X(int, sigfillset, (sigset_t * set), (set))                                               \
  X(int, sigaddset, (sigset_t * set, int signal), (set, signal))                            \
  X(int, sigdelset, (sigset_t * set, int signal), (set, signal))                            \
  X(int, sigismember, (const sigset_t* set, int signal), (set, signal))                     \
  X(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* old), (how, set, old))   \
  X(int, sigprocmask, (int how, const sigset_t* set, sigset_t* old), (how, set, old))       \
  X(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* old),    \
    (signal, action, old))                                                                  \
  X(int, pthread_getname_np, (pthread_t thread, char* to, size_t size), (thread, to, size)) \
  X(int, gethostname, (char* to, size_t size), (to, size))                                  \
  X(char*, realpath, (const char* path, char* to), (path, to))                              \
  X(char*, strerror_r, (int error, char* to, size_t size), (error, to, size))               \
  X(int, __xpg_strerror_r, (int error, char* to, size_t size), (error, to, size))           \
  X(int, mkstemp, (char* name), (name))                                                     \
  X(int, mkstemp64, (char* name), (name))                                                   \
  X(int, mkostemp, (char* name, int flags), (name, flags))                                  \
  X(int, mkostemp64, (char* name, int flags), (name, flags))                                \
  X(char*, mkdtemp, (char* name), (name))

// Seeds and states of random numbers, roots of trees.
#define WEIR_STATE_CALLS(X)                                                                \
  X(int, rand_r, (unsigned* seed), (seed))                                                 \
  X(int, random_r, (random_data * state, int32_t * drawn), (state, drawn))                 \
  X(int, srandom_r, (unsigned seed, random_data* state), (seed, state))                    \
  X(int, drand48_r, (drand48_data * state, double* drawn), (state, drawn))                 \
  X(int, lrand48_r, (drand48_data * state, long* drawn), (state, drawn))                   \
  X(int, mrand48_r, (drand48_data * state, long* drawn), (state, drawn))                   \
  X(int, erand48_r, (unsigned short* words, drand48_data* state, double* drawn),           \
    (words, state, drawn))                                                                 \
  X(int, nrand48_r, (unsigned short* words, drand48_data* state, long* drawn),             \
    (words, state, drawn))                                                                 \
  X(int, jrand48_r, (unsigned short* words, drand48_data* state, long* drawn),             \
    (words, state, drawn))                                                                 \
  X(long, nrand48, (unsigned short* words), (words))                                       \
  X(long, jrand48, (unsigned short* words), (words))                                       \
  X(int, srand48_r, (long seed, drand48_data* state), (seed, state))                       \
  X(void*, tsearch, (const void* key, void** root, Compare compare), (key, root, compare)) \
  X(void*, tdelete, (const void* key, void** root, Compare compare), (key, root, compare)) \
  X(void*, tfind, (const void* key, void* const* root, Compare compare), (key, root, compare))

// They touch nothing; their streams' buffers are the C library's from then on. Notified
// before there are tasks, too.
#define WEIR_BUFFER_CALLS(X)                                                             \
  X(int, setvbuf, (FILE * stream, char* buffer, int mode, size_t size),                  \
    (stream, buffer, mode, size))                                                        \
  X(void, setbuffer, (FILE * stream, char* buffer, size_t size), (stream, buffer, size)) \
  X(void, setbuf, (FILE * stream, char* buffer), (stream, buffer))

#define WEIR_TOUCHING_CALLS(X) \
  WEIR_MEMORY_CALLS(X)         \
  WEIR_STRING_CALLS(X)         \
  WEIR_WIDE_CALLS(X)           \
  WEIR_SEARCH_CALLS(X)         \
  WEIR_STREAM_CALLS(X)         \
  WEIR_TIME_CALLS(X)           \
  WEIR_CONVERT_CALLS(X)        \
  WEIR_TOLD_CALLS(X)           \
  WEIR_STATE_CALLS(X) WEIR_BEHIND_CALLS(X) WEIR_SCAN_CALLS(X)
#define WEIR_LIBRARY_CALLS(X) WEIR_TOUCHING_CALLS(X) WEIR_BUFFER_CALLS(X)

struct Real {
#define WEIR_MEMBER(result, name, parameters, arguments) result(*name) parameters;
  WEIR_LIBRARY_CALLS(WEIR_MEMBER)
#undef WEIR_MEMBER
};
extern Real g_library;  // until they are found, functions that find them

// What such a function does where the program is checked.
namespace checked {
#define WEIR_CHECKED(result, name, parameters, arguments) result name parameters;
WEIR_LIBRARY_CALLS(WEIR_CHECKED)
#undef WEIR_CHECKED
}  // namespace checked

// A string as far as it is read.
struct Text {
  const char* seen;  // where that can be done without a right to its pages
  size_t length;     // NUL is not among it
  size_t read;       // bytes, NUL included, if that was reached
};

// One call of such a function, of a checked program. In program code.
class Call {
 public:
  explicit Call(const Caller& caller);

  // False if nothing must be told (in a forked child, or before there are tasks).
  bool is_on() const { return is_on_; }
  void reads(const void* at, size_t size) { add(at, size, What::kReads); }
  void writes(const void* at, size_t size) { add(at, size, What::kWrites); }
  // The C library has allocated this for its caller.
  void gives(const void* at, size_t size) {
    if (count_ == kMax) notify();
    if (is_on_ && at) parts_[count_++] = {reinterpret_cast<uint64_t>(at), size, What::kGives};
  }
  // The call is of a stream: the program may not make it in a signal's handler that comes in the
  // middle of another.
  void uses_stream() const;
  // Tells what has been added since the last time. Returns false if there was nothing to tell.
  bool notify();

  // Returns an address at which the program's memory can be accessed without a right to its pages,
  // or `at` itself if there is none.
  template <typename T>
  T* seen(T* at, size_t size = 1) const {
    return reinterpret_cast<T*>(place(reinterpret_cast<uint64_t>(at), size));
  }
  Text text(const char* at, size_t most = SIZE_MAX) const;
  bool is_untrapped(const void* at, size_t size) const;  // reads of it are not looked at

 private:
  enum class What : uint8_t { kReads, kWrites, kGives };
  struct Part {
    uint64_t start, size;
    What what;
  };
  static constexpr uint32_t kMax = 8;
  void add(const void* at, size_t size, What what);
  uint64_t place(uint64_t at, size_t size) const;

  Caller caller_;
  bool is_on_;
  uint32_t count_ = 0;
  Part parts_[kMax];
};

// The runtime stores for its caller what a function of the C library's would have stored. Told
// where a program is checked while it runs; in a replay the store itself is seen.
void tell_stored(const void* at, size_t size, const Caller& caller);

// In a replay, by a function that has a stack frame: it is called, and reads `text`. It is to level
// registers then, in any run.
#define WEIR_NOTIFY_CALL(text)                                     \
  happens::notify<happens::NoticeKind::kReads>(                    \
      reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 16, \
      reinterpret_cast<uint64_t>(text))

// A pointer into `seen`, as the program has it.
template <typename T>
T* back(const void* found, const void* seen, const T* at) {
  return found ? const_cast<T*>(at) + (static_cast<const T*>(found) - static_cast<const T*>(seen))
               : nullptr;
}

// Characters that are read of a string: with the one that ends it, if that is among the first
// `most`.
template <typename Character>
size_t length_read(const Call& call, const Character* text, size_t most = SIZE_MAX) {
  const Character* const seen = call.seen(text);
  size_t length = 0;
  while (length < most && seen[length]) length++;
  return length < most ? length + 1 : most;
}

// A function that reads a number from the beginning of a text of `length` characters, seen at
// `seen`: `real` is made of that and of where the rest begins. `end`: where the program wants to
// have that, or null.
template <typename Character, typename Read>
auto read_number(Call& call, const Character* text, const Character* seen, size_t length,
                 Character** end, Read real) {
  Character* stop = nullptr;
  const auto result = real(seen, &stop);
  if (!stop) return result;  // the base is none: nothing was read
  const auto used = static_cast<size_t>(stop - seen);
  call.reads(text, (used < length ? used + 1 : used) * sizeof *text);
  if (end) {
    call.writes(end, sizeof *end);
    *call.seen(end, sizeof *end) = const_cast<Character*>(text) + used;
  }
  call.notify();
  return result;
}
template <typename Read>
auto read_number(Call&& call, const char* text, char** end, Read real) {
  const Text t = call.text(text);
  return read_number(call, text, t.seen, t.read, end, real);
}
template <typename Read>
auto read_number(Call&& call, const wchar_t* text, wchar_t** end, Read real) {
  const size_t length = length_read(call, text);
  const wchar_t* const seen = call.seen(text, length * sizeof *text);
  return read_number(call, text, seen, length, end, real);
}

}  // namespace weir::interpose::library
