"""Plots, drawn by matplotlib (Debian: python3-matplotlib): as SVG for the page, as PNG for a file."""

import io
import logging
import re

from . import data, verdict
from .measure import MEMORY, WALL

COLOURS = ("#2f6db3", "#d9822b", "#4b9b5f", "#8d5fb0", "#b0473f", "#6c6c6c")
MARKS = ("D", "x", "+", "*")
FEWEST = 2  # programs, for a line of means


def library():
    """matplotlib, or None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    # That it looks for fonts, the first time that a user has it, is no word of weir-bench's.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "weir",
            "font.size": 9,
            "font.family": "sans-serif",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.constrained_layout.use": True,
        }
    )
    return matplotlib


def wanted(results):
    return [r for r in results if r.cells and not r.failure and not r.case.prints_figures]


def bars(axes, results, metric, title):
    """One group of bars a program, one bar a column; what papers and peers report as marks."""
    columns = verdict.columns_of(results)
    width = 0.8 / max(1, len(columns))
    for number, column in enumerate(columns):
        places, heights, below, above = [], [], [], []
        for at, result in enumerate(results):
            cell = result.cells.get(column)
            if not cell:
                continue
            place = at - 0.4 + (number + 0.5) * width
            if cell.ok and cell.ratios.get(metric):
                low, middle, high = cell.ratios[metric]
                places.append(place), heights.append(middle), below.append(middle - low), above.append(high - middle)
            elif not cell.ok:
                axes.annotate(cell.state, (place, 1), rotation=90, ha="center", va="bottom", fontsize=6, color="#a00")
        axes.bar(
            places,
            [height - 1 for height in heights],
            width * 0.92,
            bottom=1,
            yerr=[below, above] if any(below + above) else None,
            label=column,
            color=COLOURS[number % len(COLOURS)],
            error_kw={"elinewidth": 0.8, "capsize": 1.5},
        )
        if metric == WALL:
            marks(axes, results, column, -0.4 + (number + 0.5) * width)
    axes.axhline(1, color="#444", linewidth=0.8)
    scale(axes)
    axes.set_xticks(range(len(results)), [r.case.name for r in results], rotation=35, ha="right")
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylabel("× native")


def scale(axes):
    """Twice as slow looks like twice as fast, the other way."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, 0.8), max(high * 1.1, 2.2))
    ticks = [digit * ten for ten in (0.01, 0.1, 1, 10, 100, 1000) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def marks(axes, results, column, place):
    """What papers and peers report that stand beside this column."""
    for number, table in enumerate(data.beside(column, [r.case for r in results])):
        points = []
        for at, result in enumerate(results):
            value, _ = data.reported(table, result.case)
            if isinstance(value, (int, float)):
                points.append((at + place, value))
        if points:
            axes.plot(
                *zip(*points),
                MARKS[number % len(MARKS)],
                color="black",
                markersize=5,
                label=table["heading"],
                linestyle="none",
            )


def growth(axes, results):
    """Geometric means by number of threads."""
    means = verdict.means(results)
    for number, column in enumerate(verdict.columns_of(results)):
        line = [(m.threads, m.wall) for m in means if m.column == column and m.wall and m.programs >= FEWEST]
        axes.plot(*zip(*line) if line else ((), ()), "o-", label=column, color=COLOURS[number % len(COLOURS)])
        for table in data.beside(column, [r.case for r in results]):
            if len(table["threads"]) < FEWEST:
                continue
            theirs = [(t, verdict.compared_mean(results, table, t)[1]) for t in verdict.thread_counts(results)]
            theirs = [(t, value) for t, value in theirs if value]
            if theirs:
                axes.plot(*zip(*theirs), "kx--", label=table["heading"])
    axes.axhline(1, color="#444", linewidth=0.8)
    axes.set_xticks(verdict.thread_counts(results))
    axes.set_xlabel("threads")
    axes.set_ylabel("× native")
    axes.set_title("geometric mean of wall time", loc="left", fontsize=10)
    legend(axes)


def legend(axes):
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def by_threads(results):
    return [(count, [r for r in results if r.case.threads == count]) for count in verdict.thread_counts(results)]


def width_for(results):
    most = max((len(group) for _, group in by_threads(results)), default=1)
    return max(6.0, min(14.0, 3.5 + 0.55 * most))


def draw(matplotlib, results, metrics):
    """A figure with a panel for each metric and number of threads, and the means where there are several numbers."""
    from matplotlib.figure import Figure

    groups = by_threads(results)
    grows = len(groups) > 1 and any(m.programs >= FEWEST for m in verdict.means(results)) and WALL in metrics
    panels = len(groups) * len(metrics) + grows
    figure = Figure(figsize=(width_for(results), 3.1 * panels))
    axes = list(figure.subplots(panels, 1, squeeze=False)[:, 0])
    for metric in metrics:
        for count, group in groups:
            what = "peak memory" if metric == MEMORY else "wall time"
            bars(axes[0], group, metric, what + (f", {count} threads" if count else ""))
            legend(axes[0])
            axes.pop(0)
    if grows:
        growth(axes[0], results)
    return figure


def svg(results, metrics, prefix):
    """An <svg> element without declarations and metadata; `prefix` keeps its ids apart from those of others in the page. None
    where there is nothing to draw, or nothing to draw with."""
    matplotlib, results = library(), wanted(results)
    if not matplotlib or not results:
        return None
    text = io.StringIO()
    draw(matplotlib, results, metrics).savefig(
        text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    picture = text.getvalue()
    picture = picture[picture.index("<svg") :]
    picture = re.sub(r"<metadata>.*?</metadata>", "", picture, flags=re.S)
    picture = re.sub(r'\bid="', f'id="{prefix}-', picture)
    return re.sub(r'(href="#|url\(#)', rf"\1{prefix}-", picture)


def write_png(path, results):
    """False: matplotlib is not installed, or there is nothing to draw."""
    matplotlib, results = library(), wanted(results)
    if not matplotlib or not results:
        return False
    draw(matplotlib, results, (WALL,)).savefig(path, format="png", dpi=120)
    return True
