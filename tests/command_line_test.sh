#!/usr/bin/env bash
# Help, misspelt words, options without their value, options from the environment and from a file, colours, what fits into a terminal.
# usage: command_line_test.sh BUILD
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"
export XDG_CONFIG_HOME=$work/config
mkdir -p config/weir
settings=$work/config/weir/config

# says TEXT...: stderr of the last command has it. prints TEXT...: stdout has it.
says() { for text; do grep -qF -- "$text" stderr || fail "stderr lacks '$text': $(cat stderr)"; done; }
prints() { for text; do grep -qF -- "$text" stdout || fail "stdout lacks '$text': $(cat stdout)"; done; }
one_line() { [ "$(wc -l <stderr)" = 1 ] || fail "more than a line: $(cat stderr)"; }

# --- help
ends 0 '' "$weir" help
prints 'Usage: weir SUBCOMMAND' 'record' 'WEIR_OPTS' '.config/weir/config'
cp stdout whole
ends 0 '' "$weir" --help
cmp -s whole stdout || fail "help and --help differ"
for command in run det stat check record replay ls dump verify rm doctor help; do
  grep -qE "^  $command +[A-Z]" whole || fail "help lacks $command"
  ends 0 '' "$weir" help $command
  prints "Usage: weir $command [OPTIONS]"
  cp stdout one
  ends 0 '' "$weir" $command --help
  cmp -s one stdout || fail "help $command and $command --help differ"
done
ends 0 '' "$weir" help check
prints '--format text|json|sarif' '(default: text)' '--suppressions FILE...'
ends 0 '' "$weir" help replay
prints '[RECORDING]' '(not with --check, --verify)' 'repeated (with --check)' '--goto [PROCESS-TASK:]EVENT'
ends 125 "unknown subcommand 'chek': did you mean check?" "$weir" help chek
one_line
ends 125 "unknown subcommand 'qqq': weir help lists them" "$weir" help qqq

# No line is wider than the terminal.
for columns in 40 60 79 80 100 200; do
  for command in '' run check record replay; do
    script -qec "stty cols $columns; '$weir' help $command" /dev/null </dev/null >shown
    tr -d '\r' <shown | sed 's/\x1b\[[0-9;]*m//g' | awk -v most=$columns 'length > most { print "too wide: " $0; bad = 1 } END { exit bad }' ||
      fail "help $command at $columns columns"
  done
done
[ "$(COLUMNS=50 "$weir" help record | awk 'length > most { most = length } END { print most <= 50 }')" = 1 ] || fail "COLUMNS=50"

# --- misspelt words: one line, and what was meant
ends 125 "unknown subcommand 'chek': did you mean check?" "$weir" chek -- ls
one_line
ends 125 "unknown subcommand 'recrod': did you mean record?" "$weir" recrod ls
ends 125 "unknown subcommand './program': weir help lists them; a program is run by weir det -- PROGRAM" "$weir" ./program
ends 125 'det: there is no option --stat-jsn: did you mean --stat-json?' "$weir" det --stat-jsn=x -- true
one_line
ends 125 'replay: there is no option --verfy: did you mean --verify?' "$weir" replay --verfy
ends 125 'det: there is no option --bogus: weir help det lists them' "$weir" det --bogus -- true
ends 125 'weir: there is no option --verison: did you mean --version?' "$weir" --verison
ends 125 'record: there is no option -x' "$weir" record -x -- true
ends 125 'A subcommand is required' "$weir"
says 'Usage: weir'

