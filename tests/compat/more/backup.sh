# Backups, transfers and what fetches, on files of the case itself.

compat restic needs=restic limit=90 orders="free token record"
case_restic() {
  export RESTIC_PASSWORD=weir RESTIC_CACHE_DIR=$PWD/cache
  under restic -q -r repo init >words
  under restic -q -r repo backup "$input/tree" >words
  under restic -q -r repo restore latest --target back >words
  is_tree "back$input/tree"
}

compat rclone needs=rclone limit=90 orders="free token record"
case_rclone() {
  export RCLONE_CONFIG=$PWD/none
  under rclone copy -q --transfers "$threads" --checkers 2 "$input/tree" copy
  is_tree copy
  under rclone check -q "$input/tree" copy
  under rclone md5sum "$input/tree" | sort | same_bytes
}

compat borg needs=borg limit=90
case_borg() {
  export BORG_BASE_DIR=$PWD/base BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
  under borg init -e none repo
  under borg create -C zstd repo::one "$input/tree"
  mkdir back
  (cd back && under borg extract ../repo::one)
  is_tree "back$input/tree"
}

compat aria2 needs="aria2c python3"
case_aria2() {
  local port web
  port=$(free_port)
  (cd "$input" && exec python3 -m http.server -b 127.0.0.1 "$port") >words 2>&1 &
  web=$!
  ask listening "$port"
  under aria2c -q --no-conf -x 4 -s 4 -k 1M --file-allocation=none -d got "http://127.0.0.1:$port/mixed" "http://127.0.0.1:$port/mixed"
  kill "$web"
  cmp got/mixed "$input/mixed" && echo same
}

compat wget2 needs="wget2 python3"
case_wget2() {
  local port web
  port=$(free_port)
  (cd "$input" && exec python3 -m http.server -b 127.0.0.1 "$port") >words 2>&1 &
  web=$!
  ask listening "$port"
  under wget2 -q --no-config --no-hsts --max-threads=4 -r -nH -np -P got "http://127.0.0.1:$port/reads/"
  kill "$web"
  cmp got/reads/genome.fa "$input/reads/genome.fa" && cmp got/reads/reads.fq "$input/reads/reads.fq" && echo same
}

compat gnupg needs=gpg
case_gnupg() {
  mkdir -m 700 home
  export GNUPGHOME=$PWD/home
  under gpg --batch --no-tty -q --pinentry-mode loopback --passphrase weir --s2k-count 65536 -o out.gpg -c "$input/mixed" 2>words
  under gpg --batch --no-tty -q --pinentry-mode loopback --passphrase weir -d out.gpg 2>words | cmp - "$input/mixed" && echo same
  gpgconf --kill all
}

compat unison needs=unison
case_unison() {
  export UNISON=$PWD/state
  cp -r "$input/tree" left
  mkdir right
  under unison left right -batch -auto -ui text -silent >words 2>&1
  diff -r left right && echo same
}

compat darcs needs=darcs
case_darcs() {
  export HOME=$PWD DARCS_EMAIL=weir@example.com
  cp -r "$input/tree" work
  cd work
  under darcs init >../words
  under darcs record -q -l -a -m one
  under darcs clone -q . ../copy
  diff -r --exclude=_darcs . ../copy && echo same
}
