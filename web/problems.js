// What a page can draw for a model: the fields of a grid or mesh, the cavity and the pipe by their handles, a cloud by
// its points. Each knows what to send, where its points lie, and how to draw another one at random.

const kRadii = 11, kPipePieces = 4, kPipeLength = 10;

function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
function product(shape) {
  return shape.reduce((a, b) => a * b, 1);
}

// sum over k of coefficient(k1, k2) basis(k1, x) basis(k2, y) at the middles of n0 x n1 cells.
function cosineField(n0, n1, modes, amplitude) {
  const basis = (k, i, n) => (k > 0 ? Math.SQRT2 : 1) * Math.cos(Math.PI * k * (i + 0.5) / n);
  const rows = new Float64Array(modes * n1), out = new Float32Array(n0 * n1);
  for (let k = 0; k < modes; ++k) {
    for (let l = 0; l < modes; ++l) {
      const c = k + l === 0 ? 0 : normal() * amplitude(k, l);
      for (let j = 0; j < n1; ++j) rows[k * n1 + j] += c * basis(l, j, n1);
    }
  }
  for (let i = 0; i < n0; ++i)
    for (let k = 0; k < modes; ++k)
      for (let j = 0; j < n1; ++j) out[i * n1 + j] += basis(k, i, n0) * rows[k * n1 + j];
  return out;
}

// The benchmark's coefficients (src/pde/darcy_field.h).
function darcyField(problem, n0, n1) {
  const { alpha = 2, tau = 3, high = 12, low = 3 } = problem;
  const g = cosineField(n0, n1, 24, (k, l) => tau ** (alpha - 1) *
    (Math.PI ** 2 * (k * k + l * l) + tau * tau) ** (-alpha / 2));
  return g.map((v) => (problem.medium === 'lognormal' ? Math.exp(v) : v >= 0 ? high : low));
}

// The benchmark's first velocities (src/pde/burgers_problem.cpp), one of them.
function periodicField(n0, n1) {
  const out = new Float32Array(n0 * n1);
  for (let k = 0; k <= 4; ++k) {
    for (let l = k === 0 ? 1 : -4; l <= 4; ++l) {
      const size = 0.6 / (1 + k * k + l * l), a = size * normal(), b = size * normal();
      for (let i = 0; i < n0; ++i) {
        for (let j = 0; j < n1; ++j) {
          const phase = 2 * Math.PI * (k * i / n0 + l * j / n1);
          out[i * n1 + j] += a * Math.cos(phase) + b * Math.sin(phase);
        }
      }
    }
  }
  return out;
}

// Its input fields are its state at the first time, as their names say: one array serves both.
function inputIsState(model) {
  return model.task === 'autoregressive' && model.input.length === model.output.length && model.input.length > 0 &&
    model.input.every((f, c) => f.name.startsWith(`${model.output[c].name} at t=`));
}

// A grid or mesh with fields on it: `fields` lists what can be painted, {key, name, unit, at(point)}.
class FieldProblem {
  constructor(model, points) {
    this.model = model;
    this.shape = model.shape;
    const n = product(this.shape), [n0, n1 = 1] = this.shape;
    this.depth = this.shape.length > 2 ? product(this.shape.slice(2)) : 1;
    const box = model.box.length >= 4 ? model.box : [0, 1, 0, n1 / n0];
    this.view = [[box[0], box[2]], [box[1], box[3]]];
    this.triangles = null;
    this.handles = [];
    if (points) {
      this.places = points;
      this.triangles = meshTriangles(this.shape);
      const xs = points.filter((_, i) => i % 2 === 0), ys = points.filter((_, i) => i % 2 === 1);
      const [x, y] = [rangeOf(xs), rangeOf(ys)];
      this.view = [[x[0], y[0]], [x[1], y[1]]];
    } else {
      this.places = new Float32Array(2 * n0 * n1);
      for (let k = 0; k < n0 * n1; ++k) {
        this.places[2 * k] = box[0] + (Math.floor(k / n1) + 0.5) / n0 * (box[1] - box[0]);
        this.places[2 * k + 1] = this.view[0][1] + (k % n1 + 0.5) / n1 * (this.view[1][1] - this.view[0][1]);
      }
    }
    this.sent = {};
    this.fields = [];
    const add = (key, list, frames) => {
      this.sent[key] = { shape: [...(frames > 1 ? [frames] : []), ...this.shape, list.length],
        values: new Float32Array(frames * n * list.length) };
      list.forEach((field, c) => this.fields.push({ key, ...field, channels: list.length, channel: c,
        first: (frames - 1) * n * list.length }));
    };
    const shared = inputIsState(model);
    if (model.input.length > 0 && !shared) add('input', model.input, 1);
    if (model.task === 'autoregressive') add('state', model.output, model.state_frames);
  }

