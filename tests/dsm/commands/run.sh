#!/usr/bin/env bash
# weir-dsm-run: it starts a program by each launcher that is here, and says what is wrong where nothing starts.
# usage: run.sh BUILD
set -uo pipefail
here=$(realpath "$(dirname "$0")") build=$(realpath "$1")
# shellcheck source=tests/dsm/launchers.sh
. "$here/../launchers.sh"
# What it sets itself must not be set already.
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy HYDRA_IFACE
run=$build/bin/weir-dsm-run program=$build/bin/dsm_cxx

# says STATUS PATTERN ARGUMENTS...: of weir-dsm-run, within a minute.
says() {
  local expected=$1 pattern=$2 status
  shift 2
  timeout -k 5 60 "$run" "$@" > out 2>&1
  status=$?
  [ "$status" = "$expected" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" out; } || bad "$*: status $status, no \"$pattern\""
}

says 0 '^cxx: 1 nodes: well$' "$program"
says 0 '^cxx: 9 nodes: well$' -n 9 "$program"
says 0 '9 nodes share .* processors' -n 9 "$program"
says 0 '^cxx: 3 nodes: well$' -n 3 --mpi openmpi --protocol hlrc --tapes auto -- "$program"
says 0 '^cxx: 3 nodes: well$' -n 3 --mpi mpich --threads 2 --set WEIR_DSM_SIZE=1G "$program"
says 0 'WEIR_DSM_PROTOCOL=sc .*mpirun.openmpi -n 4 .*dsm_cxx -x --dry' -n 4 --dry-run --protocol sc "$program" -x --dry
printf '#!/bin/sh\nexit 3\n' > three && chmod +x three
says 3 '' ./three
printf 'echo "argument $1" >&2\n' > script
says 0 '^argument 7$' --mpi none --interpreter /bin/sh ./script 7

# What is wrong before anything starts.
says 125 'nothing does not exist' ./nothing
says 125 'there is no command three (a program here is ./three)' three
touch text && says 125 'text is not executable' ./text
says 2 '--nodse: is no option' --nodse 3 "$program"
says 2 'PROGRAM: is missing' -n 3
says 2 'NAME=VALUE' --set x "$program"
says 125 'starts one node' -n 2 --mpi none "$program"
says 2 '' --protocol fast "$program"
cat > needs.c <<'EOF'
extern int missing(void);
int main(void) { return missing(); }
EOF
echo 'int missing(void) { return 0; }' > library.c
gcc -shared -fPIC library.c -Wl,-soname,libweir-other.so -o libmissing.so && gcc needs.c -o needs -L. -lmissing && rm libmissing.so
says 125 'libweir-other.so is not found: set LD_LIBRARY_PATH' ./needs
# Some linkers put the build's hash, which ends by no zero, right before the loader's name.
python3 - needs needs_hash <<'EOF'
import sys
program = bytearray(open(sys.argv[1], "rb").read())
program[program.find(b"/lib64/ld-linux") - 1] = 0x34
open(sys.argv[2], "wb").write(program)
EOF
chmod +x needs_hash
says 125 'libweir-other.so is not found: set LD_LIBRARY_PATH' ./needs_hash

# A program of one MPI never runs under the other's launcher.
printf 'int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n' > mpi.c
mpicc.mpich mpi.c -o of_mpich && mpicc.openmpi mpi.c -o of_openmpi
says 125 'is linked with MPICH' -n 2 --mpi openmpi ./of_mpich
says 125 'is linked with Open MPI' -n 2 --mpi mpich ./of_openmpi
says 0 'mpirun.mpich -n 2' -n 2 --dry-run ./of_mpich
says 0 'mpirun.openmpi -n 2' -n 2 --dry-run ./of_openmpi

# What a failed run has said, explained after it.
printf '#!/bin/sh\necho "./p: error while loading shared libraries: libmpich.so.12: cannot open shared object file" >&2\nexit 127\n' > fails
chmod +x fails
says 127 'weir-dsm-run: libmpich.so.12 is not found. Install libmpich12, on each host' --mpi none ./fails
says 127 '^./p: error' --mpi none -q ./fails
grep -q 'weir-dsm-run' out && bad "--quiet speaks"

# Slurm's words, by a command that shows them.
mkdir slurm && printf '#!/bin/sh\necho "srun $*"\n' > slurm/srun && chmod +x slurm/srun
PATH=$work/slurm:$PATH SLURM_JOB_ID=7 says 0 "^srun -n 5 --mpi=pmix --export=ALL .*dsm_cxx\$" -n 5 "$program"
PATH=$work/slurm:$PATH says 0 "^srun -n 5 -w a,b --mpi=pmi2 --export=ALL .*of_mpich\$" -n 5 --hosts a,b --mpi slurm ./of_mpich
printf '#!/bin/sh\necho begun >&2\nexec sleep 50\n' > sleeps && chmod +x sleeps
# What shells offer. offers EXPECTED WORD...: bash, for the last word.
offers() {
  local expected=$1 offered
  shift
  offered=$(bash -c 'source <("$1" --completion bash); shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _weir_dsm_run
    printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "' bash "$run" "$@")
  echo "$offered" > out
  [ "$offered" = "$expected" ] || bad "bash offers \"$offered\" for $*"
}
offers '--protocol' weir-dsm-run --pro
offers 'hlrc lrc sc' weir-dsm-run --protocol ''
offers 'hlrc' weir-dsm-run -n 4 --protocol h
offers 'sleeps' weir-dsm-run -n 4 sleeps
for command in run report; do
  "$build/bin/weir-dsm-$command" --completion zsh > zsh.text && zsh -n zsh.text || bad "zsh, $command"
  "$build/bin/weir-dsm-$command" --completion fish > fish.text && fish --no-execute fish.text || bad "fish, $command"
  "$build/bin/weir-dsm-$command" --completion bash | bash -n || bad "bash, $command"
done

# A signal ends the whole job, by each launcher, also nodes that do not hear it and what they have started.
cat > deaf <<'EOF'
#!/bin/bash
trap '' INT TERM HUP
echo "node 0: process $$" >&2
(sleep 51; :) &
echo "node 0: process $!" >&2
while :; do sleep 52; done
EOF
chmod +x deaf
# ended SIGNAL MPI PROGRAM NODES
ended() {
  local process
  "$run" --mpi "$2" -n "$4" "./$3" 2> out &
  local pid=$!
  for _ in $(seq 200); do [ "$(grep -cE 'begun|process' out)" -ge "$4" ] && break; sleep 0.05; done
  kill "-$1" $pid
  [ "$2 $3" = 'none deaf' ] && sleep 0.5 && kill "-$1" $pid  # the second one kills
  timeout 40 tail --pid=$pid -f /dev/null || bad "SIG$1 does not end a run by $2"
  wait $pid && bad "a run by $2 that was ended by SIG$1 ended well"
  [ "$(sed -n 's/^weir-dsm-run: //p' out | grep -v share)" = "the job was ended by SIG$1" ] || bad "SIG$1, $2: what weir-dsm-run says"
  for process in $(sed -n 's/^node 0: process //p' out); do
    [ -d "/proc/$process" ] && ! grep -q '^State:.Z' "/proc/$process/status" && bad "SIG$1, $2: process $process is left"
  done
}
for signal in INT TERM; do
  ended $signal openmpi sleeps 2
  ended $signal mpich sleeps 2
  ended $signal none sleeps 1
done
ended INT openmpi deaf 1
ended TERM none deaf 1

# A process that a program leaves in the background, with stderr open, does not keep the run from ending, and is heard.
printf '#!/bin/sh\n(sleep 3; echo later >&2) &\necho process $! >&2\nexit 4\n' > leaves && chmod +x leaves
started=$SECONDS
"$run" --mpi none ./leaves 2> out
[ $? = 4 ] && [ $((SECONDS - started)) -lt 3 ] || bad "a process of the background keeps the run"
for _ in $(seq 100); do grep -q later out && break; sleep 0.1; done
grep -q later out || bad "what a process of the background says is lost"
exit "$failed"
