"""The scan workload of P-HANA, section 6: many clients at once, range predicates on one column each, without thinking times.

Which statement a number means is settled by `nodewise bench scans`, which lists them; whoever is free takes the next, in
every engine. So all engines run the very same statements over the same rows, and the rows that qualify, and the sum of
their values, must be equal over the whole run. A statement asks for the rows, as in the paper, or for their number and
sum, so that no client's language is in the way.
"""

import pathlib
import statistics
import sys
import tempfile

import turns


def compare(options, names):
    """Runs all rounds; the report and the facts behind it."""
    unfit = sorted(set(names) - {"duckdb", "hyper"})
    if unfit:
        sys.exit(f"the scan workload takes many clients, which are written for duckdb and hyper, not for {', '.join(unfit)}")
    turns.provide(options)
    options.sql = {}
    ours = turns.Nodewise(options) if str(options.nodewise) != "none" else None
    peers = [turns.Peer(name, options) for name in names]
    if ours is None:
        sys.exit("the statements of the scan workload come from nodewise: --nodewise none leaves nothing to run")
    results = {}
    try:
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}: nodewise", file=sys.stderr)
            statements = run_ours(ours, options, results)
            for peer in peers:
                print(f"round {number + 1} of {options.rounds}: {peer.name}", file=sys.stderr)
                run_peer(peer, options, statements, results)
    finally:
        for peer in peers:
            peer.stop()
    engines = [ours, *peers]
    return report(options, engines, results), {"scans": [dict(zip(["engine", "asked", "selectivity"], key), **value)
                                                         for key, value in results.items()]}


def run_ours(engine, options, results):
    """All selectivities in one process; returns the statements of each run."""
    with tempfile.TemporaryDirectory() as folder:
        listed = pathlib.Path(folder) / "statements.sql"
        facts = turns.run_nodewise(options, [
            "scans", "--data", options.data, "--selectivity", options.selectivity, "--ask", "both",
            "--clients", str(options.clients), "--statements", str(options.statements), "--list", listed])
        lines = listed.read_text().splitlines()
    engine.take_loaded(facts)
    statements = {}
    for run in facts["runs"]:
        key = (run["asked"], f"{run['selectivity'] * 100:g}")
        count = run["statements"] + run["failed"]
        statements[key], lines = lines[:count], lines[count:]
        fault = f"{run['failed']} statements failed" if run["failed"] else None
        note(results, ("nodewise", *key), run["per_second"], run["rows"], run["sum"], fault)
    return statements


def run_peer(peer, options, statements, results):
    if peer.process is None:
        peer.start("clients")
    for (asked, selectivity), texts in statements.items():
        reply = peer.ask(statements=texts, clients=options.clients, asked=asked)
        if "error" in reply:
            note(results, (peer.name, asked, selectivity), None, None, None, reply["error"])
            continue
        peer.peak_bytes = max(peer.peak_bytes, reply["peak_bytes"])
        per_second = len(texts) / (reply["ms"] / 1e3)
        note(results, (peer.name, asked, selectivity), per_second, reply["found"], reply["sum"], None)
    if options.fresh:
        peer.stop()


def note(results, key, per_second, rows, total, fault):
    kept = results.setdefault(key, {"per_second": [], "answers": [], "fault": None})
    kept["fault"] = kept["fault"] or fault
    if per_second is not None:
        kept["per_second"].append(per_second)
        kept["answers"].append([rows, total])


def fault_of(results, key, ours):
    """What is wrong with the answers of an engine; None when each round's are those of our first."""
    kept = results.get(key)
    if kept is None:
        return "did not run"
    for rows, total in kept["answers"]:
        if [rows, total] != ours:
            return f"{rows} rows with the sum {total}, not {ours[0]} with {ours[1]}"
    return kept["fault"]


def report(options, engines, results):
    names = [engine.name for engine in engines]
    lines = ["| asked | selectivity, % | " + " | ".join(names) + " | best peer | nodewise / best peer | answers |",
             "|---|---:|" + "---:|" * len(names) + "---|---:|---|"]
    faults, ratios = [], []
    for asked in ("rows", "sums"):
        for selectivity in (f"{float(it):g}" for it in options.selectivity.split(",")):
            def of(name):
                return results.get((name, asked, selectivity), {"per_second": [], "answers": [], "fault": "did not run"})

            expected = of("nodewise")["answers"][0]
            wrong = {name: fault for name in names if (fault := fault_of(results, (name, asked, selectivity), expected))}
            faults += [f"{name}, {asked}, {selectivity} %: {fault}" for name, fault in wrong.items()]
            medians = {name: statistics.median(of(name)["per_second"]) for name in names
                       if name not in wrong and of(name)["per_second"]}
            cells = []
            for name in names:
                every = of(name)["per_second"]
                cells.append(f"{medians[name]:.0f} ({min(every):.0f}-{max(every):.0f})" if name in medians else "wrong")
            rivals = {name: value for name, value in medians.items() if name != "nodewise"}
            winner = max(rivals, key=rivals.get, default=None)
            ratio = "-"
            if winner and "nodewise" in medians:
                ratios.append(medians["nodewise"] / rivals[winner])
                ratio = f"{ratios[-1]:.1f}"
            equal = "unchecked" if len(names) == 1 else "differ" if wrong else f"equal: {expected[0]} rows"
            lines.append(f"| {asked} | {selectivity} | " + " | ".join(cells) + f" | {winner or '-'} | {ratio} | {equal} |")

    def row(title, cells):
        lines.append(f"| {title} | | " + " | ".join(cells) + " | | | |")

    row("load, ms", [f"{min(engine.load_ms):.0f}" for engine in engines])
    row("loaded, MiB", [f"{engine.loaded_bytes / 2**20:.0f}" for engine in engines])
    row("peak memory, MiB", [f"{engine.peak_bytes / 2**20:.0f}" for engine in engines])
    versions = ", ".join(f"{engine.name} {engine.version}" for engine in engines)
    title = (f"scans, scale {options.scale:g}, {options.clients} clients, {options.threads} threads, {options.rounds} rounds of "
             f"{max(options.statements, 2 * options.clients)} statements{turns.switches(options)}; statements a second, "
             f"median (least to most)")
    least = f"\nLeast ratio: {min(ratios):.1f}\n" if ratios else ""
    return f"{title}\n{versions}\n\n" + "\n".join(lines) + "\n" + least + "".join(f"{it}\n" for it in faults)
