# pass.sh FAMILY NAME DIRECTORY: one pass of one case, working in DIRECTORY.
# What the case prints is compared between passes; a failing command ends it.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/table.sh"
compat_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
input=$COMPAT_INPUT threads=$COMPAT_THREADS size=$COMPAT_SIZE
cd "$3"

# The program under test: natively, or behind `weir run ... --`.
prefix=()
[ -z "$COMPAT_PREFIX" ] || mapfile -t prefix < <(printf %s "$COMPAT_PREFIX")
under() { "${prefix[@]}" "$@"; }

# A digest of files or of standard input: these bytes must be the same in both passes.
same_bytes() { sha256sum "$@"; }

# A program that ends with the status $1; the shell goes on.
ends_with() {
  local status=0
  under "${@:2}" || status=$?
  [ "$status" -eq "$1" ] || { echo "status $status instead of $1: ${*:2}" >&2; exit 1; }
}

# `is_tree DIRECTORY`: the same files with the same contents as the input's tree.
is_tree() { diff -r "$input/tree" "$1"; }

# `scaled SMALL FULL`: an amount of work that suits --size.
scaled() { if [ "$size" = full ]; then echo "$2"; else echo "$1"; fi; }

# A port nobody listens on, for a server that is started at once. Not one of those that the kernel gives to clients: a client that tries until
# somebody listens would be given it in the end, and be connected with itself.
free_port() {
  python3 - <<'END'
import random, socket
lowest = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
while True:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", random.randrange(5000, lowest) if lowest > 10000 else 0))
        except OSError:
            continue
        print(trial.getsockname()[1])
        break
END
}

# `ask ...`: a bounded client (client.py).
ask() { python3 "$compat_folder/client.py" "$@"; }

# `stop PID SIGNAL`: ends the server PID and passes on how it ended.
stop() {
  local status=0
  kill "-$2" "$1"
  wait "$1" || status=$?
  echo "server ended with $status"
}

load_cases "$COMPAT_CASES" "$1"
"case_$2"
