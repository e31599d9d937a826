/* What kv.html does. Everything that comes from the store gets into the page as
   text, never as markup. */
"use strict";

const STORE = "/kv/";
const at = id => document.getElementById(id);

/* The ETag of what was got last, and of which key. */
let seen = {key: null, etag: null};
/* What is listed, and from where it goes on. */
let asked = null;

/* Slashes stay, for people to read; but a browser takes "." and ".." for steps
   wherever they stand between slashes, and the server "-/batch" for batches. */
function pathOf(key) {
  const isPlain = !/(^|\/)\.\.?(\/|$)/.test(key) && key !== "-/batch";

  return STORE + (isPlain ? key.split("/").map(encodeURIComponent).join("/")
                          : encodeURIComponent(key));
}

function say(where, text, isBad) {
  at(where).textContent = text;
  at(where).classList.toggle("bad", Boolean(isBad));
}

async function problemOf(answer) {
  let detail = "";

  try {
    detail = (await answer.json()).detail || "";
  } catch (error) {
    /* Not every answer is of the store: of a proxy's, the status must do. */
  }
  return `${answer.status} ${answer.statusText}` + (detail && `: ${detail}`);
}

function headers(more) {
  const token = at("token").value;

  return token ? {...more, Authorization: `Bearer ${token}`} : more;
}

/* What a put or a delete depends on. */
function condition(key) {
  if (at("when").value === "new")
    return {"If-None-Match": "*"};
  if (at("when").value === "same")
    return {"If-Match": seen.key === key && seen.etag ? seen.etag : '"0"'};
  return {};
}

async function put(key) {
  const ttl = at("ttl").value;
  const answer = await fetch(pathOf(key) + (ttl ? `?ttl=${ttl}` : ""), {
    method: "PUT",
    headers: headers({"Content-Type": at("type").value, ...condition(key)}),
    body: at("value").value,
  });

  if (!answer.ok)
    return say("said", await problemOf(answer), true);
  seen = {key, etag: answer.headers.get("ETag")};
  say("said", `${answer.status === 201 ? "Created" : "Replaced"}: it is ` +
              `${seen.etag} now` + expiry(answer));
  refresh();
}

function expiry(answer) {
  const expires = answer.headers.get("X-KV-Expires");

  return expires ? `, until ${expires}` : "";
}

async function get(key) {
  /* Whatever comes, what another key has is not this one's. */
  seen = {key: null, etag: null};
  at("value").value = "";
  /* What is compressed on its way has a weak ETag, with which no put agrees. */
  const answer = await fetch(pathOf(key), {
    cache: "no-store",
    headers: {"Cache-Control": "no-transform"},
  });

  if (!answer.ok)
    return say("said", await problemOf(answer), true);
  const bytes = await answer.arrayBuffer();
  let text = null;

  try {
    text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true})
      .decode(bytes);
  } catch (error) {
    /* It is no text: shown, it would be put back as something else. */
  }
  seen = {key, etag: answer.headers.get("ETag")};
  at("value").value = text ?? "";
  at("type").value = answer.headers.get("Content-Type") ?? "";
  say("said", `${seen.etag}, ${bytes.byteLength} bytes` +
              (text === null ? " that are no text" : "") + expiry(answer),
      text === null);
}

async function drop(key) {
  const ifSame = at("when").value === "same" ? condition(key) : {};
  const answer = await fetch(pathOf(key), {method: "DELETE",
                                           headers: headers(ifSame)});

  if (!answer.ok)
    return say("said", await problemOf(answer), true);
  say("said", "Deleted");
  refresh();
}

/* --- The list ------------------------------------------------------------- */

function textOf(entry, name) {
  if (entry[name] !== undefined)
    return entry[name];
  return `base64: ${entry[name + "64"]}`;
}

function link(text, onClick) {
  const button = document.createElement("button");

  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", onClick);
  return button;
}

function addRow(first, ...texts) {
  const row = at("keys").tBodies[0].insertRow();

  row.insertCell().append(first);
  for (const text of texts)
    row.insertCell().textContent = text;
}

function show(page) {
  for (const entry of page.prefixes) {
    const name = textOf(entry, "prefix");

    addRow(entry.prefix === undefined ? name : link(name, () => {
      at("prefix").value = name;
      list();
    }), "", "", "", "");
  }
  for (const entry of page.keys) {
    const name = textOf(entry, "key");

    addRow(entry.key === undefined ? name : link(name, () => {
      at("key").value = name;
      run("said", () => get(name));
    }), entry.size, entry.type, entry.time, entry.expires ?? "");
  }
}

async function go(cursor) {
  const query = new URLSearchParams({limit: 100});

  if (asked.prefix)
    query.set("prefix", asked.prefix);
  if (asked.delimiter)
    query.set("delimiter", asked.delimiter);
  if (cursor)
    query.set("cursor", cursor);
  const answer = await fetch(`${STORE}?${query}`, {
    cache: "no-store",
    headers: {Accept: "application/json"},
  });

  if (!answer.ok)
    return say("listed", await problemOf(answer), true);
  const page = await answer.json();

  if (!cursor)
    at("keys").tBodies[0].replaceChildren();
  show(page);
  asked.cursor = page.cursor;
  at("keys").hidden = false;
  at("more").hidden = !page.cursor;
  say("listed", `${at("keys").tBodies[0].rows.length} shown` +
                (page.cursor ? ", there are more" : ""));
}

function list() {
  asked = {prefix: at("prefix").value, delimiter: at("delimiter").value};
  return run("listed", () => go(null));
}

function refresh() {
  if (asked)
    list();
}

/* --- What is clicked ------------------------------------------------------ */

async function run(where, what) {
  try {
    await what();
  } catch (error) {
    say(where, `The store cannot be reached: ${error.message}`, true);
  }
}

at("one").addEventListener("submit", event => {
  const key = at("key").value;
  const does = {put, get, delete: drop}[event.submitter?.id ?? "get"];

  event.preventDefault();
  if (key === "." || key === "..")
    say("said", "A browser cannot ask for that key; curl can", true);
  else
    run("said", () => does(key));
});
at("all").addEventListener("submit", event => {
  event.preventDefault();
  list();
});
at("more").addEventListener("click", () => run("listed",
                                               () => go(asked.cursor)));
