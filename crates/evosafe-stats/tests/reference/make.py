#!/usr/bin/env python3
"""Makes cases.json beside it: what scipy and statsmodels say about a table of cases.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    venv/bin/python crates/evosafe-stats/tests/reference/make.py

The test `reference.rs` compares our values with the stored ones, so nobody needs the two
libraries to run it. `null` stands where a library has no answer (nothing was observed).

Of the bootstrap, scipy has the drawn version (two independent samples resampled, percentile
method). The exact ends are counted here with Python's whole numbers, by another way than the
crate's: all sums of a stratum by repeated convolution of a dictionary.
"""

import collections
import json
import math
import pathlib

import numpy
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

WILSON = [
    (0, 0, 0.95), (0, 1, 0.95), (1, 1, 0.95), (0, 10, 0.95), (10, 10, 0.95), (0, 70, 0.95),
    (1, 70, 0.95), (2, 70, 0.95), (7, 70, 0.95), (35, 70, 0.95), (69, 70, 0.95), (70, 70, 0.95),
    (27, 30, 0.95), (30, 30, 0.95), (3, 7, 0.8), (3, 7, 0.9), (3, 7, 0.99), (3, 7, 0.999),
    (105, 1050, 0.95), (479, 1050, 0.95), (1, 1_000_000, 0.95), (500_000, 1_000_000, 0.95),
    (999_999, 1_000_000, 0.95),
]