# --- an option with a value does not take what follows for it
for words in 'det --stat-json' 'run --order' 'run --view' 'det --log' 'stat --delay' 'check --format' 'check --suppressions' 'check --output' \
  'check --exit-code' 'check --rehash' 'record -o' 'record --output' 'record --view' 'record --without' 'record --until-fail'; do
  option=${words#* }
  ends 125 "$option " "$weir" $words -- touch ran
  says 'the value is missing'
  one_line
  ends 125 "$option " "$weir" $words --stat -- touch ran
  says "the value is missing; a value that begins with a dash is written $option=--stat"
  ends 125 "$option " "$weir" $words
  says 'the value is missing'
done
for words in 'replay --goto' 'replay --log' 'dump --kind' 'dump --process' 'dump --page'; do
  ends 125 'the value is missing' "$weir" $words
  ends 125 'the value is missing' "$weir" $words --verbose
done
ends 125 '--log FILE: the value is missing' "$weir" det --log= -- touch ran
ends 125 '--log FILE: the value is missing' "$weir" det --log '' -- touch ran
[ -e ran ] || [ -e -- ] && fail "something was run, or written: $(ls)"
ends 0 '' "$weir" det --log=--dashed -- true
[ -e ./--dashed ] || fail "a name that begins with a dash"
ends 0 '' "$weir" record --quiet -oglued -- true
[ -d glued ] || fail "-oDIR"

# --- options from the environment
ends 0 'fingerprint' env WEIR_OPTS=--fingerprint "$weir" det -- true
ends 0 'fingerprint' env WEIR_OPTS='  --fingerprint	' "$weir" det -- true
ends 0 '' env WEIR_OPTS="--log 'a file' --fingerprint" "$weir" det -- true
grep -q fingerprint 'a file' || fail "a quoted word: $(ls)"
ends 0 '' env WEIR_OPTS='--log=b\ file --fingerprint' "$weir" det -- true
[ -e 'b file' ] || fail "a backslash: $(ls)"
ends 0 '' env WEIR_OPTS='--log theirs --fingerprint' "$weir" det --log mine -- true
[ -e mine ] && [ ! -e theirs ] || fail "the command line does not override WEIR_OPTS"
ends 0 '' env WEIR_OPTS='--log theirs --verify --suppressions nowhere' "$weir" ls  # it has none of them
[ -e theirs ] && fail "an option of another subcommand"
ends 125 'WEIR_OPTS: no subcommand has an option --fingerprnt: did you mean --fingerprint?' env WEIR_OPTS=--fingerprnt "$weir" det -- true
ends 125 "WEIR_OPTS: 'det' is no option" env WEIR_OPTS='det --stat' "$weir" det -- true
ends 125 'WEIR_OPTS: a quote (") does not end' env WEIR_OPTS='--log "x' "$weir" det -- true
ends 125 'WEIR_OPTS: --log FILE: the value is missing' env WEIR_OPTS=--log "$weir" det -- true
ends 125 'WEIR_OPTS: --delay: ' env WEIR_OPTS=--delay=soon "$weir" det -- true
ends 125 'WEIR_OPTS: no subcommand has an option --config' env WEIR_OPTS=--config=x "$weir" det -- true
ends 0 '' env WEIR_OPTS=--bogus "$weir" help det
ends 0 '' env WEIR_OPTS=--bogus "$weir" det --help
# What runs under Weir does not see them, recorded and replayed neither: a command of Weir's in it would apply them once more.
for words in 'det' 'run' 'check --quiet' 'record --quiet -o seen'; do
  ends 0 '' env WEIR_OPTS=--log=x "$weir" $words -- sh -c 'echo ${WEIR_OPTS-none}'
  prints none
done
ends 0 '' env WEIR_OPTS=--log=x "$weir" replay seen
prints none

# --- options from a file
cat >"$settings" <<'END'
# for all
fingerprint = true

[check]
suppressions = ["one.supp", 'two.supp']  # both
verbose
[det]
log = "of det"
END
touch one.supp two.supp three.supp
ends 0 '' "$weir" det -- true
grep -q fingerprint 'of det' || fail "a file of options: $(cat stderr)"
ends 0 '' "$weir" det --log other -- true
grep -q fingerprint other || fail "the command line does not override the file"
ends 0 '' env WEIR_OPTS='--log third' "$weir" det -- true
grep -q fingerprint third || fail "WEIR_OPTS does not override the file"
ends 0 'fingerprint' "$weir" run --order token --view direct -- true
ends 0 'no race found: the program has made no thread' "$weir" check -- true
ends 0 '' "$weir" help
ends 0 '' "$weir" ls
sed -i 's/two.supp/two.nowhere/' "$settings"
ends 125 '--suppressions two.nowhere: No such file' "$weir" check --suppressions three.supp -- true
: >"$settings"
printf 'fingerprint = true\n' >own
ends 0 'fingerprint' "$weir" --config own det -- true
ends 0 'fingerprint' "$weir" det --config=own -- true
ends 0 '' "$weir" det --config own --log quiet -- true
[ -s stderr ] && fail "--config with another option: $(cat stderr)"
ends 125 'nowhere: No such file' "$weir" det --config nowhere -- true
ends 125 '--config FILE: the value is missing' "$weir" det --config -- true
ends 0 '' env -u XDG_CONFIG_HOME HOME="$work" "$weir" det -- true
mkdir -p .config/weir && cp own .config/weir/config
ends 0 'fingerprint' env -u XDG_CONFIG_HOME HOME="$work" "$weir" det -- true
ends 0 '' env -u XDG_CONFIG_HOME -u HOME "$weir" det -- true
# refused TEXT LINE...: the file with these lines is refused, and TEXT follows its name.
refused() {
  local text=$1
  shift
  printf '%s\n' "$@" >"$settings"
  ends 125 "$settings:$text" "$weir" det -- touch ran
  one_line
}
refused '2: no subcommand has an option --fingerprnt: did you mean --fingerprint?' '' 'fingerprnt = true'
refused "1: there is no subcommand 'chek': did you mean check?" '[chek]' 'verbose = true'
refused '2: weir det never has an option --verbose' '[det]' 'verbose = true'
refused '1: log FILE: the value is missing' 'log'
refused '1: log FILE: the value is missing' 'log ='
refused '1: log FILE: there are 2 values' 'log = one two'
refused '3: --format: ' '[check]' '' 'format = yaml'
refused '1: ' 'fingerprint = perhaps'
says --fingerprint
ends 125 'nowhere' "$weir" --config <(echo 'suppressions = nowhere') check -- true
ends 125 "/dev/fd/" "$weir" --config <(echo 'nonsense') check -- true
refused "1: '[det' is not [SUBCOMMAND]" '[det'
refused "1: 'x' is not OPTION = VALUE" 'x'
refused '1: a value with # cannot be written here' 'log = "a#b"'
refused '1: no subcommand has an option --help' 'help = true'
rm "$settings" && mkdir "$settings"
ends 125 "$settings" "$weir" det -- true
rmdir "$settings"
[ -e ran ] && fail "a program ran in spite of a wrong file"

# --- colours: on a terminal, and where they are forced
cat >racy.cc <<'C'
#include <thread>
int	total;  // 漢字
int main() {
  std::thread one([] { /* 漢字	*/ total++; });
  /* a comment that makes this line longer than a terminal has columns, so that it */ total++; /* has to be cut on both of its sides, or on one */
  one.join();
}
C
g++ -g -O1 -pthread racy.cc -o racy || fail "cannot compile"
escape=$(printf '\033')
for words in 'chek' 'check --exhaustive -- ./racy' 'ls'; do
  NO_COLOR='' CLICOLOR_FORCE='' "$weir" $words >shown 2>&1
  grep -q "$escape" shown && fail "$words: colours in a file"
  CLICOLOR_FORCE=1 "$weir" $words >shown 2>&1
  grep -q "$escape" shown || fail "$words: no colours though they are forced"
  TERM=xterm script -qec "'$weir' $words" /dev/null </dev/null >shown
  grep -q "$escape" shown || fail "$words: no colours on a terminal"
  NO_COLOR=1 script -qec "'$weir' $words" /dev/null </dev/null >shown
  grep -q "$escape" shown && fail "$words: colours in spite of NO_COLOR"
  TERM=dumb script -qec "'$weir' $words" /dev/null </dev/null >shown
  grep -q "$escape" shown && fail "$words: colours on a terminal that has none"
done
CLICOLOR_FORCE=1 "$weir" check --exhaustive --log plain -- ./racy
grep -q "$escape" plain && fail "colours in a log"
grep -q 'data race' plain || fail "no race: $(cat plain)"
# The mark stands below what it means, in lines that are not wider than the terminal.
NO_COLOR=1 script -qec "stty cols 80; '$weir' check --exhaustive -- ./racy" /dev/null </dev/null | tr -d '\r' >shown
python3 - <<'END' || fail "marks: $(cat shown)"
import re, unicodedata
def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)
lines = open('shown', encoding='utf-8').read().split('\n')
seen = 0
for line, below in zip(lines, lines[1:]):
    if not re.match(r' +\| *\^$', below):
        continue
    seen += 1
    assert width(line) <= 80, line
    at = 0
    while width(line[:at]) < below.index('^'):
        at += 1
    assert line[at:].startswith('total') or line[at:].startswith('++'), (line, below)
