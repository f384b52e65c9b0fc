# The table of cases: which there are and what each needs. Sourced by run.sh and pass.sh.
#
# A file of cases/ is one family. In it, before each function `case_NAME`:
#   compat NAME [needs="PROG ..."] [limit=SECONDS] [orders="O ..."] [views="V ..."]

declare -a case_names=()
declare -A case_family=() case_attribute=()

compat() {
  local name=$1 pair
  shift
  case_names+=("$name")
  case_family[$name]=$current_family
  for pair in "$@"; do case_attribute[$name.${pair%%=*}]=${pair#*=}; done
}

# load_cases DIRECTORY FAMILIES: FAMILIES is comma-separated, empty = all.
load_cases() {
  local file
  for file in "$1"/*.sh; do
    current_family=$(basename "$file" .sh)
    [ -z "$2" ] || [[ ,$2, == *,$current_family,* ]] || continue
    source "$file"
  done
  [ ${#case_names[@]} -gt 0 ] || { echo "compat: no family is called $2" >&2; return 1; }
}

attribute() {
  local standard
  case $2 in
    limit) standard=60 ;;
    orders) standard="free token record" ;;
    views) standard="direct isolated coherent guarded" ;;
    *) standard= ;;
  esac
  echo "${case_attribute[$1.$2]:-$standard}"
}

attribute_has() { [[ " $(attribute "$1" "$2") " == *" $3 "* ]]; }

missing_programs() {
  local program missing=()
  for program in $(attribute "$1" needs); do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  echo "${missing[*]:-}"
}
