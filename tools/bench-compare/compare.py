#!/usr/bin/env python3
"""Nodewise and its peers: the same queries, the same Parquet files, all data in memory first, the same run.

    compare.py --data DIR --scale 1 [--threads 2] [--rounds 5] [--runs 3] [--engines duckdb,hyper,polars,datafusion]
    compare.py --workload ssb --data DIR [--scale 1]         the star schema benchmark; its data is made when missing
    compare.py --workload clicks --data DIR [--scale 1]      one wide table of web hits, in the manner of ClickBench
    compare.py --workload shuffled --data DIR --from TPCHDIR TPC-H with the rows of lineitem shuffled

Answers are checked against the stored ones where there are some, else against DuckDB's of the same run. Installs the
peers by itself into target/peers (or --venv). Every round gives each engine its turn, so that noise of the machine meets
all of them; a query's figure is the median of all runs, with the spread beside it. Every engine plans every run:
Nodewise's plan cache is off unless --plan-cache asks for it, and the heading says which.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import venv

import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ["duckdb", "hyper", "polars", "datafusion"]
PACKAGES = ["duckdb", "tableauhyperapi", "polars", "datafusion", "pyarrow"]

def queries_of(options):
    """Name and text of each query of the workload."""
    folder = HERE / "workloads" / options.workload
    files = sorted((folder if folder.exists() else reference.QUERIES).glob("*.sql"))
    wanted = options.queries.split(",") if options.queries else None
    return {path.stem: path.read_text().strip().rstrip(";") for path in files if not wanted or path.stem in wanted}



def peers_python(folder):
    """The interpreter of the peers' environment, made on first use."""
    folder = pathlib.Path(folder)
    python = folder / "bin" / "python"
    modules = ", ".join(PACKAGES)
    if not python.exists():
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", f"import {modules}"], stderr=subprocess.DEVNULL).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


