#!/usr/bin/python3
"""What weir-bench computes, reads and writes, without running anything.   usage: units.py [anything]"""

import csv
import json
import os
import re
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from weir_bench import (
    case,
    command_line,
    counters,
    data,
    figures,
    measure,
    memory,
    presets,
    process,
    report_data,
    report_html,
    report_recordings,
)
from weir_bench import report_text, verdict, workloads

POINT = "token:isolated"
ABOUT = {
    "machine": {
        "processor": "<none>",
        "processors": 2,
        "processors_of_machine": 4,
        "memory_bytes": 1 << 30,
        "system": "Linux",
        "date": "today",
        "commit": "abc",
    },
    "command": ["weir-bench", "a & b"],
    "preset": None,
    "pairs": 3,
}


def cell(wall, state=process.OK, message=""):
    return measure.Cell(
        ["program", "<x>"], state, message, {"wall": list(wall), "cpu": list(wall), "memory": [1000]} if wall else {}
    )


def result(name="histogram", threads=4, size="medium", base=(1, 1, 1), **columns):
    """A case that was measured; columns named a_b stand for a:b."""
    found = measure.Result(workloads.workload("/build", name, threads, size), {case.BASE: cell(base)})
    found.cells.update(
        (column.replace("_", ":"), it if isinstance(it, measure.Cell) else cell(it)) for column, it in columns.items()
    )
    measure.Bench.take_ratios(found)
    return found


class Figures(unittest.TestCase):
    def test_quarters_of_one_number_are_that_number(self):
        self.assertEqual(figures.quarters([3]), [3, 3, 3])

    def test_quarters_lie_between_the_numbers(self):
        self.assertEqual(figures.quarters([4, 1, 3, 2, 5]), [2, 3, 4])

    def test_geometric_mean_of_a_ratio_and_its_inverse_is_one(self):
        self.assertAlmostEqual(figures.geometric_mean([4, 0.25]), 1)
        self.assertAlmostEqual(figures.geometric_mean([2, 8]), 4)
        self.assertIsNone(figures.geometric_mean([]))

    def test_ratios_are_taken_pair_by_pair(self):
        # A machine that is twice as slow in the second round says nothing about the ratio.
        self.assertEqual(figures.paired([1, 2, 1], [3, 6, 3]), [3, 3, 3])

    def test_what_cannot_be_divided_has_no_ratio(self):
        self.assertIsNone(figures.paired([0, 1], [1, 1]))
        self.assertIsNone(figures.paired([1], [1, 1]))
        self.assertIsNone(figures.paired([], []))

    def test_numbers_in_words(self):
        self.assertEqual([figures.seconds(v) for v in (12.34, 0.0123, 4.2e-5, 7e-9)], ["12.3 s", "12.3 ms", "42 us", "7 ns"])
        self.assertEqual([figures.size(v) for v in (2_500_000_000, 12_340_000, 0, None)], ["2.5 GB", "12.3 MB", "-", "-"])
        self.assertEqual([figures.ratio(v) for v in (None, 1.049, 49.96, 2345.6)], ["-", "1.05", "50.0", "2346"])


