#!/usr/bin/env python3
"""Makes the tables of docs/measurements.md. Standard library only.

    python3 docs/measure.py seeds --victim replay:RUNS/gpt-4o-2024-05-13 --split-seeds 42 43 44 45 46
    python3 docs/measure.py seeds --victim ... --split-by injection_task
    python3 docs/measure.py attacks --archive OUT --run RUN --attacks tool_knowledge ignore_previous direct injecagent

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


def seeds(args):
    out = pathlib.Path(args.out)
    rows = []
    for seed in args.split_seeds:
        common = ["search", args.spec, *(["--candidates", args.candidates] if args.candidates else []), "--seed", str(args.seed), "--split-seed", str(seed)]
        if args.victim:
            common += ["--victim", args.victim]
        if args.split_by:
            common += ["--split-by", args.split_by]
        # One archive for all splits: an episode that two of them need is run once.
        archive = out
        found = evosafe(args.binary, archive, *common)
        run = ["--run", found["run"]]
        best = evosafe(args.binary, archive, "evaluate", "best", "--split", "held-out", *run)
        row = {"H0": arm(best["reference"]), "winner": arm(best)}
        board = evosafe(args.binary, archive, "leaderboard", *run)
        if not args.winner_only:
            bundles = []
            for entry in board["rows"]:
                if entry["origin"] == "seed" and entry["candidate"] != best["candidate"]:
                    ours = evosafe(args.binary, archive, "evaluate", entry["candidate"],
                                   "--split", "held-out", *run)
                    bundles.append(arm(ours))
            # The hardest comparison: the seed bundle that happens to do best on held-out.
            row["best seed bundle"] = max(bundles, key=lambda b: b["score"])
            uniform = evosafe(args.binary, archive, *common, "--designer", "random")
            theirs = evosafe(args.binary, archive, "evaluate", "best", "--split", "held-out",
                             "--run", uniform["run"])
            row["random edits"] = arm(theirs)
        rows.append((seed, found, row))
        names = list(rows[0][2])
        print(f"\nsplit seed {seed}: {found['candidates']} candidates, "
              f"{found['episodes_run']} episodes run, {found['elapsed_s']} s", file=sys.stderr)
    print("| split seed | arm | " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for seed, _, row in rows:
        for name in names:
            print(f"| {seed} | {name} | {show(row[name][c] for c in COLUMNS)} |")
    for name in names:
        means = [statistics.mean(row[name][c] for _, _, row in rows) for c in COLUMNS]
        print(f"| mean | {name} | {show(means)} |")
    winner = statistics.mean(row["winner"]["benign"] for _, _, row in rows)
    h0 = statistics.mean(row["H0"]["benign"] for _, _, row in rows)
    print(f"\nbenign utility, winner over H0: {winner / h0:.3f}")
    for name in names:
        if name in ("best seed bundle", "random edits"):
            gaps = [row["winner"]["score"] - row[name]["score"] for _, _, row in rows]
            print(f"winner minus {name}, score points: {', '.join(f'{g:+.1f}' for g in gaps)}; "
                  f"mean {statistics.mean(gaps):+.1f}")


def attacks(args):
    print("| attack | arm | " + " | ".join(COLUMNS) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for attack in args.attacks:
        best = evosafe(args.binary, args.archive, "evaluate", "best", "--split", "held-out",
                       "--attack", attack, *(["--run", args.run] if args.run else []))
        for name, report in (("H0", best["reference"]), ("winner", best)):
            print(f"| {attack} | {name} | {show(arm(report)[c] for c in COLUMNS)} |")


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
    two.add_argument("--run")
    two.add_argument("--attacks", nargs="+",
                     default=["tool_knowledge", "ignore_previous", "direct", "injecagent"])
    two.set_defaults(run=attacks)
    args = parser.parse_args()
    args.run(args)


main()
