// Functions by which the C library tells its caller something, in memory of the caller's: masks and
// actions of signals, names (interpose/libc/library.h). What the kernel itself writes there is told
// by the system call.

#include "interpose/libc/library.h"

namespace weir::interpose::library::checked {

namespace {

// As the kernel has it: the C library's set has room for many more signals.
constexpr size_t kSetSize = 8;

template <typename Change>
int change(Call&& call, sigset_t* set, bool reads, Change real) {
  if (reads) call.reads(set, kSetSize);
  call.writes(set, kSetSize);
  call.notify();
  return real();
}

template <typename Real>
int change_mask(Call&& call, const sigset_t* set, sigset_t* old, Real real) {
  if (set) call.reads(set, kSetSize);
  call.notify();
  const int result = real();
  if (old && result == 0) call.writes(old, kSetSize);
  call.notify();
  return result;
}

// A text that has been written to `to`.
void tell_text(Call& call, char* to) {
  call.writes(to, call.text(to).read);
  call.notify();
}

// `name` ends in six characters that are replaced.
template <typename Make>
auto make_name(Call&& call, char* name, Make real) {
  constexpr size_t kReplaced = 6;
  const Text text = call.text(name);
  call.reads(name, text.read);
  if (text.length >= kReplaced) call.writes(name + text.length - kReplaced, kReplaced);
  call.notify();
  return real();
}

}  // namespace

int sigemptyset(sigset_t* set) {
  return change(Call(WEIR_CALLER), set, false, [=] { return g_library.sigemptyset(set); });
}
int sigfillset(sigset_t* set) {
  return change(Call(WEIR_CALLER), set, false, [=] { return g_library.sigfillset(set); });
}
int sigaddset(sigset_t* set, int signal) {
  return change(Call(WEIR_CALLER), set, true, [=] { return g_library.sigaddset(set, signal); });
}
int sigdelset(sigset_t* set, int signal) {
  return change(Call(WEIR_CALLER), set, true, [=] { return g_library.sigdelset(set, signal); });
}
int sigismember(const sigset_t* set, int signal) {
  Call call(WEIR_CALLER);
  call.reads(set, kSetSize);
  call.notify();
  return g_library.sigismember(set, signal);
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  return change_mask(Call(WEIR_CALLER), set, old,
                     [=] { return g_library.pthread_sigmask(how, set, old); });
}
int sigprocmask(int how, const sigset_t* set, sigset_t* old) {
  return change_mask(Call(WEIR_CALLER), set, old,
                     [=] { return g_library.sigprocmask(how, set, old); });
}
// Of the mask what the kernel knows; not what lies between the members.
int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  Call call(WEIR_CALLER);
  if (action) {
    call.reads(&action->sa_handler, sizeof action->sa_handler);
    call.reads(&action->sa_mask, kSetSize);
    call.reads(&action->sa_flags, sizeof action->sa_flags);
  }
  call.notify();
  const int result = g_library.sigaction(signal, action, old);
  if (old && result == 0) {
    call.writes(&old->sa_handler, sizeof old->sa_handler);
    call.writes(&old->sa_mask, kSetSize);
    call.writes(&old->sa_flags, sizeof old->sa_flags);
  }
  call.notify();
  return result;
}

int pthread_getname_np(pthread_t thread, char* to, size_t size) {
  Call call(WEIR_CALLER);
  const int result = g_library.pthread_getname_np(thread, to, size);
  if (result == 0) tell_text(call, to);
  return result;
}
int gethostname(char* to, size_t size) {
  Call call(WEIR_CALLER);
  const int result = g_library.gethostname(to, size);
  if (result == 0 && size) tell_text(call, to);
  return result;
}
char* realpath(const char* path, char* to) {
  Call call(WEIR_CALLER);
  const Text text = path ? call.text(path) : Text{};
  if (path) call.reads(path, text.read);
  call.notify();
  char* const result = g_library.realpath(path, to);
  if (result && to) {
    tell_text(call, to);
  } else if (result) {
    call.gives(result, call.text(result).read);
    call.notify();
  }
  return result;
}
char* strerror_r(int error, char* to, size_t size) {
  Call call(WEIR_CALLER);
  char* const result = g_library.strerror_r(error, to, size);
  if (result == to && size) tell_text(call, to);
  return result;
}
int __xpg_strerror_r(int error, char* to, size_t size) {
  Call call(WEIR_CALLER);
  const int result = g_library.__xpg_strerror_r(error, to, size);
  if (result == 0 && size) tell_text(call, to);
  return result;
}

int mkstemp(char* name) {
  return make_name(Call(WEIR_CALLER), name, [=] { return g_library.mkstemp(name); });
}
int mkstemp64(char* name) {
  return make_name(Call(WEIR_CALLER), name, [=] { return g_library.mkstemp64(name); });
}
int mkostemp(char* name, int flags) {
  return make_name(Call(WEIR_CALLER), name, [=] { return g_library.mkostemp(name, flags); });
}
int mkostemp64(char* name, int flags) {
  return make_name(Call(WEIR_CALLER), name, [=] { return g_library.mkostemp64(name, flags); });
}
char* mkdtemp(char* name) {
  return make_name(Call(WEIR_CALLER), name, [=] { return g_library.mkdtemp(name); });
}

}  // namespace weir::interpose::library::checked
