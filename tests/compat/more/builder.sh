# Compilers, version control, simulation, numbers.

compat ccache needs="ccache gcc"
case_ccache() {
  export CCACHE_DIR=$PWD/c
  echo 'int main() { return 3; }' >a.c
  for i in 1 2; do under ccache gcc -c a.c -o "a$i.o"; done
  cmp a1.o a2.o
  ccache -s | grep -c Hits
}

compat lld needs="clang ld.lld" limit=90
case_lld() {
  for i in 1 2 3 4 5 6; do echo "int f$i(int x) { return x * $i + ${i}00; }"; done >f.c
  echo 'int f1(int), f2(int); int main() { return f1(2) + f2(3) > 1 ? 0 : 1; }' >m.c
  clang -O1 -flto=thin -c f.c m.c
  under ld.lld -m elf_x86_64 --threads=4 --thinlto-jobs=4 -r -o all.o f.o m.o
  under clang -fuse-ld=lld -flto=thin -Wl,--threads=4 -o a f.o m.o
  ./a
  same_bytes a
}

compat ocaml_native needs=ocamlfind files=/usr/bin/ocamlopt
case_ocaml_native() {
  echo 'let m = Mutex.create () and s = ref 0
let () = let l = List.init 4 (fun k -> Thread.create (fun () -> for i = 1 to 200 do Mutex.lock m; s := !s + i * k; Mutex.unlock m; if i mod 50 = 0 then Thread.yield () done) ()) in
  List.iter Thread.join l; Gc.full_major (); print_int !s; print_newline ()' >a.ml
  ocamlopt -I +threads unix.cmxa threads.cmxa a.ml -o a >words 2>&1
  under ./a
}

compat iverilog needs="iverilog vvp"
case_iverilog() {
  echo 'module t; reg [31:0] a = 1; integer i; initial begin for (i = 0; i < 500; i = i + 1) a = a * 5 + i; $display("%d", a); $finish; end endmodule' >t.v
  under iverilog -o t t.v
  under vvp -n t
}

compat yosys needs=yosys limit=90
case_yosys() {
  echo 'module t(input [3:0] a, b, output [3:0] y); assign y = a * b + a; endmodule' >t.v
  under yosys -p 'read_verilog t.v; synth -flatten; stat' >words
  grep 'Number of cells' words
}

compat ngspice needs=ngspice
case_ngspice() {
  printf 't\nv1 a 0 5\nr1 a b 1k\nr2 b 0 2k\n.op\n.end\n' >a.cir
  under ngspice -b a.cir 2>words | grep -E '^[[:space:]](a|b)[[:space:]]'
}

compat pari needs=gp
case_pari() {
  echo 'default(nbthreads, 4); export(f = n -> primepi(n)); print(parapply(n -> eulerphi(n!), [5, 6, 7, 8])); print(parsum(i = 1, 500, i^2)); print(factor(2^64 - 1))' |
    under gp -q -f
}

compat maxima needs=maxima limit=90
case_maxima() {
  export HOME=$PWD
  under maxima --very-quiet --batch-string='factor(x^6 - 1); integrate(x^2 * sin(x), x);' </dev/null
}

compat gap needs=gap
case_gap() {
  echo 'Print(Size(SymmetricGroup(8)), " ", Factors(2^61 + 1), "\n"); QUIT;' | under gap -q -r
}

compat mercurial needs=hg limit=90
case_mercurial() {
  export HOME=$PWD HGUSER=me
  under hg init r
  cp -r "$input/tree/part00" r/p
  (cd r && under hg -q add p && under hg commit -d '0 0' -m one && under hg log --template '{rev} {node}\n' && under hg verify -q)
}

compat subversion needs="svn svnadmin"
case_subversion() {
  under svnadmin create s
  under svn -q --non-interactive --config-dir "$PWD/c" import -m one "$input/tree/part00" "file://$PWD/s/p"
  under svn --config-dir "$PWD/c" -q checkout "file://$PWD/s/p" w
  diff -r -x .svn "$input/tree/part00" w
  under svnadmin -q verify s
}

compat brotli needs=brotli
case_brotli() {
  under brotli -q 6 -c "$input/mixed" >a.br
  under brotli -d -c a.br | cmp - "$input/mixed"
  same_bytes a.br
}

compat bzip3 needs=bzip3
case_bzip3() {
  under bzip3 -e -j 3 -b 1 "$input/mixed" a.bz3
  under bzip3 -d -j 3 a.bz3 out
  cmp out "$input/mixed"
  same_bytes a.bz3
}

compat screen needs=screen
case_screen() {
  export HOME=$PWD SCREENDIR=$PWD/s
  mkdir -m 700 s
  under screen -D -m -S one sh -c 'echo inside >said'
  cat said
}

compat jq needs=jq
case_jq() {
  seq 1 2000 | under jq -s -c '{sum: add, odd: (map(select(. % 2 == 1)) | length), text: (map(tostring) | join("") | length)}'
}
