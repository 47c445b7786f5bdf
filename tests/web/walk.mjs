// A walk over the page as a person takes it: paints, drags, plays, solves, saves; after each step the page's own state
// and numbers from outside (lano predict, the server) say whether the control did what it says.
// Usage: node walk.mjs short|full PACKAGES CHROMIUM LANO URL SCRATCH SCREENSHOTS [PAGE.html]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [kind, packages, executablePath, lano, url, scratch, shots, exported] = process.argv.slice(2);
const require = createRequire(path.join(packages, 'package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const full = kind === 'full';

const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu',
  '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync'] });
const complaints = [];

async function open(address, options = {}) {
  // axe is put into the page from outside; the page's own policy forbids that.
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, bypassCSP: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complaints.push(m.text()); });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (r) => { if (!r.url().startsWith('blob:')) complaints.push(`${r.url()} failed`); });
  page.on('request', (r) => {
    const own = r.url().startsWith(new URL(address).origin) || /^(file|data|blob):/.test(r.url());
    if (!own) complaints.push(`asks ${r.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector('body[data-ready]');
  await settled(page);
  return page;
}
const settled = (page) => page.waitForFunction(() => !lanoPage.asking && lanoPage.answer);
const answer = (page) => page.evaluate(() => Array.from(lanoPage.answer.values));
const question = (page) => page.evaluate(() => Object.fromEntries(Object.entries(lanoPage.problem.question())
  .map(([key, a]) => [key, { shape: a.shape, values: Array.from(a.values) }])));
const far = (a, b) => Math.max(...a.map((v, i) => Math.abs(v - b[i]))) / Math.max(...b.map(Math.abs));

// After `act` the prediction is another one, and not before.
async function changes(page, what, act) {
  const before = await answer(page), count = await page.evaluate(() => lanoPage.answers);
  await act();
  await page.waitForFunction((n) => lanoPage.answers > n && !lanoPage.asking, count);
  const after = await answer(page);
  assert.ok(after.length !== before.length || far(after, before) > 0, `${what} did not change the prediction`);
  assert.equal(await page.isHidden('#alert'), true, `${what}: ${await page.textContent('#alert')}`);
}

async function drag(page, selector, from, to) {
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 8 });
  await page.mouse.up();
}

function writeNpy(file, { shape, values }) {
  let head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  head = head.padEnd(head.length + 63 - (10 + head.length) % 64) + '\n';
  fs.writeFileSync(file, Buffer.concat([Buffer.from([0x93, 78, 85, 77, 80, 89, 1, 0, head.length & 255,
    head.length >> 8]),
    Buffer.from(head, 'latin1'), Buffer.from(Float32Array.from(values).buffer)]));
}
function readNpy(file) {
  const bytes = fs.readFileSync(file), at = 10 + bytes.readUInt16LE(8);
  return Array.from(new Float32Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + bytes.length)));
}
// The same question asked of the command.
async function equalsCommand(page, model, words = []) {
  const asked = await question(page), given = [];
  for (const [key, array] of Object.entries(asked)) {
    writeNpy(path.join(scratch, `${key}.npy`), array);
    given.push({ input: '--input', coordinates: '--coords', state: '--state' }[key], path.join(scratch, `${key}.npy`));
  }
  const out = path.join(scratch, 'command.npy');
  execFileSync(lano, ['predict', path.join(scratch, model, 'model.safetensors'), ...given, ...words, '--out', out,
    '--force'],
    { stdio: 'pipe' });
  const away = far(await answer(page), readNpy(out));
  assert.ok(away < 1e-5, `${model}: the page and lano predict differ by ${away}`);
}

async function accessible(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [], where);
}
const shoot = (page, name) => page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  const file = path.join(scratch, download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

async function paintAndCompare(page, value) {
  await page.fill('#value-number', String(value));
  await changes(page, 'the brush', () => drag(page, '#drawn canvas', [0.2, 0.3], [0.8, 0.6]));
  const painted = await question(page);
  assert.ok(painted.input.values.filter((v) => v === value).length > 40, 'the brush left no trace');
  await equalsCommand(page, 'darcy');
  const speed = await page.evaluate(() => lanoPage.latency);
  console.log(`  brush to field ${speed.toFixed(0)} ms (${page.url().slice(0, 5)})`);
}

async function brushTools(page) {
  const values = async () => (await question(page)).input.values;
  const start = await values();
  await page.fill('#size', '30');
  await page.fill('#value-number', '5');
  await changes(page, 'a value of 5', () => drag(page, '#drawn canvas', [0.5, 0.5], [0.55, 0.5]));
  const wide = (await values()).filter((v) => v === 5).length;
  assert.ok(wide > 100, `a brush of 30 % paints ${wide} points`);
  await page.click('#eraser');
  assert.equal(await page.getAttribute('#eraser', 'aria-pressed'), 'true');
  await changes(page, 'the eraser', () => drag(page, '#drawn canvas', [0.5, 0.5], [0.55, 0.5]));
  assert.equal((await values()).filter((v) => v === 5).length, 0, 'the eraser left something');
  await page.click('#eraser');
  await changes(page, 'undo', () => page.click('#undo'));
  assert.equal((await values()).filter((v) => v === 5).length, wide);
  await changes(page, 'undo by keys', () => page.locator('#drawn canvas').press('Control+z'));
  assert.deepEqual(await values(), start);
  await page.fill('#size', '6');
  await page.focus('#drawn canvas');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Shift+ArrowUp');
  assert.equal(await page.isVisible('#ring'), true, 'no cursor for the keyboard');
  await page.fill('#value-number', '7');
  await changes(page, 'space', () => page.locator('#drawn canvas').press(' '));
  assert.ok((await values()).includes(7));
  await changes(page, 'random', () => page.click('#random'));
  assert.deepEqual([...new Set(await values())].sort((a, b) => a - b), [3, 12], 'a random coefficient has two values');
}

async function filesAndSamples(page) {
  await page.fill('#test-number', '1');
  await changes(page, 'a test sample', () => page.click('#test'));
  await page.waitForFunction(() => document.getElementById('comparison').textContent.includes('relative L2'));
  assert.match(await page.textContent('#comparison'), /truth from the dataset/);
  const shown = await answer(page), file = await saved(page, '#save-npy');
  assert.deepEqual(readNpy(file).map(Math.fround), shown.map(Math.fround), 'the .npy is another field');
  const vtu = fs.readFileSync(await saved(page, '#save-vtu'), 'utf8');
  assert.ok(vtu.includes('Name="pressure"') && vtu.includes('NumberOfPoints="1849"')
    && vtu.includes('NumberOfCells="1764"'));
  assert.equal(fs.readFileSync(await saved(page, '#save-png')).subarray(1, 4).toString(), 'PNG');
  writeNpy(path.join(scratch, 'up.npy'), { shape: [43, 43], values: Array.from({ length: 1849 }, (_, i) => 4
    + i % 3) });
  await changes(page, 'an upload', () => page.setInputFiles('#upload', path.join(scratch, 'up.npy')));
  assert.deepEqual((await question(page)).input.values.slice(0, 3), [4, 5, 6]);
  fs.writeFileSync(path.join(scratch, 'bad.npy'), 'hello');
  await page.setInputFiles('#upload', path.join(scratch, 'bad.npy'));
  await page.waitForSelector('#alert:not([hidden])');
  assert.match(await page.textContent('#alert'), /expected a NumPy array file/);
  await changes(page, 'random', () => page.click('#random'));
}

async function solveExactly(page) {
  await page.click('#solve');
  await page.waitForFunction(() =>
    /relative L2 error .* solver .* ms/.test(document.getElementById('comparison').textContent));
  assert.equal(await page.isVisible('#truths'), true);
  const truth = await page.evaluate(() => Array.from(lanoPage.truth.values));
  assert.equal(truth.length, (await answer(page)).length);
  return truth;
}

async function pointer(page) {
  const box = await page.locator('#field canvas').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  assert.match(await page.textContent('#field .readout'), /^pressure\(0\.\d+, 0\.\d+\) = /);
  const before = await page.locator('#field canvas').screenshot();
  await page.uncheck('#lines');
  assert.ok(!before.equals(await page.locator('#field canvas').screenshot()), 'no contour lines to take away');
  await page.check('#lines');
}

async function handles(page, model) {
  await page.selectOption('#model', { label: model });
  await page.waitForFunction((name) => lanoPage.model.name === name, model);
  await settled(page);
  assert.equal(await page.isHidden('#brush-tools'), true);
  const first = page.locator('#handles .handle').first(), box = await first.boundingBox();
  await changes(page, `a handle of ${model}`, async () => {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 12, box.y + box.height / 2 - 12, { steps: 4 });
    await page.mouse.up();
  });
  await equalsCommand(page, model);
  const told = async (what) => Number(await first.getAttribute(`aria-value${what}`));
  const was = await told('now'), up = was < (await told('min') + await told('max')) / 2;
  await changes(page, `a key on a handle of ${model}`, () => first.press(up ? 'ArrowUp' : 'ArrowDown'));
  assert.ok(up ? await told('now') > was : await told('now') < was);
  await changes(page, 'undo', () => page.click('#undo'));
  await solveExactly(page);
  // The page's own mesh is the solver's, point by point.
  const { body, places } = await page.evaluate(() => ({ places: Array.from(lanoPage.problem.places),
    body: Object.fromEntries(Object.entries(lanoPage.problem.solverBody())
      .map(([key, a]) => [key, Array.from(a.values)])) }));
  const solved = await (await fetch(`${url}v1/models/${model}/solve`, { method: 'POST', body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' } })).json();
  const moved = far(places, solved.coordinates.flat(2));
  assert.ok(moved < 1e-6, `${model}: the page's mesh and the solver's differ by ${moved}`);
  await accessible(page, model);
  await shoot(page, model);
}

async function time(page) {
  await page.selectOption('#model', { label: 'burgers' });
  await page.waitForFunction(() => lanoPage.model.name === 'burgers');
  await settled(page);
  const frames = await page.evaluate(() => lanoPage.times.length);
  assert.ok(frames >= 6);
  await page.fill('#when', '3');
  assert.equal(await page.evaluate(() => lanoPage.frame), 3);
  assert.match(await page.textContent('#when-text'), /t = 0\.15/);
  await page.click('#play');
  await page.waitForFunction(() => lanoPage.frame !== 3);
  await page.click('#play');
  assert.equal(await page.textContent('#play'), 'play');
  await equalsCommand(page, 'burgers');
  await solveExactly(page);
  if (await page.isVisible('#steps')) {
    await changes(page, 'more steps', async () => { await page.fill('#steps', '8'); await page.press('#steps',
      'Tab'); });
  }
  await page.selectOption('#channel', '1');
  await changes(page, 'the brush on the second velocity', () => drag(page, '#drawn canvas', [0.3, 0.3], [0.5, 0.5]));
  await page.selectOption('#output', '1');
  await accessible(page, 'burgers');
  await shoot(page, 'burgers');
}

async function exportedPage(served) {
  const page = await open(`file://${exported}`);
  const same = await question(served);
  await page.evaluate(({ shape, values }) => {
    lanoPage.problem.sent.input = { shape, values: Float32Array.from(values) };
  }, same.input);
  const count = await page.evaluate(() => lanoPage.answers);
  await page.evaluate(() => document.getElementById('output').dispatchEvent(new Event('change')));
  await page.locator('#drawn canvas').press(' ');
  await page.waitForFunction((n) => lanoPage.answers > n && !lanoPage.asking, count);
  const painted = await question(page);
  const told = await (await fetch(`${url}v1/models/darcy/predict`, { method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input: painted.input.values.reduce((rows, v, i) => {
      if (i % 43 === 0) rows.push([]);
      rows[rows.length - 1].push(v);
      return rows;
    }, []) }) })).json();
  const away = far(await answer(page), told.output.flat(2));
  assert.ok(away < 1e-4, `the exported page and the server differ by ${away}`);
  console.log(`  exported page and server differ by ${away.toExponential(1)}`);
  await paintAndCompare(page, 8.5);
  assert.equal(await page.isHidden('#solve'), true);
  await page.fill('#test-number', '2');
  await changes(page, 'a test sample inside the page', () => page.click('#test'));
  await accessible(page, 'exported page');
  await shoot(page, 'exported');
}

