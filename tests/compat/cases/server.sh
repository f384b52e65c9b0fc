# Servers on 127.0.0.1 under real client load; the client runs natively and is bounded.

# Like `under`, for use with &: what runs is the server itself, so that $! is its pid.
serve() { exec "${prefix[@]}" "$@"; }

compat memcached needs="memcached python3" limit=90
case_memcached() {
  local port server user=()
  port=$(free_port)
  [ "$(id -u)" -ne 0 ] || user=(-u root)
  serve memcached -l 127.0.0.1 -p "$port" -U 0 -t "$threads" -m 16 "${user[@]}" &
  server=$!
  ask memcached "$port" 6 "$(scaled 60 300)"
  stop "$server" TERM
}

# At order free each exchange with the io threads takes a tenth of a second (docs/LIMITS.md), so fewer are asked for.
compat redis needs="redis-server redis-benchmark redis-cli python3" limit=200
case_redis() {
  local port server less=1
  [ "$COMPAT_ORDER" != free ] || less=5
  port=$(free_port)
  serve redis-server --bind 127.0.0.1 --port "$port" --io-threads "$threads" --io-threads-do-reads yes \
    --save '' --appendonly no --daemonize no --dir "$PWD" >server_words &
  server=$!
  ask listening "$port"
  redis-benchmark -h 127.0.0.1 -p "$port" -q -n "$(($(scaled 200 1500) / less))" -c 16 -P 4 -t set,get,incr,lpush >words
  ask redis "$port" 8 "$(($(scaled 40 200) / less))"
  redis-cli -p "$port" get counter:__rand_int__
  stop "$server" TERM
}

nginx_files() {
  cp "$input/mixed" "$input/text" "$input/noise" .
  mkdir -p logs
  cat >nginx.conf <<END
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
daemon off;
$1
pid $PWD/nginx.pid;
error_log $PWD/logs/error.log;
thread_pool default threads=$threads max_queue=1024;
events { worker_connections 64; }
http {
  access_log off;
  aio threads;
  sendfile off;
  output_buffers 2 16k;
  client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3;
  uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5;
  server { listen 127.0.0.1:$port; root $PWD; }
}
END
}

compat nginx needs="nginx python3" limit=90
case_nginx() {
  local port server
  port=$(free_port)
  nginx_files 'worker_processes 2;'
  serve nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" &
  server=$!
  ask http "$port" 6 "$(scaled 4 20)" mixed text noise
  stop "$server" QUIT
  ! grep -E 'alert|emerg' logs/error.log
}

compat nginx_one_process needs="nginx python3" limit=90
case_nginx_one_process() {
  local port server
  port=$(free_port)
  nginx_files 'master_process off;'
  serve nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" &
  server=$!
  ask http "$port" 6 "$(scaled 4 20)" mixed text noise
  stop "$server" QUIT
  ! grep -E 'alert|emerg' logs/error.log
}
