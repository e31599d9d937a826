/* The dashboard reads status.json once for the last five minutes, then one
 * event a second. It draws at most once a frame. Words of clients get into
 * the page as text only. */

const SPAN_S = 300;
const POLL_MS = 2000;
const SILENCE_MS = 10000; /* a stream that is silent for longer is dead */
const RATE_TICKS = 10; /* ticks over which rates are computed */

/* The positions of numbers in a point of the history. */
const [TIME, REQUESTS, BYTES, P50, P90, P99, WAIT_P99, HITS, DEPTH, OPEN] =
  Array(10).keys();

const $ = id => document.getElementById(id);
const NONE = "–";

/* --- Numbers for people -------------------------------------------------- */

const grouped = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const isNumber = value => typeof value === "number" && isFinite(value);

/* Returns at least three digits: 1.23, 12.3, 123, 1,234. */
function digits(value) {
  if (value >= 99.95) return grouped.format(value);
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

/* Writes value in the largest unit that leaves 1 or more; short: on an axis. */
function scaled(value, units, step, short) {
  if (!isNumber(value)) return NONE;
  let unit = 0;
  while (Math.abs(value) >= step * 0.9995 && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  const number = short ? String(+value.toFixed(1))
    : unit === 0 && Number.isInteger(value) ? String(value) : digits(value);
  return units[unit] ? `${number} ${units[unit]}` : number;
}

const count = value => isNumber(value) ? grouped.format(value) : NONE;
const brief = (value, short) =>
  scaled(value, ["", "k", "M", "G", "T"], 1000, short);
const bytes = (value, short) =>
  scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024, short);
const micros = (value, short) => value >= 6e7
  ? `${digits(value / 6e7)} min`
  : scaled(value, ["µs", "ms", "s"], 1000, short);
const percent = value =>
  isNumber(value) ? `${(value * 100).toFixed(value < 0.1 ? 2 : 1)} %` : NONE;
const rate = value => !isNumber(value) ? NONE
  : value === 0 || value >= 9.95 ? count(value) : value.toFixed(1);

function duration(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const from = units.findIndex(([size]) => seconds >= size);
  if (from < 0) return "0 s";
  return units.slice(from, from + 2).map(([size, name], i) =>
    `${Math.floor((i ? seconds % units[from][0] : seconds) / size)} ${name}`)
    .join(" ");
}

const clock = seconds =>
  new Date(seconds * 1000).toLocaleTimeString("en", {hourCycle: "h23"});

/* Replaces controls, and characters that turn or join their neighbours. */
const visible = text =>
  String(text ?? "").slice(0, 1000).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "·");

/* --- Data ---------------------------------------------------------------- */

let data = null; /* the newest statistics, without their history */
let points = [];
let interval = 1;
let ticks = []; /* the last few ticks, for rates */
let look = null; /* seconds before now that charts show; null: now */

/* Keeps points older than the first fresh one, even from before a restart. */
function append(fresh) {
  if (!fresh.length) return;
  points = points.filter(point => point[TIME] < fresh[0][TIME]).concat(fresh);
  const newest = points.at(-1)[TIME];
  points = points.filter(point => point[TIME] > newest - SPAN_S);
}

function take(news) {
  const before = ticks.at(-1);

  if (news.server !== "sprintd") throw new Error("not sprintd");
  if (news.history) {
    interval = news.history.interval_s || 1;
    append(news.history.points);
  } else if (news.point) {
    append([news.point]);
  }
  if (before && (news.requests.total < before.requests.total ||
      news.time < before.time))
    ticks = []; /* the server started anew, or its clock was set back */
  ticks = ticks.concat(news).slice(-RATE_TICKS - 1);
  data = news;
  redraw();
}

/* Returns how much the number that pick returns grows per second. */
function growth(pick) {
  const [first, last] = [ticks[0], ticks.at(-1)];
  const seconds = last.time - first.time;
  return seconds > 0 ? (pick(last) - (pick(first) ?? 0)) / seconds : null;
}

const column = index => points.map(point => point[index]).filter(isNumber);

