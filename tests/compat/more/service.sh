# Servers and data bases, on 127.0.0.1 or a socket of their own, with a bounded native client.

serve() { exec "${prefix[@]}" "$@"; }

# As root: lets other users in here.
open_to_all() { [ "$(id -u)" -ne 0 ] || chmod o+x "$PWD/../../.." "$PWD/../.." "$PWD/.." "$PWD"; }

compat mariadb needs="mariadbd mariadb-install-db mariadb" limit=150
case_mariadb() {
  local server
  mkdir data
  mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$PWD/data" --auth-root-authentication-method=normal --skip-test-db >words 2>&1
  serve mariadbd --no-defaults --user="$(id -un)" --datadir="$PWD/data" --socket="$PWD/s" --skip-networking --innodb-buffer-pool-size=8M \
    --innodb-log-file-size=4M --key-buffer-size=1M --log-error="$PWD/log" &
  server=$!
  ask socket "$PWD/s"
  mariadb --no-defaults -u root -S "$PWD/s" -N -e 'create database d; use d; create table t (a int primary key, b varchar(9)) engine=innodb;
    insert into t values (1, "one"), (2, "two"), (3, "three"); select sum(a), group_concat(b order by a) from t'
  stop "$server" TERM
}

compat postgres needs="psql python3" files=/usr/lib/postgresql limit=150
case_postgres() {
  local server bin user=()
  bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
  # It refuses to be root.
  [ "$(id -u)" -ne 0 ] || user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  mkdir -m 777 base
  open_to_all
  [ "$(id -u)" -ne 0 ] || chown postgres base
  (cd base && "${user[@]}" "$bin/initdb" -D data -A trust -U me -N >words 2>&1)
  serve "${user[@]}" "$bin/postgres" -D "$PWD/base/data" -k "$PWD/base" -h '' -c shared_buffers=2MB -c fsync=off -c max_connections=5 >words 2>&1 &
  server=$!
  ask socket "$PWD/base/.s.PGSQL.5432"
  psql -h "$PWD/base" -U me -At postgres -c 'create table t as select n, n % 7 as m from generate_series(1, 5000) n' -c 'select m, count(*), sum(n) from t group by m order by m'
  stop "$server" INT
}

compat apache needs="apache2 python3" files=/usr/lib/apache2/modules/mod_mpm_event.so limit=90
case_apache() {
  local port server modules=/usr/lib/apache2/modules
  port=$(free_port)
  cp "$input/mixed" "$input/text" .
  cat >apache.conf <<CONF
ServerName localhost
ServerRoot $PWD
PidFile $PWD/pid
Listen 127.0.0.1:$port
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
ErrorLog $PWD/error
DocumentRoot $PWD
StartServers 1
ServerLimit 1
ThreadsPerChild 8
KeepAliveTimeout 60
MaxRequestWorkers 8
MinSpareThreads 1
MaxSpareThreads 8
CONF
  [ "$(id -u)" -ne 0 ] || { printf 'User www-data\nGroup www-data\n' >>apache.conf; }
  open_to_all
  serve apache2 -d "$PWD" -f "$PWD/apache.conf" -D FOREGROUND &
  server=$!
  ask http "$port" 4 3 mixed text
  stop "$server" TERM
}

compat haproxy needs="haproxy python3" limit=90
case_haproxy() {
  local port server inner behind
  port=$(free_port)
  inner=$(free_port)
  cp "$input/text" .
  python3 -m http.server --bind 127.0.0.1 "$inner" >words 2>&1 &
  behind=$!
  ask listening "$inner"
  cat >haproxy.conf <<CONF
global
  nbthread $threads
defaults
  mode http
  timeout connect 20s
  timeout client 20s
  timeout server 20s
frontend f
  bind 127.0.0.1:$port
  default_backend b
backend b
  server s 127.0.0.1:$inner
CONF
  serve haproxy -q -db -f haproxy.conf &
  server=$!
  ask http "$port" 3 3 text
  stop "$server" TERM
  kill "$behind"
  wait "$behind" || true
}

# As root it becomes another user, and makes its threads after that.
compat memcached_user needs="memcached python3" limit=90
case_memcached_user() {
  local port server user=()
  port=$(free_port)
  [ "$(id -u)" -ne 0 ] || user=(-u nobody)
  serve memcached -l 127.0.0.1 -p "$port" -U 0 -t "$threads" -m 16 "${user[@]}" &
  server=$!
  ask memcached "$port" 4 20
  stop "$server" TERM
}

compat nginx_user needs="nginx python3" limit=90
case_nginx_user() {
  local port server
  port=$(free_port)
  cp "$input/text" .
  mkdir -p logs
  printf 'daemon off; worker_processes 1; pid %s; error_log %s; events { worker_connections 64; } thread_pool default threads=2;
    http { access_log off; aio threads; sendfile off; client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s; uwsgi_temp_path %s; scgi_temp_path %s;
    server { listen 127.0.0.1:%s; root %s; } }\n' "$PWD/pid" "$PWD/logs/e" "$PWD/1" "$PWD/2" "$PWD/3" "$PWD/4" "$PWD/5" "$port" "$PWD" >nginx.conf
  [ "$(id -u)" -ne 0 ] || { sed -i '1i user www-data;' nginx.conf; }
  open_to_all
  serve nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/e" &
  server=$!
  ask http "$port" 4 4 text
  stop "$server" QUIT
}

compat redis_save needs="redis-server redis-cli python3" limit=90
case_redis_save() {
  local port server
  port=$(free_port)
  serve redis-server --bind 127.0.0.1 --port "$port" --save '' --daemonize no --dir "$PWD" >server_words &
  server=$!
  ask listening "$port"
  redis-cli -p "$port" mset a 1 b 2
  redis-cli -p "$port" incrby a 41
  redis-cli -p "$port" save
  stop "$server" TERM
  [ -s dump.rdb ]
}

# Its server goes on when the client has ended, and a recording ends with the last of its processes: hence the &.
compat tmux needs=tmux
case_tmux() {
  local client
  export TMUX_TMPDIR=$PWD
  under tmux -L one -f /dev/null new-session -d -x 40 -y 5 'echo shown; sleep 40' >words 2>&1 &
  client=$!
  until tmux -L one capture-pane -p 2>words | grep -m 1 shown; do sleep 0.1; done
  tmux -L one kill-server
  wait "$client"
}
