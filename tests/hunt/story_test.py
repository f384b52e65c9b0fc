#!/usr/bin/env python3
"""What `weir hunt` tells of a failing schedule: callers in the program, names of threads, accesses.

usage: story_test.py BUILD CASE...   (all: every case)
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

MUTEX = ("c", """#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static struct { int spare, balance; } account = {0, 100};
static void* withdraw(void* unused) {
  pthread_mutex_lock(&account_lock);
  const int read = account.balance;
  pthread_mutex_unlock(&account_lock);  // LEAVE
  pthread_mutex_lock(&account_lock);    // ENTER
  account.balance = read - 10;  // WRITE
  pthread_mutex_unlock(&account_lock);
  return unused;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, NULL, withdraw, NULL);
  pthread_create(&other, NULL, withdraw, NULL);  // SECOND
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  if (account.balance != 80) exit(3);  // EXIT
  return 0;
}
""")

CONDITION = ("cc", """#include <pthread.h>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex guard;
static std::condition_variable wake;
static bool is_done;
static void wait_for_it() {
  std::unique_lock<std::mutex> lock(guard);
  const bool must_wait = !is_done;
  lock.unlock();  // LEAVE
  lock.lock();
  if (must_wait) wake.wait(lock);  // WAIT
}
int main() {
  std::thread waiter(wait_for_it);  // WAITER
  std::thread notifier([] {
    pthread_setname_np(pthread_self(), "my notifier");
    std::lock_guard<std::mutex> lock(guard);
    is_done = true;
    wake.notify_one();
  });
  waiter.join();  // JOIN
  notifier.join();
}
""")

OPENMP = ("c", """#include <stdlib.h>
static int next_item, taken[2];
int main(void) {
#pragma omp parallel num_threads(2)
  {
    int mine;
#pragma omp critical
    mine = next_item;
#pragma omp critical
    next_item = mine + 1;  // WRITE
#pragma omp critical
    taken[mine]++;
  }
  return taken[0] == 1 && taken[1] == 1 ? 0 : 1;
}
""")

SEMAPHORE = ("c", """#include <pthread.h>
#include <semaphore.h>
static sem_t tickets;
static int is_waiting;
static void* sleeper(void* unused) {
  is_waiting = 1;  // SAYS
  sem_wait(&tickets);  // WAIT
  return unused;
}
static void* waker(void* unused) {
  if (is_waiting) sem_post(&tickets);  // LOOKS
  return unused;
}
int main(void) {
  pthread_t one, other;
  sem_init(&tickets, 0, 0);
  pthread_create(&one, NULL, sleeper, NULL);
  pthread_create(&other, NULL, waker, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  return 0;
}
""")

DEADLOCK = ("c", """#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int moved;
static void* forwards(void* unused) {
  pthread_mutex_lock(&left);
  pthread_mutex_lock(&right);  // FORWARDS
  moved++;
  pthread_mutex_unlock(&right);
  pthread_mutex_unlock(&left);
  return unused;
}
static void* backwards(void* unused) {
  pthread_mutex_lock(&right);
  pthread_mutex_lock(&left);  // BACKWARDS
  moved--;
  pthread_mutex_unlock(&left);
  pthread_mutex_unlock(&right);
  return unused;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, NULL, forwards, NULL);
  pthread_create(&other, NULL, backwards, NULL);
  pthread_join(one, NULL);  // JOIN
  pthread_join(other, NULL);
  return 0;
}
""")

CRASH = ("cc", """#include <stdlib.h>
#include <thread>
struct Node { int* volatile value; long weight; };
static int one = 1;
static void clear(Node* node) { node->value = nullptr; }  // CLEARS
int main() {
  Node* node = new Node{&one, 4};
  std::thread user([=] {
    if (node->value) exit(*node->value - 1 + 0 * *node->value);  // USES
  });
  std::thread clearer(clear, node);
  user.join();
  clearer.join();
}
""")


def line_of(program, mark):
    lines = enumerate(program[1].split("\n"), 1)
    return next(number for number, line in lines if line.endswith("// " + mark))


class Story:
    """One failure, as --format json has it."""

    def __init__(self, failure):
        self.failure = failure
        self.chosen = [one for one in failure["switches"] if one["chosen"]]
        self.threads = {one["thread"] for one in failure["threads"]}

    def brief(self):
        return {"chosen": [{key: one[key] for key in ("switch", "text", "conflict") if key in one}
                           for one in self.chosen],
                "waits": [one["text"] for one in self.failure["waits"]],
                **{key: self.failure[key] for key in ("schedule", "threads", "end", "notes")}}

    def conflicts(self):
        return [one["conflict"] for one in self.chosen if "conflict" in one]

    def wait(self, thread):
        return next(one for one in self.failure["waits"] if thread in one["thread"])


def check(condition, what, story):
    if not condition:
        raise AssertionError(f"{what}\n{json.dumps(story.brief(), indent=1)}")


def nothing_of_weir(story):
    """No place that a reader is shown is the runtime's, nor in the C library."""
    for one in story.chosen:
        for word in ("libweir", "weir::", "libc.so", "libgomp", "libstdc++"):
            check(word not in one["text"], f"'{word}' in: {one['text']}", story)