  values(f) {
    const field = this.fields[f], all = this.sent[field.key].values, n = this.places.length / 2,
      out = new Float32Array(n);
    const middle = Math.floor(this.depth / 2);
    for (let i = 0; i < n; ++i) out[i] = all[field.first + (i * this.depth + middle) * field.channels + field.channel];
    return out;
  }
  // Through the whole depth of a three-dimensional field.
  set(f, point, value) {
    const field = this.fields[f], all = this.sent[field.key].values;
    for (let d = 0; d < this.depth; ++d)
      all[field.first + (point * this.depth + d) * field.channels + field.channel] = value;
  }

  random() {
    const kind = this.model.problem ? this.model.problem.kind : '', [n0, n1 = 1] = this.shape;
    this.fields.forEach((field, f) => {
      const { mean, deviation } = this.model.statistics[field.key === 'state' ? 'output' : 'input'];
      const made = kind === 'darcy' ? darcyField(this.model.problem, n0, n1)
        : kind === 'burgers' ? periodicField(n0, n1)
        : cosineField(n0, n1, 5, (k, l) => deviation[field.channel] / (1 + k * k + l * l)).map((v) => v
          + mean[field.channel]);
      made.forEach((v, i) => this.set(f, i, v));
      // All frames of a state that is drawn at once.
      const { values } = this.sent[field.key], frame = product(this.shape) * field.channels;
      for (let at = 0; at < field.first; at += frame) values.copyWithin(at, field.first, field.first + frame);
    });
  }
  // What a brush may paint in this field.
  limits(f) {
    const field = this.fields[f], problem = this.model.problem || {};
    if (problem.kind === 'darcy' && problem.medium !== 'lognormal') return [problem.low ?? 3, problem.high ?? 12];
    const { mean, deviation } = this.model.statistics[field.key === 'state' ? 'output' : 'input'];
    const [m, d] = [mean[field.channel], deviation[field.channel]];
    return problem.medium === 'lognormal' ? [0.05, m + 4 * d] : [m - 3 * d, m + 3 * d];
  }
  question() {
    return this.sent;
  }
  solverBody() {
    const key = this.model.solver;
    return this.sent[key] ? { [key]: this.sent[key] } : { [key]: this.sent.state };
  }
  take(sample) {
    for (const key of ['input', 'state'])
      if (sample[key] && this.sent[key]) this.sent[key] = { shape: this.sent[key].shape,
        values: Float32Array.from(sample[key].values) };
  }
  copy() {
    return Object.fromEntries(Object.entries(this.sent).map(([key, a]) => [key, Float32Array.from(a.values)]));
  }
  restore(copy) {
    for (const key of Object.keys(copy)) this.sent[key].values = Float32Array.from(copy[key]);
  }
}

// Geometries: what is drawn are handles, what is sent are coordinates.
class ShapeProblem {
  constructor(model) {
    this.model = model;
    this.fields = [];
  }
  question() {
    return { coordinates: { shape: [...this.shape, 2], values: this.places } };
  }
  take(sample) {
    this.places = Float32Array.from(sample.coordinates.values);
    this.handles = [];
    if (!this.ofMesh) this.triangles = cloudTriangles(this.places);
  }
  copy() {
    return { parameters: [...this.parameters], drawn: this.handles.length > 0, places: this.places,
      triangles: this.triangles };
  }
  restore(copy) {
    this.parameters = [...copy.parameters];
    if (copy.drawn) return this.build();
    [this.places, this.triangles, this.handles] = [copy.places, copy.triangles, []];
  }
  move(handle, x, y) {
    this.setParameter(handle, handle.parameterAt(x, y));
  }
  setParameter(handle, value) {
    this.parameters[handle.index] = Math.max(handle.low, Math.min(handle.high, value));
    this.build();
  }
}

