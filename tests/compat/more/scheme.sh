# Languages with a runtime of their own, and shells.

compat gforth needs=gforth
case_gforth() {
  under gforth -e ': fib dup 2 < if drop 1 else dup 1- recurse swap 2 - recurse + then ; 22 fib . cr bye'
}

compat chicken needs=csi
case_chicken() {
  echo '(import (chicken base)) (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (print (fib 18))' >a.scm
  under csi -s a.scm
}

compat chez needs=scheme orders="free token record"
case_chez() {
  cat >t.ss <<'END'
(define m (make-mutex)) (define c (make-condition)) (define total 0) (define ended 0)
(define (work k) (lambda ()
  (let loop ([i 0] [s 0]) (if (< i 20000) (loop (+ i 1) (+ s (mod (* i k) 7)))
    (with-mutex m (set! total (+ total s)) (set! ended (+ ended 1)) (condition-broadcast c))))))
(for-each (lambda (k) (fork-thread (work k))) '(1 2 3 4))
(with-mutex m (let wait () (when (< ended 4) (condition-wait c m) (wait))))
(display total) (newline) (exit 0)
END
  under scheme --script t.ss
}

compat gambit needs=gsi
case_gambit() {
  echo '(define (w k) (make-thread (lambda () (let loop ((i 0) (s 0)) (if (< i 3000) (loop (+ i 1) (+ s (modulo (* i k) 7))) s))))) (define ts (map w (list 1 2 3 4))) (for-each thread-start! ts) (println (map thread-join! ts))' >a.scm
  under gsi a.scm
}

compat lua needs=lua5.4
case_lua() {
  under lua5.4 -e 'local co = {} for k = 1, 4 do co[k] = coroutine.wrap(function() local s = 0 for i = 1, 20000 do s = s + i * k % 7 if i % 100 == 0 then coroutine.yield() end end return s end) end local t = 0 for r = 1, 201 do for k = 1, 4 do local v = co[k]() if v then t = t + v end end end print(t)'
}

compat raku needs=raku limit=120
case_raku() {
  export HOME=$PWD
  under raku -e 'my $l = Lock.new; my $n = 0; my @p = (1..4).map: -> $k { start { my $s = 0; $s += $_ * $k % 7 for 1..1000; $l.protect({ $n += $s }); $s } }; say await(@p).join(" "); say $n'
}

compat pascal needs=fpc limit=90
case_pascal() {
  cat >t.pas <<'END'
program t;
{$mode objfpc}
uses cthreads, classes;
type tw = class(tthread) k: longint; procedure execute; override; end;
var lock: trtlcriticalsection; total: int64; w: array[1..4] of tw; i: longint;
procedure tw.execute;
var j: longint; s: int64;
begin
  s := 0;
  for j := 1 to 200000 do s := s + j * k mod 7;
  entercriticalsection(lock); total := total + s; leavecriticalsection(lock);
end;
begin
  initcriticalsection(lock);
  for i := 1 to 4 do begin w[i] := tw.create(true); w[i].k := i; w[i].start; end;
  for i := 1 to 4 do w[i].waitfor;
  writeln(total);
end.
END
  under fpc -v0 t.pas >words 2>&1 || tail -n 5 words
  under ./t
}

compat cobol needs=cobc limit=90
case_cobol() {
  cat >a.cob <<'END'
       identification division.
       program-id. a.
       data division.
       working-storage section.
       01 i pic 9(6).
       01 s pic 9(12) value 0.
       procedure division.
           perform varying i from 1 by 1 until i > 20000
             compute s = s + function mod(i * 3 7)
           end-perform
           display s
           stop run.
END
  under cobc -x -o a a.cob
  under ./a
}

compat gprolog needs=gprolog
case_gprolog() {
  echo ':- initialization((findall(X, (between(1, 300, X), 0 is X mod 7), L), sum_list(L, S), write(S), nl, halt)).' >a.pl
  under gprolog --consult-file a.pl >words
  grep -E '^[0-9]+$' words
}

compat zsh needs=zsh
case_zsh() {
  under zsh -f -c 'zmodload zsh/mathfunc; s=0; for i in {1..2000}; do (( s += i * 3 % 7 )); done; print $s; print -l {a..c}{1..2} | sort -r; coproc cat; print -p hello; read -p x; print $x'
}

compat fish needs=fish
case_fish() {
  export HOME=$PWD
  under fish --no-config -c 'set s 0; for i in (seq 1 200); set s (math "$s + $i % 7"); end; echo $s; for i in a b c; echo $i | cat & end; wait; string upper done' | sort
}

compat neovim needs=nvim
case_neovim() {
  export HOME=$PWD XDG_CACHE_HOME=$PWD
  seq 1 300 >a.txt
  under nvim --headless -u NONE -i NONE -n a.txt +'%s/7/seven/g' +'lua local s = 0 for _, l in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do s = s + #l end print(s)' +wq 2>&1
  echo
  same_bytes a.txt
}