/* Returns the point nearest to look; undefined when none is near. */
function pointLookedAt() {
  const newest = points.at(-1);
  if (look === null || !newest) return newest;
  const time = newest[TIME] - look;
  const near = points.reduce((best, point) =>
    Math.abs(point[TIME] - time) < Math.abs(best[TIME] - time) ? point : best);
  return Math.abs(near[TIME] - time) <= 1.5 * interval ? near : undefined;
}

/* --- Charts -------------------------------------------------------------- */

const SVG = document.querySelector("svg").namespaceURI;

function setAll(element, attributes) {
  for (const key in attributes) element.setAttribute(key, attributes[key]);
}

function addTo(parent, name, attributes) {
  const element = document.createElementNS(SVG, name);
  setAll(element, attributes);
  return parent.appendChild(element);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* Returns about wanted steps up to max or more. Each is a round number, for
 * bytes in units of powers of 1024. */
function linearTicks(max, wanted, base, least) {
  const top = Math.max(max, least);
  const unit = base === 1024
    ? 1024 ** Math.floor(Math.log(top) / Math.log(1024)) : 1;
  const raw = top / unit / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const nice = wanted > 1 ? [1, 2, 5, 10] : [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
  const step = Math.max(least,
    unit * power * nice.find(n => n * power >= raw * 0.9999));
  return Array.from({length: Math.ceil(top / step - 1e-9) + 1},
    (_, i) => i * step);
}

/* Returns powers of ten; if they are few, also 3 times each. */
function logTicks(min, max) {
  const from = Math.floor(Math.log10(min) * 2 + 1e-9);
  const to = Math.max(Math.ceil(Math.log10(max) * 2 - 1e-9), from + 2);
  return Array.from({length: to - from + 1}, (_, i) => from + i)
    .filter((half, i, all) => half % 2 === 0 || to - from < 5 ||
      i === 0 || i === all.length - 1)
    .map(half => half % 2 === 0 ? 10 ** (half / 2)
      : 3 * 10 ** ((half - 1) / 2));
}

class Chart {
  /* lines: [index in a point, class, function that writes it, id];
   * unit: writes a number of the axis; least: least step of a linear axis;
   * top: its end; note: text beside the number. */
  constructor(id, {lines, log, unit, base = 1000, least = 1, top, note}) {
    Object.assign(this, {lines, log, unit, base, least, top, note, id});
    this.svg = addTo($(`${id}-chart`), "svg", {
      role: "slider", tabindex: 0, "aria-labelledby": `h-${id}`,
      "aria-valuemin": -SPAN_S, "aria-valuemax": 0,
    });
    this.grid = addTo(this.svg, "path", {class: "grid"});
    if (!log) this.area = addTo(this.svg, "path", {class: "area"});
    this.paths = lines.map(([, name]) =>
      addTo(this.svg, "path", {class: name}));
    this.cross = addTo(this.svg, "path", {class: "cross"});
    this.dots = lines.map(([, name]) =>
      addTo(this.svg, "circle", {class: name}));
    this.labels = [];
    this.svg.addEventListener("pointermove", event => this.point(event));
    this.svg.addEventListener("pointerdown", event => this.point(event));
    this.svg.addEventListener("pointerleave", () => lookAt(null));
    this.svg.addEventListener("keydown", event => this.press(event));
    this.svg.addEventListener("blur", () => lookAt(null));
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - this.left) /
      (box.width - this.left - this.right);
    lookAt(Math.round((1 - share) * SPAN_S));
  }

  press(event) {
    const by = {ArrowLeft: 1, ArrowRight: -1, ArrowDown: 1, ArrowUp: -1,
      PageDown: 30, PageUp: -30, Home: SPAN_S, End: -SPAN_S}[event.key];
    if (event.key === "Escape") lookAt(null);
    else if (by) lookAt((look ?? 0) + by);
    else return;
    event.preventDefault();
    this.say();
  }

  say() {
    const at = pointLookedAt();
    setAll(this.svg, {
      "aria-valuenow": -look,
      "aria-valuetext": !at ? "nothing" : [clock(at[TIME]),
        ...this.lines.map(([index, , say, where]) =>
          `${this.log ? where : ""} ${say(at[index])}`)].join(", "),
    });
  }

  shows(value) {
    return isNumber(value) && (!this.log || value > 0);
  }

  label(n, text, anchor, x, y) {
    const label = this.labels[n] ??= addTo(this.svg, "text");
    setAll(label, {"text-anchor": anchor, x, y});
    setText(label, text);
    return n + 1;
  }

  /* Draws the grid and its labels, and sets x() and y() for values. */
  layOut(width, height) {
    const tall = height > 100;
    const values = this.lines.flatMap(([index]) => column(index))
      .filter(value => this.shows(value));
    const most = this.top ?? Math.max(0, ...values);
    const ticks = this.log
      ? logTicks(...values.length ? [Math.min(...values), most] : [100, 1e5])
      : linearTicks(most, tall ? 4 : 1, this.base, this.least);
    const [low, high] = [ticks[0], ticks.at(-1)];
    const of = this.log ? Math.log : value => value;
    let n = 0;
    let grid = "";

    this.left = tall ? 48 : 4;
    this.right = 6;
    const [top, bottom] = [tall ? 8 : 16, height - (tall ? 20 : 2)];
    this.x = time => width - this.right - (points.at(-1)[TIME] - time) /
      SPAN_S * (width - this.left - this.right);
    this.y = value => bottom - (of(Math.max(value, low)) - of(low)) /
      (of(high) - of(low)) * (bottom - top);
    [this.high, this.low] = [top, bottom];
    for (const tick of ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      grid += `M${this.left} ${y}H${width - this.right}`;
      if (tall || tick === high)
        n = this.label(n, this.unit(tick, true), "end",
          tall ? this.left - 8 : width - this.right - 8, tall ? y + 4 : y - 4);
    }
    for (const minute of !tall ? [] : width < 440 ? [0, 1, 3, 5]
      : [0, 1, 2, 3, 4, 5])
      n = this.label(n, minute ? `−${minute} min` : "now",
        ["end", , , , , "start"][minute] ?? "middle",
        width - this.right - minute / 5 * (width - this.left - this.right),
        height - 4);
    this.labels.splice(n).forEach(label => label.remove());
    this.grid.setAttribute("d", grid);
  }

  /* The line ends where a value is missing, or points are for a while. */
  trace(index) {
    let [line, area, from, last] = ["", "", null, null];
    const end = () => {
      if (from !== null)
        area += `L${last} ${this.low}H${from}Z`;
      from = null;
    };
    points.forEach((point, i) => {
      const value = point[index];
      const since = i > 0 ? point[TIME] - points[i - 1][TIME] : 0;
      if (since > 2.5 * interval || !this.shows(value)) end();
      if (!this.shows(value)) return;
      const x = this.x(point[TIME]).toFixed(1);
      const to = `${x} ${this.y(value).toFixed(1)}`;
      line += from === null ? `M${to}h0` : `L${to}`;
      area += from === null ? `M${to}` : `L${to}`;
      from ??= x;
      last = x;
    });
    end();
    return [line, area];
  }

  draw() {
    const {clientWidth: width, clientHeight: height} = this.svg.parentNode;
    const at = pointLookedAt();
    this.layOut(width, height);
    this.lines.forEach(([index, , say, where], i) => {
      const [line, area] = this.trace(index);
      const value = at?.[index];
      const shown = this.shows(value);
      this.paths[i].setAttribute("d", line);
      if (i === 0 && !this.log) this.area.setAttribute("d", area);
      setAll(this.dots[i], shown
        ? {r: 3, cx: this.x(at[TIME]), cy: this.y(value)} : {r: 0});
      setText($(where), shown ? say(value) : NONE);
    });
    this.cross.setAttribute("d", look === null || !at ? "" :
      `M${Math.round(this.x(at[TIME])) + 0.5} ${this.high}V${this.low}`);
    if (this.note)
      setText($(`${this.id}-note`), look === null ? this.note()
        : at ? `at ${clock(at[TIME])}` : "");
    if (document.activeElement !== this.svg) this.say();
  }
}

const mean = values =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const most = index => Math.max(...column(index));
const perSecond = value => value / interval;

const charts = [
  new Chart("requests", {
    lines: [[REQUESTS, "l1", value => rate(perSecond(value)), "requests"]],
    unit: value => brief(perSecond(value), true),
    note: () => !points.length ? "" :
      `mean ${rate(perSecond(mean(column(REQUESTS))))}, ` +
      `most ${rate(perSecond(most(REQUESTS)))} in 5 min`,
  }),
  new Chart("latency", {
    lines: [[P50, "l1", micros, "p50"], [P90, "l2", micros, "p90"],
      [P99, "l3", micros, "p99"], [WAIT_P99, "l4", micros, "wait-p99"]],
    unit: micros, log: true,
  }),
  new Chart("sent", {
    lines: [[BYTES, "l1", value => bytes(perSecond(value)), "sent"]],
    unit: value => bytes(perSecond(value), true), base: 1024, least: 1024,
    note: () => `${bytes(data.bytes.out)} in all`,
  }),
  new Chart("hits", {
    lines: [[HITS, "l1", percent, "hits"]],
    unit: value => `${value * 100} %`, top: 1, least: 0.01,
    note: () => {
      const {hits, misses} = data.cache;
      return hits + misses > 0
        ? `${percent(hits / (hits + misses))} since the start` : "none yet";
    },
  }),
  new Chart("depth", {
    lines: [[DEPTH, "l1", count, "depth"]], unit: brief,
    note: () =>
      `${bytes(data.queue.bytes)}; most ${count(data.queue.depth_max)}`,
  }),
  new Chart("open", {
    lines: [[OPEN, "l1", count, "open"]], unit: brief,
    note: () => `${rate(growth(now => now.connections.accepted))} new a second`,
  }),
];

function lookAt(age) {
  look = age === null || !points.length ? null
    : Math.min(Math.max(age, 0), SPAN_S);
  redraw();
}

/* --- Tables -------------------------------------------------------------- */

/* A cell is a text, or {text, share, className, title, element}. Elements of
 * rows and cells are kept, so that a selection stays. */
function fill(id, rows) {
  const body = $(id);

  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, r) => {
    const row = body.rows[r] ?? body.insertRow();
    cells.forEach((cell, c) => put(row, c, c ? "td" : "th", cell));
  });
}

