// Drawing: the brush on a field, with mouse, finger or keyboard, and the handles of a geometry. Every change is told to
// `changed`; undo keeps whole states, which are small.

const kMostUndo = 100;

class Editor {
  constructor(view, ring, handleRoom, changed) {
    Object.assign(this, { view, ring, handleRoom, changed, field: 0, erasing: false, size: 0.08, value: 1, past: [] });
    this.cursor = null;
    const { canvas } = view;
    canvas.addEventListener('pointerdown', (event) => {
      if (!this.paints() || event.button !== 0) return;
      event.preventDefault();
      canvas.focus();
      canvas.setPointerCapture(event.pointerId);
      this.remember();
      this.last = this.view.place(event);
      this.stroke(...this.last);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.paints()) return;
      const now = this.view.place(event);
      this.showRing(...now);
      if (!this.last || !canvas.hasPointerCapture(event.pointerId)) return;
      // A fast hand leaves gaps.
      const steps = Math.max(1, Math.ceil(Math.hypot(now[0] - this.last[0], now[1]
        - this.last[1]) / (this.radius() / 2 || 1)));
      for (let k = 1; k <= steps; ++k)
        this.stroke(this.last[0] + (now[0] - this.last[0]) * k / steps, this.last[1] + (now[1]
          - this.last[1]) * k / steps, k < steps);
      this.last = now;
    });
    const end = () => { this.last = null; };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('pointerleave', () => { ring.hidden = true; });
    canvas.addEventListener('blur', () => { ring.hidden = true; });
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  open(problem) {
    this.problem = problem;
    this.field = 0;
    this.past = [];
    this.start();
  }
  // What the eraser goes back to.
  start() {
    this.clean = this.paints() ? this.problem.fields.map((_, f) => this.problem.values(f)) : [];
    this.cursor = null;
  }
  paints() {
    return this.problem && this.problem.fields.length > 0;
  }
  radius() {
    const [[x0, y0], [x1, y1]] = this.problem.view;
    return this.size / 2 * Math.min(x1 - x0, y1 - y0);
  }

  remember() {
    this.past.push(this.problem.copy());
    if (this.past.length > kMostUndo) this.past.shift();
  }
  undo() {
    if (this.past.length === 0) return;
    this.problem.restore(this.past.pop());
    this.changed();
  }

  stroke(x, y, quiet) {
    const { places } = this.problem, r = this.radius();
    let nearest = 0, least = Infinity;
    const paint = (i) => this.problem.set(this.field, i, this.erasing ? this.clean[this.field][i] : this.value);
    for (let i = 0; i < places.length / 2; ++i) {
      const away = (places[2 * i] - x) ** 2 + (places[2 * i + 1] - y) ** 2;
      if (away <= r * r) paint(i);
      if (away < least) [least, nearest] = [away, i];
    }
    paint(nearest);
    if (!quiet) this.changed();
  }

  showRing(x, y) {
    const { view, canvas } = this.view, [px, py] = toPixel(view, x, y), size = 200 * this.radius() * view.scale;
    this.ring.hidden = false;
    Object.assign(this.ring.style, { left: `${100 * px / canvas.width}%`, top: `${100 * py / canvas.height}%`,
      width: `${size / canvas.width}%` });
  }

  key(event) {
    if (!this.paints()) return;
    const [[x0, y0], [x1, y1]] = this.problem.view, step = (event.shiftKey ? 5 : 1) / 40;
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    this.cursor = this.cursor || [(x0 + x1) / 2, (y0 + y1) / 2];
    if (move) {
      this.cursor = [Math.max(x0, Math.min(x1, this.cursor[0] + move[0] * step * (x1 - x0))),
        Math.max(y0, Math.min(y1, this.cursor[1] + move[1] * step * (y1 - y0)))];
    } else if (event.key === ' ' || event.key === 'Enter') {
      this.remember();
      this.stroke(...this.cursor);
    } else {
      return;
    }
    event.preventDefault();
    this.showRing(...this.cursor);
  }

  // A slider for each handle, over the picture of `over`.
  placeHandles(over) {
    const { view, canvas } = over, handles = this.problem.handles;
    while (this.handleRoom.children.length > handles.length) this.handleRoom.lastChild.remove();
    handles.forEach((handle, k) => {
      const element = this.handleRoom.children[k] || this.handleRoom.appendChild(this.makeHandle(k, over));
      const [px, py] = toPixel(view, handle.x, handle.y);
      element.className = handle.small ? 'handle small' : 'handle';
      Object.assign(element.style, { left: `${100 * px / canvas.width}%`, top: `${100 * py / canvas.height}%` });
      for (const [name, value] of [['label', handle.name], ['valuemin', handle.low], ['valuemax', handle.high],
        ['valuenow', Number(handle.value.toPrecision(4))]]) element.setAttribute(`aria-${name}`, value);
    });
  }
  makeHandle(k, over) {
    const element = document.createElement('div');
    element.setAttribute('role', 'slider');
    element.tabIndex = 0;
    element.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      element.focus();
      element.setPointerCapture(event.pointerId);
      this.remember();
    });
    element.addEventListener('pointermove', (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      this.problem.move(this.problem.handles[k], ...over.place(event));
      this.changed();
    });
    element.addEventListener('keydown', (event) => {
      const handle = this.problem.handles[k], plus = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1,
        ArrowLeft: -1 }[event.key];
      if (!plus) return;
      event.preventDefault();
      this.remember();
      const way = event.key === 'ArrowUp' || event.key === 'ArrowDown' ? handle.up : 1;
      this.problem.setParameter(handle, handle.value + plus * way * handle.step * (event.shiftKey ? 5 : 1));
      this.changed();
    });
    return element;
  }
}