try {
  const page = await open(url);
  await paintAndCompare(page, 7.5);
  const truth = await solveExactly(page);
  assert.ok(truth.every(Number.isFinite));
  await accessible(page, 'darcy');
  await shoot(page, 'darcy');
  if (exported) await exportedPage(page);
  if (full) {
    await brushTools(page);
    await filesAndSamples(page);
    await pointer(page);
    for (const model of ['elasticity', 'pipe']) await handles(page, model);
    await time(page);
    const dark = await open(url, { colorScheme: 'dark' });
    await solveExactly(dark);
    await accessible(dark, 'dark');
    await shoot(dark, 'dark');
    const phone = await open(url, { viewport: { width: 360, height: 740 }, hasTouch: true });
    assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 360), 'wider than a phone');
    await phone.fill('#value-number', '6.5');
    await changes(phone, 'a finger', () => phone.touchscreen.tap(150, 250));
    await accessible(phone, 'phone');
    await shoot(phone, 'phone');
  }
  // Chromium itself says this of a canvas that is read often; it is no fault of the page.
  assert.deepEqual(complaints.filter((c) => !c.includes('bad.npy')), [], 'the page complains');
  console.log(`the ${kind} walk went well; screenshots in ${shots}`);
} finally {
  await browser.close();
}
