"""Tables of recordings: how large they are, and what each optimization of View coherent is worth."""

from . import data, figures, presets, verdict
from .case import RECORD
from .measure import RATE, SIZE, WALL

NAME, WIDTH = 26, 12


def makers(results):
    """Names of the columns that make recordings with all optimizations."""
    return [name for name in verdict.columns_of(results) if name.startswith(RECORD + ":") and "-" not in name]


def sizes(results, write=print):
    columns = makers(results)
    rows = [r for r in results if any(r.cells[c].samples.get(SIZE) for c in columns if c in r.cells)]
    if not rows:
        return
    write("")
    write("size of the recordings; MB for each second of the recorded run and core (as many as threads, or as processors)")
    write(f"{'program, threads':{NAME}}" + "".join(f"{column:>{2 * WIDTH}}" for column in columns))
    for r in rows:
        text = ""
        for column in columns:
            cell = r.cells.get(column)
            known = cell and cell.ok and cell.samples.get(SIZE)
            rate = figures.three_digits(cell.median(RATE) / 1e6) if known else ""
            text += f"{figures.size(int(cell.median(SIZE))) if known else '-':>{WIDTH}}{rate:>{WIDTH}}"
        write(f"  {r.case.title:{NAME - 2}}{text}".rstrip())


def paper(key):
    return next(table for table in data.papers() if table["key"] == key)


def paper_means(results, write=print):
    if presets.RECORD in verdict.columns_of(results):
        for table in (paper("uplay_paper"), paper("scribe_paper")):
            means = (f"{figures.ratio(values['mean'])} at {count} threads" for count, values in table["threads"].items())
            write(f"  {table['heading']}, its mean: {', '.join(means)}")


def worth(result, better, worse):
    """Median of time with / time without, in pairs; None where one of them has no figure."""
    cells = result.cells.get(better), result.cells.get(worse)
    if not all(cell and cell.ok for cell in cells):
        return None
    found = figures.paired(cells[1].samples.get(WALL), cells[0].samples.get(WALL))
    return found and found[1]


def worth_table(results, columns, write):
    """`columns`: of (heading, column with the optimization, column without it)."""
    write(f"{'program, threads':{NAME}}" + "".join(f"{heading:>{WIDTH}}" for heading, _, _ in columns))
    rows = [[worth(r, better, worse) for _, better, worse in columns] for r in results]
    for r, row in zip(results, rows):
        words = (figures.ratio(value) if value else in_short(r, columns[i]) for i, value in enumerate(row))
        write(f"  {r.case.title:{NAME - 2}}" + "".join(f"{word:>{WIDTH}}" for word in words))
    means = [figures.geometric_mean([row[i] for row in rows if row[i]]) for i in range(len(columns))]
    write(f"{'geometric mean':{NAME}}" + "".join(f"{figures.ratio(mean):>{WIDTH}}" for mean in means))


def in_short(result, column):
    states = [result.cells[name].state for name in column[1:] if name in result.cells and not result.cells[name].ok]
    return states[0] if states else "-"


def shares(results, write=print):
    """As figure 7 of the UPLAY paper: what each optimization saves."""
    names = verdict.columns_of(results)
    results = [r for r in results if r.cells]
    alone = [(name, presets.RECORD, presets.without(name)) for name in presets.OPTIMIZATIONS if presets.without(name) in names]
    steps = presets.UPLAY_STEPS
    added = [(step, presets.without(*steps[i + 1 :]), presets.without(*steps[i:])) for i, step in enumerate(steps)]
    if presets.RECORD in names and alone:
        write("")
        write("what each optimization is worth: time of recording with all / time with all but this one")
        worth_table(results, alone, write)
    if all(name in names for _, *both in added for name in both):
        write("")
        write(f"added one after the other, as in the UPLAY paper's figure 7 ({', '.join(steps)}): time with it / time before")
        worth_table(results, added, write)
        theirs = paper("uplay_paper_optimizations")["steps"]
        write(f"{'paper, 8 threads':{NAME}}" + "".join(f"{figures.ratio(theirs[step]):>{WIDTH}}" for step in steps))
