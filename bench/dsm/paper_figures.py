"""What the papers' text says: tables 2 to 8 of Tapeworm (OSDI 1999), eight processors; of the region paper (USENIX 1999), whose tables 7 and 8 are pictures, the sentences about them.

A row of a table names the program and the tapes with which ours is run for it, and has the paper's figures in the order of the table's columns."""

from collections import namedtuple

Table = namedtuple("Table", "number title program columns rows")
Row = namedtuple("Row", "name tapes figures")

# Columns: key of tables.py's figures, and heading.
SPEEDUP, MISSES, LOCK_PAGES, CREATED, USED, KILOBYTES = (
    ("speedup", "speed-up"),
    ("misses", "remote misses"),
    ("lock_pages", "lock pages"),
    ("created", "updates created"),
    ("used", "updates used %"),
    ("kilobytes", "KB"),
)
LOCK, BARRIER, FLUSH, DATA, TOTAL = (
    ("lock", "lock msgs"),
    ("barrier", "barrier msgs"),
    ("flush", "flush msgs"),
    ("data", "data msgs"),
    ("messages", "all msgs"),
)
TAPE = ("flush", "tape msgs")

TABLES = [
    Table(
        3,
        "Water",
        "water-nsquared",
        (SPEEDUP, MISSES, LOCK_PAGES, USED, KILOBYTES, LOCK, BARRIER, FLUSH, DATA, TOTAL),
        [
            Row("default", "none", (5.66, 4852, 0, None, 6697, 2786, 196, 0, 4878, 7860)),
            Row("rec/rep", "replay", (5.78, 3405, 0, 71, 6761, 3016, 196, 420, 3415, 7047)),
            Row("user locks", "user", (5.93, 4336, 1579, 60, 6852, 2642, 196, 0, 4348, 7186)),
            Row("user + rec/rep", "user,replay", (6.14, 1874, 1550, 64, 7736, 2720, 196, 924, 1950, 5790)),
            Row("auto-locks", "auto", (6.16, 3200, 1566, 70, 6683, 2550, 196, 0, 3200, 5946)),
            Row("auto + rec/rep", "auto,replay", (6.43, 841, 1535, 68, 6655, 2592, 196, 924, 852, 4564)),
        ],
    ),
    Table(
        4,
        "TSP",
        "tsp",
        (SPEEDUP, MISSES, LOCK_PAGES, USED, KILOBYTES, LOCK, BARRIER, DATA, TOTAL),
        [
            Row("default", "none", (7.02, 6058, 0, None, 6860, 1124, 28, 6060, 7212)),
            Row("user locks", "user", (7.22, 4297, 6161, 88, 6648, 1142, 28, 4272, 5442)),
            Row("auto-locks", "auto", (7.48, 387, 6120, 68, 6249, 1134, 28, 387, 1549)),
        ],
    ),
    Table(
        5,
        "Spatial",
        "water-spatial",
        (SPEEDUP, MISSES, CREATED, USED, KILOBYTES, LOCK, BARRIER, FLUSH, DATA, TOTAL),
        [
            Row("default", "none", (3.62, 32677, 4845, None, 21727, 764, 518, 0, 65354, 66636)),
            Row("auto-locks", "auto", (3.63, 32494, 4847, 76, 21746, 780, 518, 0, 64988, 66286)),
            Row("rec/rep", "replay", (4.98, 158, 8950, 98, 18924, 762, 518, 1588, 316, 3184)),
            Row("auto + rec/rep", "auto,replay", (5.12, 11, 8943, 98, 18885, 734, 532, 1589, 22, 2877)),
        ],
    ),
    Table(
        6,
        "QS",
        "quicksort",
        (SPEEDUP, MISSES, LOCK_PAGES, LOCK, BARRIER, DATA, TAPE, TOTAL),
        [
            Row("default", "none", (4.23, 4499, 185, 3804, 28, 9110, 0, 12942)),
            Row("user locks", "user", (5.86, 3377, 1064, 3830, 28, 6890, 0, 10748)),
            Row("user + p-c", "user,produce", (6.32, 539, 1563, 3806, 28, 142, 2096, 6072)),
        ],
    ),
    Table(
        7,
        "Barnes",
        "barnes",
        (SPEEDUP, MISSES, USED, KILOBYTES, BARRIER, FLUSH, DATA, TOTAL),
        [
            Row("default", "none", (3.88, 4177, None, 15767, 140, 0, 31826, 31966)),
            Row("rec/rep", "replay", (5.43, 2157, 87, 16047, 140, 576, 7266, 7982)),
        ],
    ),
    Table(
        8,
        "Gauss",
        "gauss",
        (SPEEDUP, MISSES, USED, KILOBYTES, BARRIER, FLUSH, DATA, TOTAL),
        [
            Row("default", "none", (3.45, 14294, None, 32280, 7160, 0, 14294, 21454)),
            Row("flush", "flush", (4.31, 0, 100, 31673, 7160, 0, 0, 7160)),
        ],
    ),
]

# Table 2: what the best combination is better than none, in percent: speed-up, messages, misses, bytes.
IMPROVEMENT = {
    "water-nsquared": (14, 42, 83, 0),
    "tsp": (7, 79, 94, 9),
    "water-spatial": (41, 96, 100, 15),
    "quicksort": (49, 53, 88, 0),
    "gauss": (25, 67, 100, 2),
    "barnes": (40, 75, 48, -2),
}
MEAN = {"speedup": 29, "messages": 63, "misses": 85, "used": 91}
GOAL = {"speedup": 29, "messages": 75, "misses": 95, "used": 95}

REGION_PROGRAMS = ("mm", "sor", "lu", "floyd", "is", "tsp")
REGION_UNITS = ("page", "region", "annotated")
# Of table 7, four processors: seconds saved by regions against pages, in percent, where the text says.
REGION_SAVED = {"sor": 41, "tsp": 18}
REGION_SENTENCES = """\
the paper's text, of tables 7 and 8 (four processors; the tables themselves are pictures, and sizes are ours):
  regions, trapping or annotated, save 18 % of the time (TSP) to 41 % (SOR) against pages; fewer traps and messages in all six programs; more bytes in LU and TSP;
  trapping and annotated differ negligibly but in TSP (15 %); traps cost less than 1 % of the time in five of six (TSP: 6 %)"""
