// The C functions of weir/dsm.h: each finds its thread, checks what a caller may get wrong, and
// calls the part that does it.
#include "dsm/node/this_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <sstream>
#include <thread>

#include "dsm/base/failure.h"
#include "dsm/net/bootstrap.h"
#include "dsm/net/ucx.h"
#include "dsm/segment/forked.h"
#include "dsm/system_calls/kernel_calls.h"
#include "dsm/threads/main_thread.h"

namespace weir::dsm {

using predict::EventKind;

namespace {

// Never destroyed: exit() of a process that was forked would end what belongs to the node.
auto& g_bootstrap = *new std::unique_ptr<Bootstrap>;
auto& g_transport = *new std::unique_ptr<Transport>;
auto& g_node = *new std::unique_ptr<Node>;
std::atomic<bool> runs{false};        // weir_dsm_run
std::atomic<bool> g_finished{false};  // what `g_current` points to is gone then
thread_local bool g_runs_worker = false;

// All threads that have called. Each is gone when its thread ends, or the last ones by
// weir_dsm_finish, before the transport is. Never destroyed: threads may outlive main.
std::mutex g_threads_mutex;
auto& g_threads = *new std::vector<std::unique_ptr<Thread>>;  // Guarded by: g_threads_mutex

struct Current {
  Thread* thread = nullptr;
  void set(Node* its, unsigned worker = 0, Thread::Role role = Thread::Role::kProgram) {
    const std::lock_guard<std::mutex> guard(g_threads_mutex);
    std::erase_if(g_threads, [this](const auto& one) { return one.get() == thread; });
    thread =
        its ? g_threads.emplace_back(std::make_unique<Thread>(*its, worker, role)).get() : nullptr;
  }
  ~Current() {
    if (is_forked()) return;  // the node's; and who held its mutexes is not there
    // The process's first thread ends with the process, which is told otherwise, or by
    // pthread_exit.
    if (gettid() != getpid()) check_unlocked();
    set(nullptr);
  }
  void check_unlocked() const {
    std::unique_lock<std::mutex> guard(g_threads_mutex);
    const bool is_there = std::any_of(g_threads.begin(), g_threads.end(),
                                      [this](const auto& one) { return one.get() == thread; });
    if (!is_there || thread->locks.empty()) return;
    const uint32_t lock = thread->locks.front();
    guard.unlock();
    fail("a thread ends while it holds lock %u", lock);
  }
};
thread_local Current g_current;

// In weir_dsm_run: of a body that neither returns nor throws, the others would not know.
struct EndsByReturn {
  ~EndsByReturn() {
    if (!has_returned && std::uncaught_exceptions() == 0)
      fail("worker %u of weir_dsm_run ends by pthread_exit, or is cancelled", worker);
  }
  unsigned worker;
  bool has_returned = false;
};

void check_between_start_and_finish() {
  if (g_finished) fail("a call after weir_dsm_finish");
  if (!g_node && !g_current.thread) fail("a call before weir_dsm_start");
}

// Of a thread that counts in barriers.
Thread& arriving_thread() {
  if (runs && !g_runs_worker)
    fail("a barrier, inside weir_dsm_run, by a thread that weir_dsm_run has not started");
  return this_thread();
}

void check_unheld(Thread& thread, uint32_t lock) {
  if (std::find(thread.locks.begin(), thread.locks.end(), lock) != thread.locks.end())
    fail("lock %u is locked by a thread that holds it", lock);
}

void record_granted(uint32_t lock, Thread& thread) {
  if (thread.node.stream)
    thread.node.record(&StreamWriter::granted, lock, predict::without_bytes(thread.prefetched));
}

void lock_with(uint32_t lock, Advice&& advice) {
  Thread& thread = this_thread();
  check_unheld(thread, lock);
  InRuntime held(thread);
  thread.advice = std::move(advice);
  thread.node.record(EventKind::kAcquire, lock);
  thread.node.locks.acquire(lock, thread, held);
  record_granted(lock, thread);
  thread.locks.push_back(lock);
}

void barrier(uint32_t number) {
  Thread& thread = arriving_thread();
  if (number >= kReductions)
    fail("there is no barrier %u: numbers go up to %u", number, kReductions - 1);
  InRuntime held(thread);
  thread.node.barrier.arrive(number, {}, false, thread, held);
}

void record_run(EventKind kind, unsigned threads = 0) {
  Thread& thread = this_thread();
  const InRuntime held(thread);
  if (kind == EventKind::kFork) thread.node.record(&StreamWriter::fork, threads);
  else thread.node.record(kind);
}

bool is_nan(double value) { return std::isnan(value); }
bool is_nan(int64_t) { return false; }
double sum_of(double left, double right) { return left + right; }
int64_t sum_of(int64_t left, int64_t right) {  // wraps around
  return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

// What a call is given may lie in shared memory. It is read and written where the mutex is not
// held, as an access of the program's.
std::vector<uint8_t> bytes_of(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {bytes, bytes + size};
}

auto arrive(uint32_t number, std::vector<uint8_t> mine, bool collective, Thread& thread) {
  InRuntime held(thread);
  return thread.node.barrier.arrive(number, std::move(mine), collective, thread, held);
}

// A result that is no number stays so, wherever the NaN comes from: a comparison would keep or lose
// it by the order of the nodes.
template <typename T>
T combined(T left, T right, weir_dsm_operation operation) {
  if (operation == WEIR_DSM_SUM) return sum_of(left, right);
  if (is_nan(left) || is_nan(right)) return is_nan(left) ? left : right;
  return operation == WEIR_DSM_MIN ? std::min(left, right) : std::max(left, right);
}

template <typename T>
void reduce(T* values, size_t count, weir_dsm_operation operation) {
  if (count > 1024) fail("a reduction of %zu elements; at most 1024 are possible", count);
  if (operation > WEIR_DSM_MAX)
    fail("a reduction by operation %d, which does not exist", operation);
  Thread& thread = arriving_thread();
  const auto all =
      arrive(reduction_of(operation, std::is_floating_point_v<T>, static_cast<uint32_t>(count)),
             bytes_of(values, count * sizeof(T)), false, thread);
  std::vector<T> combination(count);
  for (size_t worker = 0; worker < all->size(); worker++) {
    if ((*all)[worker].size() != count * sizeof(T))
      fail("a damaged reduction of %zu elements: another has %zu", count,
           (*all)[worker].size() / sizeof(T));
    for (size_t i = 0; i < count; i++) {
      T one;
      memcpy(&one, (*all)[worker].data() + i * sizeof(T), sizeof one);
      combination[i] = worker == 0 ? one : combined(combination[i], one, operation);
    }
  }
  std::copy(combination.begin(), combination.end(), values);
}

// The same library with the same settings everywhere, or the job ends.
void compare_with_all(const Settings& settings) {
  std::vector<std::string> mine = settings.common();
  mine.insert(mine.begin(), "libweir-dsm " WEIR_VERSION " (build " + build_of_this_library() + ")");
  std::string text;
  for (const std::string& one : mine) text += one + "\n";
  const auto all =
      g_bootstrap->allgather({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  start_watch(*g_bootstrap);
  for (NodeId node = 0; node < all.size(); node++) {
    std::istringstream its(std::string(all[node].begin(), all[node].end()));
    std::string line;
    for (const std::string& one : mine) {
      if (!std::getline(its, line) || line != one)
        fail("nodes differ: this one has %s, node %u has %s", one.c_str(), node, line.c_str());
    }
  }
}

}  // namespace

Node& node() {
  check_between_start_and_finish();
  return g_current.thread ? g_current.thread->node : *g_node;
}

Thread& this_thread() {
  check_between_start_and_finish();
  if (is_forked()) fail("a call in a process that was forked, which is no node");
  if (!g_current.thread) g_current.set(g_node.get());
  return *g_current.thread;
}

void use_node(Node* its, unsigned worker, Thread::Role role) { g_current.set(its, worker, role); }

}  // namespace weir::dsm

using namespace weir::dsm;

extern "C" {

void weir_dsm_start(int* argc, char*** argv) {
  if (g_node) fail("weir_dsm_start a second time");
  if (g_finished) fail("weir_dsm_start after weir_dsm_finish: a process may start once");
  note_threads_before();
  g_bootstrap = start_bootstrap(argc, argv);
  const Settings settings = Settings::from_environment();
  compare_with_all(settings);
  g_transport = make_ucx(*g_bootstrap);
  g_node = std::make_unique<Node>(*g_transport, settings);
  watch_faults(*g_node);
  watch_calls(*g_node);
  watch_forks(g_node->memory.segment);
  if (g_node->nodes() > 1) watch_exceptions();
  g_bootstrap->barrier();
  note_threads_of_start([] { g_current.check_unlocked(); });
  g_node->diagnostics.start(this_thread());
  const InRuntime starts(this_thread());  // a recording's clock starts
}

void weir_dsm_finish(void) {
  Thread& thread = this_thread();
  const bool is_first =
      thread.node.me() ==
      0;  // one node's status is the job's; the others may have something to do yet
  uint64_t races;
  if (runs) fail("weir_dsm_finish inside weir_dsm_run");
  if (!thread.locks.empty()) fail("weir_dsm_finish while lock %u is held", thread.locks.front());
  thread.node.diagnostics.before_finish(thread);
  {
    InRuntime held(thread);
    thread.node.barrier.arrive(kFinish, {}, true, thread, held);
    if (StreamWriter* stream = thread.node.stream.get()) {
      const std::string why = stream->finish(thread.node.recorded_by(), thread.node.measured());
      if (!why.empty()) fail("the recording is not complete: %s", why.c_str());
    }
    races = thread.node.checker.finish(thread, held);
    // A handler of a signal may be in an access on a thread that is none of the program's (MPI's).
    while (thread.node.fetching > 0)
      thread.node.changed.wait_for(held, std::chrono::milliseconds(5));
  }
  thread.node.diagnostics.report(thread);
  g_bootstrap->barrier();
  g_finished = true;
  {
    const std::lock_guard<std::mutex> guard(g_threads_mutex);
    g_threads.clear();
  }
  finish_watch();
  forget_faults(*g_node);
  forget_calls();
  forget_forks();
  forget_exceptions();
  g_node.reset();
  g_transport.reset();
  g_bootstrap->finish();
  g_bootstrap.reset();
  if (races && is_first) end_with(kRaces);
}

void weir_dsm_abort(int status, const char* why) { fail_with(status, "%s", why); }

unsigned weir_dsm_node(void) { return node().me(); }
unsigned weir_dsm_nodes(void) { return node().nodes(); }
unsigned weir_dsm_threads(void) { return g_runs_worker ? node().threads : 1; }

void weir_dsm_run(void (*body)(unsigned, unsigned, void*), void* context) {
  Thread& main = this_thread();
  Node& its = main.node;
  if (runs) fail("weir_dsm_run inside weir_dsm_run");
  const unsigned threads = its.settings.threads, first = its.me() * threads,
                 all = its.nodes() * threads;
  its.threads = threads;
  runs = true;
  const auto run = [&](unsigned worker) {
    g_runs_worker = true;
    this_thread().worker = worker;
    if (worker > 0) record_run(EventKind::kBegin);
    EndsByReturn ends{first + worker};
    body(first + worker, all, context);
    ends.has_returned = true;
    if (!this_thread().locks.empty())
      fail("worker %u ends while it holds lock %u", first + worker, this_thread().locks.front());
    if (worker > 0) record_run(EventKind::kFinish);
    const std::lock_guard<std::mutex> held(its.mutex);
    its.end_accesses(this_thread());
    its.barrier.worker_ends(worker);
    g_runs_worker = false;
  };
  record_run(EventKind::kFork, threads);
  std::vector<std::thread> others;
  for (unsigned worker = 1; worker < threads; worker++) {
    others.emplace_back([&, worker] {
      use_node(&its, worker);
      run(worker);
      use_node(nullptr, 0);
    });
  }
  run(0);
  for (std::thread& other : others) other.join();
  record_run(EventKind::kJoin);
  its.barrier.all_workers_ended();
  runs = false;
  its.threads = 1;
}

// --- Synchronization

void weir_dsm_lock(uint32_t lock) { lock_with(lock, {}); }

int weir_dsm_trylock(uint32_t lock) {
  Thread& thread = this_thread();
  check_unheld(thread, lock);
  InRuntime held(thread);
  if (!thread.node.locks.try_acquire(lock, thread, held)) return 0;
  thread.node.record(EventKind::kAcquire, lock);
  record_granted(lock, thread);
  thread.locks.push_back(lock);
  return 1;
}

void weir_dsm_unlock(uint32_t lock) {
  Thread& thread = this_thread();
  const auto found = std::find(thread.locks.begin(), thread.locks.end(), lock);
  if (found == thread.locks.end())
    fail("lock %u is unlocked by a thread that does not hold it", lock);
  thread.locks.erase(found);
  const InRuntime held(thread);
  thread.node.record(EventKind::kRelease, lock);
  thread.node.locks.release(lock, thread);
}

void weir_dsm_barrier(uint32_t number) { barrier(number); }

void weir_dsm_wait(uint32_t condition, uint32_t lock) {
  Thread& thread = this_thread();
  if (std::find(thread.locks.begin(), thread.locks.end(), lock) == thread.locks.end())
    fail("a wait for condition %u without lock %u", condition, lock);
  InRuntime held(thread);
  thread.node.record(&StreamWriter::wait, condition, lock);
  thread.node.conditions.wait(condition, lock, thread, held);
  thread.node.record(&StreamWriter::woken, condition, lock);
}

void weir_dsm_signal(uint32_t condition) {
  Thread& thread = this_thread();
  Node& its = thread.node;
  InRuntime held(thread);
  its.record(EventKind::kSignal, condition);
  its.conditions.signal(condition, false, thread, held);
}

void weir_dsm_broadcast(uint32_t condition) {
  Thread& thread = this_thread();
  Node& its = thread.node;
  InRuntime held(thread);
  its.record(EventKind::kBroadcast, condition);
  its.conditions.signal(condition, true, thread, held);
}

void weir_dsm_semaphore_post(uint32_t semaphore) {
  Thread& thread = this_thread();
  Node& its = thread.node;
  const InRuntime held(thread);
  its.record(EventKind::kPost, semaphore);
  its.conditions.post(semaphore, thread);
}

void weir_dsm_semaphore_wait(uint32_t semaphore) {
  Thread& thread = this_thread();
  InRuntime held(thread);
  thread.node.record(EventKind::kSemaphoreWait, semaphore);
  thread.node.conditions.take(semaphore, thread, held);
  thread.node.record(EventKind::kSemaphoreGot, semaphore);
}

void weir_dsm_reduce_double(double* values, size_t count, weir_dsm_operation operation) {
  reduce(values, count, operation);
}
void weir_dsm_reduce_int64(int64_t* values, size_t count, weir_dsm_operation operation) {
  reduce(values, count, operation);
}

void weir_dsm_share(void* data, size_t size, unsigned from) {
  Thread& thread = this_thread();
  if (size > 65536) fail("weir_dsm_share of %zu bytes; at most 65536 are possible", size);
  if (from >= thread.node.nodes()) fail("weir_dsm_share: there is no node %u", from);
  std::vector<uint8_t> mine;
  if (thread.node.me() == from) mine = bytes_of(data, size);
  const auto all = arrive(kShare, std::move(mine), true, thread);
  if ((*all)[from].size() != size)
    fail("weir_dsm_share of %zu bytes, while node %u shares %zu", size, from, (*all)[from].size());
  if (size > 0) memcpy(data, (*all)[from].data(), size);
}

// --- Tapeworm

void weir_dsm_barrier_replay(uint32_t number, weir_dsm_pattern pattern) {
  {
    Thread& thread = this_thread();
    const InRuntime held(thread);
    thread.node.tapeworm.replay_next(pattern);
  }
  barrier(number);
}

void weir_dsm_lock_auto(uint32_t lock) { lock_with(lock, {Advice::kAuto, {}}); }

void weir_dsm_lock_user(uint32_t lock, const void* address, size_t size) {
  Advice advice{Advice::kUser, {}};
  {
    Thread& thread = this_thread();
    const InRuntime held(thread);
    advice.user = thread.node.memory.extent_of(static_cast<const uint8_t*>(address), size);
  }
  lock_with(lock, std::move(advice));
}

#define WEIR_TAPEWORM_CALL(name)       \
  void weir_dsm_##name(void) {         \
    Thread& thread = this_thread();    \
    const InRuntime held(thread);      \
    thread.node.tapeworm.name(thread); \
  }
WEIR_TAPEWORM_CALL(produce_start)
WEIR_TAPEWORM_CALL(produce_end)
WEIR_TAPEWORM_CALL(flush_start)
WEIR_TAPEWORM_CALL(flush_end)

// --- Diagnostics

void weir_dsm_counters_get(weir_dsm_counters* counters) {
  Thread& thread = this_thread();
  Node& its = thread.node;
  weir_dsm_counters now;
  {
    const InRuntime held(thread);
    now = its.counters_now();
    its.record(&StreamWriter::stop, its.measured());
  }
  *counters = now;
}

void weir_dsm_counters_reset(void) {
  Thread& thread = this_thread();
  Node& its = thread.node;
  const InRuntime held(thread);
  its.reset_counters();
  its.record(&StreamWriter::mark);
}

void weir_dsm_counters_total(weir_dsm_counters* counters) {
  weir_dsm_counters mine;
  weir_dsm_counters_get(&mine);
  const auto all = arrive(kTotals, bytes_of(&mine, sizeof mine), true, this_thread());
  uint64_t sums[sizeof mine / sizeof(uint64_t)] = {};
  for (const auto& one : *all) {
    if (one.size() != sizeof mine) fail("damaged counters of a node");
    for (size_t i = 0; i < sizeof mine / sizeof(uint64_t); i++) {
      uint64_t value;
      memcpy(&value, one.data() + i * sizeof value, sizeof value);
      sums[i] += value;
    }
  }
  memcpy(counters, sums, sizeof mine);
}

}  // extern "C"
