# Load generators: they must end, count what they were told to, and find no error.

compat sysbench_cpu needs=sysbench
case_sysbench_cpu() {
  under sysbench cpu --threads="$threads" --events=200 --time=0 --cpu-max-prime=2000 run >words
  grep -E 'total number of events|Number of threads' words
}

compat sysbench_threads needs=sysbench
case_sysbench_threads() {
  under sysbench threads --threads="$threads" --events=60 --time=0 --thread-yields=10 --thread-locks=3 run >words
  grep -E 'total number of events|Number of threads' words
}

compat sysbench_mutex needs=sysbench
case_sysbench_mutex() {
  under sysbench mutex --threads="$threads" --mutex-num=64 --mutex-locks=400 --mutex-loops=50 run >words
  grep -E 'total number of events|Number of threads' words
}

compat sysbench_memory needs=sysbench
case_sysbench_memory() {
  under sysbench memory --threads="$threads" --memory-block-size=4K --memory-total-size=4M --time=0 run >words
  grep -E 'Total operations|MiB transferred' words | sed 's/(.*//'
}

# stress SECONDS ARGS: ends at its count of operations, else after so many seconds.
stress() { under stress-ng --quiet --verify --temp-path "$PWD" --timeout "$@" >words 2>&1; }

compat stress_pthread needs=stress-ng limit=90
case_stress_pthread() { stress 40 --pthread 1 --pthread-max "$threads" --pthread-ops 40; }

compat stress_mutex needs=stress-ng limit=90
case_stress_mutex() { stress 40 --mutex 1 --mutex-procs "$threads" --mutex-ops 4000; }

compat stress_malloc needs=stress-ng limit=90
case_stress_malloc() { stress 40 --malloc 1 --malloc-pthreads "$threads" --malloc-max 200 --malloc-bytes 64K --malloc-ops 3000; }

# Looks at the clock only.
compat stress_semaphore needs=stress-ng limit=90
case_stress_semaphore() { stress 1 --sem 1 --sem-procs "$threads"; }

# A process with 16 threads ends by exit_group, again and again.
compat stress_exit_group needs=stress-ng limit=90
case_stress_exit_group() { stress 40 --exit-group 1 --exit-group-ops 5; }

# Attaches shared memory (shmat).
compat fio needs=fio limit=90
case_fio() {
  under fio --name=job --thread --numjobs="$threads" --rw=randrw --bs=4k --size=128k --ioengine=psync \
    --verify=crc32c --fallocate=none --minimal --eta=never >words
  grep -c ';job;0;' words
}

compat primesieve needs=primesieve
case_primesieve() { under primesieve 20000000 --threads="$threads" -c -q; }