class Peer:
    """One engine in a process of its own, alive over all rounds unless --fresh asks for a new one each round."""

    def __init__(self, name, python, options):
        self.name, self.python, self.options = name, python, options
        self.times = {query: [] for query in options.sql}
        self.wrong, self.load_ms, self.peak_bytes, self.version = {}, [], 0, "?"
        self.answers, self.process = {}, None

    def start(self):
        # Affinity bounds engines that have no option for it (Hyper), and is the same for all.
        environment = dict(os.environ, POLARS_MAX_THREADS=str(self.options.threads))
        command = [self.python, HERE / "engines.py", self.name, self.options.data, str(self.options.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        facts = self.read()
        self.load_ms.append(facts["load_ms"])
        self.version = facts["version"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return json.loads(line)

    def round(self, number):
        if self.process is None:
            self.start()
        for query, sql in self.options.sql.items():
            for run in range(self.options.runs):
                want_rows = number == 0 and run == 0
                self.process.stdin.write(json.dumps({"sql": sql, "rows": want_rows}) + "\n")
                self.process.stdin.flush()
                reply = self.read()
                if "error" in reply:
                    self.wrong[query] = reply["error"]
                    break
                self.times[query].append(reply["ms"])
                self.peak_bytes = max(self.peak_bytes, reply["peak_bytes"])
                if want_rows:
                    self.answers[query] = reply["rows"]
        if self.options.fresh:
            self.stop()

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


class Nodewise:
    """Our own binary: `nodewise bench workload`, a process per round."""

    def __init__(self, options):
        self.name, self.options, self.version = "nodewise", options, "?"
        self.times = {query: [] for query in options.sql}
        self.wrong, self.load_ms, self.peak_bytes, self.loaded_bytes = {}, [], 0, 0
        self.answers = {}
        self.planning = {query: [] for query in options.sql}

    def round(self, _number):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for query, sql in self.options.sql.items():
                (folder / f"{query}.sql").write_text(sql)
            out = folder / "times.json"
            command = [self.options.nodewise, "bench", "workload", "--data", self.options.data, "--queries", folder,
                       "--runs", str(self.options.runs), "--threads", str(self.options.threads), "--json", out]
            if self.options.plan_cache:
                command.append("--plan-cache")
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            if not out.exists():
                raise RuntimeError(f"nodewise wrote no times (exit code {done.returncode})")
            facts = json.loads(out.read_text())
        self.load_ms.append(facts["load_ms"])
        self.loaded_bytes = facts.get("loaded_bytes", 0)
        self.peak_bytes = max(self.peak_bytes, facts.get("peak_bytes", 0))
        for query in facts["queries"]:
            self.times[query["name"]] += query["times_ms"]
            self.planning[query["name"]] += query["planning_ms"]
            self.answers[query["name"]] = query["answer"]
            if "error" in query:
                self.wrong[query["name"]] = query["error"]

    def stop(self):
        pass


def check(engines, options):
    """Compares every answer with the stored one, else with DuckDB's."""
    oracle = next((engine for engine in engines if engine.name == "duckdb"), None)
    for engine in engines:
        for query, rows in engine.answers.items():
            stored = reference.QUERIES / "answers" / f"sf{options.scale:g}" / f"{query}.csv"
            # Some peers round averages to six digits behind the point; that is no fault to hold against them.
            if options.workload in ("tpch", "shuffled") and stored.exists():
                fault = reference.fault_of(stored.read_text(), rows, approx=1e-4)
            elif oracle is not None and query in oracle.answers:
                fault = difference(oracle.answers[query], rows)
            else:
                continue
            if fault and query not in engine.wrong:
                engine.wrong[query] = fault


def difference(expected, actual):
    """Compares rows in any order, numbers up to a hundred-thousandth; None when they are equal."""
    if len(expected) != len(actual):
        return f"{len(actual)} rows instead of {len(expected)}"

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


def time_of(engine, query):
    """The median of the runs, or None when the answer is wrong."""
    times = engine.times[query]
    return statistics.median(times) if times and query not in engine.wrong else None


def table(engines, peers, names):
    ours = next((engine for engine in engines if engine.name == "nodewise"), None)
    lines = ["| query | " + " | ".join(engine.name for engine in engines) + " | best peer | nodewise / best peer |",
             "|---|" + "---:|" * len(engines) + "---|---:|"]
    ratios = []
    for query in names:
        cells = []
        for engine in engines:
            median, times = time_of(engine, query), engine.times[query]
            cells.append(f"{median:.1f} ({min(times):.1f}-{max(times):.1f})" if median else "wrong or missing")
        rivals = [(time_of(peer, query), peer.name) for peer in peers if time_of(peer, query) is not None]
        winner = min(rivals, default=(None, "-"))
        ratio = "-"
        if ours and time_of(ours, query) is not None and winner[0] is not None:
            ratios.append(time_of(ours, query) / winner[0])
            ratio = f"{ratios[-1]:.2f}"
        lines.append(f"| {query} | " + " | ".join(cells) + f" | {winner[1]} | {ratio} |")
    best_of = [min(times) for query in names if (times := [time_of(p, query) for p in peers if time_of(p, query)])]

    def row(title, cells, last="", ratio=""):
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {last} | {ratio} |")

    means = [geometric_mean([t for query in names if (t := time_of(engine, query))]) for engine in engines]
    row("**geometric mean**", [f"**{mean:.1f}**" for mean in means], f"{geometric_mean(best_of):.1f}",
        f"{geometric_mean(ratios):.2f}" if ratios else "-")
    if ours:
        own = means[engines.index(ours)]
        row("nodewise / engine", [f"{own / mean:.2f}" for mean in means])
        plans = [statistics.median(times) for query in names if (times := ours.planning[query])]
        row("planning in it, geometric mean", [f"{geometric_mean(plans):.2f}" if it is ours else "" for it in engines])
    row("load, ms", [f"{min(engine.load_ms):.0f}" if engine.load_ms else "-" for engine in engines])
    row("peak memory, MiB", [f"{engine.peak_bytes / 2**20:.0f}" for engine in engines])
    row("right answers", [f"{len(names) - len(engine.wrong)} of {len(names)}" for engine in engines])
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="tpch", choices=["tpch", "shuffled", "ssb", "clicks"])
    parser.add_argument("--data", required=True, help="folder of the Parquet files (for tpch: `nodewise generate`)")
    parser.add_argument("--from", dest="source", help="folder of the TPC-H files to shuffle")
    parser.add_argument("--scale", type=float, default=1, help="scale of that data")
    parser.add_argument("--queries", help="only these, separated by commas: q01,q06")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="turns per engine")
    parser.add_argument("--runs", type=int, default=3, help="runs of each query in a turn")
    parser.add_argument("--engines", default=",".join(PEERS), help="peers, separated by commas; may be empty")
    parser.add_argument("--fresh", action="store_true", help="a new process per turn: less memory, load time each turn")
    parser.add_argument("--plan-cache", action="store_true", help="lets nodewise use plans of earlier runs again")
    parser.add_argument("--nodewise", default=ROOT / "target/release/nodewise", help="binary, or `none`")
    parser.add_argument("--venv", default=ROOT / "target/peers", help="Python environment of the peers")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--json", help="file for all times")
    return parser.parse_args()


def main():
    options = parse_options()
    options.data = os.path.abspath(options.data)
    options.sql = queries_of(options)
    cores = sorted(os.sched_getaffinity(0))[: options.threads]
    os.sched_setaffinity(0, cores)
    names = [name for name in options.engines.split(",") if name]
    if options.workload != "tpch":
        make = "import sys, data; data.provide(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])"
        arguments = [options.workload, options.data, str(options.scale), options.source or ""]
        subprocess.run([peers_python(options.venv), "-c", make, *arguments], check=True, cwd=HERE)
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        sys.exit(f"no such engine: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    peers = []
    if names:
        python = peers_python(options.venv)
        peers = [Peer(name, python, options) for name in names]
    engines = list(peers)
    if str(options.nodewise) != "none":
        if not os.access(options.nodewise, os.X_OK):
            sys.exit(f"{options.nodewise} is missing: cargo build --release, or --nodewise none")
        engines.insert(0, Nodewise(options))
    try:
        for number in range(options.rounds):
            for engine in engines:
                print(f"round {number + 1} of {options.rounds}: {engine.name}", file=sys.stderr)
                engine.round(number)
    finally:
        for engine in engines:
            engine.stop()
    check(engines, options)
    planning = "plan cache of nodewise ON" if options.plan_cache else "every engine plans every run"
    title = (f"{options.workload}, scale {options.scale:g}, {options.threads} threads, {options.rounds} rounds of "
             f"{options.runs} runs, {planning}; milliseconds, median (least to most)")
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    text = f"{title}\n{versions}\n\n{table(engines, peers, list(options.sql))}\n"
    print(text)
    for engine in engines:
        for query, fault in sorted(engine.wrong.items()):
            print(f"{engine.name} {query}: {fault}")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        facts = {engine.name: {"version": engine.version, "load_ms": engine.load_ms, "peak_bytes": engine.peak_bytes,
                               "times_ms": engine.times, "wrong": engine.wrong} for engine in engines}
        pathlib.Path(options.json).write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
