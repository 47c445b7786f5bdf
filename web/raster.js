// Fields as pictures. Every geometry becomes a buffer with one value per pixel (NaN outside the domain); colours,
// contour lines and the value under the pointer are read from that buffer, so they need no geometry of their own.

// The part of the plane that is shown, with its longer side filling the canvas.
function viewOf(low, high, size) {
  const width = high[0] - low[0] || 1, height = high[1] - low[1] || 1, scale = size / Math.max(width, height);
  return { low, high, scale, width: Math.max(8, Math.round(width * scale)),
    height: Math.max(8, Math.round(height * scale)) };
}
// x to the right, y upwards.
function toPixel(view, x, y) {
  return [(x - view.low[0]) * view.scale, view.height - (y - view.low[1]) * view.scale];
}
function toPlane(view, px, py) {
  return [view.low[0] + px / view.scale, view.low[1] + (view.height - py) / view.scale];
}

// A grid of n0 x n1 points, each the middle of a cell: values [n0 * n1], first axis along x.
function rasterGrid(values, shape, view, smooth) {
  const [n0, n1] = shape, { width, height } = view, out = new Float32Array(width * height);
  // Of each column and row of pixels: the point below it, and how far it lies towards the next.
  const along = (pixels, n, place) => {
    const low = new Int32Array(pixels), rest = new Float32Array(pixels);
    for (let p = 0; p < pixels; ++p) {
      const x = Math.max(0, Math.min(n - 1, place(p) * n - 0.5));
      low[p] = smooth ? Math.min(Math.max(0, n - 2), Math.floor(x)) : Math.round(x);
      rest[p] = smooth ? x - low[p] : 0;
    }
    return [low, rest];
  };
  const [column, s] = along(width, n0, (p) => (p + 0.5) / width);
  const [row, t] = along(height, n1, (p) => 1 - (p + 0.5) / height);
  const next = n0 > 1 ? n1 : 0, up = n1 > 1 ? 1 : 0;
  for (let py = 0; py < height; ++py) {
    for (let px = 0; px < width; ++px) {
      const k = column[px] * n1 + row[py], low = values[k];
      if (!smooth) {
        out[py * width + px] = low;
        continue;
      }
      const left = low + t[py] * (values[k + up] - low), beside = values[k + next];
      out[py * width + px] = left + s[px] * (beside + t[py] * (values[k + next + up] - beside) - left);
    }
  }
  return out;
}

// Triangles of points [x0, y0, x1, y1, ...], each value linear inside.
function rasterTriangles(points, triangles, values, view) {
  const { width, height } = view, out = new Float32Array(width * height).fill(NaN);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
    const [ax, ay] = toPixel(view, points[2 * a], points[2 * a + 1]);
    const [bx, by] = toPixel(view, points[2 * b], points[2 * b + 1]);
    const [cx, cy] = toPixel(view, points[2 * c], points[2 * c + 1]);
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    if (area === 0) continue;
    const left = Math.max(0, Math.floor(Math.min(ax, bx, cx))), right = Math.min(width - 1, Math.max(ax, bx, cx));
    const top = Math.max(0, Math.floor(Math.min(ay, by, cy))), bottom = Math.min(height - 1, Math.max(ay, by, cy));
    for (let py = top; py <= bottom; ++py) {
      for (let px = left; px <= right; ++px) {
        const u = ((bx - ax) * (py + 0.5 - ay) - (px + 0.5 - ax) * (by - ay)) / area;
        const v = ((px + 0.5 - ax) * (cy - ay) - (cx - ax) * (py + 0.5 - ay)) / area;
        if (u < -1e-3 || v < -1e-3 || u + v > 1.001) continue;
        out[py * width + px] = (1 - u - v) * values[a] + v * values[b] + u * values[c];
      }
    }
  }
  return out;
}

// Two triangles for each cell of a mesh of n0 x n1 points.
function meshTriangles(shape) {
  const [n0, n1] = shape, out = new Uint32Array(6 * (n0 - 1) * (n1 - 1));
  let k = 0;
  for (let i = 0; i + 1 < n0; ++i) {
    for (let j = 0; j + 1 < n1; ++j) {
      const a = i * n1 + j, b = a + n1;
      out.set([a, b, b + 1, a, b + 1, a + 1], k);
      k += 6;
    }
  }
  return out;
}

