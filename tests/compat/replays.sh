# The point record + replay: each program of a case is recorded (recorded.py), and when the case has ended each recording is
# replayed, while the files that the case worked on are not there. Sourced by run.sh.

# The words before each program of the pass in directory $1, one a line.
recording_prefix() {
  mkdir -p "$1/recordings"
  printf '%s\n' "$here/recorded.py" "$1/recordings" "$weir" "$view"
}

# What is in the case's directory, with times.
listing() { find "$1" -printf '%p %s %T@ %i %m\n' 2>/dev/null | sort; }

# Prints the first lines in which two files differ.
differences() { diff --text "$1" "$2" | head -n 6 | cut -c 1-300; }

# Prints how a replay of the recording in $1 differs from what was recorded. $2: seconds.
replay_one() {
  local status=0 then
  then=$(cat "$1/status")
  (cd / && exec timeout --kill-after=5 "$2" "$weir" replay "$1/recording" --log "$1/replay_log") \
    >"$1/replayed_stdout" 2>"$1/replayed_stderr" </dev/null || status=$?
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "replay out of time: $(tail -n 3 "$1/replay_log" | tr '\n' ' ')"
  elif [ "$status" -ne "$then" ] || grep -q differ "$1/replay_log"; then
    echo "replay: status $status, recorded $then: $(tail -n 4 "$1/replay_log" | tr '\n' ' ')"
  elif ! cmp -s "$1/stdout" "$1/replayed_stdout"; then
    echo "replay: another stdout: $(differences "$1/stdout" "$1/replayed_stdout")"
  elif ! cmp -s "$1/stderr" "$1/replayed_stderr"; then
    echo "replay: another stderr: $(differences "$1/stderr" "$1/replayed_stderr")"
  fi
}

# Replays all that the pass in directory $1 recorded, each within $2 seconds, and prints what was not the same. The case's directory is
# not there, unless the recorded program itself was built in it.
replay_all() {
  local one all words='' before
  all=("$1"/recordings/*/)
  [ -d "${all[0]}" ] || { echo "nothing was recorded"; return; }
  grep -qF -e "\"path\":\"$1/files/" -e "\"path\": \"$1/files/" "$1"/recordings/*/recording/manifest 2>/dev/null || mv "$1/files" "$1/away"
  before=$(listing "$1/files")
  for one in "${all[@]}"; do
    words=$(replay_one "${one%/}" "$2")
    [ -z "$words" ] || break
  done
  if [ -z "$words" ] && [ "$before" != "$(listing "$1/files")" ]; then
    words="the replay changed files: $(diff <(echo "$before") <(listing "$1/files") | head -n 3 | tr '\n' ' ')"
  fi
  [ -z "$words" ] || echo "$words (recording ${one%/})"
}
