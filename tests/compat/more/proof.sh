# Programs that prove and optimize, with threads.

# Pigeons that do not fit, as clauses: n + 1 pigeons, n holes.
pigeons() {
  awk -v n="$1" 'BEGIN {
    m = 0
    for (p = 0; p <= n; p++) { line = ""; for (h = 1; h <= n; h++) line = line (p * n + h) " "; c[m++] = line "0" }
    for (h = 1; h <= n; h++) for (p = 0; p <= n; p++) for (q = p + 1; q <= n; q++) c[m++] = "-" (p * n + h) " -" (q * n + h) " 0"
    print "p cnf", (n + 1) * n, m
    for (i = 0; i < m; i++) print c[i]
  }'
}

compat cryptominisat needs=cryptominisat5 orders="free token record"
case_cryptominisat() {
  pigeons 6 >p.cnf
  ends_with 20 cryptominisat5 --verb 0 -t "$threads" p.cnf
}

compat minisat needs=minisat
case_minisat() {
  pigeons 6 >p.cnf
  ends_with 20 minisat -verb=0 p.cnf out >words
  cat out
}

compat clasp needs="clingo" orders="free token record"
case_clasp() {
  printf '1 { q(1..8,Y) } 1 :- Y = 1..8. :- q(X,Y), q(X,Z), Y < Z. :- q(X,Y), q(A,B), Y < B, |X-A| = |Y-B|.' >q.lp
  ends_with 30 clingo -t 2 --outf=1 q.lp 0 >out 2>words
  grep Models out
}

compat cbc needs=cbc orders="free token record"
case_cbc() {
  awk 'BEGIN { srand(2); print "Maximize"; print " obj: "; for (i = 1; i <= 30; i++) printf " + %d x%d", int(rand() * 50) + 10, i; print ""; print "Subject To"
    for (k = 1; k <= 6; k++) { printf " c%d: ", k; for (i = 1; i <= 30; i++) printf " + %d x%d", int(rand() * 30) + 1, i; print " <= 150" }
    print "Binary"; for (i = 1; i <= 30; i++) printf " x%d", i; print ""; print "End" }' >k.lp
  under cbc k.lp threads "$threads" solve >words
  grep 'Objective value:' words
}

compat glpk needs=glpsol
case_glpk() {
  printf 'var x >= 0, integer; var y >= 0, integer; maximize z: 5*x + 4*y; s.t. a: 6*x + 4*y <= 24; s.t. b: x + 2*y <= 6; solve; display x, y; end;' >m.mod
  under glpsol -m m.mod | grep val
}

compat polyml needs=poly orders="free token record"
case_polyml() {
  cat >t.sml <<'ML'
val m = Thread.Mutex.mutex ();
val c = Thread.ConditionVar.conditionVar ();
val total = ref 0; val ended = ref 0;
fun sum (0, a) = a | sum (n, a) = sum (n - 1, a + n mod 7);
fun work k () = (let val s = sum (20000 * k, 0) in Thread.Mutex.lock m; total := !total + s; ended := !ended + 1;
  Thread.ConditionVar.broadcast c; Thread.Mutex.unlock m end);
fun wait () = if !ended < 4 then (Thread.ConditionVar.wait (c, m); wait ()) else ();
val _ = List.app (fn k => ignore (Thread.Thread.fork (work k, []))) [1, 2, 3, 4];
val _ = Thread.Mutex.lock m; val _ = wait (); val _ = Thread.Mutex.unlock m;
val _ = print (Int.toString (!total) ^ "\n");
val _ = OS.Process.exit OS.Process.success;
ML
  under poly -q --error-exit --gcthreads=2 --use t.sml
}
