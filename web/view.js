// One picture of a field: canvas, colour bar, value under the pointer.

const kShown = 400;  // pixels of the longer side of a picture

class FieldView {
  constructor(root, map) {
    this.canvas = root.querySelector('canvas');
    this.bar = root.querySelector('.bar');
    this.ends = root.querySelectorAll('.ends span');
    this.readout = root.querySelector('.readout');
    this.map = map;
    this.bar.style.background = colourGradient(map);
    this.canvas.addEventListener('pointermove', (event) => this.read(event));
    this.canvas.addEventListener('pointerleave', () => { this.readout.textContent = ''; });
  }

  // values at the places of a problem; field: its name and unit; range: of the colours.
  show(problem, values, field, { range, lines = 0, smooth = true } = {}) {
    this.view = viewOf(problem.view[0], problem.view[1], kShown);
    this.field = field;
    this.buffer = problem.triangles ? rasterTriangles(problem.places, problem.triangles, values, this.view)
      : rasterGrid(values, [problem.shape[0], problem.shape[1] ?? 1], this.view, smooth && problem.shape.length > 1);
    this.range = range || rangeOf(values);
    paintRaster(this.canvas, this.buffer, this.view, this.range, this.map, lines);
    this.ends[0].textContent = shortNumber(this.range[0]);
    this.ends[1].textContent = shortNumber(this.range[1]);
  }

  // Of a pointer event, in pixels of the picture.
  pixel(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.canvas.width / box.width,
      (event.clientY - box.top) * this.canvas.height / box.height];
  }
  place(event) {
    return toPlane(this.view, ...this.pixel(event));
  }

  read(event) {
    if (!this.buffer) return;
    const [px, py] = this.pixel(event).map(Math.floor), v = this.buffer[py * this.view.width + px];
    const [x, y] = this.place(event).map(shortNumber);
    const unit = this.field.unit && this.field.unit !== '1' ? ` ${this.field.unit}` : '';
    this.readout.textContent = Number.isNaN(v) || v === undefined ? ''
      : `${this.field.name}(${x}, ${y}) = ${shortNumber(v)}${unit}`;
  }
}
