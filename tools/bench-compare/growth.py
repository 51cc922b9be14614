"""The cost of growth: TPC-H over scales and threads, ours and DuckDB, with what a row takes in memory."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

import turns


def compare(options, names, cores, measure):
    """Runs each scale with each number of threads; `measure(options, names)` gives the engines after their rounds."""
    root = pathlib.Path(options.data)
    runs = []
    for scale in [float(it) for it in options.scales.split(",")]:
        folder = root / f"sf{scale:g}"
        if not (folder / "lineitem.parquet").exists():
            command = [options.nodewise, "generate", "tpch", "--scale", f"{scale:g}", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for threads in [int(it) for it in options.thread_counts.split(",")]:
            if threads > len(cores):
                sys.exit(f"{threads} threads, but only {len(cores)} processors may be used")
            print(f"scale {scale:g}, {threads} threads", file=sys.stderr)
            os.sched_setaffinity(0, cores[:threads])
            these = argparse.Namespace(**vars(options))
            these.data, these.scale, these.threads = str(folder), scale, threads
            runs.append((scale, threads, measure(these, names)))
    return report(options, names, runs), facts_of(runs)


def facts_of(runs):
    return {"growth": [{"scale": scale, "threads": threads, "engine": engine.name, "times_ms": engine.times, "cold_ms": engine.cold,
                        "load_ms": engine.load_ms, "loaded_bytes": engine.loaded_bytes,
                        "peak_bytes": engine.peak_bytes, "wrong": engine.wrong}
                       for scale, threads, engines in runs for engine in engines]}


def medians(engine):
    return {query: statistics.median(times) for query, times in engine.times.items()
            if times and query not in engine.wrong}


def report(options, names, runs):
    lines = ["| scale | threads | engine | geometric mean, ms | of one thread | of the least scale, per row | load, ms | "
             "loaded, MiB | bytes a row | peak, MiB | right answers |", "|---:|---:|---|" + "---:|" * 8]
    means, slower = {}, []
    for scale, threads, engines in runs:
        rows = next((engine.loaded_rows for engine in engines if engine.name == "nodewise"), 0)
        for engine in engines:
            times = medians(engine)
            mean = statistics.geometric_mean(times.values()) if times else float("nan")
            means[(engine.name, scale, threads)] = (mean, rows, times)
            first = runs[0][0]
            alone = means.get((engine.name, scale, 1))
            least = means.get((engine.name, first, threads))
            speedup = f"{alone[0] / mean:.2f}" if alone and threads > 1 else "-"
            growth = f"{(mean / rows) / (least[0] / least[1]):.2f}" if least and rows and scale != first else "-"
            if engine.name == "nodewise" and alone and threads > 1:
                slower += [f"{query} at scale {scale:g}: {time:.2f} ms on {threads} threads, {alone[2][query]:.2f} on one"
                           for query, time in times.items() if time > alone[2].get(query, time)]
            a_row = f"{engine.loaded_bytes / rows:.1f}" if rows else "-"
            right = len(engine.checked) - sum(query in engine.checked for query in engine.wrong)
            lines.append(f"| {scale:g} | {threads} | {engine.name} | {mean:.2f} | {speedup} | {growth} | "
                         f"{min(engine.load_ms):.0f} | {engine.loaded_bytes / 2**20:.1f} | {a_row} | "
                         f"{engine.peak_bytes / 2**20:.0f} | {right} of {len(options.sql)} |")
    title = (f"growth, TPC-H, scales {options.scales}, threads {options.thread_counts}, {options.rounds} rounds of "
             f"{options.runs} runs{turns.switches(options)}; geometric means of the medians of 22 queries; \"of one thread\" is how "
             f"many times faster than with one, \"per row\" the time a row against that of the least scale")
    note = "No query of nodewise is slower with more threads.\n"
    if slower:
        note = "Slower with more threads: " + "; ".join(slower) + "\n"
    return f"{title}\n\n" + "\n".join(lines) + f"\n\n{note}"
