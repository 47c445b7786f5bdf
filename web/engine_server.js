// Predictions by the server this page came from. The other engine is the WebAssembly one; both give the same things.

class ServerEngine {
  constructor() {
    // "#token=..." stays in the browser: what is behind the '#' is not sent.
    this.token = new URLSearchParams(location.hash.slice(1)).get('token') || '';
    this.solves = true;
  }

  async ask(path, options = {}) {
    const headers = { ...(options.headers || {}) };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    let answer;
    try {
      answer = await fetch(path, { ...options, headers });
    } catch {
      throw new Error('asking the server: there is no answer; is it still running?');
    }
    if (answer.ok) return answer;
    const text = await answer.text();
    let message = `${answer.status}`;
    try {
      message = JSON.parse(text).error.message;
    } catch { /* not ours */ }
    throw new Error(message);
  }

  async models() {
    return (await (await this.ask('v1/models')).json()).models;
  }

  async grid(model) {
    return parseNpy(await (await this.ask(`v1/models/${model.name}/grid`)).arrayBuffer()).values;
  }

  // problem: {input, coordinates, state: {shape, values}}, {steps, times} -> {values, seconds}
  async predict(model, problem, time) {
    const given = ['input', 'coordinates', 'state'].filter((key) => problem[key]);
    const query = ['answer=npy'];
    if (time.steps) query.push(`steps=${time.steps}`);
    if (time.times) query.push(`times=${time.times.join(',')}`);
    const path = `v1/models/${model.name}/predict?${query.join('&')}`;
    const lone = given.length === 1;
    const body = lone ? npyBytes(problem[given[0]].shape, problem[given[0]].values)
      : `{${given.map((key) => `"${key}":${nested(problem[key].shape, problem[key].values)}`).join(',')}}`;
    const type = lone ? 'application/x-npy' : 'application/json';
    const answer = await this.ask(path, { method: 'POST', body, headers: { 'Content-Type': type } });
    const { values } = parseNpy(await answer.arrayBuffer());
    return { values, seconds: Number(answer.headers.get('X-Lano-Seconds')) };
  }

  async solve(model, body) {
    const text = `{${Object.entries(body).map(([key, a]) => `"${key}":${nested(a.shape, a.values)}`).join(',')}}`;
    const answer = await this.ask(`v1/models/${model.name}/solve?answer=npy`,
      { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } });
    const { values } = parseNpy(await answer.arrayBuffer());
    return { values, seconds: Number(answer.headers.get('X-Lano-Seconds')) };
  }

  async testSample(model, index) {
    return flatSample(await (await this.ask(`v1/models/${model.name}/samples/${index}`)).json());
  }
}

// Numbers [a, b, c, ...] as nested lists.
function nested(shape, values) {
  const write = (axis, first, size) => {
    if (axis === shape.length - 1) return `[${Array.prototype.join.call(values.subarray(first, first + size), ',')}]`;
    const step = size / shape[axis];
    return `[${Array.from({ length: shape[axis] }, (_, i) => write(axis + 1, first + i * step, step)).join(',')}]`;
  };
  return write(0, 0, values.length);
}

function flatSample(sample) {
  const out = {};
  for (const key of ['input', 'coordinates', 'state', 'output']) {
    if (!sample[key]) continue;
    const shape = [];
    for (let at = sample[key]; Array.isArray(at); at = at[0]) shape.push(at.length);
    out[key] = { shape, values: Float32Array.from(sample[key].flat(Infinity)) };
  }
  return out;
}
