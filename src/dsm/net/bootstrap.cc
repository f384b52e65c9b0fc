// Which MPI, and is it the right one?
//
// Problem: a program that is linked with libweir-dsm only may be started by the mpirun of either
// MPI, by Slurm, or by hand. The process itself must find the MPI library that understands the
// launcher. Taking the wrong one does not fail: every process then believes that it is alone, and
// computes everything.
//
// Mechanism: launchers leave variables in the environment. Open MPI: OMPI_COMM_WORLD_SIZE. MPICH
// and its relatives (Hydra, Slurm's pmi2): PMI_RANK and PMI_SIZE. PMIx (PMIX_RANK, set by `srun
// --mpi=pmix` and by Open MPI's own launcher) is taken for Open MPI's, because distributions build
// that with PMIx and MPICH with PMI; WEIR_DSM_MPI=mpich says otherwise. If Slurm left none of them,
// it started processes that cannot find each other: an error. A program that has loaded an MPI
// itself has decided, whatever the launcher is; that MPI's MPI_Get_library_version works even
// before its initialization.
//
// Invariants:
//   1. If the launcher says how many processes there are and MPI counts otherwise, the job ends
//      with a message that says which MPI does not fit. (checked in start_bootstrap)
//   2. No launcher and no MPI in the program: nothing of MPI is loaded. (not checkable: nothing
//      that could check is loaded then)
//   3. The module is loaded for good: MPI libraries do not survive being unloaded. (not checkable:
//      no call unloads it)
#include "dsm/net/bootstrap.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "dsm/base/failure.h"
#include "dsm/net/liveness.h"
#include "dsm/net/mpi.h"

namespace weir::dsm {
namespace {

class Alone final : public Bootstrap {
 public:
  NodeId node() const override { return 0; }
  NodeId nodes() const override { return 1; }
  std::vector<std::vector<uint8_t>> allgather(std::span<const uint8_t> mine) override {
    return {{mine.begin(), mine.end()}};
  }
  void barrier() override {}
  void abort(int status) override { _exit(status); }
  void finish() override {}
};

// Of a job that has finished: MPI may be the program's to finalize.
struct Left {
  const weir_dsm_mpi_functions* mpi;
  NodeId node;
  pid_t process;
};
Left g_left{};

// Open MPI's launcher says it, and MPICH's does not: the job would end as if all were well.
void say_left(int, void*) {
  if (!g_left.mpi || getpid() != g_left.process || !g_left.mpi->is_left()) return;
  char text[160];
  snprintf(text, sizeof text,
           "node %u: the program has called MPI_Init and ends without MPI_Finalize", g_left.node);
  print_line(text);
}

// Before what the program registers, hence called after it.
__attribute__((constructor)) void register_say_left() { on_exit(say_left, nullptr); }

class Mpi final : public Bootstrap {
 public:
  Mpi(const weir_dsm_mpi_functions& mpi, bool has_launcher, int* argc, char*** argv)
      : mpi_(mpi), has_launcher_(has_launcher) {
    check(mpi_.start(argc, argv), "MPI's initialization");
    node_ = static_cast<NodeId>(mpi_.node());
    nodes_ = static_cast<NodeId>(mpi_.nodes());
  }
  NodeId node() const override { return node_; }
  NodeId nodes() const override { return nodes_; }
  bool has_launcher() const override { return has_launcher_; }

  std::vector<std::vector<uint8_t>> allgather(std::span<const uint8_t> mine) override {
    const auto size = static_cast<uint32_t>(mine.size());
    std::vector<uint32_t> sizes(nodes_);
    check(mpi_.allgather(&size, sizes.data(), sizeof size), "MPI_Iallgather");
    const size_t most = *std::max_element(sizes.begin(), sizes.end());
    std::vector<uint8_t> padded(mine.begin(), mine.end());
    padded.resize(most);
    std::vector<uint8_t> all(most * nodes_);
    if (most)
      check(mpi_.allgather(padded.data(), all.data(), static_cast<int>(most)), "MPI_Iallgather");
    std::vector<std::vector<uint8_t>> answer;
    for (NodeId node = 0; node < nodes_; node++)
      answer.emplace_back(all.begin() + node * most, all.begin() + node * most + sizes[node]);
    return answer;
  }
  void barrier() override { check(mpi_.barrier(), "MPI_Ibarrier"); }
  void abort(int status) override {
    mpi_.abort(status);
    _exit(status);
  }
  void finish() override {
    check(mpi_.finish(), "MPI_Finalize");
    if (nodes_ > 1) g_left = {&mpi_, node_, getpid()};
  }
  const char* name() const { return mpi_.name(); }

