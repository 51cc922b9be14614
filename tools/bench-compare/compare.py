#!/usr/bin/env python3
"""Nodewise and its peers: the same queries, the same Parquet files, all data in memory first, the same run.

    compare.py --data DIR --scale 1 [--threads 2] [--rounds 5] [--runs 3] [--engines duckdb,hyper,polars,datafusion]
    compare.py --workload tpcds --data DIR [--scale 1]       the 99 queries of TPC-DS over files of `nodewise generate tpcds`
    compare.py --workload ssb --data DIR [--scale 1]         the star schema benchmark; its data is made when missing
    compare.py --workload clickbench --data DIR [--scale 1]  43 queries over a million web hits; they are made when missing
    compare.py --workload shuffled --data DIR --from TPCHDIR TPC-H with the rows of lineitem shuffled
    compare.py --workload windows --data DIR [--scale 1]     window functions over lineitem of TPC-H
    compare.py --workload files --data DIR --from TPCHDIR    CSV, JSON lines and Parquet in the place of a table
    compare.py --workload scans --data DIR [--clients 64]    P-HANA's scan workload: statements a second of many clients
    compare.py --workload growth --data DIR                  TPC-H in DIR/sf0.1, sf1, sf10, on 1 and 2 threads, with DuckDB
    compare.py .. --simd avx2 --huge-pages off               with less than all of the machine for nodewise

Answers are checked against the stored ones where there are some, else against DuckDB's of the same run. The first run of a
query in a process is cold and counted apart, and so are queries that statistics of a table answer. Installs the
peers by itself into target/peers (or --venv). Every round gives each engine its turn, so that noise of the machine meets
all of them; a query's figure is the median of all runs, with the spread beside it. Every engine plans every run:
Nodewise's plan cache is off unless --plan-cache asks for it, and the heading says which.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import sys

import growth
import reference
import scans
import turns

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ["duckdb", "hyper", "polars", "datafusion"]


def queries_of(options):
    """Name and text of each query of the workload."""
    folder = HERE / "workloads" / options.workload
    others = {**reference.SUITES, "clickbench": reference.CLICKBENCH}
    folder = folder if folder.exists() else others.get(options.workload, reference.QUERIES)
    files = sorted(folder.glob("*.sql"))
    wanted = options.queries.split(",") if options.queries else None
    text = {path.stem: path.read_text().strip().rstrip(";") for path in files if not wanted or path.stem in wanted}
    return {name: sql.replace("{data}", options.data) for name, sql in text.items()}


def of_statistics(sql):
    """Whether statistics of a table can hold the answer: counts and extremes of a whole table, nothing else. Such an answer
    says nothing about how fast an engine reads, so means are given with and without them."""
    listed = re.fullmatch(r"\s*select\s+(.*?)\s+from\s+\w+\s*", sql, re.IGNORECASE | re.DOTALL)
    item = r"(count|min|max)\s*\([^()]*\)(\s+as\s+\w+)?"
    return bool(listed) and all(re.fullmatch(item, it.strip(), re.IGNORECASE) for it in listed[1].split(","))


def check(engines, options):
    """Compares every answer with the stored one, else with DuckDB's."""
    oracle = next((engine for engine in engines if engine.name == "duckdb"), None)
    for engine in engines:
        for query, rows in engine.answers.items():
            stored = reference.QUERIES / "answers" / f"sf{options.scale:g}" / f"{query}.csv"
            # Some peers round averages to six digits behind the point; that is no fault to hold against them.
            if options.workload in ("tpch", "shuffled", "growth") and stored.exists():
                fault = reference.fault_of(stored.read_text(), rows, approx=1e-4)
            elif oracle is not None and query in oracle.answers:
                fault = difference(oracle.answers[query], rows, undetermined(options.sql[query]))
            else:
                continue
            engine.checked.add(query)
            if fault and query not in engine.wrong:
                engine.wrong[query] = fault


def undetermined(sql):
    """Whether the answer is any so many rows: all engines are right that give as many."""
    limited, grouped, ordered = (reference.outermost(sql, it) >= 0 for it in (r"\bLIMIT\b", r"\bGROUP BY\b", r"\bORDER BY\b"))
    return limited and grouped and not ordered


