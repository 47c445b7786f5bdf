// The page: which model, which problem, its prediction that follows, time, truth, downloads. One question is on its way
// at a time; what changes meanwhile is asked next, so the picture is never further behind than one answer.

const $ = (id) => document.getElementById(id);
const page = { engine: null, models: [], model: null, problem: null, answer: null, truth: null, frame: 0,
  asking: false, stale: false };
globalThis.lanoPage = page;

function say(message) {
  $('alert').textContent = message || '';
  $('alert').hidden = !message;
}
async function guarded(work) {
  try {
    await work();
  } catch (error) {
    say(error.message || String(error));
  }
}

const drawn = new FieldView($('drawn'), 'field'), field = new FieldView($('field'), 'field');
const truth = new FieldView($('truth'), 'field'), wrong = new FieldView($('wrong'), 'error');
const editor = new Editor(drawn, $('ring'), $('handles'), () => changed());

function fields() {
  return page.model.output;
}
function frames() {
  return page.model.task === 'steady' ? 1 : page.times.length;
}
// One channel of one frame of [frames, N (, depth), channels], at the places of the picture.
function slice(values, frame) {
  const { problem, model } = page, channels = model.output.length, depth = problem.depth || 1;
  const n = problem.places.length / 2, first = frame * n * depth * channels, channel = Number($('output').value);
  const out = new Float32Array(n), middle = Math.floor(depth / 2);
  for (let i = 0; i < n; ++i) out[i] = values[first + (i * depth + middle) * channels + channel];
  return out;
}
function channelRange(values) {
  const channels = page.model.output.length, channel = Number($('output').value);
  return rangeOf(values.filter((_, i) => i % channels === channel));
}

function drawProblem() {
  const { problem } = page;
  $('drawn').hidden = problem.fields.length === 0;
  if (problem.fields.length > 0) {
    const limits = problem.limits(editor.field), values = problem.values(editor.field), have = rangeOf(values);
    drawn.show(problem, values, problem.fields[editor.field], { smooth: false,
      range: [Math.min(limits[0], have[0]), Math.max(limits[1], have[1])] });
  }
}

function drawAnswer() {
  const { problem, model, answer } = page;
  if (!answer) return;
  const lines = $('lines').checked ? 10 : 0, name = fields()[Number($('output').value)];
  const shown = slice(answer.values, page.frame);
  const range = page.truth ? rangeOf([...channelRange(answer.values), ...channelRange(page.truth.values)])
    : channelRange(answer.values);
  field.show(problem, shown, name, { range, lines });
  editor.placeHandles(field);
  $('truths').hidden = !page.truth;
  if (page.truth) {
    const exact = slice(page.truth.values, page.frame), away = shown.map((v, i) => Math.abs(v - exact[i]));
    truth.show(problem, exact, name, { range, lines });
    const most = channelRange(answer.values.map((v, i) => Math.abs(v - page.truth.values[i])))[1];
    wrong.show(problem, away, { name: `|error| of ${name.name}`, unit: name.unit }, { range: [0, most || 1] });
  }
  if (model.task !== 'steady') {
    $('when').max = frames() - 1;
    $('when').value = page.frame;
    $('when-text').textContent = `t = ${shortNumber(page.times[page.frame])}`;
  }
}

// || prediction - truth || / || truth || over all that was predicted.
function compare() {
  const { answer, truth: exact, model } = page;
  if (!exact || !answer) return;
  let [above, below] = [0, 0];
  const first = model.given_frames * (answer.values.length / frames());
  for (let i = first; i < answer.values.length; ++i) {
    above += (answer.values[i] - exact.values[i]) ** 2;
    below += exact.values[i] ** 2;
  }
  const error = Math.sqrt(above / below);
  const ms = (seconds) => `${shortNumber(seconds * 1000)} ms`, times = exact.seconds / answer.seconds;
  const speed = times < 1 ? `${shortNumber(1 / times)} times as slow` : `${shortNumber(times)} times as fast`;
  const solver = exact.seconds
    ? `solver ${ms(exact.seconds)}, operator ${ms(answer.seconds)}: ${speed}` : 'truth from the dataset';
  $('comparison').textContent = `relative L2 error ${(100 * error).toFixed(2)} %; ${solver}`;
}

function timeAsked() {
  const { model } = page;
  if (model.task === 'autoregressive') return { steps: Math.max(1, Math.min(1000,
    Math.round(Number($('steps').value)) || 1)) };
  if (model.task === 'time_conditional') return { times: model.times };
  return {};
}
function timesOf(asked) {
  const { model } = page;
  if (!asked.steps) return model.times;
  const times = [...model.times], step = times.length > 1 ? times[1] - times[0] : 1;
  while (times.length < model.given_frames + asked.steps) times.push((times[times.length - 1] ?? -step) + step);
  return times.slice(0, model.given_frames + asked.steps);
}

