# The table of cases: which there are and what each needs. Sourced by run.sh and pass.sh.
#
# A file of cases/ or more/ is one family. In it, before each function `case_NAME`:
#   compat NAME [needs="PROG ..."] [files="PATH ..."] [modules="PYTHON-MODULE ..."] [limit=SECONDS] [orders="O ..."]
#     [views="V ..."] [version="COMMAND"]

declare -a case_names=()
declare -A case_family=() case_attribute=()

compat() {
  local name=$1 pair
  shift
  case_names+=("$name")
  case_family[$name]=$current_family
  for pair in "$@"; do case_attribute[$name.${pair%%=*}]=${pair#*=}; done
}

# Where `setup more` puts what comes from PyPI and npm.
python_packages=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/weir-compat/python
node_packages=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/weir-compat/node/node_modules

# load_cases DIRECTORY[:DIRECTORY...] FAMILIES: FAMILIES is comma-separated, empty = all.
load_cases() {
  local file folders
  IFS=: read -ra folders <<<"$1"
  for file in $(printf '%s/*.sh ' "${folders[@]}"); do
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
    orders) standard="free token record check" ;;
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
  for program in $(attribute "$1" files); do
    [ -e "$program" ] || missing+=("$program")
  done
  for program in $(attribute "$1" modules); do
    PYTHONPATH=$python_packages python3 -c "import importlib.util as u, sys; sys.exit(u.find_spec('$program') is None)" 2>/dev/null ||
      missing+=("$program")
  done
  echo "${missing[*]:-}"
}