class Columns(unittest.TestCase):
    program = case.Case("pca", "Phoenix", "/b/pca", ("--size", "small", "--input", "{input}"), threads=4, size="small")

    def test_a_point_stands_before_the_command(self):
        words = case.point_column(POINT, "/b/weir").command(self.program, "/in put")
        self.assertEqual(
            words, "/b/weir run --order token --view isolated -- /b/pca --size small --input".split() + ["/in put"]
        )

    def test_places_in_a_template_are_filled(self):
        words = case.own_column("tsan=/t/{name} -j{threads} {arguments} '{size} {unknown}'").command(self.program, "/in put")
        self.assertEqual(words, ["/t/pca", "-j4", "--size", "small", "--input", "/in put", "small {unknown}"])

    def test_the_whole_command_as_words(self):
        words = case.own_column("valgrind=valgrind -q {command}").command(self.program, "/i")
        self.assertEqual(words, "valgrind -q /b/pca --size small --input /i".split())

    def test_recordings(self):
        made = case.point_column("record:coherent-heap-pool", "/b/weir")
        words = made.command(self.program, "/i")
        self.assertEqual(" ".join(words[:8]), "/b/weir record --view coherent --without heap,pool --quiet -o")
        self.assertEqual((made.makes, made.base, words[8:10]), (True, case.BASE, [case.RECORDING, "--"]))
        replayed = case.point_column("replay:coherent-heap-pool", "/b/weir")
        self.assertEqual((replayed.base, replayed.replay_of), (made.name, made.name))
        self.assertEqual(replayed.command(self.program, "/i"), ["/b/weir", "replay", case.RECORDING])

    def test_checkers(self):
        words = lambda name: " ".join(case.point_column(name, "/b/bin/weir").command(self.program, "/i"))
        self.assertEqual(words("check"), "/b/bin/weir check -- /b/pca --size small --input /i")
        self.assertEqual(words("tsan"), "setarch -R /b/bench/tsan/pca --size small --input /i")
        self.assertEqual(words("helgrind"), "valgrind --tool=helgrind -q --log-file=/dev/null /b/pca --size small --input /i")

    def test_another_way_of_a_point_is_compared_with_it(self):
        by_mprotect = case.point_column("token:isolated+mprotect", "/b/weir")
        words = " ".join(by_mprotect.command(self.program, "/i"))
        self.assertTrue(words.startswith("env WEIR_PAGES=mprotect /b/weir run --order token --view isolated -- /b/pca"), words)
        self.assertEqual(by_mprotect.base, "token:isolated")
        named = case.point_column("record:coherent+named", "/b/weir")
        self.assertTrue(" ".join(named.prefix).startswith("/b/weir record --files name --view coherent"), named.prefix)
        self.assertEqual((named.makes, named.base), (True, "record:coherent"))
        self.assertEqual(case.with_their_recordings(["check+mprotect"]), ("check", "check+mprotect"))
        for text in ("check+named", "replay:coherent+mprotect", "tsan+mprotect", "token:isolated+slow", "+mprotect"):
            self.assertRaises(case.Misuse, case.point_column, text, "/b/weir")

    def test_a_replay_stands_right_behind_its_recording(self):
        for points, wanted in (
            ("replay:direct", "record:direct replay:direct"),
            ("record:a record:b replay:a", "record:a replay:a record:b"),
            ("replay:a token:direct record:a replay:b", "record:a replay:a token:direct record:b replay:b"),
        ):
            self.assertEqual(" ".join(case.with_their_recordings(points.split())), wanted)

    def test_misuse_is_refused(self):
        for text in ("a:b", "token", "token:lazy", "", "record:", "record:lazy", "replay:coherent-", "record"):
            self.assertRaises(case.Misuse, case.point_column, text, "weir")
        for text in ("name", "name=", "native={command}", "a b={command}", "x=true", "x='{command}"):
            self.assertRaises(case.Misuse, case.own_column, text)

    def test_command_line(self):
        options = command_line.parse(["--threads", "1,8", "--column", "x=a {command}", "--", "prog", "--pairs", "2"], "/b")
        self.assertEqual((options.threads, options.own, options.pairs), ((1, 8), ["prog", "--pairs", "2"], None))
        self.assertEqual(command_line.cpus("0,2-4"), {0, 2, 3, 4})


class Rounds(unittest.TestCase):
    def test_everybody_goes_first_and_last_equally_often(self):
        for count in (2, 3, 4):
            names = [str(n) for n in range(count)]
            orders = [measure.turn(names, number) for number in range(2 * count)]
            for name in names:
                self.assertEqual(sum(order[0] == name for order in orders), 2)
                self.assertEqual(sum(order[-1] == name for order in orders), 2)
            self.assertTrue(all(sorted(order) == names for order in orders))

    def test_a_replay_runs_with_its_recording(self):
        points = ("replay:direct", "token:direct", "record:isolated")
        columns = [case.point_column(point, "weir") for point in case.with_their_recordings(points)]
        cells = {case.BASE: measure.Cell([])} | {c.name: measure.Cell([], column=c) for c in columns}
        units = [["native"], ["record:direct", "replay:direct"], ["token:direct"], ["record:isolated"]]
        self.assertEqual(measure.units_of(cells), units)

    def test_printed_figures(self):
        self.assertEqual(measure.printed_figures(b"one 10\ntwo 5e9 more\n\n"), {"one": 1e-8, "two": 5.0})
        self.assertRaises(ValueError, measure.printed_figures, b"no figure")

    def test_memory_of_this_process(self):
        before = memory.held_by([os.getpid()])
        filled = bytearray(b"x" * (50 << 20))
        self.assertGreater(memory.held_by([os.getpid()]) - before, 45 << 20)
        file = os.memfd_create("store")  # pages that nobody has mapped
        os.write(file, filled)
        self.assertGreater(memory.held_by([os.getpid()]) - before, 90 << 20)
        os.close(file)