// The problem is another one: the truth is no longer its truth.
function changed() {
  page.truth = null;
  page.began = performance.now();
  drawProblem();
  ask();
}
async function ask() {
  if (page.asking) {
    page.stale = true;
    return;
  }
  page.asking = true;
  await guarded(async () => {
    do {
      page.stale = false;
      const { model, problem } = page, asked = timeAsked(), began = page.began;
      const question = problem.question();
      if (!Object.keys(question).length) break;
      const answer = await page.engine.predict(model, question, asked);
      if (page.model !== model || page.problem !== problem) continue;
      page.answer = answer;
      page.times = timesOf(asked);
      page.frame = Math.min(page.frame, frames() - 1);
      say('');
      if (!page.stale) compare();
      drawAnswer();
      page.latency = performance.now() - began;
      page.answers = (page.answers || 0) + 1;
      const hand = Math.round(page.latency), operator = shortNumber(answer.seconds * 1000);
      $('speed').textContent = `operator ${operator} ms, from hand to picture ${hand} ms`;
    } while (page.stale);
  });
  page.asking = false;
}

async function chooseModel(index) {
  const model = page.models[index];
  stopPlaying();
  page.truth = page.answer = null;
  page.model = model;
  page.times = model.times;
  page.frame = Infinity;  // the last there is
  page.problem = await makeProblem(model, page.engine);
  const fill = (select, list) => select.replaceChildren(...list.map((f, i) => new Option(f.unit && f.unit !== '1'
    ? `${f.name} [${f.unit}]` : f.name, i)));
  fill($('channel'), page.problem.fields);
  fill($('output'), model.output);
  $('channel-row').hidden = page.problem.fields.length < 2;
  $('output-row').hidden = model.output.length < 2;
  $('brush-tools').hidden = page.problem.fields.length === 0;
  $('shape-help').hidden = page.problem.fields.length > 0;
  $('shape-help').textContent = page.problem.handles.length > 0
    ? 'Drag the round handles on the solution, or reach them with Tab and move them with the arrow keys.'
    : 'Load a test sample or a .npy file of coordinates to see its solution.';
  $('time').hidden = model.task === 'steady';
  $('steps-row').hidden = model.task !== 'autoregressive';
  $('steps').value = Math.max(1, model.times.length - (model.state_frames || 0));
  $('random').hidden = page.problem instanceof LoadedProblem;
  $('tests').hidden = !model.test_samples;
  $('test-number').max = Math.max(0, model.test_samples - 1);
  $('solve').hidden = !(page.engine.solves && model.solver && !(page.problem instanceof LoadedProblem));
  editor.open(page.problem);
  chooseField(0);
  describe(model);
  changed();
  if (page.problem instanceof LoadedProblem && model.test_samples) guarded(() => loadTest(0));
}

function describe(model) {
  const list = (fs) => fs.map((f) => f.name + (f.unit !== '1' ? ` [${f.unit}]` : '')).join(', ') || 'none';
  const rows = [['geometry', `${model.geometry}, ${model.shape.join(' x ')} points in training`], ['input',
    list(model.input)],
    ['output', list(model.output)], ['parameters', model.parameters.toLocaleString('en')]];
  if (model.training.validation_l2) rows.push(['error from training',
    `${(100 * model.training.validation_l2).toFixed(2)} % (relative L2, validation)`]);
  if (model.training.train_samples) rows.push(['trained on', `${model.training.train_samples} samples`]);
  $('facts').replaceChildren(...rows.flatMap(([name, value]) => {
    const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
    [dt.textContent, dd.textContent] = [name, value];
    return [dt, dd];
  }));
}

function chooseField(index) {
  editor.field = index;
  if (page.problem.fields.length === 0) return;
  const [low, high] = page.problem.limits(index);
  for (const id of ['value', 'value-number']) Object.assign($(id), { min: low, max: high, step: (high - low) / 100
    || 1 });
  setValue(high);
  drawProblem();
}
function setValue(value) {
  editor.value = value;
  $('value').value = value;
  $('value-number').value = Number(Number(value).toPrecision(5));
}

async function loadTest(index) {
  const sample = await page.engine.testSample(page.model, index);
  editor.remember();
  page.problem.take(sample);
  editor.start();
  changed();
  if (sample.output) {
    page.truth = { values: sample.output.values };
    const { truth: exact } = page;
    // An answer of other frames than the sample's has no truth to be held against.
    const wait = setInterval(() => {
      if (page.asking) return;
      clearInterval(wait);
      const fits = page.answer && page.answer.values.length === exact.values.length;
      if (page.truth === exact && !fits) page.truth = null;
      compare();
      drawAnswer();
    }, 5);
  }
}