assert seen >= 2, lines
END

# --- weir stat: a sentence on top, and no line wider than a hundred columns
cat >threads.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum[100000];
static void* add(void* from) {
  for (long i = (long)from; i < 4000; i += 7) pthread_mutex_lock(&mutex), sum[i]++, sum[i / 2]++, pthread_mutex_unlock(&mutex);
  usleep(1000);
  return from;
}
int main(void) {
  pthread_t threads[5];
  for (long i = 0; i < 5; i++) pthread_create(&threads[i], 0, add, (void*)i);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], 0);
  return 0;
}
C
gcc -O1 -pthread threads.c -o threads || fail "cannot compile"
for words in 'stat' 'stat --order free' 'stat --view direct'; do
  ends 0 '' "$weir" $words -- ./threads
  awk 'length > 100 { print "too wide: " $0; bad = 1 } END { exit bad }' stderr || fail "$words: $(cat stderr)"
  head -n 1 stderr | grep -qE '^weir: [0-9.]+ ms, [0-9.]+ ms of processors; its 6 tasks spent their time$' || fail "$words: the first line is $(head -n 1 stderr)"
  sed -n 2,4p stderr | grep -q "% in the program's code" || fail "$words: $(head -n 4 stderr)"
done
ends 0 'the program made no thread' "$weir" stat -- true

# --- weir check never says nothing where nothing was done
ends 0 'weir: no race found: the program has made no thread' "$weir" check -- true
one_line
ends 0 '' "$weir" check -- ./threads
grep -qxE 'weir: no race found: [0-9]+ access(es)? to [0-9]+ shared pages? were looked at(; to [0-9]+ shared pages? some were not, --exhaustive looks at more)?' stderr ||
  fail "check says: $(cat stderr)"
one_line
ends 0 '' "$weir" check --exhaustive -- ./threads
grep -qxE 'weir: no race found: [0-9]+ access(es)? to [0-9]+ shared pages? were looked at' stderr || fail "check --exhaustive: $(cat stderr)"
ends 0 '' "$weir" check --quiet -- ./threads
[ -s stderr ] && fail "check --quiet: $(cat stderr)"
ends 66 'race found' "$weir" check --quiet --exhaustive -- ./racy

echo "command line: $failed failures"
[ "$failed" = 0 ]
