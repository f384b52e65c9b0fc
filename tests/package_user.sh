#!/usr/bin/env bash
# Run by tests/package_test.sh on a fresh machine, as an ordinary user with sudo: installs the packages of ~/packages, uses
# them without the source, removes them. usage: package_user.sh
set -euo pipefail
cd
rm -rf weir  # the clone: what is used here is what is installed
mkdir work
cd work
fail() { echo "package_user: $*" >&2; exit 1; }
quietly() { "$@" >log 2>&1 </dev/null || { tail -n 20 log >&2; fail "$*"; }; }
# is WHAT ANSWER EXPECTED
is() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; echo "right: $1"; }
apt_get() { quietly sudo env DEBIAN_FRONTEND=noninteractive apt-get "$@" -y --no-install-recommends; }
install_packages() {
  local name files=()
  for name; do files+=(~/packages/"$name"_*.deb); done
  apt_get install "${files[@]}"
}
files() { sudo find / -xdev \( -path /home -o -path /proc -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /tmp \) -prune -o -print | sort; }

apt_get update
apt_get install gcc g++ make cmake pkg-config man-db bash-completion openmpi-bin mpich libucx0 python3 python3-numpy zlib1g libbz2-1.0
files >before

# --- weir alone
install_packages weir
cat >race.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int counter;
static void *count(void *unused) {
  for (int i = 0; i < 1000; i++) counter++;
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\n", counter);
}
END
quietly gcc -g -O1 -pthread race.c -o race
first=$(weir det -- ./race)
is "weir det" "$(weir det -- ./race)" "$first"
first=$(weir record --quiet -- ./race)
is "weir replay" "$(weir replay)" "$first"
weir check --exit-code 9 -- ./race >out 2>report || [ $? = 9 ] || fail "weir check: $(cat report)"
grep -q 'race.c:5:' report && grep -q 'object: counter (int)' report || fail "weir check: $(cat report)"
echo "right: weir check"
is "weir-cc" "$(quietly weir-cc -g -O1 -pthread race.c -o known; weir-cc --weir-objects known | grep -c counter)" 1
for page in weir weir-det weir-record weir-check weir-cc weir-c++ weir.h; do
  { MANWIDTH=80 man "$page" >text 2>log && grep -q SYNOPSIS text; } || fail "man $page: $(cat log)"
done
echo "right: man"
is "completion" "$(bash --norc -c '
  source /usr/share/bash-completion/bash_completion
  if declare -F _comp_load >/dev/null; then _comp_load weir; else _completion_loader weir; fi
  COMP_WORDS=(weir rec) COMP_CWORD=1 COMP_LINE="weir rec" COMP_POINT=8
  _weir
  echo "${COMPREPLY[*]}"')" record
[ -f /usr/share/doc/weir/copyright ] && [ -f /usr/share/doc/weir/changelog.gz ] || fail "no copyright, or no changelog"
cat >active.c <<'END'
#include <stdio.h>
#include <weir/weir.h>
int main(void) { puts(weir_active() ? "under Weir" : "alone"); }
END
# shellcheck disable=SC2046
quietly gcc active.c -o active $(pkg-config --cflags --libs weir)
is "weir.h alone" "$(./active)" alone
is "weir.h under Weir" "$(weir det -- ./active)" "under Weir"

