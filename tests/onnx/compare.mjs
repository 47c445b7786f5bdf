// Every model of cases.json: 'lano export', then onnxruntime against 'lano predict' on the same numbers.
// All samples in one batch and the first alone; clouds with other numbers of points through the same file.
// Then the check itself: each tensor changed in turn must be noticed.
// Usage: node compare.mjs LANO FOLDER ONNXRUNTIME
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [lano, folder, onnxruntime] = process.argv.slice(2).map((path) => resolve(path));
const { InferenceSession, Tensor } = createRequire(join(onnxruntime, 'package.json'))('onnxruntime-node');
const kBound = 1e-4;
const failures = [];
let compared = 0, largest = 0;

function run(...words) {
  const result = spawnSync(lano, words, { cwd: folder, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`lano ${words.join(' ')}: ${result.stderr}`);
}

// NumPy's format, as lano writes it: float32 in C order.
function readArray(name) {
  const bytes = readFileSync(join(folder, name));
  const length = bytes.readUInt16LE(8), header = bytes.toString('latin1', 10, 10 + length);
  if (bytes[6] !== 1 || !header.includes("'<f4'") || !header.includes("'fortran_order': False"))
    throw new Error(`${name}: ${header}`);
  const shape = /\(([^)]*)\)/.exec(header)[1].split(',').filter((s) => s.trim()).map(Number);
  const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 10 + length, bytes.byteOffset + bytes.length));
  return { shape, values };
}

// Numbers of samples first .. first + count - 1 as a tensor [count, ...].
function samples(array, shape, first, count) {
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return new Tensor('float32', array.slice(first * size, (first + count) * size), [count, ...shape.slice(1)]);
}

// Largest difference against the largest value; a NaN is infinitely far.
function apart(found, wanted) {
  let difference = 0, scale = 0;
  for (let i = 0; i < wanted.length; ++i) {
    const d = Math.abs(found[i] - wanted[i]);
    difference = Math.max(difference, Number.isNaN(d) ? Infinity : d);
    scale = Math.max(scale, Math.abs(wanted[i]));
  }
  return found.length === wanted.length ? difference / scale : Infinity;
}

// The worst difference of a session from what lano predicts on a dataset.
async function compare(session, entry, set) {
  const out = `${set.name}.u.npy`;
  if (!existsSync(join(folder, out)))
    run('predict', `${entry.name}.safetensors`, '--data', `${set.name}.h5`, '--out', out, ...set.predict);
  const coordinates = readArray(`${set.name}.coordinates.npy`), input = readArray(`${set.name}.input.npy`);
  const wanted = readArray(out).values;
  const all = coordinates.shape[0], n = set.points, du = set.channels, frames = Math.max(1, set.times.length);
  // Frame f of samples first .. first + count - 1, from [samples, frames, n, du].
  const frame = (f, first, count) => {
    const values = new Float32Array(count * n * du);
    for (let s = 0; s < count; ++s) {
      const at = (first + s) * frames + f;
      values.set(wanted.subarray(at * n * du, (at + 1) * n * du), s * n * du);
    }
    return values;
  };
  // The frames before f, oldest first: [samples, frames of a state, n, du].
  const state = (f, first, count) => {
    const k = entry.stateFrames, values = new Float32Array(count * k * n * du);
    for (let s = 0; s < count; ++s) {
      const at = (first + s) * frames + f - k;
      values.set(wanted.subarray(at * n * du, (at + k) * n * du), s * k * n * du);
    }
    return values;
  };
  let worst = 0;
  for (const [first, count] of [[0, all], [all - 1, 1]]) {
    const feeds = { coordinates: samples(coordinates.values, coordinates.shape, first, count) };
    if (entry.inputs > 0) feeds.input = samples(input.values, input.shape, first, count);
    for (let f = entry.stateFrames; f < frames; ++f) {
      if (entry.task === 'time_conditional')
        feeds.time = new Tensor('float32', new Float32Array(count).fill(set.times[f]), [count]);
      if (entry.stateFrames === 1) feeds.state = new Tensor('float32', frame(f - 1, first, count), [count, n, du]);
      if (entry.stateFrames > 1)
        feeds.state = new Tensor('float32', state(f, first, count), [count, entry.stateFrames, n, du]);
      const { output } = await session.run(feeds);
      if (output.dims.join() !== [count, n, du].join()) return Infinity;
      worst = Math.max(worst, apart(output.data, frame(f, first, count)));
    }
  }
  return worst;
}

async function exported(model, options) {
  const out = join(folder, 'model.onnx');
  run('export', model, '--onnx', 'model.onnx', '--force', ...options);
  return InferenceSession.create(out, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 });
}

// The first `count` values of a tensor of a .safetensors file moved, each by another amount below 1:
// a constant could vanish in a LayerNorm.
function perturb(model, tensor, count, out) {
  const bytes = readFileSync(join(folder, model));
  const length = Number(bytes.readBigUInt64LE(0)), header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
  const [begin, end] = header[tensor].data_offsets.map((at) => 8 + length + at);
  for (let at = begin, i = 1; at < Math.min(end, begin + 4 * count); at += 4, ++i)
    bytes.writeFloatLE(bytes.readFloatLE(at) + Math.sin(i * i), at);
  writeFileSync(join(folder, out), bytes);
}

const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'));
for (const entry of cases) {
  let session, options;
  for (const set of entry.sets) {
    if (set.export.join() !== options) session = await exported(`${entry.name}.safetensors`, set.export);
    options = set.export.join();
    const far = await compare(session, entry, set);
    ++compared;
    largest = Math.max(largest, far);
    if (!(far <= kBound)) failures.push(`${set.name}: ${far.toExponential(2)} from lano predict`);
  }
  // A mesh is fixed: another number of points is refused, not answered.
  if (!entry.cloud) {
    const small = (name, channels) => [name, new Tensor('float32', new Float32Array(2 * channels), [1, 2, channels])];
    const axes = readArray(`${entry.name}.coordinates.npy`).shape[2];
    const shapes = { coordinates: axes, input: entry.inputs, state: entry.sets[0].channels };
    const names = session.inputNames.filter((name) => name !== 'time');
    const feeds = Object.fromEntries(names.map((name) => small(name, shapes[name])));
    if (entry.stateFrames > 1) {
      const du = entry.sets[0].channels, k = entry.stateFrames;
      feeds.state = new Tensor('float32', new Float32Array(k * 2 * du), [1, k, 2, du]);
    }
    if (session.inputNames.includes('time')) feeds.time = new Tensor('float32', new Float32Array(1), [1]);
    const said = await session.run(feeds).then(() => 'an answer', (error) => String(error));
    if (!/invalid dimensions/i.test(said)) failures.push(`${entry.name}: two points in place of its mesh gave ${said}`);
  }
}

// The check must be able to fail: every tensor counts, and a single weight.
let noticed = 0;
for (const name of ['time_conditional', 'latent', 'cloud']) {
  const entry = cases.find((each) => each.name === name);
  for (const [tensor, count] of [['decoder.weight', 1], ...entry.tensors.map((each) => [each, Infinity])]) {
    perturb(`${name}.safetensors`, tensor, count, 'perturbed.safetensors');
    const far = await compare(await exported('perturbed.safetensors', []), entry, entry.sets[0]);
    if (far > kBound) ++noticed;
    else failures.push(`${name}: ${tensor} changed was not noticed (${far.toExponential(2)})`);
  }
}

console.log(`${compared} sets of ${cases.length} models: at most ${largest.toExponential(2)} from lano predict; ` +
            `${noticed} changed models noticed`);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
