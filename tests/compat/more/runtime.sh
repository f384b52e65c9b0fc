# Language runtimes and compilers that are large installations. Where a case is not for a point, docs/COMPATIBILITY.md says what
# happens there.

compat erlang needs=erl limit=120 orders="free token record" views="direct coherent"
case_erlang() {
  export HOME=$PWD
  under erl -noshell +S 2:2 -eval '
    Me = self(),
    [spawn(fun() -> Me ! {N, lists:sum(lists:seq(1, N * 100))} end) || N <- lists:seq(1, 20)],
    io:format("~p~n", [lists:sort([receive M -> M end || _ <- lists:seq(1, 20)])]), halt().'
}

compat sbcl needs=sbcl orders="free token check" views="direct coherent"
case_sbcl() {
  under sbcl --noinform --no-sysinit --no-userinit --non-interactive --eval \
    '(let ((sum 0) (lock (sb-thread:make-mutex)))
       (mapc (function sb-thread:join-thread)
         (loop for k from 1 to 4 collect (let ((k k)) (sb-thread:make-thread (lambda ()
           (dotimes (i 200) (sb-thread:with-mutex (lock) (incf sum (* i k)))))))))
       (format t "~a~%" sum))'
}

compat sbcl_atomics needs=sbcl orders="free token"
case_sbcl_atomics() {
  cat >atomics.lisp <<'END'
(defvar *atomic* (list 0))
(defvar *plain* 0)
(defvar *mutex* (sb-thread:make-mutex))
(let ((team (loop repeat 4 collect
              (sb-thread:make-thread
                (lambda ()
                  (dotimes (i 300)
                    (sb-ext:atomic-incf (car *atomic*))
                    (sb-thread:with-mutex (*mutex*) (incf *plain*))))))))
  (mapc #'sb-thread:join-thread team)
  (format t "~a ~a~%" (car *atomic*) *plain*))
END
  under sbcl --script atomics.lisp
}

compat luajit needs=luajit
case_luajit() {
  under luajit -e 'local ffi = require("ffi"); local a = ffi.new("double[?]", 1000); for i = 0, 999 do a[i] = i * 0.5 end; local s = 0; for k = 1, 200 do for i = 0, 999 do s = s + a[i] * k end end; print(s)'
}

compat pypy needs=pypy3
case_pypy() {
  under pypy3 -c '
import hashlib
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(20), hashlib.md5(b"x" * 1000).hexdigest())'
}

compat node_workers needs=node
case_node_workers() {
  cat >workers.js <<'JS'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const found = [];
  let ended = 0;
  for (let n = 1; n <= 3; n++) {
    const worker = new Worker(__filename, { workerData: { n, shared } });
    worker.on('message', (m) => found.push(m));
    worker.on('exit', () => { if (++ended === 3) console.log(found.sort().join(' '), Atomics.load(shared, 0)); });
  }
} else {
  let sum = 0;
  for (let i = 0; i < 1000; i++) { sum += i * workerData.n; Atomics.add(workerData.shared, 0, 1); }
  parentPort.postMessage(workerData.n + ':' + sum);
}
JS
  under node workers.js
}

compat node_atomics needs=node orders="free token" views="direct isolated"
case_node_atomics() {
  cat >atomics.js <<'END'
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(64));
  let left = 4;
  for (let i = 0; i < 4; i++)
    new Worker(__filename, { workerData: words }).on('exit', () => { if (--left === 0) console.log(words[0], words[1]); });
} else {
  const add = n => {
    for (let k = 0; k < n; k++) {
      Atomics.add(workerData, 0, 1);
      while (Atomics.compareExchange(workerData, 2, 0, 1) !== 0);
      workerData[1]++;
      Atomics.store(workerData, 2, 0);
    }
  };
  for (let round = 0; round < 20; round++) add(20);
}
END
  under node atomics.js
}

compat java_threads needs="java javac" limit=120 orders="free token check"
case_java_threads() {
  cat >Sum.java <<'JAVA'
import java.util.concurrent.*;
import java.util.*;
public class Sum {
  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Long>> all = new ArrayList<>();
    for (int k = 1; k <= 8; k++) {
      final int n = k;
      all.add(pool.submit(() -> { long s = 0; for (int i = 0; i < 20000; i++) s += (long) i * n % 7; return s; }));
    }
    long total = 0;
    for (Future<Long> one : all) total += one.get();
    pool.shutdown();
    System.out.println(total);
  }
}
JAVA
  javac Sum.java
  under java -Xmx64m Sum
}

