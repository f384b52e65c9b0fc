"""Sums over samples. All ratios are of pairs: a sample of a column divided by the native sample of the same round."""

import math
import statistics


def quarters(numbers):
    """25th percentile, median, 75th percentile."""
    if len(numbers) < 2:
        return [numbers[0]] * 3
    return statistics.quantiles(numbers, n=4, method="inclusive")


def median(numbers):
    return statistics.median(numbers) if numbers else None


def geometric_mean(numbers):
    """None of no numbers."""
    return math.exp(math.fsum(math.log(n) for n in numbers) / len(numbers)) if numbers else None


def paired(base, other):
    """25th percentile, median, 75th percentile of other / base; None where a base is 0."""
    if not base or len(base) != len(other) or not all(base):
        return None
    return quarters([b / a for a, b in zip(base, other)])


def seconds(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{three_digits(value / size)} {unit}"
    return f"{three_digits(value * 1e9)} ns"


def size(value):
    if not value:
        return "-"
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= one:
            return f"{three_digits(value / one)} {unit}"
    return f"{value} B"


def three_digits(value):
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}" if value >= 0.001 else f"{value:.1g}"


def ratio(value):
    return "-" if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
