# %% [markdown]
# # Darcy in five minutes
# Flow through a random medium: `-div(a grad u) = 1` on the unit square, `u = 0` on its boundary. We want the
# operator that maps the coefficient `a` to the pressure `u`, learned from examples, without solving the equation
# again.
# %%
import numpy as np
import lano

lano.__version__
# %% [markdown]
# ## Data
# The benchmark's own solver makes them, using all cores. Your own arrays would do as well: one sample per row,
# `[samples, n1, n2]`.
# %%
data = lano.generate("darcy", train=300, test=30, resolution=96, stride=2)
a, u = data.input[..., 0], data.output[..., 0]
a_test, u_test = a[-30:], u[-30:]
a, u = a[:-30], u[:-30]
a.shape, u.shape
# %% [markdown]
# ## Training
# One line. It prints what it understood, chooses a size for the given time, keeps a tenth of the samples
# apart for validation, and shows the errors of simple baselines on the same samples. Ctrl-C (or the stop button) ends
# it early and keeps the best so far.
# %%
op = lano.fit(a, u, coordinates=data.coordinates, minutes=2)
# %%
op.history.plot();
# %% [markdown]
# ## Is it any good?
# On samples it has never seen, by the same code as `lano eval`:
# %%
op.evaluate(a_test, u_test)
# %%
op.plot(a_test, u_test);
# %% [markdown]
# ## Use it
# Predictions take milliseconds, and work at other resolutions: here on a grid twice as fine.
# %%
from time import perf_counter

begun = perf_counter()
found = op.predict(a_test)
print(f"{1e3 * (perf_counter() - begun) / len(a_test):.1f} ms per sample, {found.shape}")

fine = np.kron(a_test[0], np.ones((2, 2)))
op.predict(fine).shape
# %% [markdown]
# One file holds the weights, the normaliser, the field names and the recipe. Python, C, C++, Fortran and the
# program `lano` read it.
# %%
import os
import tempfile

path = os.path.join(tempfile.mkdtemp(), "darcy.safetensors")
op.save(path)
again = lano.load(path)
print(again, f"{os.path.getsize(path) / 1e3:.0f} kB")
assert (again.predict(a_test[0]) == op.predict(a_test[0])).all()
