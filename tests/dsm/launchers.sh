# Sourced by the scripts here, with the name of their program: a folder of their own as the working directory, launchers that run anywhere,
# and how a script says what is wrong. What a run prints goes to the file "out".
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# On one machine: Open MPI 5 says much of networks that do not reach each other, and to look for fabrics takes 0.3 s of each run.
export OMPI_MCA_btl=^tcp,ofi
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # the same of Open MPI 5
# MPICH's launcher tells its proxies the name of this machine, and of a machine without a name nothing at all.
[ -n "$(uname -n)" ] || export HYDRA_IFACE=lo

bad() {
  echo "BAD${SEED:+ (SEED=$SEED)}: $*"
  sed 's/^/  | /' out | head -40
  failed=1
}

# left PROGRAM: processes of it that the run named ("node N: process P") and that are alive; zombies do not count: who waits for them is gone.
left() {
  local process
  for process in $(sed -n 's/^node [0-9]*: process \([0-9]*\)$/\1/p' out); do
    grep -q '^State:.[^ZX]' "/proc/$process/status" 2>/dev/null && tr '\0' ' ' < "/proc/$process/cmdline" | grep -q "$1" && echo "$process"
  done
}

# The launchers of both MPIs, or that of WEIR_TEST_MPI (CMakeLists.txt).
mpirun_of_each() {
  local launcher mpi=${WEIR_TEST_MPI-}
  for launcher in mpirun.openmpi mpirun.mpich; do
    [ -z "$mpi" ] || [ "$launcher" = "mpirun.$mpi" ] || continue
    command -v "$launcher" >/dev/null || { echo "$launcher is missing: tools/setup dsm" >&2; exit 1; }
    echo "$launcher"
  done
}

# loses_status LAUNCHER STATUS: whether it may have ended with 0 though a process failed, as MPICH 4.2's launcher does at
# times (pmodels/mpich issue 7057). Said, so that it is seen how often.
loses_status() {
  # (No pipe: grep -q would be gone before all is said, and pipefail take that for a failure.)
  [ "$2" = 0 ] && [[ $1 = *mpich* ]] && [[ $(mpirun.mpich --version) =~ Version:\ *4\.2\. ]] || return 1
  echo "$1 ended with 0 though a process had failed, as MPICH 4.2's launcher does at times"
}