function put(parent, n, tag, cell) {
  const {text = cell, share, className = "", title = "", element} =
    typeof cell === "object" ? cell : {};
  let at = parent.children[n];

  if (!at) {
    at = parent.appendChild(document.createElement(tag));
    if (tag === "th") at.scope = "row";
  }
  if (element) element(at);
  else setText(at, text);
  if (at.title !== title) at.title = title;
  at.className = className;
  if (isNumber(share))
    at.style.setProperty("--share", Math.min(Math.max(share, 0), 1));
}

const isZero = value => !value ? "none" : "";
const plain = value => ({text: count(value), className: isZero(value)});
const bar = (value, of, className = "") => ({text: "",
  share: of > 0 ? value / of : 0,
  className: `bars ${value > 0 ? "bar" : ""} ${className}`});

const timeOf = (kind, key, className = "") => ({
  text: kind.count > 0 ? micros(kind[key]) : NONE,
  className: `${isZero(kind.count)} ${className}`,
});

function drawTimes() {
  const {wait, service, total, unsent} = data.times;
  const shares = [wait.mean, service.mean].map(mean =>
    total.mean > 0 ? Math.min(mean / total.mean, 1) : 0);
  const parts = $("parts").children;

  shares.push(Math.max(1 - shares[0] - shares[1], 0));
  shares.forEach((share, i) => { parts[i].style.width = `${share * 100}%`; });
  setText($("parts-note"), total.count === 0 ? "No request yet." :
    `Of a mean of ${micros(total.mean)}: ${percent(shares[0])} waiting, ` +
    `${percent(shares[1])} service, ${percent(shares[2])} reading.`);
  fill("times", [["min"], ["mean"], ["median", "p50"], ["p90"], ["p99"],
    ["p99.9", "p999"], ["max"]].map(([name, key = name]) =>
    [name, ...[wait, service, total, unsent].map(kind => timeOf(kind, key))]));
}

