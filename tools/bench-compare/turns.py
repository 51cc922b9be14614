"""The engines as compare.py sees them: each takes its turn, answers queries, and keeps what it measured."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
# What each peer needs; DuckDB makes the data of some workloads too.
PACKAGES = {"duckdb": ["duckdb", "pyarrow", "numpy"], "hyper": ["tableauhyperapi"], "polars": ["polars", "pyarrow"],
            "datafusion": ["datafusion", "pyarrow"]}


def peers_python(folder, name="duckdb"):
    """The interpreter of the peers' environment with what a peer needs, made on first use."""
    folder = pathlib.Path(folder)
    python = folder / "bin" / "python"
    modules = ", ".join(PACKAGES[name])
    if not python.exists():
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", f"import {modules}"], stderr=subprocess.DEVNULL).returncode != 0:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[name]], check=True)
    return python


def provide(options):
    """Makes the data of a workload, unless they are there."""
    scale = ["--scale", f"{options.scale:g}"]
    made = {
        "clickbench": ["clickbench", "--rows", str(round(1_000_000 * options.scale))],
        "ssb": ["ssb", *scale],
        "windows": ["tpch", *scale],
    }
    if options.workload in made:
        command = [options.nodewise, "generate", *made[options.workload], options.data]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return
    make = "import sys, data; data.provide(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])"
    arguments = [options.workload, options.data, str(options.scale), options.source or ""]
    subprocess.run([peers_python(options.venv), "-c", make, *arguments], check=True, cwd=HERE)


class Engine:
    """What is kept of any engine."""

    def __init__(self, name, options):
        self.name, self.options, self.version = name, options, "?"
        # Runs of a query after its first in a process, and these first ones: the form in which a result is taken.
        self.times = {query: [] for query in options.sql}
        self.cold = {query: [] for query in options.sql}
        self.form = "Arrow batches"
        self.answers, self.wrong, self.checked = {}, {}, set()
        self.load_ms, self.loaded_bytes, self.peak_bytes = [], 0, 0

    def stop(self):
        pass


class Peer(Engine):
    """One engine in a process of its own, alive over all rounds unless --fresh asks for a new one each round."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.process = None

    def start(self, *more):
        # Affinity bounds engines that have no option for it (Hyper), and is the same for all.
        environment = dict(os.environ, POLARS_MAX_THREADS=str(self.options.threads))
        python = peers_python(self.options.venv, self.name)
        command = [python, HERE / "engines.py", self.name, self.options.data, str(self.options.threads), *more]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        facts = self.read()
        self.load_ms.append(facts["load_ms"])
        self.version, self.loaded_bytes, self.form = facts["version"], facts["loaded_bytes"], facts["form"]

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return json.loads(line)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.read()

    def round(self, number):
        fresh = self.process is None
        if fresh:
            self.start()
        for query, sql in self.options.sql.items():
            for run in range(self.options.runs):
                want_rows = number == 0 and run == 0
                reply = self.ask(sql=sql, rows=want_rows)
                if "error" in reply:
                    self.wrong[query] = reply["error"]
                    break
                (self.cold if fresh and run == 0 else self.times)[query].append(reply["ms"])
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


class Nodewise(Engine):
    """Our own binary: `nodewise bench workload`, a process per round."""

    def __init__(self, options):
        super().__init__("nodewise", options)
        self.planning = {query: [] for query in options.sql}
        self.loaded_rows = 0

    def round(self, _number):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for query, sql in self.options.sql.items():
                (folder / f"{query}.sql").write_text(sql)
            arguments = ["workload", "--data", self.options.data, "--queries", folder, "--runs", str(self.options.runs)]
            if self.options.plan_cache:
                arguments.append("--plan-cache")
            facts = run_nodewise(self.options, arguments)
        self.take_loaded(facts)
        self.loaded_rows = facts["loaded_rows"]
        for query in facts["queries"]:
            self.cold[query["name"]] += query["times_ms"][:1]
            self.times[query["name"]] += query["times_ms"][1:]
            self.planning[query["name"]] += query["planning_ms"]
            self.answers[query["name"]] = query["answer"]
            if "error" in query:
                self.wrong[query["name"]] = query["error"]

    def take_loaded(self, facts):
        self.version = facts["version"]
        self.load_ms.append(facts["load_ms"])
        self.loaded_bytes = facts["loaded_bytes"]
        self.peak_bytes = max(self.peak_bytes, facts["peak_bytes"])


def run_nodewise(options, arguments):
    """Runs `nodewise bench` with the switches of the options; what it writes as JSON."""
    environment = dict(os.environ, NODEWISE_HUGE_PAGES=options.huge_pages)
    if options.simd:
        environment["NODEWISE_SIMD"] = options.simd
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [options.nodewise, "bench", *arguments, "--threads", str(options.threads), "--json", out]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment)
        if not out.exists():
            raise RuntimeError(f"nodewise wrote no times (exit code {done.returncode})")
        return json.loads(out.read_text())


def switches(options):
    """What is switched off in our engine, for headings; empty when nothing is."""
    told = []
    if options.simd:
        told.append(f"nodewise with {options.simd} only")
    if options.huge_pages == "off":
        told.append("nodewise without huge pages")
    return "".join(f", {it}" for it in told)
