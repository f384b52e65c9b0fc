# Languages whose programs make threads or processes of their own.

compat guile needs=guile
case_guile() {
  export HOME=$PWD GUILE_AUTO_COMPILE=0
  cat >sum.scm <<'END'
(use-modules (ice-9 threads))
(define lock (make-mutex))
(define sum 0)
(define (add n) (with-mutex lock (set! sum (+ sum n))))
(for-each join-thread
  (map (lambda (k) (call-with-new-thread (lambda () (do ((i 0 (+ i 1))) ((= i 200)) (add (* i k))))))
       '(1 2 3 4)))
(gc)
(display sum) (newline)
(display (par-map (lambda (n) (* n n)) '(1 2 3 4 5 6))) (newline)
END
  under guile --no-auto-compile sum.scm
}

compat racket needs=racket limit=120 orders="free token record"
case_racket() {
  export HOME=$PWD
  cat >places.rkt <<'END'
#lang racket/base
(require racket/place racket/future)
(provide worker)
(define (worker ch) (place-channel-put ch (for/sum ([i (place-channel-get ch)]) (* i i))))
(module+ main
  (define team (for/list ([k 3]) (dynamic-place (quote-module-path "..") 'worker)))
  (for ([p team] [k '(100 200 300)]) (place-channel-put p k))
  (displayln (for/list ([p team]) (place-channel-get p)))
  (displayln (for/list ([f (for/list ([k 4]) (future (lambda () (for/sum ([i 1000]) (* i k)))))]) (touch f))))
(require syntax/location)
END
  under racket places.rkt
}

compat php needs=php files=/usr/lib/php
case_php() {
  under php -n -r '
    $pairs = [];
    for ($i = 0; $i < 3; $i++) {
      $p = proc_open(["php", "-n", "-r", "echo array_sum(range(1, " . ($i + 1) * 100 . "));"], [1 => ["pipe", "w"]], $pipes);
      $pairs[] = [$p, $pipes[1]];
    }
    foreach ($pairs as [$p, $pipe]) { echo stream_get_contents($pipe), " ", proc_close($p), "\n"; }
    $sum = 0; foreach ((function () { for ($i = 0; $i < 5000; $i++) yield $i; })() as $n) $sum += $n % 7;
    echo $sum, " ", hash("sha256", str_repeat("a", 10000)), " ", preg_replace_callback("/\d+/", fn($m) => $m[0] * 2, "1 22 333"), "\n";'
}

compat tcl needs=tclsh
case_tcl() {
  cat >threads.tcl <<'END'
package require Thread
tsv::set total sum 0
set team {}
foreach k {1 2 3 4} {
  lappend team [thread::create -joinable [string map [list K $k] {
    for {set i 0} {$i < 200} {incr i} { tsv::incr total sum [expr {$i * K}] }
  }]]
}
foreach one $team { thread::join $one }
puts [tsv::get total sum]
set pool [tpool::create -maxworkers 3]
set jobs {}
foreach n {5 10 15} { lappend jobs [tpool::post $pool [list expr $n * $n]] }
foreach job $jobs { tpool::wait $pool $job; puts [tpool::get $pool $job] }
END
  under tclsh threads.tcl
}

compat prolog needs=swipl
case_prolog() {
  under swipl -q -f none -g '
    numlist(1, 40, L), concurrent_maplist([X, Y]>>(Y is X * X), L, S), sum_list(S, T), writeln(T),
    message_queue_create(Q), findall(I, (between(1, 3, K), thread_create(forall(between(1, 50, N), (V is N * K, thread_send_message(Q, V))), I)), Is),
    forall(member(I, Is), thread_join(I)), findall(V, (between(1, 150, _), thread_get_message(Q, V)), Vs), sum_list(Vs, U), writeln(U)' -t halt
}

compat nim needs="nim gcc" limit=120
case_nim() {
  cat >pool.nim <<'END'
import locks
var lock: Lock
var total: int
proc work(k: int) {.thread.} =
  for i in 0 ..< 500:
    withLock lock: total += i * k
initLock(lock)
var team: array[4, Thread[int]]
for k in 0 .. 3: createThread(team[k], work, k + 1)
joinThreads(team)
echo total
END
  nim c --threads:on --hints:off --nimcache:cache -d:release -o:pool pool.nim >words 2>&1
  under ./pool
}

compat dlang needs=ldc2 limit=120
case_dlang() {
  cat >work.d <<'END'
import std.parallelism, std.stdio, std.range, std.concurrency, core.memory, core.atomic;
shared long total;
void add(long k) { foreach (i; 0 .. 300) { atomicOp!"+="(total, i * k); auto waste = new int[](100); } }
void main() {
  import core.thread;
  Thread[] team;
  foreach (k; 1 .. 5) { auto n = k; team ~= (long m) { return new Thread({ add(m); }).start(); }(n); }
  GC.collect();
  foreach (t; team) t.join();
  writeln(total, " ", taskPool.reduce!"a + b"(0L, iota(1L, 10_001L)));
}
END
  ldc2 -O -of=work work.d >words 2>&1
  under ./work
}

compat fortran needs=gfortran
case_fortran() {
  cat >sum.f90 <<'END'
program sums
  integer(8) :: i, total
  total = 0
  !$omp parallel do reduction(+:total) schedule(dynamic, 100)
  do i = 1, 100000
    total = total + mod(i * 7, 13_8)
  end do
  print *, total
  !$omp parallel do ordered
  do i = 1, 4
    !$omp ordered
    print *, i * i
    !$omp end ordered
  end do
end program
END
  gfortran -O2 -fopenmp sum.f90 -o sums
  OMP_NUM_THREADS=$threads under ./sums
}

compat ada needs=gnatmake
case_ada() {
  cat >tasks.adb <<'END'
with Ada.Text_IO; use Ada.Text_IO;
procedure Tasks is
   protected Sum is
      procedure Add (N : Integer);
      function Value return Integer;
   private
      Total : Integer := 0;
   end Sum;
   protected body Sum is
      procedure Add (N : Integer) is begin Total := Total + N; end Add;
      function Value return Integer is begin return Total; end Value;
   end Sum;
   task type Worker (K : Integer) is
      entry Go (Count : in Integer);
   end Worker;
   task body Worker is
      N : Integer;
   begin
      accept Go (Count : in Integer) do N := Count; end Go;
      for I in 1 .. N loop Sum.Add (I * K); end loop;
   end Worker;
begin
   declare
      A : Worker (1); B : Worker (2); C : Worker (3);
   begin
      A.Go (200); B.Go (200); C.Go (200);
   end;
   Put_Line (Integer'Image (Sum.Value));
end Tasks;
END
  gnatmake -q -O2 tasks.adb >words 2>&1
  under ./tasks
}

compat clisp needs=clisp
case_clisp() {
  under clisp -q -norc -x '(let ((h (make-hash-table))) (dotimes (i 5000) (push i (gethash (mod i 17) h))) (gc) (print (reduce (function +) (gethash 3 h))))'
}

compat elixir needs=elixir limit=120 orders="free token record" views="direct coherent"
case_elixir() {
  export HOME=$PWD
  under elixir --erl '+S 2:2' -e '1..20 |> Task.async_stream(fn n -> Enum.sum(1..(n * 100)) end) |> Enum.map(&elem(&1, 1)) |> IO.inspect(limit: :infinity)'
}

compat ruby_ractors needs=ruby
case_ruby_ractors() {
  under ruby -W0 -e '
    team = 3.times.map { |k| Ractor.new(k + 1) { |n| (1..2000).sum { |i| i * n % 7 } } }
    p team.map(&:take)
    pid = fork { exit 3 }
    Process.wait(pid); p $?.exitstatus
    f = Fiber.new { 3.times { |i| Fiber.yield i }; :end }
    p 4.times.map { f.resume }; GC.start'
}

compat zgc needs=java files=/usr/bin/javac limit=150 orders="free token" views="direct coherent"
case_zgc() {
  java_garbage
  under java -XX:+UseZGC -Xmx64m -XX:TieredStopAtLevel=1 -cp . Garbage
}

compat shenandoah needs=java files=/usr/bin/javac limit=150 orders="free token record" views="direct coherent"
case_shenandoah() {
  java_garbage
  under java -XX:+UseShenandoahGC -Xmx64m -XX:TieredStopAtLevel=1 -cp . Garbage
}

compat parallelgc needs=java files=/usr/bin/javac limit=150 orders="free token record" views="direct coherent"
case_parallelgc() {
  java_garbage
  under java -XX:+UseParallelGC -XX:ParallelGCThreads=2 -Xmx64m -XX:TieredStopAtLevel=1 -cp . Garbage
}

compat gccgo needs=gccgo-12 orders="free token record"
case_gccgo() {
  cat >main.go <<'END'
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	in, out := make(chan int), make(chan int, 4)
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for v := range in {
				out <- v * v
			}
		}()
	}
	go func() {
		for i := 0; i < 500; i++ {
			in <- i
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	sum := 0
	for v := range out {
		sum += v
	}
	fmt.Println(sum)
}
END
  gccgo-12 -O1 main.go -o main
  under ./main
}

compat gdc needs=gdc
case_gdc() {
  cat >work.d <<'END'
import core.atomic, core.sync.mutex, core.thread, std.concurrency, std.parallelism, std.stdio;
__gshared int[int] table;
shared int count;
void adds(Tid owner) { int sum; for (int v; (v = receiveOnly!int) >= 0;) sum += v; send(owner, sum); }
void main() {
  auto lock = new Mutex;
  Thread[] team;
  foreach (i; 0 .. 4) team ~= new Thread({
    foreach (k; 0 .. 100) { synchronized (lock) table[k] = table.get(k, 0) + k; atomicOp!"+="(count, 1); }
  });
  foreach (t; team) t.start();
  foreach (t; team) t.join();
  auto other = spawn(&adds, thisTid);
  foreach (i; 0 .. 50) send(other, i);
  send(other, -1);
  long sum;
  foreach (v; table) sum += v;
  writeln(sum, " ", atomicLoad(count), " ", receiveOnly!int);
}
END
  gdc -O1 work.d -o work
  under ./work
}

compat crystal needs=crystal
case_crystal() {
  cat >work.cr <<'END'
ch = Channel(Int32).new(4)
4.times { |k| spawn { 100.times { |i| ch.send(i * k) } } }
sum = 0
400.times { sum += ch.receive }
puts sum
END
  crystal build work.cr -o work
  under ./work
}

compat vala needs=valac
case_vala() {
  cat >work.vala <<'END'
int total; Mutex lock;
class Job : Object {
  public int id;
  public Job(int id) { this.id = id; }
  public int run() { for (int i = 0; i < 200; i++) { lock.lock(); total += i * id; lock.unlock(); } return id; }
}
int main() {
  Thread<int>[] team = {};
  for (int k = 1; k < 5; k++) { var job = new Job(k); team += new Thread<int>("t", job.run); }
  int sum = 0;
  foreach (var t in team) sum += t.join();
  stdout.printf("%d %d\n", total, sum);
  return 0;
}
END
  valac work.vala -o work 2>words
  under ./work
}

compat klibc needs=klcc
case_klibc() {
  cat >one.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  const pid_t child = fork();
  if (!child) _exit(7);
  int status;
  waitpid(child, &status, 0);
  printf("%d\n", WEXITSTATUS(status));
  return 0;
}
END
  klcc one.c -o shared
  klcc -static one.c -o static
  under ./shared
  under ./static
}

java_garbage() {
  cat >Garbage.java <<'END'
import java.util.*;
import java.util.concurrent.*;
public class Garbage {
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    List<Future<Long>> sums = new ArrayList<>();
    for (int k = 1; k <= 3; k++) {
      final int n = k;
      sums.add(pool.submit(() -> {
        long sum = 0;
        Map<Integer, byte[]> map = new HashMap<>();
        for (int i = 0; i < 20000; i++) { map.put(i % 100, new byte[512 + n]); sum += map.get(i % 100).length; }
        return sum;
      }));
    }
    for (Future<Long> f : sums) System.out.println(f.get());
    pool.shutdown();
  }
}
END
  javac Garbage.java
}