function drawSizes() {
  const used = data.sizes.filter(size => size.count > 0);
  const bounds = used.flatMap(({wait, total}) =>
    [wait.p50, wait.p99, total.p50, total.p99]).filter(value => value > 0);
  if (!bounds.length) bounds.push(100, 1e5);
  const low = 10 ** Math.floor(Math.log10(Math.min(...bounds)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...bounds, low * 1.1)));
  const place = value =>
    Math.log(Math.max(value, low) / low) / Math.log(high / low) * 100;
  const sum = used.reduce((sum, size) => sum + size.count, 0);
  const spans = size => at => {
    while (at.children.length < 2) {
      const span = document.createElement("span");
      span.className = "span";
      span.append(document.createElement("i"));
      at.append(span);
    }
    [size.wait, size.total].forEach(({p50, p99}, i) => {
      const mark = at.children[i].firstChild;
      mark.hidden = !size.count;
      mark.style.left = `${place(p50)}%`;
      mark.style.width = `${place(p99) - place(p50)}%`;
    });
  };

  setText($("sizes-min"), micros(low, true));
  setText($("sizes-max"), micros(high, true));
  fill("sizes", data.sizes.map((size, i) => [
    size.to_bytes !== null ? bytes(size.to_bytes, true)
      : i > 0 ? `> ${bytes(data.sizes[i - 1].to_bytes, true)}` : "any",
    bar(size.count, sum, "wide"), brief(size.count),
    timeOf(size.wait, "p50"), timeOf(size.wait, "p99"),
    timeOf(size.total, "p50", "wide"), timeOf(size.total, "p99"),
    {element: spans(size), className: "plot"}]));
}