def difference(expected, actual, only_count=False):
    """Compares rows in any order, numbers up to a hundred-thousandth; None when they are equal."""
    if len(expected) != len(actual):
        return f"{len(actual)} rows instead of {len(expected)}"
    if only_count:
        return None

    def number(text):
        try:
            return float(text)
        except ValueError:
            return None

    def key(row):
        return [text if number(text) is None else f"{number(text):.4g}" for text in row]

    for want, got in zip(sorted(expected, key=key), sorted(actual, key=key)):
        for a, b in zip(want, got):
            x, y = number(a), number(b)
            if a != b and (x is None or y is None or abs(x - y) > 1e-5 * max(abs(x), abs(y), 1)):
                return f"{b!r} instead of {a!r}"
    return None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else float("nan")


def time_of(engine, query, cold=False):
    """The median of the warm runs, or of the cold ones; None when the answer is wrong."""
    times = (engine.cold if cold else engine.times)[query]
    return statistics.median(times) if times and query not in engine.wrong else None


def best_of(peers, query, cold=False):
    """The least time of the peers that answered, and whose it is."""
    rivals = [(time, peer.name) for peer in peers if (time := time_of(peer, query, cold)) is not None]
    return min(rivals, default=(None, "-"))


def table(engines, peers, queries):
    ours = next((engine for engine in engines if engine.name == "nodewise"), None)
    lines = ["| query | " + " | ".join(engine.name for engine in engines) + " | best peer | nodewise / best peer |",
             "|---|" + "---:|" * len(engines) + "---|---:|"]
    names, light = list(queries), [query for query, sql in queries.items() if of_statistics(sql)]
    for query in names:
        cells = []
        for engine in engines:
            median, times = time_of(engine, query), engine.times[query]
            cells.append(f"{median:.1f} ({min(times):.1f}-{max(times):.1f})" if median else "wrong or missing")
        best, winner = best_of(peers, query)
        own = time_of(ours, query) if ours else None
        ratio = f"{own / best:.2f}" if own is not None and best is not None else "-"
        lines.append(f"| {query}{'*' if query in light else ''} | " + " | ".join(cells) + f" | {winner} | {ratio} |")

    def row(title, cells, last="", ratio=""):
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {last} | {ratio} |")

    def means(title, queries, cold=False):
        """Geometric means over some queries: of each engine, of the best peer each, and of the ratios to it."""
        own = [geometric_mean([t for it in queries if (t := time_of(engine, it, cold))]) for engine in engines]
        best = {it: time for it in queries if (time := best_of(peers, it, cold)[0])}
        ratios = [t / best[it] for it in best if ours and (t := time_of(ours, it, cold)) is not None]
        row(title, [f"**{mean:.1f}**" for mean in own], f"{geometric_mean(list(best.values())):.1f}",
            f"{geometric_mean(ratios):.2f}" if ratios else "-")
        return own

    own = means("**geometric mean**, warm", names)
    if light:
        means("without *, warm", [query for query in names if query not in light])
    means("first run in a process", names, cold=True)
    if ours:
        row("nodewise / engine", [f"{own[engines.index(ours)] / mean:.2f}" for mean in own])
        plans = [statistics.median(times) for query in names if (times := ours.planning[query])]
        row("planning in it, geometric mean", [f"{geometric_mean(plans):.2f}" if it is ours else "" for it in engines])
    row("load, ms", [f"{min(engine.load_ms):.0f}" if engine.load_ms else "-" for engine in engines])
    row("loaded, MiB", [f"{engine.loaded_bytes / 2**20:.0f}" for engine in engines])
    row("peak memory, MiB", [f"{engine.peak_bytes / 2**20:.0f}" for engine in engines])
    row("result taken as", [engine.form for engine in engines])

    def right(engine):
        unchecked = [query for query in names if query not in engine.checked and query not in engine.wrong]
        told = f", {len(unchecked)} unchecked" if unchecked else ""
        return f"{len(names) - len(engine.wrong) - len(unchecked)} of {len(names)}{told}"

    row("right answers", [right(engine) for engine in engines])
    note = "\n\n\\* statistics of a table hold the answer: counts and extremes of all its rows." if light else ""
    return "\n".join(lines) + note


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="tpch", choices=["tpch", "tpcds", "shuffled", "ssb", "clickbench", "windows", "files", "scans", "growth"])
    parser.add_argument("--data", required=True, help="folder of the Parquet files (tpch, tpcds: of `nodewise generate`; others are made when missing)")
    parser.add_argument("--from", dest="source", help="folder of the TPC-H files to shuffle, or to write as other files")
    parser.add_argument("--scale", type=float, default=1, help="scale of that data")
    parser.add_argument("--queries", help="only these, separated by commas: q01,q06")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="turns per engine: 5, for scans 3, for growth 1")
    parser.add_argument("--runs", type=int, default=3, help="runs of each query in a turn, 2 at least: the first in a process is cold")
    parser.add_argument("--engines", help="peers, separated by commas; may be empty. All; for scans duckdb,hyper; for growth duckdb")
    parser.add_argument("--fresh", action="store_true", help="a new process per turn: less memory, load time each turn")
    parser.add_argument("--plan-cache", action="store_true", help="lets nodewise use plans of earlier runs again")
    parser.add_argument("--simd", choices=["avx2", "portable"], help="nodewise without better instructions")
    parser.add_argument("--huge-pages", choices=["on", "off"], default="on", help="huge pages for nodewise")
    parser.add_argument("--clients", type=int, default=64, help="scans: clients at once")
    parser.add_argument("--statements", type=int,
                        help="scans: statements of a run; at least two a client. 256, below scale 1 1024")
    parser.add_argument("--selectivity", default="0.001,0.01,0.1,1", help="scans: rows that qualify, in percent")
    parser.add_argument("--scales", default="0.1,1,10", help="growth: scales; data are made where they are missing")
    parser.add_argument("--thread-counts", default="1,2", help="growth: threads")
    parser.add_argument("--nodewise", default=ROOT / "target/release/nodewise", help="binary, or `none`")
    parser.add_argument("--venv", default=ROOT / "target/peers", help="Python environment of the peers")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--json", help="file for all times")
    options = parser.parse_args()
    few = {"scans": (3, "duckdb,hyper"), "growth": (1, "duckdb")}
    rounds, engines = few.get(options.workload, (5, ",".join(PEERS)))
    options.rounds = rounds if options.rounds is None else options.rounds
    options.engines = engines if options.engines is None else options.engines
    if options.runs < 2:
        parser.error("--runs must be 2 at least: the first run of a query in a process is cold, and counted apart")
    if options.statements is None:
        options.statements = 256 if options.scale >= 1 else 1024
    return options


