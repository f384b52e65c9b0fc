"""One page with everything: figures, plots, targets, counters, what the papers report. It needs nothing outside itself."""

import html

from . import data, figures, plots, report_recordings, report_text, verdict
from .case import BASE
from .machine import sentence
from .measure import CPU, DIFFERENT, MEMORY, WALL

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #1c1c1c; background: #fff; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
p.about { color: #555; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e4e4e4; }
th { border-bottom: 2px solid #999; } th:first-child, td:first-child { text-align: left; }
td.text { text-align: left; white-space: normal; } tr.group td { font-weight: 600; background: #f4f4f4; }
.bad { color: #a40000; font-weight: 600; } .good { color: #19692c; } .quiet { color: #777; }
code { font-size: .85em; } svg { max-width: 100%; height: auto; }
"""


class Raw(str):
    """Text that is HTML already."""


def escaped(value):
    return value if isinstance(value, Raw) else html.escape(str(value))


def marked(kind, text):
    return Raw(f'<span class="{kind}">{escaped(text)}</span>')


def table(head, rows, groups=()):
    """`groups`: {number of a row: what stands in a line of its own above it}."""
    lines = [
        '<div class="wide"><table>',
        "<thead><tr>" + "".join(f"<th>{escaped(h)}</th>" for h in head) + "</tr></thead>",
        "<tbody>",
    ]
    for number, row in enumerate(rows):
        if number in groups:
            lines.append(f'<tr class="group"><td colspan="{len(head)}">{escaped(groups[number])}</td></tr>')
        lines.append("<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>")
    return "\n".join(lines + ["</tbody></table></div>"])


def ratio_cells(cell, metric):
    if cell is None:
        return ["", "", ""]
    if not cell.ok:
        return [marked("bad", cell.state), "", ""]
    if not cell.ratios.get(metric):
        return ["-", "", ""]
    low, middle, high = map(figures.ratio, cell.ratios[metric])
    memory = Raw(f'{figures.ratio(cell.ratio(MEMORY))} <span class="quiet">{figures.size(cell.median(MEMORY))}</span>')
    rest = [figures.ratio(cell.ratio(CPU)), memory] if metric == WALL else ["", ""]
    return [Raw(f'<b>{middle}</b> <span class="quiet">{low}–{high}</span>'), *rest]


def figures_table(results):
    columns = verdict.columns_of(results)
    references = report_text.references(columns, [r.case for r in results])
    head = ["program", "threads", "native", "memory"]
    for column in columns:
        head += [column, "cpu", "memory"]
    head += [t["heading"] for t in references]
    rows, groups, group = [], {}, None
    for result in results:
        case = result.case
        if case.group != group:
            group = groups[len(rows)] = case.group
        if result.failure:
            rows.append([case.name, case.threads or "", marked("bad", result.failure)] + [""] * (len(head) - 3))
            continue
        if case.draws:
            counts = [f"{name}: {cell.median(DIFFERENT)}" for name, cell in result.cells.items() if cell.ok]
            words = f"different results of {case.draws} runs: {', '.join(counts)}"
            rows.append([case.name, case.threads or "", words] + [""] * (len(head) - 3))
        for metric in [m for m in result.metrics if m != CPU]:
            base = result.base
            row = [
                case.name if metric == WALL else f"{case.name} {metric}",
                case.threads or "",
                figures.seconds(base.median(metric)),
                figures.size(base.median(MEMORY)) if metric == WALL and base.median(MEMORY) else "",
            ]
            for column in columns:
                row += ratio_cells(result.cells.get(column), metric)
            for reference in references:
                value, threads = data.reported(reference, case)
                row.append(
                    report_text.value_in_words(value)
                    + (f" @{threads}" if value is not None and threads != case.threads else "")
                )
            rows.append(row)
    return table(head, rows, groups)


def failures(results):
    found = []
    for result in results:
        for name, cell in result.cells.items():
            if not cell.ok:
                found.append(
                    [
                        result.case.title,
                        name,
                        marked("bad", cell.state),
                        cell.message,
                        Raw(f"<code>{escaped(' '.join(cell.command))}</code>"),
                    ]
                )
        if result.failure and all(cell.ok for cell in result.cells.values()):
            found.append([result.case.title, BASE, marked("bad", "no figures"), result.failure, ""])
    return found


def means_table(results):
    rows = [
        [
            m.column,
            m.threads or "",
            figures.ratio(m.wall),
            figures.ratio(m.cpu),
            figures.ratio(m.memory),
            m.programs,
            ", ".join(m.without),
        ]
        for m in verdict.means(results)
    ]
    for reference in report_text.references(verdict.columns_of(results), [r.case for r in results]):
        for threads in verdict.thread_counts(results):
            ours, theirs, programs = verdict.compared_mean(results, reference, threads)
            if programs > 1:
                rows.append(
                    [
                        f"{reference['heading']}, the same programs (here {figures.ratio(ours)})",
                        threads,
                        figures.ratio(theirs),
                        "",
                        "",
                        programs,
                        "",
                    ]
                )
    return table(["column", "threads", "wall", "cpu", "memory", "programs", "without"], rows)


def targets_table(verdicts):
    rows = []
    for v in verdicts:
        state = marked("good", "met") if v.met else marked("bad", "no figure" if v.value is None else "missed")
        rows.append([v.what, v.threads or "", v.column, v.aim, figures.ratio(v.value), state])
    return table(["target", "threads", "column", "", "measured", ""], rows)


def counters_table(results):
    head = ["program", "threads"] + [heading for _, heading, _ in report_text.ANALYSIS]
    rows = []
    for result in results:
        if not result.counters:
            continue
        case = result.case
        row = [case.name, case.threads or ""]
        for name, _, _ in report_text.ANALYSIS:
            text = report_text.counter_in_words(getattr(result.counters, name))
            reference = data.for_counter(name)
            paper, _ = data.reported(reference, case) if reference else (None, None)
            quiet = f' <span class="quiet">({report_text.counter_in_words(paper)})</span>' if paper is not None else ""
            row.append(Raw(escaped(text) + quiet))
        rows.append(row)
    return table(head, rows) if rows else ""


def phases_table(results):
    counted = [r for r in results if r.counters]
    if not counted:
        return ""
    phases = list(counted[0].counters.phases)
    rows = [
        [r.case.name, r.case.threads or ""] + [report_text.counter_in_words(r.counters.phases[p]) for p in phases]
        for r in counted
    ]
    return table(["program", "threads"] + phases, rows)


def reported_table(results):
    names = list(dict.fromkeys(r.case.name for r in results if r.case.of_papers))
    rows = []
    for reference in data.papers():
        if reference.get("counter"):
            continue
        for threads, values in reference["threads"].items():
            row = [report_text.value_in_words(values.get(name)) for name in names]
            if any(row):
                rows.append([reference["heading"], threads] + row)
    return table(["source", "threads"] + names, rows) if rows else ""


def sources(results):
    names = {r.case.name for r in results if r.case.of_papers}
    used = [t for t in data.papers() if any(names & set(values) for values in t["threads"].values())]
    lines = [
        f"<li><b>{escaped(t['heading'])}</b>: {escaped(t['what'])}. {escaped(t['paper'])}, {escaped(t['where'])}. "
        f"Machine: {escaped(t['machine'])}. {escaped(t.get('note', ''))}</li>"
        for t in used
    ]
    return "<ul>" + "\n".join(lines) + "</ul>"


def page(results, about):
    parts = []

    def section(title, body, words=""):
        if body:
            parts.append(f"<h2>{escaped(title)}</h2>" + (f"<p>{words}</p>" if words else "") + body)

    section(
        "Ratios",
        plots.svg(results, (WALL,), "wall") or "",
        "Bars: median of the ratios of pairs, with the 25th and 75th percentile.",
    )
    section(
        "Figures",
        figures_table(results),
        "Columns: wall time against native (median of the ratios, 25th–75th percentile), then "
        "processor time and peak memory of all processes together against native.",
    )
    bad = failures(results)
    section("What gave no figures", table(["program", "column", "", "why", "command"], bad) if bad else "")
    section("Geometric means", means_table(results) if any(m.programs > 1 for m in verdict.means(results)) else "")
    verdicts = verdict.verdicts(results, about.get("preset"))
    words = []
    report_recordings.sizes(results, words.append)
    report_recordings.shares(results, words.append)
    section("Recordings", "<pre>" + escaped("\n".join(words).strip()) + "</pre>" if words else "")
    section("Targets", targets_table(verdicts) if verdicts else "")
    section(
        "What the runtime counted",
        counters_table(results),
        "At token:isolated; in brackets the Dthreads paper's, 8 threads. " + report_text.ANALYSIS_WORDS,
    )
    section("What the tasks' time was spent on", phases_table(results), "Percent; the phases of weir stat.")
    section("Memory", plots.svg(results, (MEMORY,), "memory") or "")
    section("What papers and peers report", reported_table(results), "Ratios against the program itself.")
    section("Sources", sources(results))
    command = escaped(" ".join(about["command"]))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>weir-bench</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>What does it cost?</h1>\n"
        f'<p class="about">{escaped(sentence(about["machine"]))}; {about["pairs"]} rounds for each figure.<br>'
        f"<code>{command}</code></p>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def write_html(path, results, about):
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(results, about))
