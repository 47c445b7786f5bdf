"""A LANO in double precision, written down once more in NumPy from docs/model.md: slow, batched over a first axis, and
with what follows from the points (order, pooling, neighbours) held fixed, as vjp holds it."""
import json
import math
import struct

import numpy as np

_erf = np.frompyfunc(math.erf, 1, 1)


def gelu(x):
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)).astype(float))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, gain, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain + shift


def axis_pool(n, m):
    """[m, n]: bin i is the mean over floor(i n/m) .. ceil((i+1) n/m) - 1."""
    pool = np.zeros((m, n))
    for i in range(m):
        first, last = i * n // m, -(-(i + 1) * n // m)
        pool[i, first:last] = 1 / (last - first)
    return pool


def axis_up(n, m):
    """[n, m]: point i reads a vector of m at (i + 1/2) m/n - 1/2, clamped, linearly."""
    up = np.zeros((n, m))
    for i in range(n):
        t = min(max((i + 0.5) * m / n - 0.5, 0), m - 1)
        low = min(int(t), max(0, m - 2))
        up[i, low] += 1 - (t - low)
        if t > low:
            up[i, low + 1] += t - low
    return up


def kron(matrices):
    product = np.ones((1, 1))
    for matrix in matrices:
        product = np.kron(product, matrix)
    return product


def hilbert_key(cell, bits=16):
    """Skilling's transform of one cell."""
    x = [int(c) for c in cell]
    n = len(x)
    q = 1 << (bits - 1)
    while q > 1:
        p = q - 1
        for i in range(n):
            if x[i] & q:
                x[0] ^= p
            else:
                t = (x[0] ^ x[i]) & p
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, n):
        x[i] ^= x[i - 1]
    t = 0
    q = 1 << (bits - 1)
    while q > 1:
        if x[n - 1] & q:
            t ^= q - 1
        q >>= 1
    key = 0
    for bit in range(bits - 1, -1, -1):
        for value in x:
            key = key << 1 | ((value ^ t) >> bit & 1)
    return key


def hilbert_order(x, a, box):
    box = np.asarray(box).reshape(-1, 2)
    cells = np.clip((x - box[:, 0]) / (box[:, 1] - box[:, 0]) * 65536, 0, 65535).astype(int)
    keys = [(hilbert_key(cell), *point, *value) for cell, point, value in zip(cells, x, a)]
    return sorted(range(len(keys)), key=lambda i: keys[i])


