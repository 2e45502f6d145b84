#!/usr/bin/env python3
"""Makes the tables of docs/measurements.md. Standard library only.

    python3 docs/measure.py seeds --victim replay:RUNS/gpt-4o-2024-05-13 --split-seeds 42 43 44 45 46
    python3 docs/measure.py seeds --victim ... --split-by injection_task
    python3 docs/measure.py attacks --archive OUT --runs RUN... --attacks tool_knowledge ignore_previous direct injecagent

Every figure comes from `evosafe ... --json`; this script only repeats commands and averages.
Finished searches and evaluations are in their archives, so running it again is cheap.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys


def evosafe(binary, archive, *args):
    command = [binary, "--archive", str(archive), "--json", *args]
    print("+", " ".join(command), file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def rate(report):
    return None if report is None or report["rate"] is None else 100 * report["rate"]


def arm(report):
    return {
        "benign": rate(report["utility"]),
        "under attack": rate(report["utility_under_attack"]),
        "ASR": rate(report["asr"]),
        "score": report["score"],
    }


def show(values):
    return " | ".join("-" if v is None else f"{v:.1f}" for v in values)


COLUMNS = ("benign", "under attack", "ASR", "score")


def interval(report):
    low, high = report["asr"]["wilson95"] or (None, None)
    return "-" if low is None else f"[{100 * low:.1f}, {100 * high:.1f}]"


def seeds(args):
    rows = []
    for seed in args.split_seeds:
        common = ["search", args.spec, "--seed", str(args.seed), "--split-seed", str(seed)]
        if args.candidates:
            common += ["--candidates", args.candidates]
        if args.victim:
            common += ["--victim", args.victim]
        if args.split_by:
            common += ["--split-by", args.split_by]
        # One archive for all splits: an episode that two of them need is run once.
        found = evosafe(args.binary, args.out, *common)
        compared = ["compare", "--run", found["run"], "--side", "held-out"]
        if args.winner_only:
            table = evosafe(args.binary, args.out, *compared, "--seeds", "none")["rows"]
            others = {}
        else:
            uniform = evosafe(args.binary, args.out, *common, "--designer", "random")
            table = evosafe(args.binary, args.out, *compared, "--candidate", uniform["best"])["rows"]
            by_id = {row["candidate"]: row for row in table}
            bundles = [row for row in table if row["origin"] == "seed"]
            # The hardest comparison: the seed bundle that happens to do best on held-out.
            best_seed = max(bundles, key=lambda row: row["score"])
            # What one would take without a search: the bundle that does best on the train tasks.
            board = evosafe(args.binary, args.out, "leaderboard", "--run", found["run"])["rows"]
            tried = [row for row in board if row["origin"] == "seed" and row["search_score"] is not None
                     and row["candidate"] in by_id]
            picked = max(tried, key=lambda row: (row["search_score"], -row["size"]))["candidate"]
            others = {"bundle best on train": by_id[picked], "best seed bundle": best_seed,
                      "random edits": by_id[uniform["best"]]}
            print(f"split {seed}: best seed bundle is {best_seed['name']}", file=sys.stderr)
        winner = next(row for row in table if row["candidate"] == found["best"])
        row = {"H0": table[0]["reference"], "winner": winner, **others}
        rows.append((seed, found, row))
        print(f"split {seed}: {found['candidates']} candidates, {found['episodes_run']} episodes run, "
              f"{found['episodes_reused']} reused, {found['episodes_saved_by_gate']} saved, "
              f"{found['rejected_by_criticizer']} rejected, {found['elapsed_s']} s, {found['ended']}",
              file=sys.stderr)
    names = list(rows[0][2])
    print("| split seed | arm | benign utility % | utility under attack % | ASR % | 95 % (clustered) | score |")
    print("|---|---|---|---|---|---|---|")
    for seed, _, row in rows:
        for name in names:
            benign, under, asr, score = (arm(row[name])[c] for c in COLUMNS)
            print(f"| {seed} | {name} | {show([benign, under, asr])} | {interval(row[name])} | {score:+.1f} |")
    for name in names:
        means = [statistics.mean(arm(row[name])[c] for _, _, row in rows) for c in COLUMNS]
        print(f"| mean | {name} | {show(means[:3])} | | {means[3]:+.1f} |")
    winner = statistics.mean(arm(row["winner"])["benign"] for _, _, row in rows)
    h0 = statistics.mean(arm(row["H0"])["benign"] for _, _, row in rows)
    print(f"\nbenign utility, winner over H0: {winner / h0:.3f}")
    for name in names[2:]:
        gaps = [row["winner"]["score"] - row[name]["score"] for _, _, row in rows]
        spread = statistics.stdev(gaps) if len(gaps) > 1 else 0.0
        print(f"winner minus {name}, score points: {', '.join(f'{g:+.1f}' for g in gaps)}; "
              f"mean {statistics.mean(gaps):+.1f}, standard deviation {spread:.1f}")


def attacks(args):
    print("| attack | arm | benign utility % | utility under attack % | ASR % | score |")
    print("|---|---|---|---|---|---|")
    for attack in args.attacks:
        found = [evosafe(args.binary, args.archive, "evaluate", "best", "--split", "held-out",
                         "--attack", attack, "--run", run) for run in args.runs]
        for name, reports in (("H0", [f["reference"] for f in found]), ("winner", found)):
            cells = [[arm(report)[c] for report in reports] for c in COLUMNS]
            means = [statistics.mean(cell) if None not in cell else None for cell in cells]
            print(f"| {attack} | {name} | {show(means)} |")
        print(f"{attack}: ASR of each winner: "
              f"{', '.join(show([arm(f)['ASR']]) for f in found)}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/evosafe")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("seeds")
    one.add_argument("--spec", default="agentdojo")
    one.add_argument("--victim")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--split-seeds", type=int, nargs="+", default=[42, 43, 44, 45, 46])
    one.add_argument("--split-by")
    one.add_argument("--candidates")
    one.add_argument("--winner-only", action="store_true")
    one.add_argument("--out", default="target/measure")
    one.set_defaults(run=seeds)
    two = commands.add_parser("attacks")
    two.add_argument("--archive", required=True)
    two.add_argument("--runs", nargs="+", required=True)
    two.add_argument("--attacks", nargs="+",
                     default=["tool_knowledge", "ignore_previous", "direct", "injecagent"])
    two.set_defaults(run=attacks)
    args = parser.parse_args()
    args.run(args)


main()