# --- the libraries
install_packages libweir-region-dev libweir-dsm-dev weir-bench
cat >region.c <<'END'
#include <stdio.h>
#include <weir/region.h>
static volatile int traps;
static void on_trap(weir_region_trap *trap) {
  traps++;
  weir_region_protect(trap->start, PROT_READ | PROT_WRITE);
}
static long *volatile cell;
int main(void) {
  weir_region_alloc(sizeof *cell, (void *)&cell, on_trap);
  weir_region_protect(cell, PROT_NONE);
  *cell = 11;
  *cell += 1;
  printf("%d trap, %ld\n", traps, *cell);
}
END
cat >dsm.c <<'END'
#include <stdio.h>
#include <weir/dsm.h>
static void work(unsigned worker, unsigned workers, void *context) {
  long *parts = context, sum = 0;
  parts[worker] = 10 + worker;
  weir_dsm_barrier(0);
  for (unsigned i = 0; i < workers; i++) sum += parts[i];
  if (worker == 0) printf("%u workers, %ld\n", workers, sum);
}
int main(int argc, char **argv) {
  long *parts = NULL;
  weir_dsm_start(&argc, &argv);
  if (weir_dsm_node() == 0) parts = weir_dsm_alloc(8 * sizeof *parts);
  weir_dsm_share(&parts, sizeof parts, 0);
  weir_dsm_run(work, parts);
  weir_dsm_finish();
}
END
# shellcheck disable=SC2046
quietly gcc -O2 region.c -o region $(pkg-config --cflags --libs weir-region)
is "region, pkg-config" "$(./region)" "1 trap, 12"
# shellcheck disable=SC2046
quietly gcc -O2 dsm.c -o dsm $(pkg-config --cflags --libs weir-dsm)
is "dsm, one node" "$(./dsm)" "1 workers, 10"
for launcher in "mpirun.openmpi --oversubscribe" mpirun.mpich; do
  # shellcheck disable=SC2086
  is "dsm, $launcher" "$(timeout 60 $launcher -n 3 ./dsm 2>log || cat log)" "3 workers, 33"
done
cat >region.cc <<'END'
#include <cstdio>
#include <weir/region.hpp>
int main() {
  auto p = weir::make_region<int>(6);
  weir_region_handler(p.open(), [](weir_region_trap* trap) { weir_region_protect(trap->start, PROT_READ); }, nullptr);
  weir_region_protect(p.open(), PROT_NONE);
  std::printf("%d\n", *p * 2);
}
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(Outside C CXX)
find_package(Weir 0.1 REQUIRED COMPONENTS region dsm)
add_executable(uses_region region.cc)
target_link_libraries(uses_region PRIVATE Weir::region)
add_executable(uses_dsm dsm.c)
target_link_libraries(uses_dsm PRIVATE Weir::dsm)
END
quietly cmake -S . -B build
quietly cmake --build build
is "region, CMake" "$(build/uses_region)" 12
is "dsm, CMake" "$(build/uses_dsm)" "1 workers, 10"
quietly weir-dsm-predict networks
is "weir-dsm-run" "$(timeout 60 weir-dsm-run -q -n 3 ./dsm 2>log || cat log)" "3 workers, 33"
quietly timeout 60 weir-dsm-run -q -n 2 --report run.html ./dsm
grep -q 'Misses by allocation' run.html || fail "weir-dsm-report"

# --- the Python package, which is for one release of Python
cat >shared.py <<'END'
import weir_dsm as dsm
dsm.start()
cells = dsm.array(10, int)
with dsm.Lock(0):
    cells[0] += 1
dsm.barrier()
if dsm.node() == 0:
    print(cells[0], "of", dsm.nodes())
END
built_for=$(dpkg-deb -f ~/packages/python3-weir-dsm_*.deb Depends | sed -n 's/.*python3 (>= \([0-9.]*\)~).*/\1/p')
if [ "$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = "$built_for" ]; then
  install_packages python3-weir-dsm
  is "weir_dsm" "$(timeout 60 python3 -m weir_dsm.run -q -n 3 shared.py 2>log || cat log)" "3 of 3"
  quietly sudo dpkg --purge python3-weir-dsm
else
  sudo apt-get install -s ~/packages/python3-weir-dsm_*.deb >log 2>&1 && fail "a package for Python $built_for can be installed"
  echo "right: python3-weir-dsm is for Python $built_for"
fi
quietly weir-bench --pairs 1 --size small --threads 2 histogram
echo "right: weir-bench"

# --- the archive, unpacked where the user likes
tar -xzf ~/packages/weir-*-x86_64.tar.gz
is "the archive" "$(./weir-*-x86_64/bin/weir det -- ./active)" "under Weir"

# --- gone without a trace
apt_get remove weir
[ ! -e /usr/bin/weir ] || fail "weir is still there"
quietly sudo dpkg --purge weir libweir-region-dev libweir-dsm-dev weir-bench
files >after
diff before after >log || fail "left behind: $(cat log)"
dpkg --get-selections | grep -i weir && fail "dpkg still knows of it"
echo "package_user: right"
