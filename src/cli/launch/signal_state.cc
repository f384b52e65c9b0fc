#include "cli/launch/signal_state.h"

#include <signal.h>

#include <algorithm>
#include <array>

namespace weir::cli {

namespace {

// Of these the command has another action than it found: it ignores the first two, and catches the
// last, also where that was ignored.
constexpr std::array kOwn = {SIGPIPE, SIGXFSZ, SIGCHLD};
constexpr size_t kIgnored = 2;

using Actions = std::array<struct sigaction, kOwn.size()>;

const Actions& actions_before() {
  static const Actions kBefore = [] {
    Actions actions{};
    for (size_t i = 0; i < kOwn.size(); i++) sigaction(kOwn[i], nullptr, &actions[i]);
    return actions;
  }();
  return kBefore;
}

struct sigaction action_now(int signal) {
  struct sigaction action = {};
  const auto* own = std::ranges::find(kOwn, signal);
  if (own != kOwn.end()) return actions_before()[static_cast<size_t>(own - kOwn.begin())];
  sigaction(signal, nullptr, &action);
  return action;
}

// Those that a process can choose for: not SIGKILL, nor SIGSTOP, nor the C library's own.
template <typename Act>
void each_signal(Act act) {
  for (int signal = 1; signal <= SIGRTMAX; signal++) {
    const bool is_the_librarys = signal > SIGSYS && signal < SIGRTMIN;
    if (signal != SIGKILL && signal != SIGSTOP && !is_the_librarys) act(signal);
  }
}

bool has(const std::vector<int>& signals, int signal) {
  return std::ranges::find(signals, signal) != signals.end();
}

}  // namespace

recording::SignalState inherited_signals() {
  recording::SignalState state;
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  each_signal([&](int signal) {
    if (action_now(signal).sa_handler == SIG_IGN) state.ignored.push_back(signal);
    if (sigismember(&mask, signal) == 1) state.blocked.push_back(signal);
  });
  return state;
}

void inherit(const recording::SignalState& signals) {
  sigset_t mask;
  sigemptyset(&mask);
  each_signal([&](int signal) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    // What the command catches the program finds at its default.
    if (has(signals.ignored, signal) != (now.sa_handler == SIG_IGN))
      ::signal(signal, has(signals.ignored, signal) ? SIG_IGN : SIG_DFL);
    if (has(signals.blocked, signal)) sigaddset(&mask, signal);
  });
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

void remember_signals() { (void)actions_before(); }

void give_back_signals() {
  for (size_t i = 0; i < kOwn.size(); i++) sigaction(kOwn[i], &actions_before()[i], nullptr);
}

void ignore_own_signals() {
  for (size_t i = 0; i < kIgnored; i++) ::signal(kOwn[i], SIG_IGN);
}

}  // namespace weir::cli
