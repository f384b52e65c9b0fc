# Servers of other protocols than those of `network`, on 127.0.0.1, with a native client.

serve() { exec "${prefix[@]}" "$@"; }

compat mosquitto needs="mosquitto python3"
case_mosquitto() {
  local port server
  port=$(free_port)
  printf 'listener %s 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n' "$port" >m.conf
  serve mosquitto -c m.conf >words 2>&1 &
  server=$!
  ask listening "$port"
  python3 - "$port" <<'END'
import socket, struct, sys
def text(t): return struct.pack(">H", len(t)) + t
def packet(kind, body): return bytes([kind, len(body)]) + body
def client(name):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
    s.sendall(packet(0x10, text(b"MQTT") + bytes([4, 2, 0, 60]) + text(name)))
    assert s.recv(4) == b"\x20\2\0\0"
    return s
a, b = client(b"a"), client(b"b")
a.sendall(packet(0x82, b"\0\1" + text(b"t") + b"\0"))
assert a.recv(5)[0] == 0x90
found = b""
for n in range(50): b.sendall(packet(0x30, text(b"t") + b"%03d" % n))
while len(found) < 50 * 8: found += a.recv(4096)
print(found[5:8], found[-3:])
END
  stop "$server" TERM
}

compat sshd needs="sshd ssh ssh-keygen" limit=90 orders="free token check"
case_sshd() {
  local port server
  port=$(free_port)
  mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f host
  ssh-keygen -q -t ed25519 -N '' -f me
  cp me.pub keys
  printf 'Port %s\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/keys\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n' "$port" "$PWD" "$PWD" >s.conf
  serve /usr/sbin/sshd -D -e -f "$PWD/s.conf" >words 2>&1 &
  server=$!
  ask listening "$port"
  for n in 1 2; do
    ssh -F none -i me -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=known -o LogLevel=ERROR -o IdentitiesOnly=yes -n 127.0.0.1 "echo hello $n; seq 1 20000 | sha256sum"
  done
  stop "$server" TERM
}

compat nsd needs="nsd dig"
case_nsd() {
  local port server
  port=$(free_port)
  printf '$TTL 60\n@ SOA a. b. 1 60 60 60 60\n@ NS a.\nw A 10.1.2.3\n' >z
  printf 'server:\n ip-address: 127.0.0.1\n port: %s\n server-count: 2\n username: ""\n zonesdir: "%s"\n database: ""\n pidfile: "%s/pid"\n xfrdfile: "%s/x"\n xfrdir: "%s"\n zonelistfile: "%s/l"\nremote-control:\n control-enable: no\nzone:\n name: test\n zonefile: z\n' "$port" "$PWD" "$PWD" "$PWD" "$PWD" "$PWD" >n.conf
  serve nsd -d -c "$PWD/n.conf" >words 2>&1 &
  server=$!
  ask listening "$port"
  for _ in 1 2 3 4; do dig +short +time=10 -p "$port" @127.0.0.1 w.test; done
  stop "$server" TERM
}

compat knot needs="knotd dig"
case_knot() {
  local port server
  port=$(free_port)
  printf '$TTL 60\n@ SOA a. b. 1 60 60 60 60\n@ NS a.\nw A 10.1.2.3\n' >z
  printf 'server:\n  listen: 127.0.0.1@%s\n  rundir: %s\n  user: root\n  udp-workers: 2\n  tcp-workers: 2\n  background-workers: 2\ndatabase:\n  storage: %s/db\nlog:\n  - target: stderr\n    any: error\nzone:\n  - domain: test\n    file: %s/z\n    zonefile-sync: -1\n    journal-content: none\n' "$port" "$PWD" "$PWD" "$PWD" >k.conf
  serve knotd -c "$PWD/k.conf" >words 2>&1 &
  server=$!
  ask listening "$port"
  for _ in {1..100}; do [ -z "$(dig +short +time=10 -p "$port" @127.0.0.1 w.test)" ] || break; sleep 0.1; done
  for _ in 1 2 3 4; do dig +short +time=10 +tcp -p "$port" @127.0.0.1 w.test; done
  stop "$server" TERM
}