// The trigonometric sum through radii at equal angles, an odd number (src/serve/solver.cpp has the same).
function cavityRadius(radii, phi) {
  let sum = 0;
  radii.forEach((r, k) => {
    let weight = 1;
    for (let wave = 1; 2 * wave < radii.length; ++wave)
      weight += 2 * Math.cos(wave * (phi - 2 * Math.PI * k / radii.length));
    sum += weight / radii.length * r;
  });
  return sum;
}

// The Gauss points of the benchmark's mesh around a cavity (src/pde/elasticity_problem.cpp).
function cavityPoints(around, across, radius) {
  const columns = 2 * around, rows = 2 * across + 1, nodes = [];
  const edge = (s) => [[s % 1, 0], [1, s % 1], [1 - s % 1, 1], [0, 1 - s % 1]][Math.floor(s) % 4];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      const on = edge(4 * c / columns), dx = on[0] - 0.5, dy = on[1] - 0.5, far = Math.hypot(dx, dy);
      let rho = 0.3 + (far - 0.3) * r / (rows - 1);
      if (rho < 0.5) {
        const near = radius(Math.atan2(dy, dx));
        rho = near + (0.5 - near) * (rho - 0.3) / 0.2;
      }
      nodes.push(r === rows - 1 ? on : [0.5 + rho * dx / far, 0.5 + rho * dy / far]);
    }
  }
  // Quadratic shape functions at -sqrt(3/5), 0, sqrt(3/5).
  const g = Math.sqrt(0.6), shapes = [-g, 0, g].map((s) => [s * (s - 1) / 2, 1 - s * s, s * (s + 1) / 2]);
  const points = new Float32Array(18 * around * across);
  let at = 0;
  for (let b = 0; b < across; ++b) {
    for (let a = 0; a < around; ++a) {
      for (let i = 0; i < 3; ++i) {
        for (let j = 0; j < 3; ++j) {
          let [x, y] = [0, 0];
          for (let p = 0; p < 3; ++p) {
            for (let q = 0; q < 3; ++q) {
              const node = nodes[(2 * b + p) * columns + (2 * a + q) % columns], w = shapes[i][p] * shapes[j][q];
              x += w * node[0];
              y += w * node[1];
            }
          }
          points[at++] = x;
          points[at++] = y;
        }
      }
    }
  }
  return points;
}

class CavityProblem extends ShapeProblem {
  constructor(model) {
    super(model);
    [this.around, this.across] = model.problem.elements || [36, 3];
    this.shape = [9 * this.around * this.across];
    this.view = [[0, 0], [1, 1]];
    // The points keep their neighbours, wherever the cavity moves them.
    this.parameters = Array(kRadii).fill(0.3);
    const round = cavityPoints(this.around, this.across, () => 0.3), all = delaunay(round);
    this.joined = all.filter((_, k) => {
      const t = 3 * Math.floor(k / 3), middle = [0, 1].map((a) => (round[2 * all[t] + a] + round[2 * all[t + 1] + a]
        + round[2 * all[t + 2] + a]) / 3);
      return Math.hypot(middle[0] - 0.5, middle[1] - 0.5) > 0.3;
    });
    this.random();
  }
  build() {
    this.places = cavityPoints(this.around, this.across, (phi) => cavityRadius(this.parameters, phi));
    this.triangles = this.joined;
    this.handles = this.parameters.map((r, index) => {
      const phi = 2 * Math.PI * index / kRadii, along = [Math.cos(phi), Math.sin(phi)];
      return { index, name: `radius of the hole at ${Math.round(360 * index / kRadii)} degrees`, low: 0.15, high: 0.45,
        step: 0.005, value: r, x: 0.5 + r * along[0], y: 0.5 + r * along[1], up: along[1] < -0.1 ? -1 : 1,
        parameterAt: (x, y) => (x - 0.5) * along[0] + (y - 0.5) * along[1] };
    });
  }
  random() {
    const waves = Array.from({ length: 10 }, normal);
    this.parameters = this.parameters.map((_, k) => {
      let g = 0;
      for (let w = 1; w <= 5; ++w) {
        const phi = 2 * Math.PI * k / kRadii;
        g += (waves[2 * w - 2] * Math.cos(w * phi) + waves[2 * w - 1] * Math.sin(w * phi)) / (w * w + 9);
      }
      return 0.2 + 0.2 / (1 + Math.exp(16 / Math.sqrt(Math.PI) * g));
    });
    this.build();
  }
  solverBody() {
    return { radius: { shape: [kRadii], values: Float32Array.from(this.parameters) } };
  }
}