MCNEMAR = [
    (0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (5, 0), (6, 0), (7, 0), (10, 2), (2, 10), (27, 0),
    (31, 0), (39, 1), (22, 2), (37, 1), (49, 1), (26, 2), (50, 0), (25, 25), (25, 24), (385, 11),
    (11, 385), (500, 500), (520, 480), (1000, 0), (10_000, 9_700),
]

PAIRED = [
    [1.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0], [1.0, -1.0], [0.0, 1.0, 2.0, 3.0, 4.0],
    [-18.6, -9.0, -31.0], [1.5, -0.5, 3.25, 2.0, -4.75, 0.0, 6.5], [-2.0, -2.5, -1.0, -0.5, -3.0],
    [0.125, 0.25, 0.375, -0.75], [10.0, 12.0, 9.5, 11.0, 10.5, 8.0, 13.0, 10.0, 9.0, 11.5],
]

# (minus, zero, plus) of benign success and of attack success.
BOOTSTRAP = [
    ((0, 4, 0), (0, 8, 0)), ((4, 0, 0), (0, 8, 0)), ((0, 4, 0), (8, 0, 0)), ((1, 2, 1), (1, 6, 1)),
    ((3, 1, 0), (2, 6, 0)), ((0, 1, 0), (1, 0, 0)), ((2, 27, 1), (21, 49, 0)),
    ((4, 26, 0), (7, 63, 0)), ((0, 30, 0), (10, 58, 2)), ((1, 28, 1), (1, 68, 1)),
]

# Rollouts, and the tasks' sums of differences over them: of benign success, of attack success.
ROLLOUTS = [
    (2, [2, 0, -1], [-2, -2, 0, 1]), (3, [-3, -2, 0], [1, 3, -3]), (1, [-1, 0, 1], [0, -1]),
    (6, [0, -1, 0, 2, 0, -6, 1, 0], [-6, -4, 0, -1, -5, 2, 0, -3, -6, -2]),
    (5, [0, 0, -1, 0, 1, 0, 0, -2, 0, 0], [-5, 0, -1, 0, 0, -3, 1, 0, -4, -2, 0, 0, -5, -1]),
    (10, [-10, 3, 0, 1], [10, -7, -2, 0, -9]), (4, [0, 0, 0], [0, 0, 0, 0]),
    (2, [1, -1, 2, -2], [-2] * 12),
]


def number(x):
    x = float(x)
    return x if math.isfinite(x) else None


def wilson(k, n, confidence):
    row = {"k": k, "n": n, "confidence": confidence, "low": None, "high": None}
    if n:
        low, high = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
        row |= {"low": number(low), "high": number(high)}
    return row


def mcnemar_row(b, c):
    row = {"b": b, "c": c, "exact": None, "chi2": None, "chi2_p": None}
    if b + c:
        table = [[3, b], [c, 5]]
        exact = mcnemar(table, exact=True).pvalue
        assert math.isclose(exact, stats.binomtest(b, b + c, 0.5).pvalue, rel_tol=1e-9)
        corrected = mcnemar(table, exact=False, correction=True)
        row |= {
            "exact": number(exact),
            "chi2": number(corrected.statistic),
            "chi2_p": number(corrected.pvalue),
        }
    return row


def paired(differences):
    row = {"differences": differences, "t": None, "p": None, "low": None, "high": None}
    if len(set(differences)) > 1:
        found = stats.ttest_1samp(differences, 0.0)
        ends = found.confidence_interval(0.95)
        row |= {
            "t": number(found.statistic), "p": number(found.pvalue),
            "low": number(ends.low), "high": number(ends.high),
        }

    def flips(alternative):
        return number(stats.permutation_test(
            (differences,), lambda x, axis: numpy.sum(x, axis=axis), vectorized=True,
            permutation_type="samples", n_resamples=numpy.inf, alternative=alternative,
        ).pvalue)

    # scipy wants two observations or more; one has two patterns of signs.
    single = len(differences) == 1
    row["two_sided"] = 1.0 if single else flips("two-sided")
    row["greater"] = 0.5 if single else flips("greater")
    return row


def differences(stratum):
    minus, zero, plus = stratum
    return [-1] * minus + [0] * zero + [1] * plus


def sums(tasks):
    """How often each sum comes up among all resamples of a stratum."""
    steps = collections.Counter(tasks)
    ways = collections.Counter({0: 1})
    for _ in tasks:
        after = collections.Counter()
        for value, count in ways.items():
            for step, n in steps.items():
                after[value + step] += count * n
        ways = after
    return ways


def exact_bootstrap(benign, malicious, rollouts=1):
    nb, nm = len(benign), len(malicious)
    ways = collections.Counter()
    attacks = sums(malicious)
    for b, of_b in sums(benign).items():
        for m, of_m in attacks.items():
            ways[b * nm - m * nb] += of_b * of_m
    total = sum(ways.values())
    # 97.5 % from either side: the least x with P(X <= x) >= 0.975, and its mirror image.
    def end(values):
        mass = 0
        for value in values:
            mass += ways[value]
            if mass * 40 >= total * 39:
                return 100 * value / (nb * nm * rollouts)
    above = sum(count for value, count in ways.items() if value > 0)
    return end(sorted(ways, reverse=True)), end(sorted(ways)), above / total


def bootstrap(benign, malicious):
    def tasks(stratum):
        return numpy.repeat([-1.0, 0.0, 1.0], stratum)

    low, high, above = exact_bootstrap(differences(benign), differences(malicious))
    row = {"benign": benign, "malicious": malicious, "low": low, "high": high, "above": above}
    row |= {"drawn_low": None, "drawn_high": None, "drawn_above": None}
    if sum(benign) > 1 and sum(malicious) > 1:  # scipy wants two observations a sample
        found = stats.bootstrap(
            (tasks(benign), tasks(malicious)),
            lambda x, y, axis: 100 * (x.mean(axis=axis) - y.mean(axis=axis)),
            n_resamples=20_000, method="percentile", rng=numpy.random.default_rng(20260806),
        )
        ends = found.confidence_interval
        row |= {
            "drawn_low": number(ends.low), "drawn_high": number(ends.high),
            "drawn_above": number((found.bootstrap_distribution > 1e-9).mean()),
        }
    return row


def rollouts(count, benign, malicious):
    """Tasks resampled with all their rollouts; signs of whole tasks flipped."""
    low, high, above = exact_bootstrap(benign, malicious, count)
    row = {"rollouts": count, "benign": benign, "malicious": malicious}
    row |= {"low": low, "high": high, "above": above}
    row["flips"] = paired([float(x) for x in malicious])["two_sided"]
    return row


def main():
    document = {
        "made_with": {
            "scipy": scipy.__version__, "statsmodels": statsmodels.__version__,
            "numpy": numpy.__version__,
        },
        "wilson": [wilson(*case) for case in WILSON],
        "mcnemar": [mcnemar_row(*case) for case in MCNEMAR],
        "paired": [paired(case) for case in PAIRED],
        "bootstrap": [bootstrap(*case) for case in BOOTSTRAP],
        "rollouts": [rollouts(*case) for case in ROLLOUTS],
    }
    parts = []
    for name, rows in document.items():
        if isinstance(rows, list):
            lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows)
            parts.append(f"{json.dumps(name)}: [\n  {lines}\n ]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(rows)}")
    text = "{\n " + ",\n ".join(parts) + "\n}\n"
    pathlib.Path(__file__).with_name("cases.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