def measure(options, names):
    """All rounds of all engines over the queries of the options, with their answers checked."""
    engines = [turns.Peer(name, options) for name in names]
    if str(options.nodewise) != "none":
        engines.insert(0, turns.Nodewise(options))
    try:
        for number in range(options.rounds):
            for engine in engines:
                print(f"round {number + 1} of {options.rounds}: {engine.name}", file=sys.stderr)
                engine.round(number)
    finally:
        for engine in engines:
            engine.stop()
    check(engines, options)
    return engines


def faults_of(engines):
    return "".join(f"{engine.name} {query}: {fault}\n" for engine in engines
                   for query, fault in sorted(engine.wrong.items()))


def compare(options, names):
    """The queries of a workload: the report and the facts behind it."""
    if options.workload not in ("tpch", "tpcds"):
        turns.provide(options)
    engines = measure(options, names)
    peers = [engine for engine in engines if engine.name != "nodewise"]
    planning = "plan cache of nodewise ON" if options.plan_cache else "every engine plans every run"
    title = (f"{options.workload}, scale {options.scale:g}, {options.threads} threads, {options.rounds} rounds of "
             f"{options.runs} runs, {planning}{turns.switches(options)}; milliseconds, median (least to most)")
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    facts = {engine.name: {"version": engine.version, "load_ms": engine.load_ms, "loaded_bytes": engine.loaded_bytes,
                           "peak_bytes": engine.peak_bytes, "result_form": engine.form, "times_ms": engine.times,
                           "cold_ms": engine.cold, "wrong": engine.wrong}
             for engine in engines}
    return f"{title}\n{versions}\n\n{table(engines, peers, options.sql)}\n\n{faults_of(engines)}", facts


def main():
    options = parse_options()
    options.data = os.path.abspath(options.data)
    options.sql = queries_of(options)
    cores = sorted(os.sched_getaffinity(0))
    names = [name for name in options.engines.split(",") if name]
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        sys.exit(f"no such engine: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    if str(options.nodewise) != "none" and not os.access(options.nodewise, os.X_OK):
        sys.exit(f"{options.nodewise} is missing: cargo build --release, or --nodewise none")
    os.sched_setaffinity(0, cores[: options.threads])
    if options.workload == "growth":
        text, facts = growth.compare(options, names, cores, measure)
    elif options.workload == "scans":
        text, facts = scans.compare(options, names)
    else:
        text, facts = compare(options, names)
    print(text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
