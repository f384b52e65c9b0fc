#!/usr/bin/env bash
# What a program may get wrong: it ends with 125 and says what and where; alone, and for what takes several nodes, under both MPIs within seconds, with nobody left.
# usage: misuse.sh BUILD
set -uo pipefail

build=$(realpath "$1") program=$(realpath "$1")/bin/dsm_misuse
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

said() { grep -qE "^weir-dsm: $2" out || bad "$1: not said: $2"; }

# alone WHAT PATTERN [COMMAND...]
alone() {
  local what=$1 pattern=$2 status
  shift 2
  timeout 20 "$@" "$program" "$what" > out 2>&1
  status=$?
  [ "$status" = 125 ] || bad "$what: status $status"
  said "$what" "$pattern"
}

timeout 20 "$program" nothing > out 2>&1 && grep -q '^well$' out || bad "nothing"
alone unlock 'node 0: lock 5 is unlocked by a thread that does not hold it'
alone unlock-twice 'node 0: lock 5 is unlocked by a thread that does not hold it'
alone unlock-other 'node 0: lock 5 is unlocked by a thread that does not hold it'
alone thread-ends 'node 0: a thread ends while it holds lock 5'
alone thread-exits 'node 0: a thread ends while it holds lock 5'
alone thread-cancelled 'node 0: a thread ends while it holds lock 5'
alone stack 'node 0: a stack in shared memory .*: a fault on it would find no stack; use memory of your own'
alone alternate-stack 'node 0: a stack in shared memory'
alone lock-twice 'node 0: lock 5 is locked by a thread that holds it'
alone trylock-twice 'node 0: lock 5 is locked by a thread that holds it'
alone wait 'node 0: a wait for condition 2 without lock 5'
alone wait-other-lock 'node 0: a wait for condition 2 without lock 5'
alone barrier-number 'node 0: there is no barrier 4294901761: numbers go up to 4294836223'
alone reduce 'node 0: a reduction of 1025 elements; at most 1024 are possible'
alone reduce-operation 'node 0: a reduction by operation 7, which does not exist'
alone share 'node 0: weir_dsm_share of 70000 bytes; at most 65536 are possible'
alone share-from 'node 0: weir_dsm_share: there is no node 1000'
alone alloc-all 'node 0: no room for 18446744073709551615 bytes in the shared segment of 68719476736; make it larger by WEIR_DSM_SIZE'
alone alloc-more 'node 0: no room for 69793218560 bytes in the shared segment of 68719476736'
alone alloc-protocol 'node 0: weir_dsm_alloc_with: attributes that do not exist'
alone alloc-home 'node 0: weir_dsm_alloc_with: there is no node 1000'
alone free-stack 'node 0: weir_dsm_free of 0x[0-9a-f]+, which is no shared memory'
alone free-middle 'node 0: weir_dsm_free of 0x[0-9a-f]+, where no allocation begins, or which was freed before'
alone free-twice 'node 0: weir_dsm_free of 0x[0-9a-f]+, where no allocation begins, or which was freed before'
alone freed 'node 0: read of 0x[0-9a-f]+ in memory allocated at (misuse.cc:[0-9]+( in .+)?|dsm_misuse.0x[0-9a-f]+), which was freed'
alone outside 'node 0: write of 0x[0-9a-f]+, which is shared memory that nobody has allocated'
alone behind 'node 0: write of 0x[0-9a-f]+, which is shared memory that nobody has allocated'
alone announce 'node 0: an access of 0x[0-9a-f]+ is announced, which is no shared memory'
alone touch-outside 'node 0: weir_dsm_touch of 4 bytes at 0x[0-9a-f]+: at 0x[0-9a-f]+ is no shared memory that is allocated'
alone touch-behind 'node 0: weir_dsm_touch of 1073741824 bytes at 0x[0-9a-f]+: at 0x[0-9a-f]+ is no shared memory that is allocated'
alone touch-wraps 'node 0: weir_dsm_touch of 18446744073709551615 bytes at 0x'
alone forgotten-write 'node 0: write of 0x[0-9a-f]+ in forces, which is ANNOTATED, and no weir_dsm_write_access has announced it'
alone forgotten-read 'node 0: read of 0x[0-9a-f]+ in forces, which is ANNOTATED, and no weir_dsm_read_access has announced it'
alone announced-read-only 'node 0: write of 0x[0-9a-f]+ in forces, which is ANNOTATED, and no weir_dsm_write_access has announced it'
alone region 'node 0: weir_dsm_region_attach: there is no region 77'
alone finish-locked 'node 0: weir_dsm_finish while lock 5 is held'
alone start 'node 0: weir_dsm_start a second time'
alone before 'a call before weir_dsm_start'
alone after 'node 0: a call after weir_dsm_finish'
alone after-access 'node 0: read of 0x[0-9a-f]+, which was shared memory until weir_dsm_finish'
alone after-stream 'node 0: a system call on 0x[0-9a-f]+, which was shared memory until weir_dsm_finish'
alone after-thread 'node 0: a call after weir_dsm_finish'
alone start-again 'node 0: weir_dsm_start after weir_dsm_finish'
alone worker-barriers 'node 0: node 0 waits at barrier [01] while another thread of node 0 waits at barrier [01]' env WEIR_DSM_THREADS=2
alone worker-ends 'node 0: worker 0 of node 0 waits at barrier 8, and worker 1 has ended without it' env WEIR_DSM_THREADS=2
alone worker-ends-late 'node 0: worker 0 of node 0 waits at barrier 8, and worker 1 has ended without it' env WEIR_DSM_THREADS=2
alone worker-locks 'node 0: worker 1 ends while it holds lock 5' env WEIR_DSM_THREADS=2
alone worker-runs 'node 0: weir_dsm_run inside weir_dsm_run' env WEIR_DSM_THREADS=2
alone worker-finishes 'node 0: weir_dsm_finish inside weir_dsm_run' env WEIR_DSM_THREADS=2
alone stranger 'node 0: a barrier, inside weir_dsm_run, by a thread that weir_dsm_run has not started'
alone nothing 'WEIR_DSM_SIZE=4X: a number from 1048576 to [0-9]+ is wanted' env WEIR_DSM_SIZE=4X
alone nothing 'WEIR_DSM_PROTOCOL=rc: one of sc, lrc, hlrc is wanted' env WEIR_DSM_PROTOCOL=rc
alone nothing 'there is no setting WEIR_DSM_PROTOCL; WEIR_DSM_PROTOCOL is one' env WEIR_DSM_PROTOCL=hlrc
alone nothing 'there is no setting WEIR_DSM_TAPSE; WEIR_DSM_TAPES is one' env WEIR_DSM_TAPSE=auto
alone nothing 'there is no setting WEIR_DSM_STAT; WEIR_DSM_STATS is one' env WEIR_DSM_STAT=1
alone nothing 'there is no setting WEIR_DSM_BANDWIDTH; docs/guide/dsm-settings.md lists them' env WEIR_DSM_BANDWIDTH=1
# Too little memory.
alone nothing '.*no address space for the shared segment, twice 68719476736 bytes .*ulimit -v' bash -c 'ulimit -v 8000000; exec "$@"' -
alone nothing '.*no shared memory of 68719476736 bytes: a file may have 1073741824 \(ulimit -f\)' bash -c 'ulimit -f 1048576; exec "$@"' -
alone no-memory 'node 0: no memory' env MALLOC_ARENA_MAX=1
# A fault that is the program's own is its own.
for what in null constant; do
  timeout 20 "$program" $what > out 2>&1
  status=$?
  [ "$status" = 139 ] || bad "$what: status $status"
  ! grep -q '^weir-dsm' out || bad "$what: it is no fault of shared memory"