async function upload(file) {
  const { shape, values } = parseNpy(await file.arrayBuffer()), { problem, model } = page;
  const fail = (expected) => {
    throw new Error(`reading '${file.name}': expected ${expected}, found ${shape.join(' x ')}`);
  };
  if (!values.every(Number.isFinite)) fail('finite numbers');
  if (problem.fields.length > 0) {
    const key = problem.fields[0].key, room = problem.sent[key];
    if (values.length !== room.values.length) fail(`${room.shape.join(' x ')} numbers`);
    editor.remember();
    problem.take({ [key]: { values } });
  } else {
    const dims = model.coordinates.length, mesh = shape.slice(0, -1);
    if (shape.length < 2 || shape[shape.length - 1] !== dims) fail(`coordinates [points, ${dims}]`);
    if (model.geometry === 'mesh' && String(mesh) !== String(model.shape))
      fail(`coordinates ${model.shape.join(' x ')} x ${dims}`);
    if (!(problem instanceof LoadedProblem) && values.length !== problem.places.length)
      fail(`coordinates of ${problem.places.length / 2} points`);
    editor.remember();
    problem.take({ coordinates: { shape, values } });
  }
  editor.start();
  changed();
}

async function solve() {
  const { model, problem } = page;
  $('solve').disabled = true;
  $('comparison').textContent = 'solving …';
  try {
    const exact = await page.engine.solve(model, problem.solverBody());
    if (page.problem !== problem) return;
    page.truth = exact.values.length === page.answer.values.length ? exact : null;
    if (!page.truth) say('The solver gives the times of training: set the steps to theirs to compare.');
  } finally {
    $('solve').disabled = false;
    $('comparison').textContent = '';
  }
  compare();
  drawAnswer();
}

function stopPlaying() {
  clearInterval(page.playing);
  page.playing = null;
  $('play').textContent = 'play';
  $('play').setAttribute('aria-pressed', 'false');
}
function play() {
  if (page.playing) return stopPlaying();
  $('play').textContent = 'stop';
  $('play').setAttribute('aria-pressed', 'true');
  page.playing = setInterval(() => {
    page.frame = (page.frame + 1) % frames();
    drawAnswer();
  }, 150);
}

function savePng() {
  field.canvas.toBlob((blob) => saveFile(`${page.model.name}.png`, blob));
}
function saveNpy() {
  const shape = [...(page.model.task === 'steady' ? [] : [frames()]), ...page.problem.shape, page.model.output.length];
  saveFile(`${page.model.name}.npy`, npyBytes(shape, page.answer.values), 'application/octet-stream');
}
function saveVtu() {
  const { problem, model } = page, lists = model.output.map((f, c) => {
    const before = $('output').value;
    $('output').value = c;
    const values = slice(page.answer.values, page.frame);
    $('output').value = before;
    return { name: f.name, values };
  });
  problem.fields.forEach((f, c) => lists.push({ name: f.name, values: problem.values(c) }));
  const [n0, n1 = 1] = problem.shape, quads = [];
  for (let i = 0; !problem.triangles && i + 1 < n0; ++i)
    for (let j = 0; j + 1 < n1; ++j) quads.push(i * n1 + j, (i + 1) * n1 + j, (i + 1) * n1 + j + 1, i * n1 + j + 1);
  saveFile(`${model.name}.vtu`, vtuText(problem.places, 2, problem.triangles || quads, problem.triangles ? 3 : 4,
    lists), 'application/xml');
}

function listen() {
  const on = (id, event, work) => $(id).addEventListener(event, (e) => guarded(() => work(e)));
  on('model', 'change', () => chooseModel(Number($('model').value)));
  on('channel', 'change', () => chooseField(Number($('channel').value)));
  on('output', 'change', drawAnswer);
  on('lines', 'change', drawAnswer);
  on('size', 'input', () => { editor.size = Number($('size').value) / 100; });
  on('value', 'input', () => setValue(Number($('value').value)));
  on('value-number', 'input', () => {
    const value = $('value-number').valueAsNumber;
    if (Number.isFinite(value)) $('value').value = editor.value = value;
  });
  on('eraser', 'click', () => {
    editor.erasing = !editor.erasing;
    $('eraser').setAttribute('aria-pressed', String(editor.erasing));
  });
  on('undo', 'click', () => editor.undo());
  on('random', 'click', () => {
    editor.remember();
    page.problem.random();
    editor.start();
    changed();
  });
  on('test', 'click', () => loadTest($('test-number').valueAsNumber));
  on('upload', 'change', async () => {
    const [file] = $('upload').files;
    $('upload').value = '';
    if (file) await upload(file);
  });
  on('solve', 'click', solve);
  on('play', 'click', play);
  on('when', 'input', () => { stopPlaying(); page.frame = Number($('when').value); drawAnswer(); });
  on('steps', 'change', () => changed());
  on('save-png', 'click', savePng);
  on('save-npy', 'click', saveNpy);
  on('save-vtu', 'click', saveVtu);
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !/INPUT|SELECT/.test(event.target.tagName)) {
      event.preventDefault();
      editor.undo();
    }
  });
}

guarded(async () => {
  const parts = $('lano-parts');
  page.engine = parts ? new WasmEngine(JSON.parse(parts.textContent)) : new ServerEngine();
  listen();
  editor.size = Number($('size').value) / 100;
  page.models = await page.engine.models();
  $('model').replaceChildren(...page.models.map((m, i) => new Option(m.name, i)));
  $('model-row').hidden = page.models.length < 2;
  await chooseModel(0);
  document.body.dataset.ready = 'yes';
});
