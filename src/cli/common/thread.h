// Threads of the command's own. Signals are for the main thread.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace weir::cli {

template <typename Function>
std::thread thread_without_signals(Function function) {
  sigset_t all, was;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &was);
  std::thread thread(std::move(function));
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
  return thread;
}

}  // namespace weir::cli
