#include "dsm/commands/launch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsm/commands/explain.h"

namespace weir::dsm {
namespace {

Host host_with(std::initializer_list<const char*> launchers) {
  Host host;
  host.processors = 4;
  for (const char* name : launchers) host.launchers[name] = std::string("/usr/bin/") + name;
  return host;
}

Wish wish_of(unsigned nodes) {
  Wish wish;
  wish.nodes = nodes;
  wish.command = {"/tmp/prog", "1000"};
  return wish;
}

Host host_with_mpich() {
  Host host = host_with({"mpirun.mpich"});
  host.environment["UCX_TLS"] = "tcp";
  return host;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(DsmLaunch, TheProgramsOwnMpiStartsIt) {
  const Host host = host_with({"mpirun.openmpi", "mpirun.mpich", "mpirun"});
  Wish wish = wish_of(2);
  EXPECT_EQ(plan_launch(wish, host).words[0], "/usr/bin/mpirun.openmpi");
  wish.program = Mpi::kMpich;
  EXPECT_EQ(plan_launch(wish, host).words[0], "/usr/bin/mpirun.mpich");
  wish.mpi = "openmpi";
  EXPECT_NE(plan_launch(wish, host).error.find("linked with MPICH"), std::string::npos);
  wish.program = Mpi::kOpenMpi;
  EXPECT_EQ(plan_launch(wish, host).error, "");
  wish.mpi = "mpich";
  EXPECT_NE(plan_launch(wish, host).error.find("linked with Open MPI"), std::string::npos);
}

TEST(DsmLaunch, RootAndOversubscriptionAreAllowed) {
  Host host = host_with({"mpirun.openmpi"});
  host.is_root = true;
  const Launch launch = plan_launch(wish_of(9), host);
  EXPECT_EQ(launch.environment.at("OMPI_ALLOW_RUN_AS_ROOT"), "1");
  EXPECT_EQ(launch.environment.at("OMPI_MCA_rmaps_base_oversubscribe"), "1");
  EXPECT_EQ(launch.environment.at("PRTE_MCA_rmaps_default_mapping_policy"), ":oversubscribe");
  ASSERT_EQ(launch.notes.size(), 1u);
  EXPECT_NE(launch.notes[0].find("9 nodes share 4 processors"), std::string::npos);
  host.is_root = false;
  EXPECT_EQ(plan_launch(wish_of(4), host).environment.count("OMPI_ALLOW_RUN_AS_ROOT"), 0u);
  EXPECT_TRUE(plan_launch(wish_of(4), host).notes.empty());
}

TEST(DsmLaunch, OtherHostsGetTheVariables) {
  Host host = host_with({"mpirun.openmpi"});
  host.environment["UCX_TLS"] = "tcp";
  Wish wish = wish_of(2);
  EXPECT_FALSE(has(plan_launch(wish, host).words, "-x"));
  wish.hosts = "one,two";
  const Launch launch = plan_launch(wish, host);
  EXPECT_TRUE(has(launch.words, "-x") && has(launch.words, "UCX_TLS"));
  EXPECT_TRUE(has(launch.words, "one,two"));
  const Launch by_mpich = plan_launch(wish, host_with_mpich());
  const auto at = std::find(by_mpich.words.begin(), by_mpich.words.end(), "-genv");
  ASSERT_GT(by_mpich.words.end() - at, 2);
  EXPECT_EQ(at[1], "UCX_TLS");
  EXPECT_EQ(at[2], "tcp");
}

TEST(DsmLaunch, SlurmStartsWhatIsInAnAllocation) {
  Host host = host_with({"srun", "mpirun.openmpi"});
  EXPECT_EQ(plan_launch(wish_of(2), host).words[0], "/usr/bin/mpirun.openmpi");
  host.in_slurm = true;
  const Launch launch = plan_launch(wish_of(2), host);
  EXPECT_EQ(launch.words, (std::vector<std::string>{"/usr/bin/srun", "-n", "2", "--mpi=pmix",
                                                    "--export=ALL", "/tmp/prog", "1000"}));
}

TEST(DsmLaunch, MpichWithoutANameOfTheMachine) {
  Host host = host_with({"mpirun.mpich"});
  EXPECT_EQ(plan_launch(wish_of(2), host).environment.count("HYDRA_IFACE"), 0u);
  host.has_name = false;
  EXPECT_EQ(plan_launch(wish_of(2), host).environment.at("HYDRA_IFACE"), "lo");
}

TEST(DsmLaunch, WithoutALauncherThereIsOneNode) {
  EXPECT_EQ(plan_launch(wish_of(1), host_with({})).words,
            (std::vector<std::string>{"/tmp/prog", "1000"}));
  EXPECT_NE(plan_launch(wish_of(2), host_with({})).error.find("openmpi-bin"), std::string::npos);
  Wish wish = wish_of(2);
  wish.mpi = "none";
  EXPECT_NE(plan_launch(wish, host_with({"mpirun"})).error.find("one node"), std::string::npos);
}

TEST(DsmExplain, NamesTheCause) {
  const auto text = [](const std::string& said, uint64_t shm = 1ull << 34) {
    std::string all;
    for (const std::string& line : explain_failure(said, shm)) all += line + "\n";
    return all;
  };
  EXPECT_EQ(text("hello\nweir-dsm: node 1: lock 5 is unlocked by"), "");
  EXPECT_NE(text("./p: error while loading shared libraries: libucp.so.0: cannot open")
                .find("Install libucx0"),
            std::string::npos);
  EXPECT_NE(text("There are not enough slots available in the system").find("slots=N"),
            std::string::npos);
  EXPECT_NE(text("mpirun has detected an attempt to run as root.").find("refuses root"),
            std::string::npos);
  EXPECT_NE(text("Bus error", 64 << 20).find("--shm-size=1g"), std::string::npos);
  EXPECT_NE(text("No space left on device", 0).find("no /dev/shm"), std::string::npos);
  EXPECT_EQ(text("Bus error"), "");  // of a machine with room it tells nothing
  EXPECT_NE(text("ssh: Could not resolve hostname two").find("ssh HOST true"), std::string::npos);
}

TEST(DsmExplain, NamesWhatTheLoaderLacks) {
  const auto lines = explain_missing(
      "\tlibweir-dsm.so.0 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n"
      "\tlibmpi.so.40 => not found\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("LD_LIBRARY_PATH"), std::string::npos);
  EXPECT_NE(lines[1].find("Install libopenmpi3"), std::string::npos);
}

}  // namespace
}  // namespace weir::dsm