class Verdicts(unittest.TestCase):
    def test_means_leave_out_what_has_no_figure(self):
        found = verdict.means(
            [
                result("pca", token_isolated=(2, 2, 2)),
                result("kmeans", token_isolated=(8, 8, 8)),
                result("canneal", token_isolated=cell((), process.TIME_OUT, "still running")),
            ]
        )
        self.assertEqual([(m.threads, m.programs, m.without) for m in found], [(4, 2, ["canneal 4"])])
        self.assertAlmostEqual(found[0].wall, 4)

    def test_targets(self):
        results = [result("pca", threads, token_isolated=(wall,) * 3) for threads, wall in ((2, 1.05), (8, 1.06))]
        results += [result("dedup", threads, token_isolated=(wall,) * 3) for threads, wall in ((2, 1.4), (8, 3.1))]
        found = {(v.what, v.threads): v.met for v in verdict.verdicts(results, "papers")}
        self.assertEqual(
            found,
            {
                ("pca", 2): True,
                ("pca", 8): False,
                ("dedup", 2): True,
                ("dedup", 8): False,
                ("geometric mean", 2): True,
                ("geometric mean", 8): False,
                ("the most (dedup)", 8): False,
                ("growth from 2 to 8 threads", 0): False,
            },
        )

    def test_one_checker_beside_another(self):
        def checked(name, mine, theirs):
            found = measure.Result(workloads.workload("/b", name, 8, "medium"), {case.BASE: cell((1,)), "check": cell((mine,)), "tsan": cell((theirs,))})
            measure.Bench.take_ratios(found)
            return found

        judged = verdict.verdicts([checked("lu", 2, 8), checked("fft", 2, 18)], "checkers")
        [share] = [v for v in judged if v.what == "share of tsan's, of 2 programs"]
        self.assertAlmostEqual(share.value, 1 / 6)
        self.assertTrue(share.met)

    def test_a_failure_meets_no_target(self):
        [found] = [
            v for v in verdict.verdicts([result(token_isolated=cell((), process.WRONG, "x"))], None) if v.what == "histogram"
        ]
        self.assertFalse(found.met)

    def test_small_inputs_and_own_programs_are_not_judged(self):
        own = measure.Result(case.Case("pca", "", "/bin/pca"), {case.BASE: cell((1,)), POINT: cell((9,))})
        measure.Bench.take_ratios(own)
        self.assertEqual(verdict.verdicts([own, result(size="small", token_isolated=(9, 9, 9))], None), [])

    def test_recordings(self):
        def recorded(name, base, made, again, rate):
            columns = [case.point_column(point, "weir") for point in ("record:coherent", "replay:coherent")]
            found = result(name, 8, base=(base,))
            for column, wall in zip(columns, (made, again)):
                found.cells[column.name] = measure.Cell([], column=column, samples={"wall": [wall]})
            found.cells["record:coherent"].samples[measure.RATE] = [rate]
            measure.Bench.take_ratios(found)
            return found

        results = [recorded("pca", 1, 2, 2, 1e6), recorded("dedup", 1, 8, 16, 9e6), recorded("ferret", 1, 4, 4, 1.5e6)]
        self.assertEqual(results[1].cells["replay:coherent"].ratio(), 2)  # against the recorded run
        slow = recorded("canneal", 1, 3, 3, 1e6)
        slow.cells["record:coherent"] = cell((), process.TIME_OUT, "still running")
        slow.cells["record:coherent"].column = results[0].cells["record:coherent"].column
        most = [v for v in verdict.verdicts([*results, slow], "paper-uplay") if v.what.startswith("the most")]
        self.assertEqual([(v.what, v.value, v.met) for v in most], [("the most (canneal)", None, False)])
        draws = measure.Result(workloads.racey("/b", 8, 100, None), {case.BASE: measure.Cell([])})
        draws.cells["record:coherent"] = measure.Cell([], samples={measure.DIFFERENT: [89]})
        found = {(v.what, v.column): (round(v.value, 3), v.met) for v in verdict.verdicts([*results, draws], "paper-uplay")}
        self.assertEqual(
            found,
            {
                ("geometric mean", "record:coherent"): (4, False),
                ("the most (dedup)", "record:coherent"): (8, False),
                ("geometric mean", "replay:coherent"): (1.26, True),
                ("MB a second and core, typical", "record:coherent"): (1.5, True),
                ("racey, different of 100", "record:coherent"): (89, False),
            },
        )

    def test_what_an_optimization_is_worth_is_taken_pair_by_pair(self):
        with_all, without_one = measure.Cell([], samples={"wall": [1, 2, 3]}), measure.Cell([], samples={"wall": [2, 4, 6]})
        found = measure.Result(None, {"record:coherent": with_all, "record:coherent-pool": without_one})
        self.assertEqual(report_recordings.worth(found, "record:coherent", "record:coherent-pool"), 0.5)
        without_one.state = process.TIME_OUT
        self.assertIsNone(report_recordings.worth(found, "record:coherent", "record:coherent-pool"))

    def test_the_optimizations_are_those_of_the_runtime(self):
        header = os.path.join(os.path.dirname(data.BENCH), "src", "base", "coherent_features.h")
        with open(header, encoding="utf-8") as file:
            [names] = re.findall(r"kOptimizations\[\] = \{(.*?)\}", file.read(), re.S)
        self.assertEqual(set(re.findall(r'"(\w+)"', names)), set(presets.OPTIMIZATIONS))

    def test_a_mean_is_compared_over_the_same_programs(self):
        table = next(t for t in data.papers() if t["key"] == "dthreads_today")
        results = [result("kmeans", 8, token_isolated=(2, 2, 2)), result("pca", 8, token_isolated=(1.4, 1.4, 1.4))]
        ours, theirs, programs = verdict.compared_mean(results, table, 8)  # kmeans: a time-out there
        self.assertEqual(programs, 1)
        self.assertAlmostEqual(ours, theirs)