done

# job WHAT PATTERN COMMAND...: 125 (MPICH's launcher mixes what all end with), the pattern once at least, within 10 s, and nobody left
job() {
  local what=$1 pattern=$2 status start=$SECONDS
  shift 2
  timeout -k 5 30 "$@" > out 2>&1
  status=$?
  [ "$status" = 125 ] || { [[ "$*" = *mpich* ]] && [ "$status" != 0 ] && [ "$status" != 124 ]; } || loses_status "$*" "$status" || bad "$1 $what: status $status"
  [ $((SECONDS - start)) -le 10 ] || bad "$1 $what: it took $((SECONDS - start)) s"
  said "$1 $what" "$pattern"
  for _ in $(seq 30); do
    [ -z "$(left dsm_misuse)" ] && return
    sleep 0.1
  done
  bad "$1 $what: left: $(left dsm_misuse)"
}

# first SETTING COMMAND...: of a job's processes the first has it. (Not `mpirun A : B`: with that Open MPI 5.0.7's launcher crashes.)
first=(bash -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != 0 ] || export "$1"; shift; exec "$@"' first)

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  three=("$mpirun" -n 3 "$program")
  job unlock 'node 2: lock 5 is unlocked by a thread that does not hold it' "${three[@]}" unlock
  job process-mutex 'node 2: a mutex for several processes in shared memory \(0x[0-9a-f]+\) orders nothing between nodes; use weir_dsm_lock' "${three[@]}" process-mutex
  job process-barrier 'node 2: a barrier for several processes in shared memory .*; use weir_dsm_barrier' "${three[@]}" process-barrier
  job process-semaphore 'node 2: a semaphore for several processes in shared memory .*; use weir_dsm_semaphore_post' "${three[@]}" process-semaphore
  job another-barrier 'node [0-2]: node [0-2] waits at barrier (3|90) while node [0-2] waits at barrier (3|90)' "${three[@]}" another-barrier
  job finish 'node [0-2]: node [0-2] waits at .*(barrier 90|the end \(weir_dsm_finish\)) while node [0-2] waits at (barrier 90|the end)' "${three[@]}" finish
  job return 'node 2: the program ended \(exit status 0\) before weir_dsm_finish' "${three[@]}" return
  job condition-locks 'node [0-2]: node [0-2] waits for condition 2 with lock [56], while node [0-2] waits for it with lock [56]' "${three[@]}" condition-locks
  job reductions 'node [0-2]: node [0-2] waits at a reduction \((sum|maximum) of 3 integers\) while node [0-2] waits at a reduction' "${three[@]}" reductions
  job reduction-types 'node [0-2]: node [0-2] waits at a reduction \(sum of 3 .*\) while node' "${three[@]}" reduction-types
  job share-sizes 'node 2: weir_dsm_share of 5 bytes, while node 0 shares 6' "${three[@]}" share-sizes
  job vector-sizes 'node 2: an array of 1001 elements of 4 bytes, while node 0 has 1000 of 4' "${three[@]}" vector-sizes
  job vector-elements 'node 2: an array of 1000 elements of 4 bytes, while node 0 has 1000 of 8' "${three[@]}" vector-elements
  job freed-elsewhere 'node 2: write of 0x[0-9a-f]+ in grid, which was freed' "${three[@]}" freed-elsewhere
  job worker-ends 'node 2: worker 4 of node 2 waits at barrier 8, and worker 5 has ended without it' env WEIR_DSM_THREADS=2 "${three[@]}" worker-ends
  job region-threads 'node 2: two threads of this node use region [0-9]+ under sc at once, and one writes: they share the pointers' env WEIR_DSM_THREADS=2 "${three[@]}" region-threads
  job worker-shares 'node 2: a thread comes to weir_dsm_share while another of node 2 is in' env WEIR_DSM_THREADS=2 "${three[@]}" worker-shares
  job strangers 'node 2: a thread comes to barrier 8 while another of node 2 is in' "${three[@]}" strangers
  # MPICH's launcher does not end a job whose processes are still in MPI_Init (docs/LIMITS.md).
  [ "${mpirun##*.}" = mpich ] || job before 'a call before weir_dsm_start' "${three[@]}" before
  job sizes 'node [01]: nodes differ: this one has WEIR_DSM_SIZE=[0-9]+, node [01] has WEIR_DSM_SIZE=[0-9]+' \
    "$mpirun" -n 2 "${first[@]}" WEIR_DSM_SIZE=1G "$program" nothing
  # The same library with another build id.
  id=$(readelf -n "$build/lib/libweir-dsm.so" | sed -n 's/^ *Build ID: //p')
  python3 - "$build/lib/libweir-dsm.so" "$id" <<'END'
import sys
path, id = sys.argv[1], bytes.fromhex(sys.argv[2])
open("libweir-dsm.so.0", "wb").write(open(path, "rb").read().replace(id, id[::-1]))
END
  ln -sf "$build"/lib/libweir-dsm-*.so .
  job builds 'node [01]: nodes differ: this one has libweir-dsm [0-9.]+ \(build [0-9a-f]{40}\), node [01] has libweir-dsm [0-9.]+ \(build [0-9a-f]{40}\)' \
    "$mpirun" -n 2 "${first[@]}" LD_PRELOAD="$work/libweir-dsm.so.0" "$program" nothing
  timeout -k 5 30 "${three[@]}" null > out 2>&1 && ! loses_status "$mpirun" 0 && bad "$mpirun null: status 0"
  said "$mpirun null" 'node [01] ends because node 2 \(.*, process [0-9]+\) died'
  timeout -k 5 30 "${three[@]}" nothing > out 2>&1 && grep -q '^well$' out || bad "$mpirun nothing"
done
[ "$failed" = 0 ] && echo "misuse: well"
exit "$failed"
