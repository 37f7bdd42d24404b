#include "page.hpp"

namespace {

constexpr const char* html = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Digits</title>
<link rel="icon" href="digits.svg" type="image/svg+xml">
<link rel="stylesheet" href="digits.css">
<script src="digits.js" defer></script>
</head>
<body>
<h1>Draw a digit</h1>
<main>
<section>
<canvas id="field" width="280" height="280" tabindex="0" role="application" aria-label="Field to draw in"
 aria-describedby="help"></canvas>
<p><button id="clear" type="button">Clear</button></p>
</section>
<section>
<table aria-label="How likely each digit is"><tbody id="bars"></tbody></table>
<p id="said" role="status"></p>
</section>
</main>
<p id="help">Draw with a finger, a pen or the mouse. With the keyboard: arrows move, Space puts the pen down and lifts it,
Delete clears.</p>
</body>
</html>
)html";

constexpr const char* svg = R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<path d="M4 3h8L7 14" fill="none" stroke="#3a6ea5" stroke-width="2.5"/>
</svg>
)svg";

constexpr const char* css =
    R"css(:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.4; }
body { max-width: 42rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .8rem; }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1.5rem; }
canvas { display: block; width: 100%; max-width: 280px; aspect-ratio: 1; box-sizing: border-box; background: #fff; border: 1px solid #888;
  border-radius: 6px; touch-action: none; cursor: crosshair; }
