// Definitions of serving/page.hpp: the files themselves.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/serving/page.hpp"
#include "tandem/serving/rapidjson.hpp"

namespace TANDEM_NS::serving::impl {

inline constexpr std::string_view page_html = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Models</title>
<link rel="icon" href="page.svg" type="image/svg+xml">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body>
<header><h1>Models</h1><p id="ready" role="status"></p></header>
<main>
<table>
<thead><tr><th>Model</th><th>Version</th><th>State</th><th>Requests/s</th><th>Memory</th></tr></thead>
<tbody id="models"></tbody>
</table>
<section id="model" hidden>
<h2 id="title"></h2>
<label>Signature <select id="signature"></select></label>
<form id="form"></form>
<pre id="answer" role="status" tabindex="0"></pre>
</section>
</main>
</body>
</html>
)html";

// Two bars: one model, and the one beside it.
inline constexpr std::string_view page_svg = R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<rect x="2" y="5" width="5" height="9" rx="1" fill="#3a6ea5"/><rect x="9" y="2" width="5" height="12" rx="1" fill="#d98c3f"/>
</svg>
)svg";

inline constexpr std::string_view page_css = R"css(:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.4; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; flex-wrap: wrap; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td:first-child, td .error { overflow-wrap: anywhere; }
td:nth-last-child(-n+2), th:nth-last-child(-n+2) { text-align: right; }
form { display: grid; gap: .8rem; margin-top: .8rem; }
label { display: grid; gap: .2rem; }
textarea, select, input, button { font: inherit; padding: .4rem .5rem; }
textarea { font-family: ui-monospace, monospace; min-height: 4rem; resize: vertical; box-sizing: border-box; width: 100%; }
button { justify-self: start; cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8882; padding: .6rem; min-height: 1.4rem; }
.error { color: #c33; }
small { opacity: .75; }
@media (max-width: 30rem) { th, td { padding: .3rem .2rem; font-size: .75rem; } }
)css";