compat java_counters needs="java javac" limit=120 orders="free token"
case_java_counters() {
  cat >Counters.java <<'JAVA'
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.ReentrantLock;
public class Counters {
  static int plain;
  static long locked;
  public static void main(String[] args) throws Exception {
    AtomicLong atomic = new AtomicLong();
    AtomicInteger twos = new AtomicInteger();
    ReentrantLock lock = new ReentrantLock();
    Object monitor = new Object();
    ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
    Thread[] team = new Thread[8];
    for (int i = 0; i < team.length; i++) {
      team[i] = new Thread(() -> {
        for (int k = 0; k < 100; k++) {
          atomic.incrementAndGet();
          twos.getAndAdd(2);
          synchronized (monitor) { plain++; }
          lock.lock();
          try { locked++; } finally { lock.unlock(); }
          map.merge(k % 16, 1, Integer::sum);
        }
      });
    }
    for (Thread one : team) one.start();
    for (Thread one : team) one.join();
    int sum = 0;
    for (int one : map.values()) sum += one;
    System.out.println(atomic + " " + twos + " " + plain + " " + locked + " " + sum);
  }
}
JAVA
  javac Counters.java
  under java Counters
}

compat javac needs="java javac" limit=120 orders="free token check"
case_javac() {
  printf 'public class One { public static void main(String[] a) { System.out.println(1); } }\n' >One.java
  under javac -J-Xmx128m One.java
  same_bytes One.class
}

go_source() {
  cat >main.go <<'GO'
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wait sync.WaitGroup
	out := make(chan int, 4)
	for k := 1; k <= 8; k++ {
		wait.Add(1)
		go func(k int) {
			defer wait.Done()
			s := 0
			for i := 0; i < 1000; i++ {
				s += i * k
			}
			out <- s
		}(k)
	}
	go func() { wait.Wait(); close(out) }()
	total := 0
	for s := range out {
		total += s
	}
	fmt.Println(total)
}
GO
}

compat go_channels needs=go limit=120
case_go_channels() {
  go_source
  # cgo makes it a program of the C library; without it Go links statically.
  printf 'package main\n\n// #include <stdlib.h>\nimport "C"\n\nfunc init() { C.free(C.malloc(1)) }\n' >c.go
  HOME=$PWD GO111MODULE=off go build -o channels main.go c.go
  under ./channels
}

compat go_static needs=go limit=120 orders="free token record"
case_go_static() {
  go_source
  HOME=$PWD GO111MODULE=off CGO_ENABLED=0 go build -o channels main.go
  under ./channels
}

compat gron needs=gron
case_gron() {
  printf '{"name": "weir", "list": [1, 2, {"deep": true}], "text": "a\\nb"}\n' >in.json
  under gron in.json
}

compat fzf needs=fzf
case_fzf() {
  seq 1 20000 >lines
  under fzf -f 99 <lines | sort
}

compat busybox needs=busybox
case_busybox() {
  seq 1 2000 >lines
  under busybox sh -c 'busybox sort -r lines | busybox head -n 5; busybox awk "{ s += \$1 } END { print s }" lines; exit 3' || echo "status $?"
}

compat go_build needs=go limit=300 orders="free token check"
case_go_build() {
  printf 'package main\n\nfunc main() { println(1) }\n' >main.go
  HOME=$PWD GO111MODULE=off under go vet main.go
  echo "vetted"
}

compat rustc_threads needs=rustc
case_rustc_threads() {
  cat >main.rs <<'RS'
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
fn main() {
    let total = Arc::new(Mutex::new(0u64));
    let (send, receive) = mpsc::channel();
    let team: Vec<_> = (1..5u64).map(|k| {
        let (total, send) = (Arc::clone(&total), send.clone());
        thread::spawn(move || {
            for i in 0..500 { *total.lock().unwrap() += i * k; }
            send.send(k).unwrap();
        })
    }).collect();
    for one in team { one.join().unwrap(); }
    drop(send);
    println!("{} {}", total.lock().unwrap(), receive.iter().sum::<u64>());
}
RS
  rustc -O main.rs -o threads
  under ./threads
}

compat rustc_build needs=rustc limit=150
case_rustc_build() {
  printf 'fn main() { println!("{}", (1..20).map(|x| x * x).sum::<i32>()); }\n' >main.rs
  under rustc -C codegen-units=4 main.rs -o squares
  ./squares
}

compat ghc_build needs=ghc limit=200
case_ghc_build() {
  printf 'main :: IO ()\nmain = print (sum (takeWhile (< 1000) (map (^ 2) [1 ..])) :: Int)\n' >Main.hs
  under ghc -O Main.hs -o sums >words
  ./sums
}

compat ocaml needs="ocamlopt" limit=60
case_ocaml() {
  cat >sum.ml <<'ML'
let m = Mutex.create ()
let total = ref 0
let work k = for i = 1 to 500 do Mutex.lock m; total := !total + i * k; Mutex.unlock m; if i mod 100 = 0 then Thread.yield () done
let () = List.iter Thread.join (List.map (Thread.create work) [1; 2; 3; 4]); Printf.printf "%d\n" !total
ML
  ocamlfind ocamlopt -package threads.posix -linkpkg sum.ml -o sum 2>words || ocamlopt -I +threads -I +unix unix.cmxa threads.cmxa sum.ml -o sum
  under ./sum
}

compat mono needs="mono mcs" limit=120 views="direct coherent"
case_mono() {
  cat >Sum.cs <<'CS'
using System; using System.Threading;
class Sum {
  static long total;
  static void Main() {
    var team = new Thread[4];
    for (int k = 0; k < 4; k++) { int n = k + 1; team[k] = new Thread(() => { for (int i = 0; i < 500; i++) Interlocked.Add(ref total, i * n); }); team[k].Start(); }
    foreach (var one in team) one.Join();
    Console.WriteLine(total);
  }
}
CS
  mcs Sum.cs
  under mono Sum.exe
}

