#!/bin/bash
# Under weir check --policies=declared what the C++ library allocates for itself in a program's own code is nothing that the program would have to declare; what
# the program allocates by `new` is.
#
# usage: strict_cxx_test.sh BUILD
set -u
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

cat >program.cc <<'C'
#include <weir/weir.h>

#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Value {
  int number = 4;
};

int main() {
  const std::shared_ptr<Value> value(new Value);
  weir_set_sticky_read(value.get());
  long sum = 0;
  {
    auto later = std::async(std::launch::async, [value] { return value->number; });
    std::promise<int> promise;
    std::thread thread([value, &promise] { promise.set_value(value->number); });
    sum = later.get() + promise.get_future().get();
    thread.join();
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back([copy = value]() mutable { copy.reset(); });
  for (auto& thread : threads) thread.join();
#ifdef WRONG
  int* mine = new int(1);
  std::thread([=] { ++*mine; }).join();
#endif
  std::printf("%ld\n", sum);
}
C
failed=0
for compiler in g++ "$build/bin/weir-c++"; do
  for level in -O0 -O2; do
    "$compiler" -g $level -std=c++17 -I "$root/include" program.cc -o program -pthread || failed=1
    "$compiler" -g $level -std=c++17 -DWRONG -I "$root/include" program.cc -o wrong -pthread || failed=1
    for _ in 1 2 3; do
      timeout 60 "$build/bin/weir" check --policies=declared ./program >output 2>errors
      status=$?
      [ $status = 0 ] && [ "$(cat output)" = 8 ] || { echo "FAILED: $compiler $level: status $status"; cat output errors; failed=1; }
    done
    # By processes: with protection keys, one object in fourteen shares its key with those of the other thread.
    timeout 60 "$build/bin/weir" check --policies=declared --enforcer=process ./wrong >output 2>errors
    status=$?
    [ $status = 66 ] && grep -q 'program.cc:31' errors || { echo "FAILED: $compiler $level: a block by new: status $status"; cat output errors; failed=1; }
  done
done
[ $failed = 0 ] && echo ok
exit $failed
