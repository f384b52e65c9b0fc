# Programs that search and compute: chess, proofs, constraints, arrays, statistics.

compat stockfish needs=stockfish
case_stockfish() {
  # The moves that a position has, and the count of nodes of a search by one thread, are the same on every run.
  printf '%s\n' uci "setoption name Threads value 1" "setoption name Hash value 1" "go perft 3" \
    "position startpos moves e2e4" "go depth 6" >words
  { cat words; sleep 2; echo quit; } | under stockfish >answers
  grep -E '^(Nodes searched|bestmove)' answers | sed 's/ ponder.*//'
}

compat stockfish_threads needs=stockfish
case_stockfish_threads() {
  under stockfish bench 1 "$threads" 5 >answers 2>words
  grep -c '^bestmove' answers
}

compat z3 needs=z3
case_z3() {
  cat >queens.smt2 <<'SMT'
(declare-fun q (Int) Int)
(assert (and (<= 1 (q 1) 6) (<= 1 (q 2) 6) (<= 1 (q 3) 6) (<= 1 (q 4) 6) (<= 1 (q 5) 6) (<= 1 (q 6) 6)))
(assert (distinct (q 1) (q 2) (q 3) (q 4) (q 5) (q 6)))
(assert (distinct (+ (q 1) 1) (+ (q 2) 2) (+ (q 3) 3) (+ (q 4) 4) (+ (q 5) 5) (+ (q 6) 6)))
(assert (distinct (- (q 1) 1) (- (q 2) 2) (- (q 3) 3) (- (q 4) 4) (- (q 5) 5) (- (q 6) 6)))
(check-sat)
SMT
  under z3 queens.smt2
}

compat z3_threads needs=z3
case_z3_threads() {
  printf '(declare-const a Int) (declare-const b Int) (assert (and (> a 1) (> b 1) (= (* a b) 77))) (check-sat)' >factors.smt2
  under z3 parallel.enable=true "parallel.threads.max=$threads" factors.smt2
}

compat minizinc needs="minizinc fzn-gecode"
case_minizinc() {
  cat >money.mzn <<'MZN'
include "alldifferent.mzn";
var 1..9: S; var 0..9: E; var 0..9: N; var 0..9: D; var 1..9: M; var 0..9: O; var 0..9: R; var 0..9: Y;
constraint 1000*S + 100*E + 10*N + D + 1000*M + 100*O + 10*R + E = 10000*M + 1000*O + 100*N + 10*E + Y;
constraint alldifferent([S,E,N,D,M,O,R,Y]);
solve satisfy;
output ["\(S)\(E)\(N)\(D) \(M)\(O)\(R)\(E) \(M)\(O)\(N)\(E)\(Y)\n"];
MZN
  under minizinc --solver gecode -p "$threads" money.mzn
}

compat octave needs=octave-cli
case_octave() {
  under octave-cli --norc --eval 'a = magic(40); printf("%d %.6f\n", rank(a), norm(a * a)); x = cellfun(@(v) v * 2, {1, 2, 3}); disp(x)' 2>words
}

compat R needs=Rscript
case_R() {
  under Rscript --vanilla -e 'set.seed(7); x <- rnorm(500); print(summary(lm(x ~ seq_along(x)))$r.squared); print(digest <- sum(solve(crossprod(matrix(x[1:400], 20)))) > 0)'
}

compat R_parallel needs=Rscript
case_R_parallel() {
  under Rscript --vanilla -e 'library(parallel); print(unlist(mclapply(1:8, function(i) sum((1:2000) %% i), mc.cores = 2)))'
}

compat numpy needs=python3 modules=numpy orders="free token check"
case_numpy() {
  under /usr/bin/python3 - <<'PY'
import numpy
a = numpy.arange(160 * 160, dtype=float).reshape(160, 160) % 17
b = a @ a.T
print(b.sum(), numpy.sort(b.ravel())[::4000].tolist(), numpy.fft.rfft(a[0])[:3].round(6).tolist())
PY
}

