# Compilers, linkers and what drives them.

sample_project() {
  local i
  mkdir -p source
  for i in 1 2 3 4 5 6; do
    echo "#include <stdio.h>
int part$i(int x) { for (int i = 0; i < $i; i++) x = x * 31 + i; return x; }" >"source/part$i.c"
  done
  { for i in 1 2 3 4 5 6; do echo "int part$i(int);"; done
    echo '#include <stdio.h>
int main(void) { printf("%u\n", (unsigned)(part1(1) ^ part2(2) ^ part3(3) ^ part4(4) ^ part5(5) ^ part6(6))); }'
  } >source/main.c
  printf 'CFLAGS = -O1\nprogram: main.o part1.o part2.o part3.o part4.o part5.o part6.o\n\t$(CC) -o $@ $^\n' >source/Makefile
  echo 'cmake_minimum_required(VERSION 3.10)
project(sample C)
find_package(Threads REQUIRED)
file(GLOB parts *.c)
add_executable(program ${parts})
target_link_libraries(program Threads::Threads)' >source/CMakeLists.txt
}

compat make needs="make gcc" limit=90
case_make() {
  sample_project
  under make -s -C source -j"$threads" CC=gcc
  source/program
}

compat gcc needs=gcc limit=60
case_gcc() {
  sample_project
  under gcc -O2 -pipe source/*.c -o program
  same_bytes program
  ends_with 1 gcc -c source/none.c 2>words
}

compat gcc_lto needs="gcc make" limit=90
case_gcc_lto() {
  sample_project
  under gcc -O2 -flto="$threads" source/*.c -o program
  ./program
}

compat gold_threads needs="gcc ld.gold"
case_gold_threads() {
  sample_project
  gcc -c source/*.c
  under ld.gold --threads --thread-count "$threads" -r -o out.o ./*.o
  same_bytes out.o
}

compat mold needs="gcc mold"
case_mold() {
  sample_project
  gcc -c source/*.c
  under mold --thread-count="$threads" -r -o out.o ./*.o
  gcc out.o -o program
  ./program
}

compat cmake_ninja needs="cmake ninja gcc" limit=120
case_cmake_ninja() {
  sample_project
  under cmake -G Ninja -S source -B build >words
  under ninja -C build -j"$threads" >words
  build/program
}
