# Sourced by the tests of hazards, after work.sh: programs that have one, and programs that have none.
runs=${2:-3}

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}

# program NAME <source: builds it.
program() {
  cat >"$1.c"
  gcc -g -O1 -w -I"$here/hazards" "$1.c" -o "$1" -pthread || failed=$((failed + 1))
}

# looked WORD...: the options of weir check: kinds in `hazards`, if a test has set it, unless a WORD names others.
looked() {
  options=("$@")
  [ -z "${hazards-}" ] || [[ " $* " = *" --hazards "* ]] || options=(--hazards "$hazards" "$@")
}

# has NAME WORDS [OPTION...]: it is reported, once. clean NAME [OPTION...]: nothing is.
has() {
  local name=$1 words=$2 status
  shift 2
  looked "$@"
  timeout 60 "$weir" check "${options[@]}" -- ./"$name" >out 2>err </dev/null
  status=$?
  # One that is wrong may hang by that, as it would natively.
  [ $status = 66 ] || { [ $status = 124 ] && grep -q 'it would hang without Weir too' err; } ||
    fail "$name: status $status: $(cat err)"
  [ "$(grep -c "^weir: $words" err)" = 1 ] || fail "$name: no '$words' in: $(cat err)"
}
clean() {
  local name=$1 status i
  shift
  looked "$@"
  for ((i = 0; i < runs; i++)); do
    timeout 60 "$weir" check "${options[@]}" -- ./"$name" >out 2>err </dev/null
    status=$?
    [ $status = 0 ] || fail "$name, run $i: status $status: $(cat err)"
  done
}

# pair KIND NAME <source: with WRONG defined it is wrong, else right.
pair() {
  local kind=$1 name=$2
  cat >"$name.c"
  gcc -g -O1 -w -DWRONG=1 -I"$here/hazards" "$name.c" -o "$name.wrong" -pthread || failed=$((failed + 1))
  gcc -g -O1 -w -DWRONG=0 -I"$here/hazards" "$name.c" -o "$name.right" -pthread || failed=$((failed + 1))
  has "$name.wrong" "$kind: "
  clean "$name.right"
}