 private:
  void check(int code, const char* what) {
    if (code) fail("%s failed: %s", what, mpi_.error(code));
  }

  const weir_dsm_mpi_functions& mpi_;
  const bool has_launcher_;
  NodeId node_ = 0, nodes_ = 1;
};

unsigned number_in(const char* variable) {
  const char* text = getenv(variable);
  return text ? static_cast<unsigned>(strtoul(text, nullptr, 10)) : 0;
}

bool is_set(const char* variable) { return getenv(variable) != nullptr; }

// What the environment says.
struct Launcher {
  const char* mpi = nullptr;   // "openmpi", "mpich", null: none
  const char* name = nullptr;  // for messages
  unsigned nodes = 0;          // 0: does not say
};

Launcher read_launcher() {
  // One process of Open MPI's that no launcher of its own has started sets these variables itself:
  // then who has started more is the launcher.
  const bool is_set_by_itself = number_in("OMPI_COMM_WORLD_SIZE") == 1 && number_in("PMI_SIZE") > 1;
  if (is_set("OMPI_COMM_WORLD_SIZE") && !is_set_by_itself)
    return {"openmpi", "Open MPI's mpirun", number_in("OMPI_COMM_WORLD_SIZE")};
  // What Slurm says holds for its own steps: the variable is not there in a batch script itself.
  const unsigned slurm = number_in("SLURM_STEP_NUM_TASKS");
  if (is_set("PMIX_RANK") && !is_set_by_itself)
    return {"openmpi", slurm ? "srun (PMIx)" : "a PMIx launcher", slurm};
  if (is_set("PMI_RANK") || is_set("PMI_SIZE"))
    return {"mpich", slurm ? "srun (PMI)" : "MPICH's mpirun",
            std::max(number_in("PMI_SIZE"), slurm)};
  if (slurm > 1 && is_set("SLURM_PROCID")) return {nullptr, "srun", slurm};
  return {};
}

// As it was when this library was loaded, which mostly is before main: MPI_Init of a process that
// has no launcher of its own MPI's changes the environment.
const Launcher g_launcher_at_load = read_launcher();

Launcher find_launcher() { return g_launcher_at_load.name ? g_launcher_at_load : read_launcher(); }

// The MPI in the program; null: none.
const char* find_loaded_mpi() {
  const auto version =
      reinterpret_cast<int (*)(char*, int*)>(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"));
  if (!version) return nullptr;
  static char text[16384];  // MPI_MAX_LIBRARY_VERSION_STRING is 8192 at most in the two
  int length = 0;
  version(text, &length);
  if (strstr(text, "Open MPI")) return "openmpi";
  if (strstr(text, "MPICH") || strstr(text, "Intel(R) MPI") || strstr(text, "MVAPICH"))
    return "mpich";
  text[strcspn(text, "\n")] = 0;
  fail("the program has loaded an MPI that is neither Open MPI nor MPICH: %s", text);
}

std::string folder_of_this_library() {
  Dl_info where{};
  if (!dladdr(reinterpret_cast<void*>(&start_bootstrap), &where) || !where.dli_fname) return ".";
  const std::string path = where.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

const weir_dsm_mpi_functions& load_module(const std::string& mpi, const std::string& why) {
  const std::string file = "libweir-dsm-" + mpi + ".so", folder = folder_of_this_library();
  // The others: linked into a program in bin/, or bench/dsm/, of a build.
  const std::vector<std::string> places = {folder + "/" + file, folder + "/../lib/" + file,
                                           folder + "/../../lib/" + file};
  std::string tried;
  void* module = nullptr;
  for (const std::string& place : places) {
    if (access(place.c_str(), R_OK)) {
      tried += (tried.empty() ? "" : ", ") + place;
      continue;
    }
    // Open MPI's own plug-ins look for its symbols among the global ones.
    module = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!module)
      fail("%s, but the module for that MPI cannot be loaded (is the MPI installed here?): %s",
           why.c_str(), dlerror());
    break;
  }
  if (!module) fail("%s, but there is no module for that MPI: %s", why.c_str(), tried.c_str());
  const auto* table = static_cast<const weir_dsm_mpi_functions*>(dlsym(module, WEIR_DSM_MPI_TABLE));
  if (!table || table->version != WEIR_DSM_MPI_VERSION)
    fail("%s is not of the same build as libweir-dsm", file.c_str());
  return *table;
}

}  // namespace

std::unique_ptr<Bootstrap> start_bootstrap(int* argc, char*** argv) {
  const Launcher launcher = find_launcher();
  const char* wanted = getenv("WEIR_DSM_MPI");
  const char* loaded = find_loaded_mpi();
  std::string mpi, why;
  if (wanted && *wanted) {
    mpi = wanted;
    why = "WEIR_DSM_MPI is " + mpi;
    if (mpi != "openmpi" && mpi != "mpich" && mpi != "none")
      fail("WEIR_DSM_MPI is \"%s\"; it may be openmpi, mpich or none", wanted);
    if (loaded && mpi != loaded)
      fail("WEIR_DSM_MPI is %s, but the program has loaded %s", wanted, loaded);
    if (mpi == "none") mpi.clear();
  } else if (loaded) {
    mpi = loaded;
    why = "the program has loaded " + mpi;
  } else if (launcher.mpi) {
    mpi = launcher.mpi;
    why = std::string("started by ") + launcher.name;
  }
  if (mpi.empty()) {
    if (launcher.nodes > 1 && !wanted) {
      fail(
          "%s started %u processes without a way to find each other: it wants --mpi=pmix (Open "
          "MPI) or --mpi=pmi2 (MPICH)",
          launcher.name, launcher.nodes);
    }
    return std::make_unique<Alone>();
  }
  auto bootstrap =
      std::make_unique<Mpi>(load_module(mpi, why), launcher.name != nullptr, argc, argv);
  // Invariant 1 of bootstrap.cc.
  if (launcher.nodes && launcher.nodes != bootstrap->nodes()) {
    fail("%s started %u process%s, but %s counts %u: the program's MPI is not the launcher's (%s)",
         launcher.name, launcher.nodes, launcher.nodes == 1 ? "" : "es", bootstrap->name(),
         bootstrap->nodes(), why.c_str());
  }
  return bootstrap;
}

std::string build_of_this_library() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* to) {
        const auto here = reinterpret_cast<uint64_t>(&start_bootstrap);
        bool is_this = false;
        for (const auto* segment = object->dlpi_phdr;
             segment < object->dlpi_phdr + object->dlpi_phnum; segment++) {
          is_this |= segment->p_type == PT_LOAD &&
                     here - object->dlpi_addr - segment->p_vaddr < segment->p_memsz;
        }
        if (!is_this) return 0;
        for (const auto* segment = object->dlpi_phdr;
             segment < object->dlpi_phdr + object->dlpi_phnum; segment++) {
          if (segment->p_type != PT_NOTE) continue;
          const auto round_up = [&](uint64_t size) {
            return (size + segment->p_align - 1) / segment->p_align * segment->p_align;
          };
          const auto* at = reinterpret_cast<const uint8_t*>(object->dlpi_addr + segment->p_vaddr);
          for (const uint8_t* const end = at + segment->p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const uint8_t* id = at + sizeof *note + round_up(note->n_namesz);
            for (unsigned i = 0; note->n_type == NT_GNU_BUILD_ID && i < note->n_descsz; i++) {
              static_cast<std::string*>(to)->append(
                  {"0123456789abcdef"[id[i] >> 4], "0123456789abcdef"[id[i] & 15]});
            }
            at = id + round_up(note->n_descsz);
          }
        }
        return 1;
      },
      &found);
  return found.empty() ? "unknown" : found;
}

}  // namespace weir::dsm
