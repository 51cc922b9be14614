// The page: it runs statements, and looks at the database every two seconds while somebody looks at it.
"use strict";

const INTERVAL = 2000;
/** Rows of a result that are shown. */
const ROWS = 1000;
const by = (id) => document.getElementById(id);

/** Asks the server; the answers of the texts. */
async function ask(texts, rows, signal) {
  const body = JSON.stringify({ texts, rows });
  const reply = await fetch("/query", { method: "POST", headers: { "content-type": "application/json" }, body, signal });
  if (!reply.ok) throw new Error((await reply.text()).trim() || `HTTP ${reply.status}`);
  return (await reply.json()).answers;
}

let running = null;

/** Runs what stands in the box, with words before it; `texts` may make more of it. */
async function run(before, texts = (text) => [text], shown = ([answer]) => show(answer), rows = ROWS) {
  if (running) return;
  running = new AbortController();
  by("stop").disabled = false;
  by("outcome").className = "";
  by("outcome").textContent = "running";
  try {
    shown(await ask(texts(before + by("text").value), rows, running.signal));
  } catch (error) {
    by("outcome").className = "bad";
    by("outcome").textContent = error.name === "AbortError" ? "stopped" : error.message;
  } finally {
    running = null;
    by("stop").disabled = true;
  }
}

function show(answer) {
  const parts = answer.notices.map((it) => make("p", { className: "note" }, `${it.severity}: ${it.message}`));
  for (const result of answer.results) {
    const isPlan = result.columns.length === 1 && result.columns[0].name === "QUERY PLAN";
    if (isPlan) parts.push(plan(result.rows.map((it) => it[0]).join("\n")));
    else if (result.columns.length > 0) parts.push(make("h3", {}, rowsOf(result)), table(result));
    else parts.push(make("p", { className: "note" }, result.tag));
  }
  if (answer.error) {
    const { sqlstate, message, detail, hint, place } = answer.error;
    const where = place ? ` (line ${place.line}, column ${place.column})` : "";
    parts.push(make("p", { className: "bad" }, `${sqlstate}: ${message}${where}`));
    if (detail) parts.push(make("p", { className: "note" }, detail));
    if (hint) parts.push(make("p", { className: "note" }, `Hint: ${hint}`));
  }
  by("results").replaceChildren(...parts);
  by("outcome").textContent = `${answer.error ? "failed after" : "done in"} ${duration(answer.seconds)}`;
  if (answer.error) by("outcome").className = "bad";
}

/** A plan as a picture or as text. A picture is an image, so nothing in it is run. */
function plan(text) {
  if (!text.startsWith("<svg")) return make("pre", { tabIndex: 0 }, text);
  return scrolled(make("img", { alt: "the plan as a picture; as text it says the same", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` }), "plan");
}

/** The plan of what stands in the box, run or not. */
function explain(words) {
  return run(`EXPLAIN (${words}FORMAT ${by("plan-as").value}) `);
}

/** Runs what stands in the box and draws which worker ran which part of it when. */
function trace() {
  return run("", (text) => ["SET trace = on", text, TRACE], ([, answer, events]) => {
    answer.results.forEach((it) => { it.more ||= it.rows.length > ROWS; it.rows.length = Math.min(it.rows.length, ROWS); });
    show(answer);
    if (!answer.error && events.results.length > 0) by("results").prepend(timeLine(objects(events.results[0])));
  }, EVENTS);
}

function rowsOf(result) {
  const count = `${result.rows.length} row${result.rows.length === 1 ? "" : "s"}`;
  return result.more ? `the first ${count}` : count;
}

/** Changes a statement that runs. It may have ended before. */
async function change(text) {
  const [answer] = await ask([text], 1);
  if (answer.error) by("summary").textContent = answer.error.message;
  await look();
}

const statements = {
  kill: (id) => change(`KILL ${Number(id)}`),
  priority: (id, value) => change(`ALTER QUERY ${Number(id)} PRIORITY ${Number(value)}`),
};

let last = null;

/** Looks at the database once. */
async function look() {
  const names = Object.keys(SOURCES);
  const answers = await ask(names.map((it) => SOURCES[it]), 10000);
  const failed = answers.find((it) => it.error);
  if (failed) throw new Error(failed.error.message);
  const now = { time: performance.now(), answers: Object.fromEntries(names.map((it, at) => [it, answers[at].results[0]])) };
  const seconds = last ? Math.max(0.001, (now.time - last.time) / 1000) : 1;
  draw(now.answers, last && last.answers, seconds);
  last = now;
}

function draw(answers, before, seconds) {
  const nodes = objects(answers.nodes);
  const sockets = new Set(nodes.map((it) => it.socket)).size;
  const cpus = nodes.reduce((sum, it) => sum + Number(it.cpus), 0);
  const count = (number, word) => `${number} ${word}${Number(number) === 1 ? "" : "s"}`;
  const parts = [count(sockets, "socket"), count(nodes.length, "node"), count(cpus, "hardware thread"), count(answers.tables.rows[0][0], "table")];
  by("summary").textContent = parts.join(", ");
  tablesOf(answers);
  showRunning(by("running-body"), answers, statements);
  showHeat(by("heat-body"), answers, before, seconds, by("heat-by").value, by("heat-table").value);
  showTraffic(by("traffic-body"), answers, before, seconds);
  showTopology(by("topology-body"), answers);
  showMemory(by("memory-body"), answers);
  showPlacer(by("placer-body"), answers);
}

/** The tables that can be chosen. */
function tablesOf(answers) {
  const names = [...new Set(objects(answers.placement).map((it) => it.table_name))];
  const select = by("heat-table");
  if ([...select.options].slice(1).map((it) => it.value).join("\u0000") === names.join("\u0000")) return;
  const chosen = select.value;
  select.replaceChildren(make("option", { value: "" }, "all"), ...names.map((it) => make("option", { value: it }, it)));
  select.value = names.includes(chosen) ? chosen : "";
}

async function watch() {
  if (by("live").checked && !document.hidden) {
    try {
      await look();
    } catch (error) {
      by("summary").textContent = `no answer: ${error.message}`;
      last = null;
    }
  }
  setTimeout(watch, INTERVAL);
}

by("run").addEventListener("click", () => run(""));
by("explain").addEventListener("click", () => explain(""));
by("analyze").addEventListener("click", () => explain("ANALYZE, "));
by("trace").addEventListener("click", trace);
by("stop").addEventListener("click", () => running && running.abort());
by("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run("");
});
for (const id of ["heat-by", "heat-table"]) by(id).addEventListener("change", () => look().catch(() => {}));
watch();