function drawQueue() {
  const {by_worker: workers, ...queue} = data.queue;
  const sum = key => workers.reduce((sum, worker) => sum + worker[key], 0);
  const deepest = Math.max(1, ...workers.map(worker => worker.depth));

  fill("workers", workers.map(worker => [String(worker.worker),
    bar(worker.depth, deepest), plain(worker.depth), plain(worker.depth_max),
    bytes(worker.bytes, true), count(worker.open), brief(worker.requests)]));
  fill("queue", [["all", bar(0), count(queue.depth), count(queue.depth_max),
    bytes(queue.bytes, true), count(sum("open")), brief(sum("requests"))]]);
  setText($("overtakes"), `A shorter response overtook a longer one ` +
    `${count(queue.overtakes)} times, ` +
    `${rate(growth(now => now.queue.overtakes))} a second.`);
}

const fills = {3: "c-fill", 4: "b-fill", 5: "bad-fill"};

function drawCounts() {
  const {total, by_status: statuses, by_method: methods} = data.requests;
  const {closed, ...connections} = data.connections;
  const all = Object.values(closed).reduce((sum, value) => sum + value, 0);

  fill("statuses", Object.keys(statuses).sort().map(status => [status,
    bar(statuses[status], total, fills[status[0]]), plain(statuses[status]),
    rate(growth(now => now.requests.by_status[status]))]));
  setText($("methods"), Object.keys(methods).map(name =>
    `${visible(name)} ${count(methods[name])}`).join(", ") || "None yet.");
  fill("closed", Object.keys(closed).map(reason =>
    [visible(reason), bar(closed[reason], all, {error: "bad-fill",
      timeout: "b-fill", limit: "b-fill"}[reason]), plain(closed[reason])]));
  setText($("accepted"), `${count(connections.accepted)} accepted, ` +
    `${count(connections.refused)} refused.`);
}

