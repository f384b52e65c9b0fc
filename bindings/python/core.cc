// weir_dsm._core: the calls of weir/dsm.h for Python, and shared memory as a buffer. All that needs
// numpy is in weir_dsm/__init__.py, so this module does not depend on numpy's version.
//
// Invariants, which Python keeps and the library punishes by the end of the job:
//   1. A call between start and finish only: each function asks is_running().
//   2. A lock is released by the thread that holds it, and not taken twice: `held_locks`.
//   3. A thread that waits for another node does not keep the interpreter: `Released`.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <weir/dsm.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

namespace py = pybind11;

namespace {

using Released = py::gil_scoped_release;

enum class State { kBefore, kRunning, kAfter };
std::atomic<State> g_state{State::kBefore};
thread_local std::set<uint32_t> held_locks;

constexpr size_t kMaxReduced = 1024;        // elements, of weir_dsm_reduce_*
constexpr size_t kMaxShared = 64ull << 10;  // bytes, of weir_dsm_share

void expect_running() {
  const State state = g_state;
  if (state == State::kBefore)
    throw std::runtime_error("weir_dsm.start() has not been called in this process");
  if (state == State::kAfter)
    throw std::runtime_error("weir_dsm.finish() has been called: there is no shared memory now");
}

void expect_no_lock(const char* what) {
  if (held_locks.empty()) return;
  throw std::runtime_error(std::string(what) + " while this thread holds lock " +
                           std::to_string(*held_locks.begin()) + ": release it before");
}

void start() {
  if (g_state != State::kBefore)
    throw std::runtime_error("weir_dsm.start() is called once in a process");
  {
    const Released released;
    weir_dsm_start(nullptr, nullptr);
  }
  g_state = State::kRunning;
}

void finish() {
  expect_running();
  expect_no_lock("weir_dsm.finish()");
  const Released released;
  weir_dsm_finish();
  g_state = State::kAfter;
}

// Bytes of the segment. A numpy array refers to it, and so do all views of that array. It frees
// nothing: which node may do so is decided in weir_dsm/__init__.py.
struct Memory {
  uint64_t address;
  size_t size;
};

weir_dsm_attributes attributes_of(const py::dict& from, std::string& name) {
  weir_dsm_attributes to = {};
  if (from.contains("protocol"))
    to.protocol = static_cast<weir_dsm_protocol>(from["protocol"].cast<int>());
  if (from.contains("home")) to.home = static_cast<weir_dsm_home>(from["home"].cast<int>());
  if (from.contains("home_node")) to.home_node = from["home_node"].cast<unsigned>();
  if (from.contains("pages")) to.pages = from["pages"].cast<unsigned>();
  if (from.contains("name")) {
    name = from["name"].cast<std::string>();
    to.name = name.c_str();
  }
  return to;
}

uint64_t allocate(size_t size, const py::dict& from) {
  expect_running();
  std::string name;
  const weir_dsm_attributes attributes = attributes_of(from, name);
  const Released released;
  return reinterpret_cast<uint64_t>(weir_dsm_alloc_with(size, &attributes));
}

void* memory_at(uint64_t address) { return reinterpret_cast<void*>(address); }

void lock(uint32_t number, bool with_tape) {
  expect_running();
  if (held_locks.count(number))
    throw std::runtime_error("this thread holds lock " + std::to_string(number) + " already");
  {
    const Released released;
    with_tape ? weir_dsm_lock_auto(number) : weir_dsm_lock(number);
  }
  held_locks.insert(number);
}

bool trylock(uint32_t number) {
  expect_running();
  if (held_locks.count(number)) return false;
  bool has_it;
  {
    const Released released;
    has_it = weir_dsm_trylock(number) != 0;
  }
  if (has_it) held_locks.insert(number);
  return has_it;
}

void unlock(uint32_t number) {
  expect_running();
  if (held_locks.erase(number) == 0)
    throw std::runtime_error("this thread does not hold lock " + std::to_string(number));
  const Released released;
  weir_dsm_unlock(number);
}

void barrier(uint32_t number, int replay) {
  expect_running();
  expect_no_lock("a barrier");
  if (number > 0xfffdffff) throw std::invalid_argument("numbers of barriers go up to 0xfffdffff");
  const Released released;
  replay < 0 ? weir_dsm_barrier(number)
             : weir_dsm_barrier_replay(number, static_cast<weir_dsm_pattern>(replay));
}

void wait(uint32_t condition, uint32_t number) {
  expect_running();
  if (!held_locks.count(number))
    throw std::runtime_error("a wait for condition " + std::to_string(condition) + " needs lock " +
                             std::to_string(number) + ", which is not held");
  const Released released;
  weir_dsm_wait(condition, number);
}

// Reduces in place, by as many calls as are needed.
template <typename Element, typename Reduce>
void reduce(const py::buffer& values, int operation, Reduce one) {
  expect_running();
  expect_no_lock("a reduction");
  const py::buffer_info about = values.request(true);
  auto* at = static_cast<Element*>(about.ptr);
  auto left = static_cast<size_t>(about.size);
  const Released released;
  for (; left > 0; at += std::min(left, kMaxReduced), left -= std::min(left, kMaxReduced))
    one(at, std::min(left, kMaxReduced), static_cast<weir_dsm_operation>(operation));
}

// What node `from` has; of the other nodes only the call counts.
py::bytes broadcast(const py::bytes& of_sender, unsigned from) {
  expect_running();
  expect_no_lock("a broadcast");
  if (from >= weir_dsm_nodes())
    throw std::invalid_argument("there is no node " + std::to_string(from) + " of " +
                                std::to_string(weir_dsm_nodes()));
  std::string data = of_sender;
  {
    const Released released;
    uint64_t size = data.size();
    weir_dsm_share(&size, sizeof size, from);
    data.resize(size);
    for (size_t at = 0; at < size; at += kMaxShared)
      weir_dsm_share(data.data() + at, std::min(kMaxShared, size - at), from);
  }
  return py::bytes(data);
}

// An exception of a worker ends the job, as the others would wait for it for ever.
void run(const py::function& body, const py::function& on_error) {
  expect_running();
  expect_no_lock("weir_dsm.run()");
  struct Context {
    const py::function &body, &on_error;
  } context{body, on_error};
  const Released released;
  weir_dsm_run(
      [](unsigned worker, unsigned workers, void* with) {
        const auto& to = *static_cast<Context*>(with);
        const py::gil_scoped_acquire acquired;
        try {
          to.body(worker, workers);
        } catch (py::error_already_set& error) {
          to.on_error(error.type(), error.value(), error.trace());
        }
      },
      &context);
}

py::dict counters(bool total) {
  expect_running();
  weir_dsm_counters now = {};
  {
    const Released released;
    total ? weir_dsm_counters_total(&now) : weir_dsm_counters_get(&now);
  }
  py::dict result;
  const std::pair<const char*, uint64_t> all[] = {{"read_faults", now.read_faults},
                                                  {"write_faults", now.write_faults},
                                                  {"misses", now.misses},
                                                  {"messages_locks", now.messages[0]},
                                                  {"messages_barriers", now.messages[1]},
                                                  {"messages_flushes", now.messages[2]},
                                                  {"messages_data", now.messages[3]},
                                                  {"bytes", now.bytes},
                                                  {"diffs_made", now.diffs_made},
                                                  {"diffs_applied", now.diffs_applied},
                                                  {"updates_sent", now.updates_sent},
                                                  {"updates_received", now.updates_received},
                                                  {"updates_used", now.updates_used},
                                                  {"lock_pages", now.lock_pages},
                                                  {"lock_nanoseconds", now.lock_nanoseconds},
                                                  {"barrier_nanoseconds", now.barrier_nanoseconds},
                                                  {"miss_nanoseconds", now.miss_nanoseconds},
                                                  {"memory", now.memory}};
  for (const auto& [name, value] : all) result[name] = value;
  return result;
}

// A function without arguments, between start and finish.
template <void (*call)()>
void plain() {
  expect_running();
  const Released released;
  call();
}

template <void (*call)(uint32_t)>
void numbered(uint32_t number) {
  expect_running();
  const Released released;
  call(number);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  py::class_<Memory>(module, "Memory", py::buffer_protocol())
      .def(py::init([](uint64_t address, size_t size) {
        expect_running();
        return Memory{address, size};
      }))
      .def_readonly("address", &Memory::address)
      .def_readonly("size", &Memory::size)
      .def_buffer([](const Memory& memory) {
        if (g_state == State::kAfter)
          throw py::buffer_error("weir_dsm.finish() has been called: there is no shared memory");
        return py::buffer_info(static_cast<uint8_t*>(memory_at(memory.address)),
                               static_cast<py::ssize_t>(memory.size));
      });
  module.def("start", start);
  module.def("finish", finish);
  module.def("is_running", [] { return g_state == State::kRunning; });
  module.def("abort", [](int status, const std::string& why) {
    expect_running();
    weir_dsm_abort(status, why.c_str());
  });
  module.def("node", [] { return expect_running(), weir_dsm_node(); });
  module.def("nodes", [] { return expect_running(), weir_dsm_nodes(); });
  module.def("threads", [] { return expect_running(), weir_dsm_threads(); });
  module.def("run", run);
  module.def("allocate", allocate);
  module.def("free", [](uint64_t address) {
    expect_running();
    const Released released;
    weir_dsm_free(memory_at(address));
  });
  module.def("touch", [](uint64_t address, size_t size, bool write) {
    expect_running();
    const Released released;
    weir_dsm_touch(memory_at(address), size, write);
  });
  module.def("lock", lock);
  module.def("trylock", trylock);
  module.def("unlock", unlock);
  module.def("barrier", barrier);
  module.def("wait", wait);
  module.def("signal", numbered<weir_dsm_signal>);
  module.def("broadcast_condition", numbered<weir_dsm_broadcast>);
  module.def("post", numbered<weir_dsm_semaphore_post>);
  module.def("take", numbered<weir_dsm_semaphore_wait>);
  module.def("reduce_double", [](const py::buffer& values, int operation) {
    reduce<double>(values, operation, weir_dsm_reduce_double);
  });
  module.def("reduce_int64", [](const py::buffer& values, int operation) {
    reduce<int64_t>(values, operation, weir_dsm_reduce_int64);
  });
  module.def("broadcast", broadcast);
  module.def("produce_start", plain<weir_dsm_produce_start>);
  module.def("produce_end", plain<weir_dsm_produce_end>);
  module.def("flush_start", plain<weir_dsm_flush_start>);
  module.def("flush_end", plain<weir_dsm_flush_end>);
  module.def("counters", counters);
  module.def("counters_reset", plain<weir_dsm_counters_reset>);
  module.def("checkpoint", [](const std::string& directory, uint64_t root) {
    expect_running();
    expect_no_lock("a checkpoint");
    const Released released;
    return weir_dsm_checkpoint(directory.c_str(), memory_at(root));
  });
  module.def("restart", [](const std::string& directory) {
    expect_running();
    const Released released;
    return reinterpret_cast<uint64_t>(weir_dsm_restart(directory.c_str()));
  });
}
