// The time line of a statement: a row for each worker, by node, a block for each run of morsels of a pipeline.
"use strict";

/** Morsels of the newest statement that was traced. */
const TRACE = "SELECT worker, node, pipeline, finishing, stolen, rows, bytes_remote, start_ns, end_ns FROM nodewise.trace "
  + "WHERE query = (SELECT max(query) FROM nodewise.trace) ORDER BY node, worker, start_ns";

/** The most of them. */
const EVENTS = 20000;

const COLOURS = ["#4c8df5", "#ef8e3b", "#2bb091", "#b36fdc", "#e2587c", "#93a838", "#35b2d4", "#bd8a5e"];
const [LEFT, ROW, WIDTH, FOOT] = [110, 22, 900, 44];

/** An element of a picture. */
function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

/** Morsels of one worker that follow each other in one pipeline, joined where they are too near to be told apart. */
function blocks(events, near) {
  const all = [];
  for (const it of events) {
    const last = all[all.length - 1];
    const joins = last && last.pipeline === it.pipeline && last.stolen === it.stolen && it.start - last.end < near;
    if (joins) Object.assign(last, { end: Math.max(last.end, it.end), rows: last.rows + it.rows, morsels: last.morsels + 1 });
    else all.push({ ...it, morsels: 1 });
  }
  return all;
}

/** The picture of what was traced. */
function timeLine(rows) {
  const number = (it) => ({ ...it, start: Number(it.start_ns), end: Number(it.end_ns), rows: Number(it.rows), pipeline: Number(it.pipeline), stolen: it.stolen === "t" });
  const events = rows.map(number);
  if (events.length === 0) return make("p", { className: "note" }, "No worker ran anything for it.");
  const begin = Math.min(...events.map((it) => it.start));
  const length = Math.max(1, Math.max(...events.map((it) => it.end)) - begin);
  const x = (time) => LEFT + ((time - begin) / length) * WIDTH;
  const workers = [...new Set(events.map((it) => it.worker))];
  const height = workers.length * ROW + FOOT;
  const picture = drawn("svg", { width: LEFT + WIDTH + 20, height, role: "img", "aria-label": `time line of ${workers.length} workers over ${duration(length / 1e9)}` });
  workers.forEach((worker, at) => {
    const own = events.filter((it) => it.worker === worker);
    const y = at * ROW + 4;
    picture.append(drawn("text", { x: LEFT - 8, y: y + 12, "text-anchor": "end" }, `node ${own[0].node}, ${worker}`));
    for (const it of blocks(own, (length / WIDTH) * 0.25)) {
      const block = drawn("rect", { x: x(it.start).toFixed(2), y, width: Math.max(0.6, x(it.end) - x(it.start)).toFixed(2), height: ROW - 7, fill: COLOURS[it.pipeline % COLOURS.length] });
      if (it.stolen) block.classList.add("stolen");
      const times = `${duration((it.start - begin) / 1e9)} to ${duration((it.end - begin) / 1e9)}`;
      block.append(drawn("title", {}, `pipeline ${it.pipeline}${it.stolen ? ", stolen" : ""}: ${times}, ${it.rows} rows, ${it.morsels} morsels`));
      picture.append(block);
    }
  });
  const bottom = workers.length * ROW + 18;
  for (let at = 0; at <= 4; at += 1) {
    const anchor = at === 0 ? "start" : at === 4 ? "end" : "middle";
    picture.append(drawn("text", { x: LEFT + (WIDTH * at) / 4, y: bottom, "text-anchor": anchor }, at === 0 ? "0" : duration((length * at) / 4e9)));
  }
  [...new Set(events.map((it) => it.pipeline))].sort((a, b) => a - b).slice(0, 12).forEach((pipeline, at) => {
    picture.append(drawn("rect", { x: LEFT + at * 74, y: bottom + 8, width: 10, height: 10, fill: COLOURS[pipeline % COLOURS.length] }),
      drawn("text", { x: LEFT + at * 74 + 14, y: bottom + 17 }, `pipe ${pipeline}`));
  });
  return scrolled(picture, "time line");
}
