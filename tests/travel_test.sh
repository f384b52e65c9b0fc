#!/usr/bin/env bash
# Recordings travel: they replay in another folder, for another user, and after the program, its libraries, its loader and what it
# executes have changed or gone.
# usage: travel_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"
export WEIR_CACHE=$work/cache
mkdir cache

# same RECORDING [COMMAND...]: its replay, by COMMAND, ends as recorded and shows what `told` holds.
same() {
  local recording=$1
  shift
  timeout 60 "$@" "$weir" replay --verify "$recording" >"$work/stdout" 2>"$work/stderr" </dev/null
  local status=$?
  [ $status = 0 ] && grep -q 'replayed as recorded' "$work/stderr" && cmp -s "$work/told" "$work/stdout" ||
    fail "replay of $recording${*:+ by $*}: status $status: $(cat "$work/stderr") $(diff "$work/told" "$work/stdout" | head -3)"
}

# record_as NAME COMMAND...: a recording NAME of a program that must succeed, and what it showed in `told`.
record_as() {
  local name=$1
  shift
  timeout 60 "$weir" record --quiet --fingerprint $view_option -o "$name" -- "$@" >"$work/told" 2>"$work/stderr" </dev/null || fail "record $name: $(cat "$work/stderr")"
}

# --- the program, overwritten in place, replaced, and gone; its library, its script
cat >shows.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
int number(void);
static void* other(void* unused) { return unused; }
int main(int count, char** words) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  printf("version %d with library %d: %s (%s), %d arguments, at %p\n", VERSION, number(), words[0], (char*)getauxval(AT_EXECFN), count, (void*)words[0]);
  return 0;
}
C
echo 'int number(void) { return VERSION; }' >library.c
# built VERSION FOLDER: a program and a library of that version.
built() {
  mkdir -p "$2/lib" && gcc -O1 -shared -fPIC -DVERSION="$1" library.c -o "$2/lib/libnumber.so" &&
    gcc -O1 -pthread -DVERSION="$1" shows.c -o "$2/shows" -L"$2/lib" -lnumber || fail "cannot compile"
}
built 1 first
built 2 second
for view in coherent isolated direct; do
  view_option=--view=$view
  for program in ./shows "$work/place/shows" place/../shows shows; do
    rm -rf place recording moved
    cp -r first place
    (cd place && mkdir -p place && LD_LIBRARY_PATH=lib PATH=.:$PATH record_as "$work/recording" "$program" one two)
    same recording
    cat second/shows >place/shows
    same recording
    cat second/lib/libnumber.so >place/lib/libnumber.so
    same recording
    cat first/shows >place/shows
    same recording
    rm place/lib/libnumber.so
    same recording
    rm -rf place
    same recording
    mv recording moved
    (cd / && same "$work/moved") 2>/dev/null
  done
done

# --- other versions of the system's files, in a mount namespace of its own: its cache, its C library, its loader
cat >upgraded <<'S'
#!/bin/bash
# upgraded FILE... -- COMMAND...: with other content in these files.
while [ "$1" != -- ]; do
  file=$(realpath "$1") other=$(mktemp -p "$work")
  cp -p "$file" "$other" && head -c 70000 /dev/zero >>"$other" && mount --bind "$other" "$file" || exit 99
  shift
done
shift
exec "$@"
S
chmod +x upgraded
export work
cat >script <<'S'
#!/usr/bin/python3 -S
import ctypes.util, sys, zlib
print(sys.argv, zlib.crc32(b'abc'))
S
chmod +x script
cat >children <<'S'
echo "$0"; "$(command -v ls)" / >/dev/null && PATH=$PATH:. env true && ./first/shows a | cat
S
cache=/etc/ld.so.cache
libc=$(ldd /bin/sh | grep -o '/[^ ]*libc\.so\.6') loader=$(ldd /bin/sh | grep -o '/[^ ]*ld-linux[^ ]*')
export LD_LIBRARY_PATH=$work/first/lib
if unshare -m true; then
  for view in coherent isolated direct; do
    view_option=--view=$view
    rm -rf recordings && mkdir recordings
    record_as recordings/true true && for changed in "$cache" "$libc" "$loader" "$cache $libc $loader /bin/true"; do
      same recordings/true unshare -m ./upgraded $changed --
    done
    record_as recordings/children sh children
    for changed in "$cache" "$libc" "$loader /bin/ls" "$cache $libc $loader /bin/ls /usr/bin/env /bin/sh $work/first/shows"; do
      same recordings/children unshare -m ./upgraded $changed --
    done
    record_as recordings/script ./script a b
    mv script away
    same recordings/script
    echo '#!/bin/false' >script && chmod +x script
    same recordings/script unshare -m ./upgraded "$libc" /usr/bin/python3 "$loader" --
    mv away script
  done
else
  echo "not tested: other versions of system files (no mount namespaces here)"
fi

