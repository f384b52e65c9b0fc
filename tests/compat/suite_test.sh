#!/bin/bash
# Tests the compatibility suite itself: each kind of damage that a run can do is planted
# by a false "weir" (option --prefix), and the suite must name it and clean up after it.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; rm -f "/dev/shm/compat-suite-$$"' EXIT
failures=0

# planted NAME CASE WORDS SCRIPT: with SCRIPT before each program of CASE the suite must say WORDS.
planted() {
  local name=$1 case=$2 words=$3 output status=0
  printf '#!/bin/bash\n%s\n' "$4" >"$scratch/$name"
  chmod +x "$scratch/$name"
  output=$("$here/run.sh" --only "$case" --limit 4 --prefix "$scratch/$name" 2>&1) || status=$?
  if [[ $output == *"$words"* ]] && { [ "$status" -ne 0 ] || [ "$words" = "1 passed, 0 failed" ]; }; then
    echo "ok $name"
  else
    echo "FAIL $name: status $status, no '$words' in:"
    echo "$output"
    failures=$((failures + 1))
  fi
}

planted HonestRunPasses curl_file "1 passed, 0 failed" 'exec "$@"'
planted OtherOutputIsNamed awk_sed "differs: " '"$@" | tr a b'
planted OtherStatusIsNamed curl_file "status 3" '"$@"; exit 3'
planted HangIsEnded curl_file "out of time (4 s)" 'sleep 60'
planted StrayProcessIsNamed curl_file "left 1 processes: " 'sleep 61 >&- 2>&- & exec "$@"'
planted StrayDaemonIsNamed curl_file "left 1 processes: " 'setsid sleep 62 >&- 2>&- & exec "$@"'
planted StraySharedMemoryIsNamed curl_file "left in shared memory: /dev/shm/compat-suite-$$" \
  "touch /dev/shm/compat-suite-$$; exec \"\$@\""

[ "$failures" -eq 0 ]