compat slapd needs="slapd ldapsearch slapadd" limit=90
case_slapd() {
  local port server
  port=$(free_port)
  mkdir db
  printf 'include /etc/ldap/schema/core.schema\npidfile %s/pid\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\nthreads 4\ndatabase mdb\nsuffix "dc=test"\ndirectory %s/db\nmaxsize 8388608\naccess to * by * read\n' "$PWD" "$PWD" >s.conf
  { printf 'dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\no: test\ndc: test\n\n'
    for n in 1 2 3 4 5 6; do printf 'dn: cn=u%s,dc=test\nobjectClass: organizationalRole\ncn: u%s\n\n' "$n" "$n"; done; } >d.ldif
  under slapadd -q -f s.conf -l d.ldif
  serve slapd -d 0 -f s.conf -h "ldap://127.0.0.1:$port" >words 2>&1 &
  server=$!
  ask listening "$port"
  for n in 1 2 3; do ldapsearch -x -LLL -H "ldap://127.0.0.1:$port" -b dc=test "(cn=u*)" cn | sort | same_bytes; done
  stop "$server" TERM
}

compat beanstalkd needs="beanstalkd python3"
case_beanstalkd() {
  local port server
  port=$(free_port)
  serve beanstalkd -l 127.0.0.1 -p "$port" &
  server=$!
  ask listening "$port"
  python3 - "$port" <<'END'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
f = s.makefile("rwb", buffering=0)
for n in range(30):
    f.write(b"put %d 0 60 3\r\n%03d\r\n" % (30 - n, n)); assert f.readline().startswith(b"INSERTED")
got = []
for n in range(30):
    f.write(b"reserve\r\n"); head = f.readline().split(); got.append(f.read(5)[:3].decode())
    f.write(b"delete " + head[1] + b"\r\n"); f.readline()
print(" ".join(got))
END
  stop "$server" TERM
}

compat gearmand needs="gearmand python3"
case_gearmand() {
  local port server
  port=$(free_port)
  serve gearmand -L 127.0.0.1 -p "$port" -t "$threads" -l stderr >words 2>&1 &
  server=$!
  ask listening "$port"
  python3 - "$port" <<'END'
import socket, struct, sys
s = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) for _ in range(4)]
for n in range(20):
    for k, one in enumerate(s):
        body = b"echo %d %d" % (n, k)
        one.sendall(b"\0REQ" + struct.pack(">II", 16, len(body)) + body)
    for k, one in enumerate(s):
        want = 12 + len(b"echo %d %d" % (n, k)); got = b""
        while len(got) < want: got += one.recv(want - len(got))
        assert got[12:] == b"echo %d %d" % (n, k), got
print("80 echoes")
END
  stop "$server" TERM
}

compat stunnel needs="stunnel openssl python3"
case_stunnel() {
  local port back server web
  port=$(free_port)
  back=$(free_port)
  (cd "$input" && exec python3 -m http.server -b 127.0.0.1 "$back") >words 2>&1 &
  web=$!
  ask listening "$back"
  openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 9 -subj /CN=weir 2>words
  printf 'foreground = quiet\npid =\n[a]\naccept = 127.0.0.1:%s\nconnect = 127.0.0.1:%s\ncert = %s/c.pem\nkey = %s/k.pem\n' "$port" "$back" "$PWD" "$PWD" >s.conf
  serve stunnel "$PWD/s.conf" >words2 2>&1 &
  server=$!
  ask listening "$port"
  for _ in 1 2 3; do curl -sk "https://127.0.0.1:$port/text" | same_bytes; done
  kill "$web"
  stop "$server" TERM
}

compat nats needs="nats-server python3" orders="free token record"
case_nats() {
  local port server
  port=$(free_port)
  serve nats-server -a 127.0.0.1 -p "$port" >words 2>&1 &
  server=$!
  ask listening "$port"
  python3 - "$port" <<'END'
import socket, sys
def client():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30); f = s.makefile("rwb", buffering=0)
    f.readline(); f.write(b'CONNECT {"verbose":false}\r\nPING\r\n'); assert f.readline() == b"PONG\r\n"
    return f
a, b = client(), client()
a.write(b"SUB t 1\r\nPING\r\n"); a.readline()
for n in range(50): b.write(b"PUB t 3\r\n%03d\r\n" % n)
got = []
for n in range(50): a.readline(); got.append(a.readline()[:3].decode())
print(" ".join(got))
END
  stop "$server" TERM
}

compat caddy needs="caddy curl" limit=90 orders="free token record"
case_caddy() {
  local port server
  port=$(free_port)
  export HOME=$PWD
  cp "$input/text" .
  printf '{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:%s {\n root * %s\n file_server\n}\n' "$port" "$PWD" >Caddyfile
  serve caddy run --config Caddyfile >words 2>&1 &
  server=$!
  ask listening "$port"
  for _ in 1 2 3; do curl -s "http://127.0.0.1:$port/text" | same_bytes; done
  stop "$server" TERM
}
