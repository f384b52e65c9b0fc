#!/usr/bin/env bash
# Runs a program by Open MPI on hosts of its own, which are network namespaces of this machine, with TCP between them. They are gone afterwards, whatever happens.
# usage: hosts.sh HOSTS[xSLOTS] [--rate MBIT] COMMAND ARGUMENT...     status: that of mpirun; 77: not possible here (it takes root)
set -uo pipefail

count=${1%x*} slots=1
[ "$count" = "$1" ] || slots=${1#*x}
shift
rate=
if [ "${1:-}" = --rate ]; then rate=$2; shift 2; fi
for tool in mpirun.openmpi ip; do command -v $tool >/dev/null || { echo "hosts: $tool is missing: tools/setup dsm" >&2; exit 1; }; done
[ "$(id -u)" = 0 ] || { echo "hosts: it takes root" >&2; exit 77; }
prefix=${HOSTS_PREFIX:-weir$$}  # of the namespaces' names
work=$(mktemp -d)

clean() {
  trap '' INT TERM HUP
  for name in $(ip netns list 2>/dev/null | awk '{print $1}' | grep "^$prefix-"); do
    for process in $(ip netns pids "$name" 2>/dev/null); do kill -KILL "$process" 2>/dev/null; done
    ip netns delete "$name"
  done
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 143' INT TERM HUP

ip netns add "$prefix-switch" 2>/dev/null || { echo "hosts: no network namespaces here" >&2; exit 77; }
ip -n "$prefix-switch" link add bridge type bridge
ip -n "$prefix-switch" link set bridge up
hosts=
for ((i = 1; i <= count; i++)); do
  name=$prefix-host$i
  ip netns add "$name"
  ip link add "eth0" netns "$name" type veth peer name "port$i" netns "$prefix-switch"
  ip -n "$prefix-switch" link set "port$i" master bridge up
  ip -n "$name" address add "10.73.0.$i/24" dev eth0
  ip -n "$name" link set eth0 up
  ip -n "$name" link set lo up
  if [ -n "$rate" ]; then  # both ways, as a cable has it; small frames, as a burst of one is free after a pause
    ip -n "$name" link set eth0 mtu 576
    ip -n "$prefix-switch" link set "port$i" mtu 576
    tc -n "$name" qdisc add dev eth0 root tbf rate "${rate}mbit" burst 640 latency 500ms
    tc -n "$prefix-switch" qdisc add dev "port$i" root tbf rate "${rate}mbit" burst 640 latency 500ms
  fi
  hosts=$hosts${hosts:+,}host$i:$slots
done

# What mpirun calls in place of ssh: HOST COMMAND...
cat > "$work/agent" <<AGENT
#!/bin/bash
host=\$1; shift
exec ip netns exec "$prefix-\$host" unshare --uts bash -c 'hostname "\$1"; shift; eval "\$@"' agent "\$host" "\$@"
AGENT
chmod +x "$work/agent"

# UCX's shared memory would go from namespace to namespace: it does not know that they are hosts.
export UCX_TLS=${UCX_TLS:-tcp,self} UCX_NET_DEVICES=${UCX_NET_DEVICES:-eth0}
pass=()
for name in $(compgen -e | grep -E '^(WEIR|UCX)_'); do pass+=(-x "$name"); done
ip netns exec "$prefix-host1" unshare --uts bash -c 'hostname host1; exec "$@"' run \
  mpirun.openmpi --allow-run-as-root --host "$hosts" -n $((count * slots)) --bind-to none --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 \
  --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 "${pass[@]}" "$@" &
run=$!
wait "$run"
status=$?
exit "$status"