# Its threads wait for one another in loops, with a mutex held.
compat numpy_threads needs=python3 modules=numpy orders="free token"
case_numpy_threads() {
  under env OPENBLAS_NUM_THREADS=2 /usr/bin/python3 - <<'PY'
import hashlib, numpy
r = numpy.random.default_rng(3)
a, b = r.standard_normal((240, 240)), r.standard_normal((240, 240))
for i in range(4):
    a = numpy.tanh(a @ b / 20)
print(hashlib.sha256(a.tobytes()).hexdigest()[:16], hashlib.sha256(numpy.linalg.solve(a, b).tobytes()).hexdigest()[:16])
PY
}

compat scipy needs=python3 modules=scipy orders="free token check"
case_scipy() {
  under /usr/bin/python3 - <<'PY'
import numpy
from scipy import linalg, optimize, sparse
a = numpy.eye(60) * 4 + numpy.ones((60, 60))
print(round(float(linalg.det(a / 5)), 9), round(optimize.brentq(lambda x: x ** 3 - 2, 0, 2), 9))
print(round((sparse.csr_matrix(a) @ sparse.csr_matrix(a)).sum(), 6))
PY
}

compat duckdb needs=python3 modules=duckdb
case_duckdb() {
  export PYTHONPATH=$python_packages
  under /usr/bin/python3 - "$threads" <<'PY'
import duckdb, sys
base = duckdb.connect(config={'threads': int(sys.argv[1])})
base.execute('create table t as select range as a, range % 97 as b from range(200000)')
print(base.execute('select b, count(*), sum(a) from t group by b order by b').fetchall()[:5])
PY
}

compat polars needs=python3 modules=polars
case_polars() {
  export PYTHONPATH=$python_packages
  POLARS_MAX_THREADS=$threads under /usr/bin/python3 - <<'PY'
import polars
table = polars.DataFrame({'a': range(50000), 'b': [i % 7 for i in range(50000)]})
print(table.group_by('b').agg(polars.col('a').sum()).sort('b').rows())
PY
}

compat gnuplot needs=gnuplot
case_gnuplot() {
  under gnuplot -e 'set terminal svg; set output "plot.svg"; set samples 200; plot sin(x), cos(x)*x; set terminal dumb 60 12; set output; plot sin(x)'
  same_bytes plot.svg
}

compat openmp needs=gcc
case_openmp() {
  cat >sum.c <<'C'
#include <stdio.h>
int main(void) {
  long sum = 0;
  static int sieve[200001];
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 64)
  for (int i = 2; i <= 200000; i++) {
    int prime = 1;
    for (int k = 2; k * k <= i && prime; k++) prime = i % k != 0;
    sieve[i] = prime;
    sum += prime;
  }
  printf("%ld %d\n", sum, sieve[199999]);
}
C
  gcc -O2 -fopenmp sum.c -o sum
  OMP_NUM_THREADS=$threads under ./sum
}

compat tbb needs=g++ files=/usr/include/tbb/parallel_sort.h limit=120
case_tbb() {
  cat >sort.cc <<'CC'
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
int main(int, char** argv) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::atoi(argv[1]));
  std::vector<unsigned> v(100000);
  unsigned x = 1;
  for (unsigned& one : v) one = x = x * 1664525u + 1013904223u;
  tbb::parallel_sort(v.begin(), v.end());
  unsigned long sum = tbb::parallel_reduce(tbb::blocked_range<size_t>(0, v.size()), 0ul,
    [&](const tbb::blocked_range<size_t>& r, unsigned long s) { for (size_t i = r.begin(); i != r.end(); i++) s += v[i]; return s; },
    [](unsigned long a, unsigned long b) { return a + b; });
  std::printf("%u %u %lu\n", v[0], v[99999], sum);
}
CC
  g++ -O1 sort.cc -o sort -ltbb
  under ./sort "$threads"
}
