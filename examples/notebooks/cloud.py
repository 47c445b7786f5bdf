# %% [markdown]
# # Your own point cloud
# Measurements and unstructured meshes are clouds of points, a different number in every sample. Here: the speed
# of a flow around a cylinder whose size and place change from sample to sample, known at scattered points outside
# it. The flow depends on the geometry alone, so the cloud is the input.
# %%
import numpy as np
import lano

rng = np.random.default_rng(0)


def sample():
    """Points outside a cylinder, and the speed of the potential flow around it."""
    radius, centre = rng.uniform(0.1, 0.25), rng.uniform(0.4, 0.6, 2)
    xy = rng.uniform(0, 1, (rng.integers(500, 700), 2))
    near = centre + radius * (1 + 0.3 * rng.uniform(0, 1, (120, 1))) * np.exp(
        1j * rng.uniform(0, 2 * np.pi, (120, 1))).view(float).reshape(-1, 2)
    xy = np.concatenate([xy, near])
    z = (xy - centre) @ [1, 1j]
    outside = np.abs(z) > radius
    xy, z = xy[outside], z[outside]
    return xy, np.abs(1 - radius**2 / z**2)


clouds = [sample() for _ in range(240)]
xy = [points for points, _ in clouds]
speed = [values for _, values in clouds]
xy[0].shape, xy[1].shape, speed[0].shape
# %% [markdown]
# ## Training
# Lists of arrays are clouds of different sizes. There is no input field: `None`.
# %%
op = lano.fit(None, speed[:200], coordinates=xy[:200], minutes=2)
# %% [markdown]
# ## Errors on clouds it has never seen
# %%
op.evaluate(None, speed[200:], xy[200:])
# %%
op.plot(None, speed[200:], xy[200:]);
# %% [markdown]
# ## Predict anywhere
# A list of clouds gives a list of predictions; one cloud gives one. The order of the points does not matter.
# %%
answers = op.predict(coordinates=xy[200:203])
mixed = rng.permutation(len(xy[200]))
print([answer.shape for answer in answers], np.array_equal(op.predict(coordinates=xy[200][mixed]), answers[0][mixed]))
# %% [markdown]
# ## From your files
# `lano.Dataset.from_files` reads `.npy`, `.npz`, `.mat`, `.h5` and `.pt` with the importer of `lano import`; arrays
# you have in Python become a dataset directly, which can be saved in a file that every LANO program reads.
# %%
import os
import tempfile

data = lano.Dataset(None, speed, xy, test=40, output_names=["speed"])
path = os.path.join(tempfile.mkdtemp(), "cylinders.h5")
data.save(path)
lano.Dataset.load(path)
