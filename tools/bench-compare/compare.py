#!/usr/bin/env python3
"""Nodewise and its peers on TPC-H: the same queries, the same Parquet files, all data in memory first, the same run.

    compare.py --data DIR --scale 1 [--threads 2] [--rounds 5] [--runs 3] [--engines duckdb,hyper,polars,datafusion]

Installs the peers by itself into target/peers (or --venv). Every round gives each engine its turn, so that noise of
the machine meets all of them; a query's figure is the minimum over all runs, with the median beside it.
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
NAMES = [f"q{number:02}" for number in range(1, 23)]


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
        self.times = {query: [] for query in NAMES}
        self.wrong, self.load_ms, self.peak_bytes, self.version = {}, [], 0, "?"
        self.process = None

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
        for query in NAMES:
            sql = (reference.QUERIES / f"{query}.sql").read_text().strip().rstrip(";")
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
                    self.check(query, reply["rows"])
        if self.options.fresh:
            self.stop()

    def check(self, query, rows):
        stored = reference.QUERIES / "answers" / f"sf{self.options.scale}" / f"{query}.csv"
        if stored.exists():
            # Some peers round averages to six digits behind the point; that is no fault to hold against them.
            fault = reference.fault_of(stored.read_text(), rows, approx=1e-4)
            if fault:
                self.wrong[query] = fault

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


class Nodewise:
    """Our own binary: `nodewise bench tpch`, a process per round."""

    def __init__(self, options):
        self.name, self.options, self.version = "nodewise", options, "?"
        self.times = {query: [] for query in NAMES}
        self.wrong, self.load_ms, self.peak_bytes, self.loaded_bytes = {}, [], 0, 0

    def round(self, _number):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "times.json"
            command = [self.options.nodewise, "bench", "tpch", "--data", self.options.data, "--scale",
                       self.options.scale, "--runs", str(self.options.runs), "--threads", str(self.options.threads),
                       "--json", out]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            if not out.exists():
                raise RuntimeError(f"nodewise wrote no times (exit code {done.returncode})")
            facts = json.loads(out.read_text())
        self.load_ms.append(facts["load_ms"])
        self.loaded_bytes = facts.get("loaded_bytes", 0)
        self.peak_bytes = max(self.peak_bytes, facts.get("peak_bytes", 0))
        for query in facts["queries"]:
            self.times[query["name"]] += query["times_ms"]
            if query.get("answer_ok") is False:
                self.wrong[query["name"]] = "wrong answer"
            if "error" in query:
                self.wrong[query["name"]] = query["error"]

    def stop(self):
        pass


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else float("nan")


def best(engine, query):
    """The fastest right run, or None."""
    times = engine.times[query]
    return min(times) if times and query not in engine.wrong else None


def table(engines, peers):
    ours = next((engine for engine in engines if engine.name == "nodewise"), None)
    lines = ["| query | " + " | ".join(engine.name for engine in engines) + " | best peer | best peer / nodewise |",
             "|---|" + "---:|" * len(engines) + "---|---:|"]
    ratios = []
    for query in NAMES:
        cells = []
        for engine in engines:
            fastest = best(engine, query)
            median = statistics.median(engine.times[query]) if engine.times[query] else 0
            cells.append(f"{fastest:.1f} ({median:.1f})" if fastest is not None else "wrong or missing")
        rivals = [(best(peer, query), peer.name) for peer in peers if best(peer, query) is not None]
        winner = min(rivals, default=(None, "-"))
        ratio = "-"
        if ours and best(ours, query) is not None and winner[0] is not None:
            ratios.append(winner[0] / best(ours, query))
            ratio = f"{ratios[-1]:.2f}"
        lines.append(f"| {query} | " + " | ".join(cells) + f" | {winner[1]} | {ratio} |")
    best_of = [min(times) for query in NAMES if (times := [best(p, query) for p in peers if best(p, query)])]

    def row(title, cells, last="", ratio=""):
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {last} | {ratio} |")

    means = [geometric_mean([t for query in NAMES if (t := best(engine, query))]) for engine in engines]
    row("**geometric mean**", [f"**{mean:.1f}**" for mean in means], f"{geometric_mean(best_of):.1f}",
        f"{geometric_mean(ratios):.2f}" if ratios else "-")
    if ours:
        own = means[engines.index(ours)]
        row("engine / nodewise", [f"{mean / own:.2f}" for mean in means])
    row("load, ms", [f"{min(engine.load_ms):.0f}" if engine.load_ms else "-" for engine in engines])
    row("peak memory, MiB", [f"{engine.peak_bytes / 2**20:.0f}" for engine in engines])
    row("right answers", [str(22 - len(engine.wrong)) for engine in engines])
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of the eight Parquet files (`nodewise generate`)")
    parser.add_argument("--scale", required=True, help="scale of that data, as the folder of the answers spells it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="turns per engine")
    parser.add_argument("--runs", type=int, default=3, help="runs of each query in a turn")
    parser.add_argument("--engines", default=",".join(PEERS), help="peers, separated by commas; may be empty")
    parser.add_argument("--fresh", action="store_true", help="a new process per turn: less memory, load time each turn")
    parser.add_argument("--nodewise", default=ROOT / "target/release/nodewise", help="binary, or `none`")
    parser.add_argument("--venv", default=ROOT / "target/peers", help="Python environment of the peers")
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--json", help="file for all times")
    return parser.parse_args()


def main():
    options = parse_options()
    options.data = os.path.abspath(options.data)
    cores = sorted(os.sched_getaffinity(0))[: options.threads]
    os.sched_setaffinity(0, cores)
    names = [name for name in options.engines.split(",") if name]
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
    title = (f"TPC-H scale {options.scale}, {options.threads} threads, {options.rounds} rounds of {options.runs} runs; "
             f"milliseconds, minimum (median)")
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    text = f"{title}\n{versions}\n\n{table(engines, peers)}\n"
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