const bits = value =>
  scaled(value * 8 || NaN, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"], 1000);

/* The end of a number's name chooses its form, so that new ones show, too. */
const ways = [[/_us$/, value => micros(value || NaN)],
  [/_bytes_per_second$/, bits], [/(^|_)bytes$/, bytes], [/^/, count]];
const labels = {held: "Times held back", held_bytes: "Bytes held back",
  limit_bytes: "Budget in the kernel", bytes: "Held"};

function fillFacts(id, object) {
  Object.entries(object).flatMap(([name, value]) => [
    labels[name] ?? name[0].toUpperCase() +
      name.slice(1).replace(/_us$|_bytes_per.*/, "").replaceAll("_", " "),
    isNumber(value) ? {text: ways.find(([end]) => end.test(name))[1](value),
      className: isZero(value)}
      : visible({true: "yes", false: "no"}[value] ?? value)])
    .forEach((cell, i) => put($(id), i, i % 2 ? "dd" : "dt", cell));
}

function drawWhatIf() {
  const all = data.what_if;

  $("what-if-part").hidden = !all;
  fill("what-if", !all ? [] : ["did", "fifo", "fair", "srpt"].map(key =>
    [key === "did" ? "This took" : `By ${key}`, micros(all[`${key}_us`]),
      `p99 ${micros(all[key].p99)}`]));
}

/* Each row is a policy, each column a size. */
function drawCacheIf() {
  const all = data.cache_what_if ?? [];
  const policies = [...new Set(all.map(one => one.policy))];
  const cells = policy => all.filter(one => one.policy === policy);

  $("cache-if-part").hidden = !all.length;
  fill("cache-if", !all.length ? [] : [
    ["Hits, of each worker", ...cells(policies[0]).map(one =>
      bytes(one.bytes, true))],
    ...policies.map(policy => [`By ${visible(policy)}`,
      ...cells(policy).map(one => ({text: percent(one.hit_ratio),
        title: `${percent(one.byte_hit_ratio)} of bytes`,
        className: policy === data.cache.policy && one.size === "1"
          ? "now" : ""}))])]);
}

function drawFacts() {
  drawCacheIf();
  drawWhatIf();
  fillFacts("link", data.link);
  fillFacts("cache", data.cache);
  $("proxy-cache-part").hidden = !data.proxy_cache;
  fillFacts("proxy-cache", data.proxy_cache ?? {});
  fillFacts("log", data.log);
}

const DUE_S = 14 * 86400;

/* Rows of a certificate: its expiry, its next renewal, its last failure. */
function certificateRows(one) {
  const left = one.next_try - data.time;
  const rows = [[`Certificate of ${visible(one.site)}`,
    {text: duration(one.expiry_s), title: visible([one.names,
      one.issuer && `by ${one.issuer}`].filter(Boolean).join(", ")),
      className: one.expiry_s < DUE_S ? "bad" : ""}]];

  if (one.next_try)
    rows.push(["\u2003next asked for",
      left > 0 ? `in ${duration(left)}` : "now"]);
  if (one.failures)
    rows.push([`\u2003failed ${count(one.failures)} times`,
      {text: visible(one.error), className: "bad"}]);
  return rows;
}

function drawTls() {
  const {tls, certificates = []} = data;
  const rows = (words, counts = {}) => Object.keys(counts).map(name =>
    [words + visible(name), plain(counts[name])]);

  $("tls-part").hidden = !tls && !certificates.length;
  fill("tls", [...rows("Handshakes, ", tls?.handshakes),
    ...rows("Not done: ", tls?.failed),
    ...certificates.flatMap(certificateRows)]);
}

/* An engine omits numbers that it does not know. */
const known = (value, write) => isNumber(value) ? write(value) : NONE;

function drawStores() {
  const stores = data.stores;
  const growthOf = (i, keys) => rate(growth(now =>
    keys.reduce((sum, key) => sum + (now.stores?.[i]?.[key] ?? 0), 0)));

  $("stores-part").hidden = !stores.length;
  fill("stores", stores.map((store, i) => [visible(store.prefix),
    known(store.keys, brief), known(store.used_bytes, value =>
      bytes(value, true)),
    brief(store.found), brief(store.missing),
    growthOf(i, ["found", "missing"]),
    brief(store.created + store.replaced), brief(store.deleted),
    growthOf(i, ["created", "replaced", "deleted"]),
    store.commits > 0 ? (store.writes / store.commits).toFixed(1) : NONE,
    known(store.queue_writes, count),
    plain(store.preconditions + store.busy + store.full + store.failed)]));
}

function drawUpstreams() {
  const upstreams = data.upstreams;

  $("upstreams-part").hidden = !upstreams.length;
  fill("upstreams", upstreams.map((one, i) => [visible(one.server),
    visible(one.proxy), {text: visible(one.state),
      className: /up|slow/.test(one.state) ? "" : "bad"},
    plain(one.active), plain(one.idle), brief(one.requests),
    rate(growth(now => now.upstreams[i]?.requests)),
    plain(one.failures), plain(one.retries)]));
}

function drawCpu() {
  const {enabled, idle, phases} = data.profile;

  $("cpu-note").hidden = enabled;
  $("cpu-table").hidden = !enabled;
  if (enabled)
    fill("cpu", Object.entries(phases).concat([["idle", idle]]).map(
      ([name, share]) => [visible(name),
        bar(share, 1, name === "idle" ? "c-fill" : ""), percent(share)]));
}

function drawSlowest() {
  $("slowest-note").hidden = data.slowest.length > 0;
  fill("slowest", data.slowest.map(one => {
    const request = visible(`${one.method} ${one.target}`);
    const client = visible(one.remote);
    return [{text: request, title: request}, micros(one.total),
      micros(one.wait), bytes(one.bytes), String(one.status),
      {text: client, title: client}, clock(one.time)];
  }));
}

function drawHead() {
  const now = points.at(-1);

  setText($("version"), visible(data.version));
  setText($("about"), `${count(data.workers)} worker` +
    `${data.workers === 1 ? "" : "s"}, ${visible(data.schedule)}, ` +
    `up ${duration(data.uptime_s)}, ${count(data.requests.total)} requests`);
  document.title =
    `${now ? rate(perSecond(now[REQUESTS])) : 0}/s ${visible(data.server)}`;
}

let frame = 0;

function redraw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    if (!data) return;
    for (const draw of [drawHead, ...charts.map(chart => () => chart.draw()),
      drawTimes, drawSizes, drawQueue, drawCounts, drawFacts, drawTls,
      drawStores, drawUpstreams, drawCpu, drawSlowest])
      draw();
  });
}

