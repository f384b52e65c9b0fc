# Interpreters.

compat python_hash needs=python3
case_python_hash() {
  under python3 - "$input/mixed" "$threads" <<'END'
import concurrent.futures, hashlib, sys
data = open(sys.argv[1], 'rb').read()
parts = [data[i:i + 16384] for i in range(0, len(data), 16384)]
with concurrent.futures.ThreadPoolExecutor(int(sys.argv[2])) as pool:
    for digest in pool.map(lambda part: hashlib.sha256(part).hexdigest(), parts):
        print(digest)
END
}

compat python_zlib needs=python3
case_python_zlib() {
  under python3 - "$input/mixed" "$threads" <<'END'
import concurrent.futures, sys, zlib
data = open(sys.argv[1], 'rb').read()
parts = [data[i:i + 32768] for i in range(0, len(data), 32768)]
with concurrent.futures.ThreadPoolExecutor(int(sys.argv[2])) as pool:
    packed = list(pool.map(zlib.compress, parts))
    assert b''.join(pool.map(zlib.decompress, packed)) == data
print(len(packed), zlib.crc32(b''.join(packed)))
END
}

compat python_queue needs=python3
case_python_queue() {
  under python3 - "$threads" <<'END'
import queue, sys, threading
workers = int(sys.argv[1])
todo, done = queue.Queue(4), queue.Queue()
own = threading.local()
def work():
    own.count = 0
    while (number := todo.get()) is not None:
        own.count += 1
        done.put((number, number * number))
    done.put(None)
team = [threading.Thread(target=work) for _ in range(workers)]
for one in team: one.start()
for number in range(400): todo.put(number)
for one in team: todo.put(None)
for one in team: one.join(30)
results = [done.get() for _ in range(400 + workers)]
print(sum(square for pair in results if pair for square in pair[1:]), sum(1 for pair in results if not pair))
END
}

# A timer, an event, a barrier, a semaphore, subprocesses of threads.
compat python_primitives needs=python3
case_python_primitives() {
  under python3 - "$threads" <<'END'
import subprocess, sys, threading
count = int(sys.argv[1])
barrier, gate, lock, words = threading.Barrier(count), threading.Semaphore(2), threading.Lock(), []
fired = threading.Event()
threading.Timer(0.05, fired.set).start()
def work(number):
    barrier.wait(30)
    with gate:
        word = subprocess.run(['echo', f'word {number}'], capture_output=True, text=True, timeout=30).stdout
    with lock:
        words.append(word.strip())
team = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(count)]
for one in team: one.start()
for one in team: one.join(60)
print(fired.wait(30), sorted(words))
END
}

# An exception in a thread is that thread's; the status of the program is its own.
compat python_status needs=python3
case_python_status() {
  ends_with 7 python3 -c 'import os, threading
t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(30); print("went on"); raise SystemExit(7)' 2>words
  grep -c ZeroDivisionError words
  ends_with 9 python3 -c 'import os, threading, time
threading.Thread(target=lambda: os._exit(9)).start(); time.sleep(30)'
}

compat perl_threads needs=perl
case_perl_threads() {
  under perl -Mthreads -Mthreads::shared -MThread::Queue -e '
    my $count = shift;
    my ($sum, $todo) = (0, Thread::Queue->new(1 .. 60));
    share($sum);
    $todo->end;
    my @team = map { threads->create(sub {
      while (defined(my $number = $todo->dequeue)) { lock($sum); $sum += $number ** 2 }
      return threads->tid > 0 ? 1 : 0;
    }) } 1 .. $count;
    my $ended = 0;
    $ended += $_->join for @team;
    print "$sum $ended\n";' "$threads"
}

compat ruby_threads needs=ruby
case_ruby_threads() {
  # -rdigest alone would load the class when it is named first, in several threads at once, which now and then fails natively.
  under ruby -rdigest/sha2 -e '
    data, count = File.binread(ARGV[0]), ARGV[1].to_i
    todo, done = SizedQueue.new(4), Queue.new
    team = count.times.map { Thread.new { while (at = todo.pop); done << [at, Digest::SHA256.hexdigest(data[at, 32768])]; end } }
    (0...data.size).step(32768) { |at| todo << at }
    count.times { todo << nil }
    team.each { |one| one.join(30) or abort "a thread hangs" }
    Array.new(done.size) { done.pop }.sort.each { |pair| puts pair.join(" ") }' "$input/mixed" "$threads"
}

compat bash_pipes needs=bash
case_bash_pipes() {
  under bash -c '
    for i in 1 2 3; do (tr a-z A-Z | LC_ALL=C rev | sort | uniq -c | md5sum) <"$1" & done; wait
    trap "echo caught" USR1; kill -USR1 $$; exit 5' bash "$input/text" || echo "status $?"
}