def told_mutex(story, told):
    places = {(one["place"]["function"], one["place"].get("line")) for one in story.chosen}
    leave, enter = line_of(MUTEX, "LEAVE"), line_of(MUTEX, "ENTER")
    check(places & {("withdraw", leave), ("withdraw", enter)}, f"places {places}", story)
    calls = {one["place"].get("call", "") + "(" + one["place"].get("object", "") + ")"
             for one in story.chosen}
    check(any(call in ("pthread_mutex_unlock(&account_lock)", "pthread_mutex_lock(&account_lock)")
              for call in calls), f"calls {calls}", story)
    check({"thread T1 (withdraw)", "thread T2 (withdraw)"} <= story.threads, "threads", story)
    second = next(one for one in story.failure["threads"] if one["number"] == 2)
    check(second["made_at"]["function"] == "main", "made in main", story)
    check(second["made_at"]["line"] == line_of(MUTEX, "SECOND"), "made at its line", story)
    conflicts = story.conflicts()
    check(conflicts, "no conflict", story)
    write = line_of(MUTEX, "WRITE")
    check(all("`account.balance` (4 bytes of `account`, " in one["memory"] for one in conflicts),
          "memory", story)
    check(any(one["meanwhile"]["access"] == "write" and one["meanwhile"]["place"]["line"] == write
              for one in conflicts), "meanwhile", story)
    check(story.failure["end"]["place"]["line"] == line_of(MUTEX, "EXIT"), "end", story)
    check(story.failure["end"]["place"]["call"] == "exit", "end", story)
    text = told("text")
    for words in ("without this switch", "thread T1 (withdraw)", "(&account_lock), called at",
                  "account.balance = read - 10;", "both use `account.balance`",
                  "the main thread calls exit() at "):
        check(words in text, f"'{words}' in the text:\n{text}", story)
    result = json.loads(told("sarif"))["runs"][0]["results"][0]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    check(all("physicalLocation" in one["location"] for one in steps
              if "its function is over" not in one["location"]["message"]["text"]), "sarif", story)
    case = xml.fromstring(told("junit"))[0][0]
    check("thread T1 (withdraw)" in case[0].text, "junit", story)
    page = told("html")
    check("account.balance = read - 10;" in page and "thread T2 (withdraw)" in page, "html", story)
    check("libweir" not in page, "libweir in html", story)


def told_condition(story, told):
    check({"thread T1 (wait_for_it)", "thread T2 (my notifier)"} <= story.threads,
          f"threads {story.threads}", story)
    waiter = story.wait("T1")
    check(waiter["for"] == "condition" and waiter["variable"] == "wake", "waits for", story)
    check(waiter["place"]["function"].startswith("wait_for_it"), "waits in", story)
    check(waiter["place"]["line"] == line_of(CONDITION, "WAIT"), "waits at", story)
    main = story.wait("main thread")
    check(main.get("holder") == "thread T1 (wait_for_it)", "joins whom", story)
    check(main["place"]["line"] == line_of(CONDITION, "JOIN"), "joins at", story)
    check(main["place"]["call"] == "std::thread::join", "joins by", story)


def told_openmp(story, told):
    check(all("main" in one["place"]["function"] for one in story.chosen if one["place"]["own"]),
          "functions", story)
    check("thread T1 (main._omp_fn.0)" in story.threads, f"threads {story.threads}", story)
    check(any("`next_item`" in one["memory"] and
              one["afterwards"]["place"]["line"] == line_of(OPENMP, "WRITE")
              for one in story.conflicts()), "conflict", story)


