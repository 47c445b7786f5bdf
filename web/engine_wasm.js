// Predictions in the page itself, by the runtime compiled to WebAssembly (web/wasm/module.cpp). Failures cross as a
// status and a sentence, as in the C interface.

class WasmEngine {
  constructor(parts) {
    this.parts = parts;  // {name, wasm, model, samples}, base64
    this.solves = false;
  }

  async models() {
    const none = () => 0;
    const made = await WebAssembly.instantiate(fromBase64(this.parts.wasm), new Proxy({},
      { get: () => new Proxy({}, { get: () => none, has: () => true }), has: () => true }));
    this.wasm = made.instance.exports;
    if (this.wasm._initialize) this.wasm._initialize();
    const model = fromBase64(this.parts.model), at = this.put(model);
    const name = new TextEncoder().encode(this.parts.name), named = this.put(name);
    this.check(this.wasm.lano_web_load(at, model.length, named, name.length));
    this.wasm.free(at);
    this.wasm.free(named);
    const about = JSON.parse(this.text(this.wasm.lano_web_describe()));
    this.samples = (this.parts.samples || []).map(flatSample);
    return [{ ...about, test_samples: this.samples.length, solver: '' }];
  }

  text(at) {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }
  check(status) {
    if (status !== 0) throw new Error(this.text(this.wasm.lano_web_message()));
  }
  put(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
      at = this.wasm.malloc(bytes.length || 1);
    if (at === 0) throw new Error('predicting: there is no memory left; take fewer points');
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  async grid() {
    const count = this.wasm.lano_web_grid_size(), at = this.wasm.lano_web_grid();
    return new Float32Array(this.wasm.memory.buffer.slice(at, at + 4 * count));
  }

  async predict(model, problem, time) {
    const start = performance.now(), { wasm } = this, kept = [];
    const put = (array) => {
      if (!array) return 0;
      kept.push(this.put(array));
      return kept[kept.length - 1];
    };
    try {
      const any = problem.input || problem.coordinates || problem.state;
      const axes = model.geometry === 'points' ? 1 : model.shape.length;
      const given = problem.input || problem.coordinates ? 0 : model.state_frames > 1 ? 1 : 0;
      const mesh = any.shape.slice(given, given + axes), points = mesh.reduce((a, b) => a * b, 1);
      const frames = time.steps ? model.given_frames + time.steps : time.times ? time.times.length : 1;
      const count = frames * points * model.output.length, out = wasm.malloc(4 * count);
      if (out === 0) throw new Error('predicting: there is no memory left; take fewer points');
      kept.push(out);
      const state = problem.state || (model.task === 'autoregressive' ? problem.input : null);
      const input = problem.input || (model.input.length > 0 ? problem.state : null);
      this.check(wasm.lano_web_predict(points, axes, put(Int32Array.from(mesh)),
        problem.coordinates ? put(problem.coordinates.values) : 0, input ? put(input.values) : 0,
        state ? put(state.values) : 0, time.times ? put(Float64Array.from(time.times)) : 0,
        time.times ? time.times.length : 0, time.steps || 0, out));
      const values = new Float32Array(wasm.memory.buffer.slice(out, out + 4 * count));
      return { values, seconds: (performance.now() - start) / 1000 };
    } finally {
      for (const at of kept) wasm.free(at);
    }
  }

  async solve() {
    throw new Error('solving exactly: expected a server with the solvers, found a page by itself; start lano serve');
  }

  async testSample(model, index) {
    return this.samples[index];
  }
}