// Delaunay triangulation by insertion (Bowyer, Watson): O(N^2) at worst, for clouds of some thousand points.
function delaunay(points) {
  const n = points.length / 2, xs = [], ys = [];
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; ++i) {
    xs.push(points[2 * i]);
    ys.push(points[2 * i + 1]);
    x0 = Math.min(x0, xs[i]), x1 = Math.max(x1, xs[i]), y0 = Math.min(y0, ys[i]), y1 = Math.max(y1, ys[i]);
  }
  const size = 40 * Math.max(x1 - x0, y1 - y0, 1e-12);
  xs.push(x0 - size, x0 + size, (x0 + x1) / 2);
  ys.push(y0 - size, y0 - size, y1 + size);
  const circle = (a, b, c) => {
    const ax = xs[a], ay = ys[a], bx = xs[b] - ax, by = ys[b] - ay, cx = xs[c] - ax, cy = ys[c] - ay;
    const d = 2 * (bx * cy - by * cx), bb = bx * bx + by * by, cc = cx * cx + cy * cy;
    const ux = (cy * bb - by * cc) / d, uy = (bx * cc - cx * bb) / d;
    return { a, b, c, x: ax + ux, y: ay + uy, r: ux * ux + uy * uy };
  };
  // Sorted by x, a triangle whose circle lies to the left is done with.
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => xs[i] - xs[j] || ys[i] - ys[j]);
  let open = [circle(n, n + 1, n + 2)];
  const closed = [];
  for (const i of order) {
    const edges = new Map(), kept = [];
    for (const t of open) {
      const dx = xs[i] - t.x;
      if (dx > 0 && dx * dx > t.r) {
        closed.push(t);
      } else if (dx * dx + (ys[i] - t.y) ** 2 < t.r * (1 + 1e-12)) {
        for (const [p, q] of [[t.a, t.b], [t.b, t.c], [t.c, t.a]]) {
          const key = Math.min(p, q) * (n + 3) + Math.max(p, q);
          edges.has(key) ? edges.set(key, null) : edges.set(key, [p, q]);
        }
      } else {
        kept.push(t);
      }
    }
    for (const edge of edges.values()) {
      if (!edge) continue;
      const made = circle(edge[0], edge[1], i);
      if (Number.isFinite(made.r)) kept.push(made);
    }
    open = kept;
  }
  const out = [];
  for (const t of closed.concat(open)) if (t.a < n && t.b < n && t.c < n) out.push(t.a, t.b, t.c);
  return Uint32Array.from(out);
}

// Triangles of a cloud without those that bridge its holes: much longer than their neighbours.
function cloudTriangles(points) {
  const all = delaunay(points), longest = (t) => {
    let most = 0;
    for (let k = 0; k < 3; ++k) {
      const a = all[t + k], b = all[t + (k + 1) % 3];
      most = Math.max(most, Math.hypot(points[2 * a] - points[2 * b], points[2 * a + 1] - points[2 * b + 1]));
    }
    return most;
  };
  const sizes = [];
  for (let t = 0; t < all.length; t += 3) sizes.push(longest(t));
  const limit = 4 * [...sizes].sort((a, b) => a - b)[Math.floor(sizes.length / 2)];
  return all.filter((_, k) => sizes[Math.floor(k / 3)] <= limit);
}

// [low, high] of the finite values, never empty.
function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) low = Math.min(low, v), high = Math.max(high, v);
  if (!(high >= low)) return [0, 1];
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

// Colours of a buffer, with lines where one of `lines` levels lies between two pixels.
function paintRaster(canvas, buffer, view, range, map, lines) {
  const { width, height } = view;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d'), image = context.createImageData(width, height);
  const words = new Uint32Array(image.data.buffer), table = kTables[map], scale = 1 / (range[1] - range[0]);
  const levels = new Int16Array(width * height).fill(-1);  // -1: outside
  for (let k = 0; k < buffer.length; ++k) {
    const v = buffer[k];
    if (Number.isNaN(v)) continue;  // transparent
    const share = Math.max(0, Math.min(1, (v - range[0]) * scale));
    words[k] = table[Math.round(share * (kColours - 1))];
    levels[k] = share * lines;
  }
  for (let py = 0; lines > 0 && py + 1 < height; ++py) {
    for (let px = 0; px + 1 < width; ++px) {
      const k = py * width + px, here = levels[k], right = levels[k + 1], below = levels[k + width];
      if (here >= 0 && ((right >= 0 && right !== here) || (below >= 0 && below !== here)))
        words[k] = here > 0.55 * lines ? 0xff303030 : 0xffd8d8d8;
    }
  }
  context.putImageData(image, 0, 0);
}