canvas:focus-visible, button:focus-visible { outline: 3px solid #3a6ea5; outline-offset: 2px; }
button { font: inherit; padding: .4rem 1rem; cursor: pointer; }
p { margin: .6rem 0; }
#help { font-size: .85rem; opacity: .8; }
table { border-collapse: collapse; width: 100%; }
th { width: 1.5rem; text-align: left; font-variant-numeric: tabular-nums; }
td:last-child { width: 4rem; text-align: right; font-variant-numeric: tabular-nums; }
td:last-child { white-space: nowrap; }
progress { appearance: none; width: 100%; height: .9rem; vertical-align: middle; border: 0; border-radius: 3px; background: #8883; }
progress::-webkit-progress-bar { border-radius: 3px; background: #8883; }
progress::-webkit-progress-value { border-radius: 3px; background: #8aa8c8; }
progress::-moz-progress-bar { border-radius: 3px; background: #8aa8c8; }
.first th, .first td { font-weight: bold; }
.first progress::-webkit-progress-value { background: #3a6ea5; }
.first progress::-moz-progress-bar { background: #3a6ea5; }
.error { color: #c33; }
)css";

constexpr const char* js = R"js('use strict';
const side = 28, scale = 10;
const field = document.getElementById('field'), pen = field.getContext('2d', { willReadFrequently: true });
const said = document.getElementById('said'), bars = [];
let last = null, cursor = { x: 140, y: 140 }, isDown = false, asked = 0;

for (let digit = 0; digit < 10; ++digit) {
  const row = document.getElementById('bars').insertRow(), head = document.createElement('th');
  head.scope = 'row', head.textContent = digit;
  row.append(head);
  const bar = document.createElement('progress');
  bar.max = 1, bar.value = 0;
  bar.setAttribute('aria-label', 'Digit ' + digit);
  row.insertCell().append(bar);
  bars.push({ row, bar, text: row.insertCell() });
}
function place(event) {
  const box = field.getBoundingClientRect();
  return { x: (event.clientX - box.left) * field.width / box.width, y: (event.clientY - box.top) * field.height / box.height };
}
function line(from, to) {
  pen.lineWidth = 22, pen.lineCap = pen.lineJoin = 'round', pen.strokeStyle = '#000';
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
}
// What is drawn, moved to the middle of 28 x 28 pixels, in a box of 20: as the digits that the model has learned from.
function pixels() {
  const drawn = pen.getImageData(0, 0, field.width, field.height).data;
  let left = field.width, top = field.height, right = -1, bottom = -1;
  for (let y = 0; y < field.height; ++y)
    for (let x = 0; x < field.width; ++x)
      if (drawn[4 * (y * field.width + x) + 3] > 64) {
        left = Math.min(left, x), right = Math.max(right, x), top = Math.min(top, y), bottom = Math.max(bottom, y);
      }
  if (right < 0) return null;
  const width = right - left + 1, height = bottom - top + 1, small = new OffscreenCanvas(side, side).getContext('2d');
  const size = 20 / Math.max(width, height);
  small.imageSmoothingQuality = 'high';
  small.drawImage(field, left, top, width, height, (side - size * width) / 2, (side - size * height) / 2, size * width, size * height);
  const ink = small.getImageData(0, 0, side, side).data;
  return Array.from({ length: side }, (_, y) => Array.from({ length: side }, (_, x) => ink[4 * (y * side + x) + 3] / 255));
}
function show(likely, text, isError) {
  const best = likely ? likely.indexOf(Math.max(...likely)) : -1;
  bars.forEach(({ row, bar, text: cell }, digit) => {
    bar.value = likely ? likely[digit] : 0;
    cell.textContent = likely ? (100 * likely[digit]).toFixed(1) + ' %' : '';
    row.className = digit === best ? 'first' : '';
  });
  said.textContent = text;
  said.className = isError ? 'error' : '';
}
async function ask() {
  const image = pixels(), turn = ++asked;
  if (!image) return show(null, '', false);
  const begin = performance.now();
  try {
    const answer = await fetch('v1/models/digits:predict', { method: 'POST', body: JSON.stringify({ instances: [image] }) });
    const { predictions, error } = await answer.json();
    if (!answer.ok) throw new Error(error);
    if (turn !== asked) return;  // something else has been drawn meanwhile
    const likely = predictions[0], best = likely.indexOf(Math.max(...likely));
    show(likely, 'It looks like a ' + best + '. ' + (performance.now() - begin).toFixed(1) + ' ms', false);
  } catch (error) {
    if (turn === asked) show(null, 'The server does not answer: ' + error.message, true);
  }
}
function clear() {
  pen.clearRect(0, 0, field.width, field.height);
  last = null, isDown = false, cursor = { x: 140, y: 140 };
  ask();
}
field.addEventListener('pointerdown', event => {
  field.setPointerCapture(event.pointerId);
  last = place(event);
  line(last, last);
  event.preventDefault();
  field.focus();
});
field.addEventListener('pointermove', event => {
  if (!last) return;
  for (const part of event.getCoalescedEvents().concat(event)) {
    const next = place(part);
    line(last, next);
    last = next;
  }
});
for (const end of ['pointerup', 'pointercancel'])
  field.addEventListener(end, () => {
    if (last) ask();
    last = null;
  });
field.addEventListener('keydown', event => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (step) {
    const next = { x: Math.min(Math.max(cursor.x + scale * step[0], 0), 280), y: Math.min(Math.max(cursor.y + scale * step[1], 0), 280) };
    if (isDown) line(cursor, next), ask();
    cursor = next;
    said.textContent = isDown ? said.textContent : 'Pen at ' + cursor.x / scale + ', ' + cursor.y / scale;
  } else if (event.key === ' ') {
    isDown = !isDown;
    if (isDown) line(cursor, cursor), ask();
  } else if (event.key === 'Delete') {
    clear();
  } else {
    return;
  }
  event.preventDefault();
});
document.getElementById('clear').addEventListener('click', clear);
)js";

}  // namespace

std::vector<tandem::serving::WebFile> page() {
  return {{"/", "text/html; charset=utf-8", html},
          {"/digits.svg", "image/svg+xml", svg},
          {"/digits.css", "text/css; charset=utf-8", css},
          {"/digits.js", "text/javascript; charset=utf-8", js}};
}
