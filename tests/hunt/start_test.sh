#!/bin/bash
# weir_hunt_start() of weir.h: schedules begin there, and programs are copied there; it counts once;
# it comes too late after a thread; without Weir, and under other commands, it does nothing.
set -u
build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
weir=$build/bin/weir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
check() {
  if eval "$2"; then echo "ok      $1"; else
    echo "FAILED  $1"
    cat said
    failed=1
  fi
}
says() { grep -q -- "$1" said; }

gcc -O1 -g -pthread -I "$here/../../include" "$here/forked/called.c" -o start || exit 1
hunt() { "$weir" hunt --no-recording --jobs 1 --runs 400 -- ./start "$@" >said 2>&1 </dev/null; }

./start once >said 2>&1; check "without Weir it does nothing" '[ $? = 0 ] && ! [ -s said ]'
"$weir" det -- ./start once >said 2>&1; check "nor under weir det" '[ $? = 0 ] && ! [ -s said ]'
hunt once; check "the bug is found behind it" '[ $? = 66 ] && says "runs were forked at weir_hunt_start()"'
command=$(sed -n 's/^ *weir run --order serial/run --order serial/p' said)
eval "\"$weir\" $command" >said 2>&1
check "its schedule fails without the hunt" 'says "lost"'
hunt twice; check "the second call does nothing" '[ $? = 66 ] && says "runs were forked at weir_hunt_start()"'
hunt never; check "uncalled, runs begin at the first thread" \
  '[ $? = 66 ] && says "runs were forked at the creation of the first thread"'
hunt late; check "behind a thread it says that it does nothing" \
  '[ $? = 66 ] && says "weir_hunt_start() has no effect" && says "at the creation of the first thread"'
hunt pipe; check "what is opened behind it does not matter" \
  '[ $? = 66 ] && says "runs were forked at weir_hunt_start()"'
hunt alone; check "a program without threads has nothing to schedule" '[ $? = 0 ] && says "has one thread"'
"$weir" record --quiet -o kept --schedule w3:pct:seed=1 -- ./start once >said 2>&1 </dev/null
"$weir" replay --verify kept >said 2>&1
check "a recorded schedule that begins there is replayed" '[ $? = 0 ]'
gcc -O1 -g -pthread -DWEIR_NO_ANNOTATIONS -I "$here/../../include" "$here/forked/called.c" -o start || exit 1
hunt once; check "without annotations it is not there" \
  '[ $? = 66 ] && says "runs were forked at the creation of the first thread"'
exit $failed