compat clang needs=clang limit=120
case_clang() {
  printf '#include <stdio.h>\nint main(void) { for (int i = 0; i < 3; i++) printf("%%d\\n", i * i); return 0; }\n' >main.c
  under clang -O2 main.c -o main
  ./main
}

compat gcc_flto needs=gcc limit=120
case_gcc_flto() {
  printf 'int twice(int x) { return 2 * x; }\n' >a.c
  printf '#include <stdio.h>\nint twice(int);\nint main(void) { printf("%%d\\n", twice(21)); return 0; }\n' >b.c
  under gcc -O2 -flto=2 a.c b.c -o both
  ./both
}

compat make_jobs needs="make gcc" limit=120
case_make_jobs() {
  local i
  for i in 1 2 3 4; do printf 'int f%d(void) { return %d; }\n' "$i" "$i" >"f$i.c"; done
  printf 'all: lib.a\nlib.a: f1.o f2.o f3.o f4.o\n\tar rcD $@ $^\n' >Makefile
  under make -s -j4
  ar t lib.a | sort
}

compat cmake_build needs="cmake ninja gcc" limit=150
case_cmake_build() {
  printf 'cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_library(l l.c)\nadd_executable(m m.c)\ntarget_link_libraries(m l)\n' >CMakeLists.txt
  printf 'int l(void) { return 5; }\n' >l.c
  printf '#include <stdio.h>\nint l(void);\nint main(void) { printf("%%d\\n", l()); }\n' >m.c
  under cmake -G Ninja -S . -B b >words 2>&1
  under ninja -C b >words
  b/m
}

compat emacs needs=emacs limit=120 orders="free token check"
case_emacs() {
  under emacs -Q --batch --eval '(let ((m (make-mutex)) (n 0)) (mapc (function thread-join) (mapcar (lambda (k) (make-thread (lambda () (dotimes (i 50) (with-mutex m (setq n (+ n (* i k)))) (thread-yield))))) (list 1 2 3))) (princ (format "%d\n" n)))'
}

compat vim needs=vim
case_vim() {
  printf 'one\ntwo\nthree\n' >words
  under vim -es -u NONE -i NONE -n words -c '%s/t/T/g|sort|wq'
  cat words
}

compat git_gc needs=git
case_git_gc() {
  export HOME=$PWD GIT_AUTHOR_DATE='2001-01-01T00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00Z'
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
  git init -q -b main one
  cp -r "$input/tree" one/tree
  git -C one add . && git -C one commit -qm one
  under git -C one -c pack.threads="$threads" gc -q
  under git clone -q --no-local one two
  git -C two rev-parse HEAD:tree && git -C two fsck 2>/dev/null
}

compat rsync needs=rsync
case_rsync() {
  under rsync -a --checksum "$input/tree/" copy/
  is_tree copy
}

compat parallel needs=parallel
case_parallel() {
  export HOME=$PWD
  mkdir -p .parallel && touch .parallel/will-cite
  under parallel -k -j2 'echo {} | sha256sum' ::: a b c d e f
}

compat qemu_user needs="qemu-x86_64 gcc" views="direct coherent"
case_qemu_user() {
  printf '#include <stdio.h>\nint main(void) { long s = 0; for (int i = 0; i < 100000; i++) s += i %% 7; printf("%%ld\\n", s); return 0; }\n' >main.c
  gcc -O1 -static main.c -o main
  under qemu-x86_64 ./main
}

# The boot sector writes one letter to the serial line and leaves by the debug exit.
compat qemu_threads needs="qemu-x86_64 gcc" orders="free token"
case_qemu_threads() {
  cat >main.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int counter;
static int plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* work(void* unused) {
  for (int i = 0; i < 300; i++) {
    atomic_fetch_add(&counter, 1);
    pthread_mutex_lock(&mutex);
    plain++;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}
int main(void) {
  pthread_t team[2];
  for (int i = 0; i < 2; i++) pthread_create(&team[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(team[i], NULL);
  printf("%d %d\n", counter, plain);
  return 0;
}
END
  gcc -O1 -static -pthread main.c -o main
  under qemu-x86_64 ./main
}

compat qemu_system needs=qemu-system-x86_64 limit=120
case_qemu_system() {
  python3 - <<'PY'
code = bytes([0xba, 0xf8, 0x03, 0xb0, ord('W'), 0xee, 0xb0, 10, 0xee, 0xba, 0xf4, 0x00, 0xb0, 0x10, 0xee, 0xf4])
open('boot.img', 'wb').write(code + bytes(510 - len(code)) + b'\x55\xaa')
PY
  ends_with 33 qemu-system-x86_64 -accel tcg -m 16 -nodefaults -display none -serial file:serial -device isa-debug-exit,iobase=0xf4 -drive file=boot.img,format=raw,if=ide
  tail -c 2 serial
}