def told_semaphore(story, told):
    waiter = story.wait("sleeper")
    check(waiter["place"]["call"] == "sem_wait", "call", story)
    check(waiter["variable"] == "tickets", "variable", story)
    check(waiter["place"]["line"] == line_of(SEMAPHORE, "WAIT"), "line", story)


def told_deadlock(story, told):
    for thread, other, lock, mark in (("forwards", "backwards", "right", "FORWARDS"),
                                      ("backwards", "forwards", "left", "BACKWARDS")):
        wait = story.wait(f"({thread})")
        check(wait["variable"] == lock, f"{thread} waits for", story)
        check(f"({other})" in wait["holder"], f"{thread} waits for whom", story)
        check(wait["place"]["function"] == thread, "function", story)
        check(wait["place"]["line"] == line_of(DEADLOCK, mark), "line", story)
        check(wait["place"]["call"] == "pthread_mutex_lock", "call", story)


def told_crash(story, told):
    check(story.failure["end"]["place"]["line"] == line_of(CRASH, "USES"), "end", story)
    check("main::{lambda}" in story.failure["end"]["thread"], "end's thread", story)
    check(any(one["meanwhile"]["place"]["line"] == line_of(CRASH, "CLEARS") and
              "heap block" in one["memory"] or "Node" in one["memory"]
              for one in story.conflicts()), "conflict", story)


def told_without_lines(story, told):
    check(any(one["place"]["function"] == "withdraw" and "file" not in one["place"]
              for one in story.chosen), "function", story)
    check(any("-g gives lines" in note for note in story.failure["notes"]), "note", story)
    check(any(one["place"].get("object") == "&account_lock" for one in story.chosen), "object",
          story)


CASES = {
    "mutex": (MUTEX, ["-O1", "-g"], told_mutex),
    "mutex_unoptimized": (MUTEX, ["-O0", "-g"], told_mutex),
    "condition": (CONDITION, ["-O1", "-g"], told_condition),
    "condition_unoptimized": (CONDITION, ["-O0", "-g"], told_condition),
    "openmp": (OPENMP, ["-O1", "-g", "-fopenmp"], told_openmp),
    "semaphore": (SEMAPHORE, ["-O2", "-g", "-fno-plt"], told_semaphore),
    "deadlock": (DEADLOCK, ["-O2", "-g"], told_deadlock),
    "crash": (CRASH, ["-O1", "-g"], told_crash),
    "without_lines": (MUTEX, ["-O1"], told_without_lines),
}


def run(weir, name):
    program, flags, told = CASES[name]
    compiler = (os.environ.get("CXX", "g++") if program[0] == "cc" else os.environ.get("CC", "gcc"))
    with open(f"{name}.{program[0]}", "w") as source:
        source.write(program[1])
    standard = ["-std=c++20"] if program[0] == "cc" else []
    subprocess.run([compiler, *standard, *flags, "-pthread", f"{name}.{program[0]}", "-o", name],
                   check=True)

    def hunted(*options):
        return subprocess.run([weir, "hunt", "--no-recording", "--seed", "1", *options, "--", f"./{name}"],
                              capture_output=True, text=True, timeout=400, stdin=subprocess.DEVNULL)

    found = hunted("--runs", "500", "--shrink-time", "20", "--format", "json")
    if found.returncode != 66:
        raise AssertionError(f"{name}: status {found.returncode}: {found.stderr}")
    failure = json.loads(found.stdout)["hunts"][0]["failures"][0]

    def in_format(form):
        ran = hunted("--schedule", failure["schedule"], "--format", form)
        return ran.stderr if form == "text" else ran.stdout

    story = Story(failure)
    check(not failure["difference"], "differs", story)
    nothing_of_weir(story)
    told(story, in_format)
    print(f"{name}: {len(story.chosen)} switches, told")


def main():
    build, cases = os.path.realpath(sys.argv[1]), sys.argv[2:]
    if cases == ["all"]:
        cases = list(CASES)
    weir = os.path.join(build, "bin", "weir")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        failed = 0
        for name in cases:
            try:
                run(weir, name)
            except AssertionError as error:
                failed += 1
                print(f"{name}: {error}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
