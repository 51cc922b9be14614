// What the views of the page show: rows of the views of schema nodewise, as tables, shades and bars.
"use strict";

/** Makes an element. Texts are texts: nothing that comes from the server is ever markup. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((it) => it !== null && it !== undefined));
  return element;
}

/** Bytes for people. */
function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let place = 0;
  while (count >= 1000 && place < units.length - 1) { count /= 1024; place += 1; }
  return `${count >= 100 || place === 0 ? Math.round(count) : count.toFixed(1)} ${units[place]}`;
}

/** A time for people, of seconds. */
function duration(seconds) {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} \u00b5s`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(1)} ms`;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min`;
}

/** The rows of a result as objects by the names of its columns. */
function objects(result) {
  return result.rows.map((row) => Object.fromEntries(result.columns.map((it, at) => [it.name, row[at]])));
}

/** The rows of a result as a table. */
function table(result) {
  const number = (at) => (result.columns[at].number ? "number" : "");
  const head = result.columns.map((it, at) => make("th", { className: number(at), scope: "col" }, it.name, make("small", {}, it.type)));
  const rows = result.rows.map((row) => make("tr", {}, ...row.map((cell, at) => (cell === null
    ? make("td", { className: `null ${number(at)}` }, "NULL") : make("td", { className: number(at) }, cell)))));
  return scrolled(make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

/** What is wider or longer than its place, to be moved by keys as well. */
function scrolled(inner, label = "table") {
  const outer = make("div", { className: "scroll", tabIndex: 0 }, inner);
  outer.setAttribute("role", "group");
  outer.setAttribute("aria-label", label);
  return outer;
}

/** The head of a table; a column without a name has no heading. */
function heads(names, className = "") {
  return make("tr", {}, ...names.map((it) => (it ? make("th", { scope: "col", className }, it) : make("td", {}))));
}

/** A cell that is the darker, the larger its value is among others. */
function shade(value, largest, text, title) {
  const cell = make("td", { className: "heat", title: title || "" }, value > 0 ? text : "");
  if (value > 0) cell.style.backgroundColor = `rgba(var(--heat), ${(0.06 + 0.5 * Math.sqrt(value / largest)).toFixed(3)})`;
  return cell;
}

/** A table of shades: rows with a name, a column for each node. */
function shades(corner, nodes, rows, show) {
  const largest = Math.max(1, ...rows.flatMap((it) => it.values));
  const head = nodes.map((it) => make("th", { className: "number", scope: "col" }, `node ${it}`));
  const body = rows.map((row) => make("tr", {}, make("th", { scope: "row", title: row.title || "" }, row.name),
    ...row.values.map((value, at) => shade(value, largest, show(value), `${row.name}, node ${nodes[at]}: ${show(value)}`))));
  return scrolled(make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, corner), ...head)), make("tbody", {}, ...body)));
}

/** Sums a value of rows by a key. */
function summed(rows, key, value) {
  const sums = new Map();
  rows.forEach((it) => sums.set(key(it), (sums.get(key(it)) || 0) + value(it)));
  return sums;
}

/** The texts whose answers the views need. */
const SOURCES = {
  nodes: "SELECT node, socket, cpus, memory_total, memory_free, memory_used, distances, read_bandwidth_mb_s, read_latency_ns FROM nodewise.nodes WHERE allowed ORDER BY node",
  tables: "SELECT count(*) AS tables FROM nodewise.tables",
  queries: "SELECT id, session, state, text, elapsed_ns, progress_percent, memory_bytes, priority FROM nodewise.queries ORDER BY id",
  placement: "SELECT table_name, column_name, node, sum(bytes) AS bytes, max(placement) AS placement FROM nodewise.column_placement GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
  reads: "SELECT table_name, column_name, memory_node, sum(bytes_read) AS bytes FROM nodewise.item_traffic GROUP BY 1, 2, 3",
  traffic: "SELECT running_node, memory_node, sum(bytes) AS bytes FROM nodewise.traffic GROUP BY 1, 2 ORDER BY 1, 2",
  memory: "SELECT holder, statement, node, bytes FROM nodewise.memory WHERE bytes > 0 AND operator IS NULL",
  placer: "SELECT at_ms, table_name, column_name, action, from_nodes, to_nodes, load_percent, load_after_percent, outcome FROM nodewise.placer_log ORDER BY at_ms DESC LIMIT 50",
};

/** Statements under way, without the page's own. What is being chosen is left alone. */
function showRunning(place, answers, statements) {
  if (place.contains(document.activeElement) && document.activeElement.tagName === "SELECT") return;
  const own = new Set(Object.values(SOURCES));
  const rows = objects(answers.queries).filter((it) => !own.has(it.text));
  if (rows.length === 0) return place.replaceChildren(make("p", { className: "note" }, "Nothing runs."));
  const line = (it) => make("tr", {},
    make("td", {}, make("button", { onclick: () => statements.kill(it.id), title: `KILL ${it.id}` }, "Cancel")),
    make("td", { className: "number" }, it.id), make("td", {}, it.state),
    make("td", { className: "number" }, duration(Number(it.elapsed_ns) / 1e9)),
    make("td", { className: "number" }, it.progress_percent === null ? "" : `${it.progress_percent} %`),
    make("td", { className: "number" }, bytes(Number(it.memory_bytes))), make("td", {}, priority(it, statements)), make("td", { className: "wrap" }, it.text));
  const names = ["", "id", "state", "time", "done", "memory", "priority", "statement"];
  place.replaceChildren(scrolled(make("table", {}, make("thead", {}, heads(names)), make("tbody", {}, ...rows.map(line)))));
}

/** The class of a statement, to be chosen anew; the lowest is served first. */
function priority(it, statements) {
  const classes = new Map([["0", "first"], ["100", "usual"], ["200", "last"]]);
  if (!classes.has(it.priority)) classes.set(it.priority, it.priority);
  const select = make("select", { title: "which statement is served first" }, ...[...classes].map(([value, name]) => make("option", { value }, name)));
  select.setAttribute("aria-label", `priority of statement ${it.id}`);
  select.value = it.priority;
  select.addEventListener("change", () => { select.blur(); statements.priority(it.id, select.value); });
  return select;
}

/** Bytes of columns on nodes, or what was read of them since the last look. */
function showHeat(place, answers, before, seconds, by, only) {
  const nodes = objects(answers.nodes).map((it) => it.node);
  const key = (it, node) => `${it.table_name}\u0000${it.column_name}\u0000${node}`;
  const placed = objects(answers.placement).filter((it) => !only || it.table_name === only);
  const reads = (it) => summed(objects(it.reads), (row) => key(row, row.memory_node), (row) => Number(row.bytes));
  const lies = summed(placed, (it) => key(it, it.node), (it) => Number(it.bytes));
  const [now, then] = [reads(answers), before ? reads(before) : reads(answers)];
  const rate = (at) => Math.max(0, (now.get(at) || 0) - (then.get(at) || 0)) / seconds;
  const columns = new Map(placed.map((it) => [`${it.table_name}.${it.column_name}`, it]));
  if (columns.size === 0) return place.replaceChildren(make("p", { className: "note" }, "There are no tables."));
  const rows = [...columns].map(([name, it]) => ({
    name, title: it.placement || "",
    values: nodes.map((node) => (by === "read" ? rate(key(it, node)) : lies.get(key(it, node)) || 0)),
  }));
  place.replaceChildren(shades("column", nodes, rows, (it) => (by === "read" ? `${bytes(it)}/s` : bytes(it))));
}

/** Bytes that workers of one node read of the memory of another. */
function showTraffic(place, answers, before, seconds) {
  const nodes = objects(answers.nodes).map((it) => it.node);
  const read = (it) => summed(objects(it.traffic), (row) => `${row.running_node} ${row.memory_node}`, (row) => Number(row.bytes));
  const [now, then] = [read(answers), before ? read(before) : new Map()];
  const at = (from, to) => now.get(`${from} ${to}`) || 0;
  const rows = (value) => nodes.map((from) => ({ name: `runs on ${from}`, values: nodes.map((to) => value(from, to)) }));
  const total = nodes.reduce((sum, from) => sum + nodes.reduce((all, to) => all + at(from, to), 0), 0);
  const local = nodes.reduce((sum, it) => sum + at(it, it), 0);
  const share = total > 0 ? `${((100 * local) / total).toFixed(1)} % of ${bytes(total)} were read on the node that ran.` : "Nothing was read yet.";
  const rate = (from, to) => Math.max(0, at(from, to) - (then.get(`${from} ${to}`) || 0)) / seconds;
  place.replaceChildren(make("p", { className: "note" }, share), make("h3", {}, "since the start"), shades("memory of", nodes, rows(at), bytes),
    make("h3", {}, "now"), shades("memory of", nodes, rows(before ? rate : () => 0), (it) => `${bytes(it)}/s`));
}

/** Nodes by socket, what they are, and how far they lie apart. */
function showTopology(place, answers) {
  const rows = objects(answers.nodes);
  const nodes = rows.map((it) => it.node);
  const cell = (text) => make("td", { className: "number" }, text);
  const known = (value, show) => (value === null ? "not measured" : show(Number(value)));
  const line = (it) => make("tr", {}, make("th", { scope: "row" }, `node ${it.node}`), cell(it.socket), cell(it.cpus), cell(bytes(Number(it.memory_total))),
    cell(known(it.read_bandwidth_mb_s, (mb) => `${(mb / 1000).toFixed(1)} GB/s`)), cell(known(it.read_latency_ns, (ns) => `${ns} ns`)));
  const head = heads(["", "socket", "hardware threads", "memory", "reads", "latency"], "number");
  // The nearest is the lightest: what is shaded is the distance beyond the node's own.
  const distances = rows.map((it) => ({ name: `from ${it.node}`, values: it.distances.split(" ").map(Number) }));
  const nearest = Math.min(...distances.flatMap((it) => it.values));
  const apart = distances.map((it) => ({ name: it.name, values: it.values.map((value) => value - nearest + 1) }));
  place.replaceChildren(scrolled(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows.map(line)))),
    make("h3", {}, "distances"), shades("memory of", nodes, apart, (value) => String(value - 1 + nearest)));
}

/** What each node has, and what the database holds of it. */
function showMemory(place, answers) {
  const rows = objects(answers.nodes).map((it) => {
    const [total, free, used] = [it.memory_total, it.memory_free, it.memory_used].map(Number);
    const bar = make("div", { className: "bar" }, make("i", {}), make("i", {}));
    const others = Math.max(0, total - free - used);
    [used, others].forEach((value, at) => { bar.children[at].style.width = `${(100 * value) / Math.max(1, total)}%`; });
    return make("tr", {}, make("th", { scope: "row" }, `node ${it.node}`), make("td", { className: "number" }, bytes(used)),
      make("td", { className: "number" }, bytes(others)), make("td", { className: "number" }, bytes(free)), make("td", { className: "wide" }, bar));
  });
  const head = heads(["", "database", "others", "free", ""], "number");
  const all = objects(answers.memory).filter((it) => it.statement === null);
  const held = [...summed(all, (it) => it.holder, (it) => Number(it.bytes))].map(([name, it]) => `${name} ${bytes(it)}`);
  place.replaceChildren(scrolled(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows))),
    make("p", { className: "note" }, held.join(", ")));
}

/** The newest decisions of the placer. */
function showPlacer(place, answers) {
  const none = make("p", { className: "note" }, "It has decided nothing yet. SET placer = advise makes it tell, SET placer = on act.");
  place.replaceChildren(answers.placer.rows.length === 0 ? none : table(answers.placer));
}