class Oracle:
    def __init__(self, path):
        raw = open(path, "rb").read()
        length = struct.unpack("<Q", raw[:8])[0]
        header = json.loads(raw[8:8 + length])
        meta = header.pop("__metadata__")
        self.about, self.set = json.loads(meta["architecture"]), json.loads(meta["set"])
        self.map = json.loads(meta["normaliser"])
        self.w = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            values = np.frombuffer(raw[8 + length + begin:8 + length + end], dtype="<f4")
            self.w[name] = values.reshape(entry["shape"]).astype(float)
        self.dims = len(self.set["fields"]["coordinates"])

    def freeze(self, x, a):
        """What follows from the points: their order, pooling, the bias's reading, the stencil as [taps, N, N]."""
        about, n = self.about, len(x)
        cloud = about["axes"] == 0
        self.order = np.arange(n)
        if cloud and about["order"] == "hilbert":
            self.order = np.asarray(hilbert_order(x, a, about["order_box"]))
        mesh = [n] if cloud else about["mesh"]
        on_grid = not cloud and len(about["patches"]) == len(mesh) and (len(mesh) > 1 or about["pool"] == "grid")
        lengths, parts = (mesh, about["patches"]) if on_grid else ([n], [about["agents"]])
        self.pool = kron([axis_pool(*pair) for pair in zip(lengths, parts)])
        self.up = kron([axis_up(*pair) for pair in zip(lengths, parts)])
        # Squared distances of points and agents, counted in patches.
        places = [((np.arange(length) + 0.5) * part / length - 0.5, np.arange(part))
                  for length, part in zip(lengths, parts)]
        points = np.stack(np.meshgrid(*[p for p, _ in places], indexing="ij"), -1).reshape(-1, 1, len(parts))
        agents = np.stack(np.meshgrid(*[k for _, k in places], indexing="ij"), -1).reshape(1, -1, len(parts))
        self.apart = ((points - agents)**2).sum(-1)
        if cloud and about["stencil"] == "neighbours":
            self.stencil = self.neighbours(x[self.order])
        else:
            lines = [[np.eye(m, k=k) for k in (-1, 0, 1)] for m in mesh]
            if about["padding"] == "edge":
                for before, _, behind in lines:
                    before[0, 0] = behind[-1, -1] = 1
            taps = [[]]
            for line in lines:
                taps = [tap + [matrix] for tap in taps for matrix in line]
            self.stencil = np.array([kron(tap) for tap in taps])

    def neighbours(self, x):
        """Weights 1 - d^2/R^2 of the K nearest, which sum to 3^dx, shared linearly among the taps at 2 d/R."""
        x = self.encode("coordinates", x).astype(np.float32).astype(float)
        n, dims = x.shape
        k = max(2, round(3**dims * (n / self.about["points"] if self.about["points"] else 1)))
        stencil = np.zeros((3**dims, n, n))
        for i in range(n):
            square = ((x - x[i])**2).sum(-1)
            beyond = np.sort(square)[k] if n > k else 2 * square.max()
            if not beyond > 0:
                stencil[(3**dims - 1) // 2, i, i] = 3**dims
                continue
            weight = np.maximum(1 - square / beyond, 0)
            weight *= 3**dims / weight.sum()
            for j in np.flatnonzero(weight):
                place = np.clip(2 * (x[j] - x[i]) / math.sqrt(beyond), -1, 1)
                for corner in range(1 << dims):
                    tap, share = 0, weight[j]
                    for axis in range(dims):
                        outer = corner >> axis & 1
                        tap = tap * 3 + (1 if not outer else 0 if place[axis] < 0 else 2)
                        share *= abs(place[axis]) if outer else 1 - abs(place[axis])
                    stencil[tap, i, j] += share
        return stencil

    def encode(self, what, values):
        return (values - self.map[what]["shift"]) / self.map[what]["scale"]

    def positions(self, x):
        if self.about["position"] == "coordinates":
            return x
        box = np.asarray(self.about["reference_box"]).reshape(-1, 2)
        lines = [np.linspace(low, high, 8) for low, high in box]
        nodes = np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, self.dims)
        return np.sqrt(((x[..., None, :] - nodes)**2).sum(-1))

    def linear(self, name, x, bias=True):
        return x @ self.w[name + ".weight"].T + (self.w[name + ".bias"] if bias else 0)

    def norm(self, name, x):
        return layer_norm(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def add_stencil(self, name, values):
        filters = self.w[name].reshape(self.w[name].shape[0], -1)
        return sum(self.stencil[t] @ (values * filters[:, t]) for t in range(filters.shape[1]))

    def attention(self, block, x):
        about, name = self.about, f"blocks.{block}.attention."
        b, n, c = x.shape
        heads, m = about["heads"], self.pool.shape[0]
        q, k, v = np.split(x @ self.w[name + "qkv.weight"].T, 3, -1)
        agents = self.pool @ q
        if about["agent_tokens"] == "latent":
            agents = np.broadcast_to(self.w[name + "latent"], (b, m, c))
        rows, columns = 0.0, 0.0
        if about["bias"] == "outer":
            rows = np.outer(self.w[name + "bias1"], self.up @ self.w[name + "bias2"])
            columns = np.outer(self.up @ self.w[name + "bias3"], self.w[name + "bias4"])
        elif about["bias"] == "sum":
            rows = (self.up @ self.w[name + "bias2"])[None, :]
            columns = self.w[name + "bias4"][None, :]
        out = np.empty_like(x)
        d = c // heads
        for h in range(heads):
            part = slice(h * d, (h + 1) * d)
            a, qh, kh, vh = agents[..., part], q[..., part], k[..., part], v[..., part]
            far = 0.0
            if about["exchange"]:
                last = heads - 1
                near = 0.2 * (h == last) if heads < 3 else 0.05**(1 - (h - 1) / (heads - 2)) if h else 0
                far = near * self.apart
            y = softmax(a @ kh.swapaxes(1, 2) / math.sqrt(d) + rows - np.transpose(far), -1) @ vh
            if about["exchange"]:
                y = y + self.w[name + "exchange"].reshape(heads, m, m)[h] @ y
            out[..., part] = softmax(qh @ a.swapaxes(1, 2) / math.sqrt(d) + columns - far, -1) @ y
        if about["dwc"]:
            out = out + self.add_stencil(name + "dwc", v)
        return self.linear(name + "out", out)

    def time(self, t):
        width = self.about["width"]
        half = max(1, width // 2)
        steps = (t - self.about["time_origin"]) / self.about["time_step"]
        angle = steps * np.exp(-math.log(1e4) * np.arange(half) / half)
        wave = np.concatenate([np.sin(angle), np.cos(angle)])[:width]
        wave = np.concatenate([wave, np.zeros(width - len(wave))])
        hidden = self.linear("time1", wave)
        return self.linear("time2", hidden / (1 + np.exp(-hidden)))

    def predict(self, x, a, state=None, time=None):
        """x [B, N, dx], a [B, N, da], state [B, K, N, du] -> [B, N, du], physical, in the caller's order of points."""
        o, scale, shift = self.order, np.asarray(self.map["output"]["scale"]), np.asarray(self.map["output"]["shift"])
        parts = [self.positions(self.encode("coordinates", x)), self.encode("input", a)]
        if "displacement" in self.map:
            parts.append((x - self.w["set.mean_mesh"]) / self.map["displacement"])
        if state is not None:
            parts += [self.encode("output", state[:, k]) for k in range(state.shape[1])]
        f = np.concatenate(parts, -1)[:, o]
        f = self.linear("encoder2", gelu(self.linear("encoder1", f))) + self.w["placeholder"]
        if self.about["task"] == "time_conditional":
            f = f + self.time(time)
        for block in range(self.about["layers"]):
            name = f"blocks.{block}."
            f = f + self.attention(block, self.norm(name + "norm1", f))
            u = self.linear(name + "ffn1", self.norm(name + "norm2", f))
            if self.about["ffn_stencil"]:
                u = u + self.add_stencil(name + "ffn_dwc", u)
            f = f + self.linear(name + "ffn2", gelu(u))
        f = self.norm("norm", f)
        if self.about["decoder"] == "mlp":
            f = gelu(self.linear("decoder_hidden", f))
        y = np.empty((*x.shape[:-1], len(scale)))
        y[:, o] = self.linear("decoder", f)
        if "increment" in self.map:
            return state[:, -1] + np.asarray(self.map["increment"]) * scale * y
        return y * scale + shift + (self.w["set.mean_output"] if "set.mean_output" in self.w else 0)

    def slopes(self, which, g, x, a, state=None, time=None, h=1e-5):
        """d(sum g u)/d(which) by central differences, entry by entry."""
        given = {"coordinates": x, "input": a, "state": state}
        base = given[which]
        found = np.empty(base.size)
        at_once = max(1, 40000 // len(x))
        for first in range(0, base.size, at_once):
            count = min(at_once, base.size - first)
            steps = np.zeros((count, base.size))
            steps[np.arange(count), first + np.arange(count)] = h * max(1.0, np.abs(base).max())
            sums = []
            for sign in (1, -1):
                moved = {key: None if values is None else np.broadcast_to(values, (count, *values.shape))
                         for key, values in given.items()}
                moved[which] = base + sign * steps.reshape(count, *base.shape)
                u = self.predict(moved["coordinates"], moved["input"], moved["state"], time)
                sums.append((u * g).sum((1, 2)))
            found[first:first + count] = (sums[0] - sums[1]) / (2 * steps[np.arange(count), first + np.arange(count)])
        return found.reshape(base.shape)