# --- a library that the program loads later, and a working directory that is gone
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* library = dlopen("./lib/libnumber.so", RTLD_NOW);
  printf("%d\n", library ? ((int (*)(void))dlsym(library, "number"))() : -1);
  return 0;
}
C
gcc loads.c -o loads || fail "cannot compile"
view_option=--view=coherent
rm -rf place && mkdir place && cp -r loads first/lib place && (cd place && record_as "$work/loaded" ./loads)
rm -r place
same loaded
mkdir gone && (cd gone && rmdir ../gone && record_as "$work/nowhere" "$work/loads")
same nowhere
mv loads first
same nowhere

# --- packed, and replayed by another user; not by one who may not read it
tar -cf packed.tar loaded nowhere && mkdir unpacked && tar -xf packed.tar -C unpacked && rm packed.tar
same unpacked/nowhere
record_as kept true
chmod 755 "$work"
if [ "$(id -u)" = 0 ]; then
  nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u WEIR_CACHE HOME=/nowhere)
  cp -r kept other && chown -R 65534:65534 other
  # The build may lie where only root can go.
  mkdir -p elsewhere/bin elsewhere/lib && cp "$weir" elsewhere/bin && cp "$(dirname "$weir")/../lib/"{libweir.so,weir-host} elsewhere/lib
  own=$weir weir=$work/elsewhere/bin/weir
  same other "${nobody[@]}"
  ends 125 'kept: it belongs to root, and only its owner may read a recording' "${nobody[@]}" "$weir" replay kept
  ends 125 'kept: it belongs to root' "${nobody[@]}" "$weir" verify kept
  weir=$own
fi

# --- what does not fit is named before anything starts
rm -rf place && cp -r first place
cp -r second/shows newer
(cd place && record_as "$work/whole" ./shows && timeout 60 "$weir" record --quiet --files name -o "$work/named" -- ./shows >/dev/null)
ls named/kept | grep -q . && fail "--files name has kept: $(ls named/kept)"
cat newer >place/shows
ends 125 "$work/place/shows has changed since: build id" "$weir" replay named
ends 125 "has no copy of it (--files name)" "$weir" replay named
[ -s stdout ] && fail "something has started: $(cat stdout)"
same whole
kept=$(ls -S whole/kept | tail -n 1)
cp -r whole damaged && chmod u+w "damaged/kept/$kept" && printf 'x' | dd of="damaged/kept/$kept" bs=1 seek=99 conv=notrunc status=none
ends 125 "kept/$kept, its copy of " "$weir" replay damaged
ends 1 '' "$weir" verify damaged
grep -q "kept/$kept (.*): the sum is wrong" stdout || fail "verify of a damaged copy: $(cat stdout)"
rm -f "damaged/kept/$kept"
ends 125 "kept/$kept, its copy of " "$weir" replay damaged

# --- each content is there once; a damaged one is made anew; a recording is removed with its links
content=$work/cache/files/contents/$(basename "$(ls -S whole/kept/* | head -n 1)")
[ "$(stat -c %h "$content")" -gt 5 ] || fail "not shared: $(stat -c '%h %n' "$content")"
chmod u+w "$content" && printf 'x' | dd of="$content" bs=1 seek=99 conv=notrunc status=none
record_as again true
ends 0 '' "$weir" verify again
links=$(stat -c %h "$work/cache/files/contents/$(basename "$content")")
ends 0 '' "$weir" rm again
[ "$(stat -c %h "$work/cache/files/contents/$(basename "$content")")" = $((links - 1)) ] || fail "weir rm has left a link"
(export WEIR_CACHE=off && record_as alone true && same alone)

# --- gdb reads the kept files
if command -v gdb >/dev/null; then
  rm -rf place && mkdir place && gcc -g -O0 -pthread -DVERSION=1 shows.c -o place/shows -Lfirst/lib -lnumber && cp -r first/lib place
  (cd place && LD_LIBRARY_PATH=$work/place/lib record_as "$work/debugged" ./shows)
  cat newer >place/shows && cat second/lib/libnumber.so >place/lib/libnumber.so
  for changed in place/shows "$libc $loader"; do
    printf '%s\n' 'break number' continue up 'info locals' 'info sharedlibrary' kill quit |
      timeout 60 unshare -m ./upgraded $changed -- "$weir" replay --gdb debugged >out 2>&1
    grep -q 'in main .*shows.c' out && grep -q 'thread = ' out || fail "gdb with other $changed: $(tail -n 20 out)"
    grep -q 'weir-files-.*/libnumber.so' out || fail "gdb with other $changed reads: $(grep libnumber out)"
  done
  ls -d "${TMPDIR:-/tmp}"/weir-files-* 2>/dev/null | grep -q . && fail "left: $(ls -d "${TMPDIR:-/tmp}"/weir-files-*)"
fi

echo "travel: $failed failures"
[ "$failed" = 0 ]