class Data(unittest.TestCase):
    def test_every_table_says_where_it_is_from(self):
        keys = [table["key"] for table in data.papers()]
        self.assertEqual(len(keys), len(set(keys)))
        for table in data.papers():
            for field in ("heading", "what", "unit", "where", "paper", "machine"):
                self.assertTrue(table[field], (table["key"], field))
            for threads, values in table["threads"].items():
                self.assertGreaterEqual(int(threads), 1)
                for name, value in values.items():
                    self.assertIn(name, workloads.ALL + ("pbzip2", "mean"), table["key"])
                    self.assertTrue(value == "time-out" or value >= 0, (table["key"], name))

    def test_the_dthreads_paper(self):
        table = next(t for t in data.papers() if t["key"] == "dthreads_paper")
        self.assertEqual(set(table["threads"]["8"]), set(workloads.PAPER_DTHREADS))
        self.assertEqual(data.reported(table, workloads.workload("/b", "canneal", 2, "medium")), (3.83, 8))
        self.assertEqual(data.reported(table, workloads.workload("/b", "bodytrack", 8, "medium")), (None, None))

    def test_targets_name_programs_that_there_are(self):
        engine = {c.name for c in presets.engine("/b", (), "")} | {"pigz", "pbzip2", "xz"}
        for rule in data.targets()["ratios"]:
            known = engine if rule["preset"] == "engine" else {*workloads.ALL, workloads.SERVER}
            self.assertLessEqual(set(rule["names"]), known)
            self.assertIn(rule["preset"], presets.PRESETS)

    def test_every_counter_of_the_paper_is_one_that_is_counted(self):
        names = {name for name, _, _ in report_text.ANALYSIS}
        self.assertLessEqual({t["counter"] for t in data.papers() if "counter" in t}, names)