// The centre line of src/pde/pipe_problem.h: cubic Hermite pieces; parameters: five heights, then five slopes.
class PipeProblem extends ShapeProblem {
  constructor(model) {
    super(model);
    this.shape = model.shape;
    this.ofMesh = true;
    this.view = [[0, -2], [kPipeLength, 2]];
    this.triangles = meshTriangles(this.shape);
    this.parameters = Array(10).fill(0);
    this.random();
  }
  at(x) {
    const t = Math.max(0, Math.min(1, x / kPipeLength)) * kPipePieces, k = Math.min(kPipePieces - 1, Math.floor(t));
    const s = t - k, p = this.parameters;
    return (1 + 2 * s) * (1 - s) ** 2 * p[k] + s * (1 - s) ** 2 * p[5 + k] + s * s * (3 - 2 * s) * p[k + 1] -
      s * s * (1 - s) * p[6 + k];
  }
  build() {
    const [n0, n1] = this.shape, span = this.model.span.length === 2 ? this.model.span : [1, 1];
    this.places = new Float32Array(2 * n0 * n1);
    for (let i = 0; i < n0; ++i) {
      const x = kPipeLength * span[0] * i / (n0 - 1), c = this.at(x);
      for (let j = 0; j < n1; ++j) this.places.set([x, c - 0.5 + span[1] * j / (n1 - 1)], 2 * (i * n1 + j));
    }
    this.handles = [];
    const piece = kPipeLength / kPipePieces;
    for (let k = 0; k <= kPipePieces; ++k) {
      const x = k * piece, height = this.parameters[k], slope = this.parameters[5 + k], reach = piece / 4;
      if (k > 0)
        this.handles.push({ index: k, name: `height of the pipe at x = ${x}`, low: -1, high: 1, step: 0.02,
          value: height, x, y: height, up: 1, parameterAt: (_, y) => y });
      const side = k === kPipePieces ? -1 : 1;
      this.handles.push({ index: 5 + k, name: `slope of the pipe at x = ${x}`, low: -2, high: 2, step: 0.04,
        small: true,
        value: slope, x: x + side * reach, y: height + side * slope / 4, up: side,
        parameterAt: (_, y) => (y - height) * 4 * side });
    }
  }
  random() {
    this.parameters = this.parameters.map((_, k) => (k === 0 ? 0 : (k < 5 ? 1 : 2) * (2 * Math.random() - 1)));
    this.build();
  }
  solverBody() {
    return { value: { shape: [5], values: Float32Array.from(this.parameters.slice(0, 5)) },
      slope: { shape: [5], values: Float32Array.from(this.parameters.slice(5)) } };
  }
}

// A cloud, or a mesh for each sample, that this page knows no handles for: shown as it is loaded.
class LoadedProblem extends ShapeProblem {
  constructor(model) {
    super(model);
    this.shape = model.shape;
    this.ofMesh = model.geometry === 'mesh';
    this.parameters = [];
    this.handles = [];
    this.sent = {};
  }
  build() {}
  take(sample) {
    this.sent = Object.fromEntries(['input', 'coordinates', 'state'].filter((k) => sample[k]).map((k) => [k,
      sample[k]]));
    const { values, shape } = this.sent.coordinates, dims = shape[shape.length - 1];
    this.shape = shape.slice(0, -1);
    this.places = dims === 2 ? values : values.filter((_, i) => i % dims < 2);
    this.triangles = this.ofMesh ? meshTriangles(this.shape) : cloudTriangles(this.places);
    const [x, y] = [rangeOf(this.places.filter((_, i) => i % 2 === 0)), rangeOf(this.places.filter((_,
      i) => i % 2 === 1))];
    this.view = [[x[0], y[0]], [x[1], y[1]]];
  }
  question() {
    return this.sent;
  }
}

async function makeProblem(model, engine) {
  const kind = model.problem ? model.problem.kind : '';
  if (kind === 'elasticity' && model.geometry === 'points') return new CavityProblem(model);
  if (kind === 'pipe' && model.geometry === 'mesh') return new PipeProblem(model);
  if (model.geometry === 'points' || !model.shared_coordinates) return new LoadedProblem(model);
  const problem = new FieldProblem(model, model.geometry === 'mesh' && model.shape.length === 2
    ? await engine.grid(model) : null);
  problem.random();
  return problem;
}