inline constexpr std::string_view page_js = R"js('use strict';
const find = id => document.getElementById(id);
function make(tag, text, into) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (into) into.append(e);
  return e;
}
async function json(path, options) {
  const answer = await fetch(path, options);
  const text = await answer.text();
  if (!answer.ok) throw new Error(errorOf(text) || answer.status + ' ' + answer.statusText);
  return JSON.parse(text);
}
function errorOf(text) {
  try { return JSON.parse(text).error; } catch { return text; }
}
function bytes(n) {
  const units = ['B', 'kB', 'MB', 'GB'];
  let i = 0;
  for (; n >= 1000 && i + 1 < units.length; ++i) n /= 1000;
  return (i ? n.toFixed(1) : n) + ' ' + units[i];
}
// Requests so far by model and version, of the lines of /metrics.
async function requestCounts() {
  const counts = new Map();
  const answer = await fetch('metrics');
  const label = (line, name) => {
    const found = line.match(new RegExp('[{,]' + name + '="((?:[^"\\\\]|\\\\.)*)"'));
    return found ? JSON.parse('"' + found[1] + '"') : '';
  };
  for (const line of (answer.ok ? await answer.text() : '').split('\n')) {
    if (!line.startsWith('tandem_requests_total{')) continue;
    const key = JSON.stringify([label(line, 'model'), label(line, 'version')]);
    counts.set(key, (counts.get(key) || 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return { counts, time: performance.now() };
}
let before;
async function showModels() {
  const { models } = await json('models.json');
  const now = await requestCounts();
  const rate = (model, version) => {
    const key = JSON.stringify([model, version]), from = before && before.counts.get(key) || 0;
    return before ? Math.max(0, ((now.counts.get(key) || 0) - from) * 1000 / (now.time - before.time)) : 0;
  };
  const rows = document.createDocumentFragment();
  for (const model of models)
    for (const v of model.versions) {
      const row = make('tr', undefined, rows), name = make('td', undefined, row);
      if (v.state === 'AVAILABLE') {
        const open = make('button', model.name, name);
        open.type = 'button';
        open.addEventListener('click', () => showModel(model.name, v.version));
      } else {
        name.textContent = model.name;
      }
      make('td', v.version, row);
      const state = make('td', v.state, row);
      if (v.error) make('div', v.error, state).className = 'error';
      make('td', before && v.state === 'AVAILABLE' ? rate(model.name, v.version).toFixed(1) : '', row);
      make('td', v.bytes ? bytes(v.bytes) : '', row);
    }
  before = now;
  const focused = document.activeElement && document.activeElement.textContent;
  const inside = find('models').contains(document.activeElement);
  find('models').replaceChildren(rows);
  if (inside) for (const b of find('models').querySelectorAll('button')) if (b.textContent === focused) b.focus();
  find('ready').textContent = models.length ? '' : 'No models are configured.';
}
async function showModel(name, version) {
  const path = 'v1/models/' + encodeURIComponent(name) + '/versions/' + version;
  const { metadata } = await json(path + '/metadata');
  const signatures = metadata.signature_def.signature_def;
  find('title').textContent = name + ', version ' + version;
  find('signature').replaceChildren(...Object.keys(signatures).map(s => make('option', s)));
  find('signature').onchange = () => showForm(path, find('signature').value, signatures[find('signature').value]);
  find('signature').onchange();
  find('model').hidden = false;
}
function shapeOf(info) {
  if (info.tensor_shape.unknown_rank === true) return '[?]';
  return '[' + (info.tensor_shape.dim || []).map(d => d.size === '-1' ? 'n' : d.size).join(', ') + ']';
}
// A file in place of a text: its bytes as base64.
function addFile(input, info, field, form) {
  const label = make('label', input + ' as a file', form), file = make('input', undefined, label);
  file.type = 'file';
  file.onchange = () => {
    const reader = new FileReader();
    reader.onload = () => {
      let value = { b64: reader.result.slice(reader.result.indexOf(',') + 1) };
      for (const _ of info.tensor_shape.dim || []) value = [value];
      field.value = JSON.stringify(value);
    };
    reader.onerror = () => { find('answer').textContent = file.files[0].name + ' cannot be read'; };
    if (file.files.length) reader.readAsDataURL(file.files[0]);
  };
}
function showForm(path, signature, definition) {
  const form = find('form'), fields = new Map();
  form.replaceChildren();
  for (const [input, info] of Object.entries(definition.inputs)) {
    const label = make('label', input + ' ', form);
    make('small', info.dtype.replace('DT_', '').toLowerCase() + ' ' + shapeOf(info) + ', as JSON', label);
    fields.set(input, make('textarea', undefined, label));
    fields.get(input).spellcheck = false;
    if (info.dtype === 'DT_STRING') addFile(input, info, fields.get(input), form);
  }
  make('button', 'Predict', form).type = 'submit';
  find('answer').textContent = '';
  form.onsubmit = async event => {
    event.preventDefault();
    const answer = find('answer');
    answer.className = '';
    try {
      const inputs = {};
      for (const [input, field] of fields) {
        try { inputs[input] = JSON.parse(field.value); }
        catch { throw new Error(input + ' is not JSON: write [1, 2] or "text"'); }
      }
      const begin = performance.now();
      const body = JSON.stringify({ signature_name: signature, inputs });
      const { outputs } = await json(path + ':predict', { method: 'POST', body });
      answer.textContent = JSON.stringify(outputs) + '\n' + (performance.now() - begin).toFixed(1) + ' ms';
    } catch (error) {
      answer.className = 'error';
      answer.textContent = error.message;
    }
  };
}
async function refresh() {
  try { await showModels(); } catch (error) { find('ready').textContent = 'The server does not answer: ' + error.message; }
  setTimeout(refresh, 2000);
}
refresh();
)js";

TANDEM_INLINE const PageFile* page_file(std::string_view path) {
  static constexpr PageFile files[] = {{"/", "text/html; charset=utf-8", page_html},
                                       {"/page.js", "text/javascript; charset=utf-8", page_js},
                                       {"/page.svg", "image/svg+xml", page_svg},
                                       {"/page.css", "text/css; charset=utf-8", page_css}};
  for (const PageFile& f : files)
    if (f.path == path) return &f;
  return nullptr;
}

TANDEM_INLINE std::string models_json(Core& core) {
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> to(out);
  const auto text = [&](const std::string& s) { to.String(s.data(), static_cast<rapidjson::SizeType>(s.size())); };
  to.StartObject();
  to.Key("models");
  to.StartArray();
  for (const std::string& name : core.models()) {
    std::vector<VersionStatus> versions;
    try {
      versions = core.states({name});
    } catch (const errors::NotFoundError&) {
      continue;  // configured away meanwhile
    }
    to.StartObject();
    to.Key("name");
    text(name);
    to.Key("versions");
    to.StartArray();
    for (const VersionStatus& v : versions) {
      to.StartObject();
      to.Key("version");
      text(std::to_string(v.version));  // JavaScript has no integers of 64 bits
      to.Key("state");
      to.String(name_of(v.state));
      to.Key("bytes");
      to.Int64(v.bytes);
      to.Key("error");
      text(v.error);
      to.EndObject();
    }
    to.EndArray();
    to.EndObject();
  }
  to.EndArray();
  to.EndObject();
  return {out.GetString(), out.GetSize()};
}

}  // namespace TANDEM_NS::serving::impl
