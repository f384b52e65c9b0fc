# What a pass left behind: processes of its session or with its mark in their environment,
# and files in /dev/shm. Sourced by run.sh.

# Prints the live processes (no zombies) of the pass in directory $1.
processes_of() {
  local session line fields
  session=$(cat "$1/session" 2>/dev/null) || return 0
  for line in /proc/[0-9]*/stat; do
    { read -r line <"$line"; } 2>/dev/null || continue
    read -ra fields <<<"${line##*) }"  # state, parent, group, session, ...
    if [ "${fields[3]}" = "$session" ] && [ "${fields[0]}" != Z ]; then echo "${line%% *}"; fi
  done
  # Exactly this mark: the variable's value ends with a zero byte, which -z takes as a line's end.
  grep -lzxF "COMPAT_MARK=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# Says which processes are still there one second after the end of a pass, and ends them.
leftovers() {
  local pids tries
  for tries in 1 2 3 4 5; do
    pids=$(processes_of "$1" | sort -u)
    [ -n "$pids" ] || return 0
    sleep 0.25
  done
  local pid names=()
  for pid in $pids; do names+=("$pid:$(cat "/proc/$pid/comm" 2>/dev/null)"); done
  kill -KILL $pids 2>/dev/null
  echo "; left ${#names[@]} processes: ${names[*]:0:6}"
}

# What shm_open and sem_open make. Not what tests that run beside the suite have: the semaphores of the test programs, and folders (declared/run.py works in one there).
shared_memory_files() { find /dev/shm -mindepth 1 -maxdepth 1 -type f ! -name 'sem.program-*' -printf '%p\n' 2>/dev/null | sort; }

# Says which files in /dev/shm are new since the list $1 was made and mapped by nobody, also a second later
# (what a live process maps is a neighbour's, and what one makes it maps soon).
new_shared_memory() {
  local file lost=() tries
  for tries in 1 2 3 4 5; do
    lost=()
    while read -r file; do
      [ -e "$file" ] || continue
      grep -qF "$file" /proc/[0-9]*/maps 2>/dev/null || lost+=("$file")
    done < <(shared_memory_files | comm -13 "$1" -)
    [ ${#lost[@]} -gt 0 ] || return 0
    [ "$tries" = 5 ] || sleep 0.25
  done
  echo "; left in shared memory: ${lost[*]:0:4}"
}

# At the end of run.sh, however it comes.
end_runs() {
  local place
  for place in "$work"/*/*/session; do
    [ -e "$place" ] || continue
    place=$(processes_of "${place%/session}")
    [ -z "$place" ] || kill -KILL $place 2>/dev/null
  done
}
