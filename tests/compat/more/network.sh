# More servers, on 127.0.0.1, with a bounded native client.

serve() { exec "${prefix[@]}" "$@"; }

compat lighttpd needs="lighttpd python3" limit=90
case_lighttpd() {
  local port server
  port=$(free_port)
  cp "$input/mixed" "$input/text" .
  printf 'server.document-root = "%s"\nserver.port = %s\nserver.bind = "127.0.0.1"\nserver.errorlog = "%s/log"\n' "$PWD" "$port" "$PWD" >l.conf
  serve lighttpd -D -f l.conf &
  server=$!
  ask http "$port" 4 "$(scaled 4 20)" mixed text
  stop "$server" TERM
}

compat php_fpm needs="php-fpm8.2 python3" limit=90
case_php_fpm() {
  local server
  echo '<?php echo strrev("weir"), array_sum(range(1, 100));' >a.php
  printf '[global]\nerror_log=%s/log\ndaemonize=no\n[www]\nlisten=%s/sock\npm=static\npm.max_children=2\nuser=root\ngroup=root\n' "$PWD" "$PWD" >f.conf
  serve php-fpm8.2 -R -n -y f.conf &
  server=$!
  ask socket "$PWD/sock"
  for _ in 1 2 3; do
    python3 - "$PWD/a.php" <<'END'
import os, socket, struct, sys
def record(kind, data): return struct.pack(">BBHHBB", 1, kind, 1, len(data), 0, 0) + data
pairs = {"SCRIPT_FILENAME": sys.argv[1], "REQUEST_METHOD": "GET"}
text = b"".join(bytes([len(k), len(v)]) + k.encode() + v.encode() for k, v in pairs.items())
s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect("sock")
s.sendall(record(1, b"\0\1\0\0\0\0\0\0") + record(4, text) + record(4, b"") + record(5, b""))
found = b""
while data := s.recv(4096): found += data
print(found[8:].split(b"\r\n\r\n")[1][:9].decode())
END
  done
  stop "$server" QUIT
}

compat dnsmasq needs="dnsmasq dig" limit=90
case_dnsmasq() {
  local port server
  port=$(free_port)
  serve dnsmasq -k --conf-file=/dev/null --no-resolv --no-hosts --port="$port" --listen-address=127.0.0.1 --bind-interfaces --user= --pid-file="$PWD/pid" --address=/weir.test/10.1.2.3 --log-facility="$PWD/log" &
  server=$!
  ask listening "$port"
  dig +short +time=10 -p "$port" @127.0.0.1 a.weir.test
  stop "$server" TERM
}

compat unbound needs="unbound dig" limit=90
case_unbound() {
  local port server
  port=$(free_port)
  cat >u.conf <<CONF
server:
  interface: 127.0.0.1
  port: $port
  num-threads: 2
  username: ""
  chroot: ""
  directory: "$PWD"
  pidfile: "$PWD/pid"
  use-syslog: no
  logfile: "$PWD/log"
  do-daemonize: no
  local-zone: "test." static
  local-data: "weir.test. A 10.1.2.3"
remote-control:
  control-enable: no
CONF
  serve unbound -d -c u.conf >words 2>&1 &
  server=$!
  ask listening "$port"
  for _ in 1 2 3 4; do dig +short +time=10 -p "$port" @127.0.0.1 weir.test; done
  stop "$server" TERM
}

compat named needs="named dig" limit=90
case_named() {
  local port server
  port=$(free_port)
  printf '$TTL 60\n@ SOA a. b. 1 60 60 60 60\n@ NS a.\nw A 10.1.2.3\n' >z
  cat >n.conf <<CONF
options { directory "$PWD"; listen-on port $port { 127.0.0.1; }; listen-on-v6 { none; }; pid-file "$PWD/pid"; session-keyfile "$PWD/k"; recursion no; dnssec-validation no; managed-keys-directory "$PWD"; };
controls { };
zone "test" { type primary; file "$PWD/z"; };
CONF
  serve named -g -n 2 -c n.conf >words 2>&1 &
  server=$!
  ask listening "$port"
  # It listens before it has read the zone, and refuses questions until then.
  for _ in {1..100}; do [ -z "$(dig +short +time=10 -p "$port" @127.0.0.1 w.test)" ] || break; sleep 0.1; done
  for _ in 1 2 3 4; do dig +short +time=10 -p "$port" @127.0.0.1 w.test; done
  stop "$server" TERM
}

compat varnish needs="varnishd python3 curl" limit=120
case_varnish() {
  local port back server web
  port=$(free_port)
  back=$(free_port)
  cp "$input/text" .
  python3 -m http.server -b 127.0.0.1 "$back" >words 2>&1 &
  web=$!
  ask listening "$back"
  printf 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "%s"; }\n' "$back" >v.vcl
  serve varnishd -F -n "$PWD/v" -a "127.0.0.1:$port" -f "$PWD/v.vcl" -s malloc,4m -p thread_pools=1 -p thread_pool_min=10 -j none >words2 2>&1 &
  server=$!
  ask listening "$port"
  for _ in 1 2; do curl -s "http://127.0.0.1:$port/text" | sha256sum; done
  kill "$web"
  stop "$server" TERM
}
