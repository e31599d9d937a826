/* scripts.js - runs a script of one of our pages on a page that only remembers,
 * and says what it has done. Usage: node scripts.js TEST; status 0: it is so. */
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");

/* An element that takes whatever is done to it; values stay. */
function element(id) {
  const listeners = {};
  const known = {id, value: "", textContent: "", listeners, isBad: false,
    addEventListener: (name, fn) => { listeners[name] = fn; },
    classList: {toggle: (name, on) => { known.isBad = on; }}};

  return known;
}

/* kv.html, whose store answers what answers has, one after the other: an answer,
 * or an Error. Notes what was asked. */
function openKeys(answers) {
  const elements = {};
  const asked = [];
  const at = id => elements[id] ??= element(id);
  const context = vm.createContext({
    document: {getElementById: at}, TextDecoder, URLSearchParams,
    fetch: async (path, options) => {
      const answer = answers.shift();

      asked.push({path, ...options});
      if (answer instanceof Error)
        throw answer;
      return answer;
    }});

  vm.runInContext(fs.readFileSync("www/kv.js", "utf8"), context);
  return {at, asked,
    submit: async id => {
      at("one").listeners.submit({preventDefault() {}, submitter: {id}});
      await new Promise(done => setTimeout(done, 10));
    }};
}

const answer = (status, fields, body) => ({
  status, ok: status < 300, statusText: "", headers: new Map(fields),
  arrayBuffer: async () => new TextEncoder().encode(body).buffer,
  json: async () => JSON.parse(body)});

/* What the dashboard's script calls value, on a page that is not there. */
function ofDashboard(expression) {
  const nothing = new Proxy(function() {}, {
    get: (of, name) => name === Symbol.toPrimitive ? () => 0
      : name === Symbol.iterator ? [][Symbol.iterator].bind([]) : nothing,
    set: () => true, apply: () => nothing, construct: () => nothing});
  const context = vm.createContext({
    document: nothing, performance, EventSource: nothing, Intl, fetch: nothing,
    setTimeout: () => 0, clearTimeout: () => {}, ResizeObserver: nothing,
    requestAnimationFrame: () => 0, matchMedia: () => nothing,
    addEventListener: () => {}, window: nothing, Date, location: nothing});
  const path = "src/handler/status/status_page/script.js";

  vm.runInContext(fs.readFileSync(path, "utf8"), context);
  return vm.runInContext(expression, context);
}

/* The script of a listing, as it stands in the source, on a page of these rows:
 * {name, size, time}, a directory without a size. Returns what clicks on a
 * column's head, and the names from then on. */
function openListing(rows, groupSize) {
  const lines = fs.readFileSync("src/handler/listing_page.c", "utf8")
    .split("\n");
  const from = lines.findIndex(line => line.includes(" char script[] =")) + 1;
  const count = lines.slice(from).findIndex(line => line.endsWith('";')) + 1;
  const script = lines.slice(from, from + count)
    .map(line => JSON.parse(line.trim().replace(/;$/, ""))).join("");
  const head = () => ({childNodes: [], attributes: {},
    append(child) { this.button = child; },
    getAttribute(name) { return this.attributes[name] ?? null; },
    setAttribute(name, value) { this.attributes[name] = value; },
    removeAttribute(name) { delete this.attributes[name]; }});
  const row = ({name, size, time}) => ({
    className: size === undefined ? "d" : "",
    cells: [{textContent: name},
            {firstChild: size === undefined ? null : {value: String(size)}},
            {textContent: time}]});
  const heads = [head(), head(), head()];
  const groups = [];

  for (let at = 0; at < rows.length; at += groupSize)
    groups.push({rows: rows.slice(at, at + groupSize).map(row),
      replaceChildren(...children) { this.rows = children; }});
  vm.runInContext(script, vm.createContext({document: {
    querySelectorAll: what => what === "th" ? heads : groups,
    createElement: () => ({append() {}})}}));
  return column => {
    heads[column].button.onclick();
    return groups.flatMap(group => group.rows)
      .map(one => one.cells[0].textContent).join(" ");
  };
}

const tests = {
  /* Directories stay first, numbers in names count as such, and what is equal
   * stays in the order it was in. */
  a_listing_is_sorted_by_the_column_that_was_clicked() {
    const click = openListing([
      {name: "d10", time: "3"}, {name: "d2", time: "4"},
      {name: "a1", size: 5, time: "3"}, {name: "a10", size: 5, time: "1"},
      {name: "a2", size: 9, time: "2"}], 3);

    assert.equal(click(0), "d2 d10 a1 a2 a10");
    assert.equal(click(0), "d10 d2 a10 a2 a1");
    assert.equal(click(1), "d10 d2 a2 a10 a1");
    assert.equal(click(1), "d10 d2 a10 a1 a2");
    assert.equal(click(2), "d2 d10 a1 a2 a10");
    assert.equal(click(2), "d10 d2 a10 a2 a1");
  },
  async a_get_that_fails_leaves_no_old_value() {
    for (const failed of [answer(404, [], '{"detail":"there is none"}'),
                          new Error("gone")]) {
      const page = openKeys([
        answer(200, [["ETag", '"7"'], ["Content-Type", "a/b"]], "old"), failed,
        answer(201, [["ETag", '"8"']], "")]);

      page.at("key").value = "one";
      await page.submit("get");
      assert.equal(page.at("value").value, "old");
      page.at("key").value = "two";
      await page.submit("get");
      assert.equal(page.at("value").value, "");
      assert.ok(page.at("said").isBad);
      assert.match(page.at("said").textContent, /404.*there is none|gone/);
      /* Nor is what was got taken for what is there now. */
      page.at("when").value = "same";
      page.at("key").value = "one";
      await page.submit("put");
      assert.equal(page.asked[2].headers["If-Match"], '"0"');
    }
  },
  /* A store may compress values, whose ETag is weak then: no condition holds. */
  async the_etag_of_a_get_is_one_to_put_by() {
    const page = openKeys([answer(200, [["ETag", '"7"']], "old"),
                           answer(204, [["ETag", '"8"']], "")]);

    page.at("key").value = "one";
    await page.submit("get");
    assert.equal(page.asked[0].headers["Cache-Control"], "no-transform");
    page.at("when").value = "same";
    await page.submit("put");
    assert.equal(page.asked[1].headers["If-Match"], '"7"');
  },
  what_has_never_happened_is_a_dash() {
    for (const value of ["percent(null)", "micros(null)", "rate(undefined)",
                         "timeOf({count: 0, p50: 0}, 'p50').text"])
      assert.equal(ofDashboard(value), "–", value);
    assert.equal(ofDashboard("percent(0)"), "0.00 %");
    assert.equal(ofDashboard("timeOf({count: 1, p50: 0}, 'p50').text"), "0 µs");
  },
  /* Digits are of one width, and there is room for as many as may come. */
  figures_of_a_legend_stay_where_they_are() {
    const css = fs.readFileSync("src/handler/status/status_page/style.css",
                                "utf8");

    assert.match(css, /font-variant-numeric: tabular-nums/);
    assert.match(css, /\.keys dd \{[^}]*min-width: 4rem/);
    for (const value of [0, 9.994, 99.94, 999.4, 1023, 9999, 1e6])
      assert.ok(ofDashboard(`micros(${value})`).length <= "1,000 ms".length);
  },
};

(async () => tests[process.argv[2]]())().catch(error => {
  console.error(error.message);
  process.exitCode = 1;
});