class Counters(unittest.TestCase):
    total = {
        **{phase + "_seconds": 0.0 for phase in counters.PHASES},
        "program_seconds": 3.0,
        "waiting_seconds": 1.0,
        "copies": 7,
    }
    counted = {
        "version": 1,
        "total": total,
        "serial_share": 0.25,
        "transactions": 50,
        "transaction_seconds": 0.06,
        "dirtied_pages": 10,
        "hit_rate": 0.3,
        "accuracy": None,
        **{key + "_seconds": 0.5 for key in counters.FLOOR.values()},
    }

    def test_terms_of_the_paper(self):
        found = counters.from_json(self.counted, 2.0)
        self.assertEqual((found.serial_percent, found.length_ms, found.program_ms, found.faults), (25, 40, 60, 7))
        self.assertEqual((found.accuracy_percent, found.phases["program"], found.phases["waiting"]), (None, 75, 25))
        self.assertEqual(found.floor["unfenced"], 500)

    def test_nothing_happened(self):
        total = {**self.total, "program_seconds": 0.0, "waiting_seconds": 0.0}
        nothing = {**self.counted, "total": total, "transactions": 0, "transaction_seconds": None, "serial_share": None}
        self.assertIsNone(counters.from_json(nothing, 1.0).length_ms)

    def test_another_version_is_refused(self):
        self.assertRaises(ValueError, counters.from_json, {**self.counted, "version": 2}, 1)

    def test_the_programs_failure_is_said(self):
        bench = types.SimpleNamespace(folder="/nonexistent", limit=1)
        for run in (process.Run(process.FAILED, "status 3"), process.Run(process.OK)):
            found, why = counters.take(Columns.program, "", "weir", POINT, bench, lambda *_: run)
            self.assertIsNone(found)
            self.assertTrue(why)


class Reports(unittest.TestCase):
    results = [
        result("histogram", 4, token_isolated=(1, 2, 3), tool=cell((), process.WRONG, "prints <something> else")),
        result("kmeans", 4, token_isolated=cell((), process.TIME_OUT, "still running after 2 s"), tool=(5, 5, 5)),
        measure.Result(workloads.workload("/build", "pca", 4, "medium"), {}, failure="/build/bench/pca is not there"),
    ]

    def written(self, write, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            write(path, self.results, *more)
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()

    def test_json(self):
        found = json.loads(self.written(report_data.write_json, ABOUT))
        states = {(c["program"], k["name"]): k["state"] for c in found["cases"] for k in c["columns"]}
        self.assertEqual(states["histogram", "tool"], process.WRONG)
        self.assertEqual(states["kmeans", POINT], process.TIME_OUT)
        self.assertEqual(found["cases"][0]["columns"][1]["ratio"]["wall"], {"p25": 1.5, "median": 2, "p75": 2.5})
        self.assertEqual(found["cases"][2]["failure"], "/build/bench/pca is not there")

    def test_csv(self):
        rows = list(csv.DictReader(self.written(report_data.write_csv).splitlines()))
        wall = next(r for r in rows if (r["program"], r["column"], r["metric"]) == ("histogram", POINT, "wall"))
        self.assertEqual((float(wall["ratio"]), wall["threads"], wall["rounds"]), (2, "4", "3"))
        self.assertEqual([r["state"] for r in rows if r["message"]], [process.WRONG, process.TIME_OUT, "no figures"])
        self.assertTrue(all(len(row) == len(report_data.CSV_HEAD) and None not in row.values() for row in rows))

    def test_html_escapes_what_programs_say(self):
        page = report_html.page(self.results, ABOUT)
        self.assertIn("prints &lt;something&gt; else", page)
        self.assertIn("a &amp; b", page)
        self.assertNotIn("<none>", page)

    def test_text(self):
        lines = []
        table = report_text.Programs([POINT, "tool"], [r.case for r in self.results], lines.append)
        table.head()
        for it in self.results:
            table.line(it)
        text = "\n".join(lines)
        for words in (
            "2.00 (1.50-2.50)",
            "WRONG RESULT: prints <something> else",
            "TIME-OUT: still running",
            "NO FIGURES: /build",
        ):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