new ResizeObserver(redraw).observe($("requests-chart"));

/* --- The connection ------------------------------------------------------ *
 *
 *   start ──► stream ── refused ──► poll, and try the stream again at times
 *               │ ▲                   │
 *            lost the browser      also lost: the same, more slowly
 *               └─┘  tries again
 *
 * The stream ends when the page is hidden, since a browser opens at most six
 * connections to a server. A new stream brings what was missed. */

let source = null;
let timer = 0;
let paused = false;
let polls = 0;
let heard = 0;

const words = {
  connecting: "Connecting", live: "Live", polling: "Live, polling",
  lost: "Reconnecting", draining: "Draining: finishing what it has",
  paused: "Paused",
};

function say(state) {
  const ends = data?.draining && state !== "paused";
  const shown = ends && state !== "lost" ? "draining" : state;

  document.body.dataset.state = shown;
  setText($("state"), ends && state === "lost"
    ? "Stopped, waiting for it" : words[shown]);
}

function stop() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

async function load() {
  const reply = await fetch("status.json", {cache: "no-store"});
  if (!reply.ok) throw new Error(reply.statusText);
  take(await reply.json());
}

function watch() {
  timer = setTimeout(() => {
    if (performance.now() - heard < SILENCE_MS) return watch();
    say("lost");
    start();
  }, 1000);
}

function start() {
  stop();
  const mine = source = new EventSource("events");
  heard = performance.now();
  watch();
  mine.onopen = () => load().catch(() => {}); /* the next event comes soon */
  mine.addEventListener("tick", event => {
    heard = performance.now();
    take(JSON.parse(event.data));
    say("live");
  });
  mine.onerror = () => {
    if (mine.readyState !== EventSource.CLOSED) return say("lost");
    if (mine !== source) return;
    stop();
    polls = 0;
    poll();
  };
}

async function poll() {
  let state = "polling";
  timer = 0;

  await load().catch(() => { state = "lost"; });
  if (paused || document.hidden || source || timer) return;
  say(state);
  const wait = state === "lost" ? 3 * POLL_MS : POLL_MS;
  timer = setTimeout(++polls % 10 === 0 ? start : poll, wait);
}

function goOn() {
  if (!paused && !document.hidden) return start();
  stop();
  if (paused) say("paused");
}

$("pause").onclick = () => {
  paused = !paused;
  setText($("pause"), paused ? "Go on" : "Pause");
  goOn();
};
document.addEventListener("visibilitychange", goOn);
goOn();
