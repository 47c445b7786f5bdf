# %% [markdown]
# # An inverse problem with vjp
# Given the pressure of a flow in the ground, what is the ground like? We train an operator from coefficient to
# pressure and then go the other way: gradient descent on the coefficient, with derivatives through the operator
# (`op.vjp`). The verified solver checks the result.
# %%
import numpy as np
import lano

data = lano.generate("darcy", train=400, test=1, resolution=32, stride=1, medium="lognormal", seed=1)
x, y = data.coordinates[..., 0], data.coordinates[..., 1]
data
# %% [markdown]
# ## The forward operator
# %%
op = lano.fit(data, minutes=2)
# %% [markdown]
# ## Its derivative
# `op.vjp(a, g)` gives the gradient of `sum(g * u)` with respect to the input and the coordinates, through the fused
# backward pass of training. Compared with a difference of two predictions:
# %%
a = data.test.input[0, ..., 0]
g, direction = np.random.default_rng(0).normal(size=(2, *a.shape))
step = 1e-2
difference = ((op.predict(a + step * direction) - op.predict(a - step * direction)) * g).sum() / (2 * step)
print(f"{(op.vjp(a, g).input * direction).sum():.5f} by vjp, {difference:.5f} by differences")
# %% [markdown]
# ## The inverse problem
# A pressure that was measured with an error of one percent, from an unknown coefficient. We look for `log a`
# as a sum of a few waves, with Adam: `du/da` comes from the operator, the rest of the chain is a matrix.
# %%
waves = np.stack([np.cos(np.pi * i * x) * np.cos(np.pi * j * y) for i in range(5) for j in range(5) if i + j < 6])
truth, observed = a, data.test.output[0, ..., 0]
observed = observed + 0.01 * observed.std() * np.random.default_rng(1).normal(size=observed.shape)

weights = np.zeros(len(waves))
first, second, losses = np.zeros_like(weights), np.zeros_like(weights), []
for i in range(1, 301):
    guess = np.exp(np.tensordot(weights, waves, 1))
    error = op.predict(guess) - observed
    losses.append((error**2).sum() / (observed**2).sum() + 1e-4 * (weights**2).sum())
    slopes = op.vjp(guess, 2 * error / (observed**2).sum()).input
    slopes = (waves * (slopes * guess)).sum((1, 2)) + 2e-4 * weights
    first, second = 0.9 * first + 0.1 * slopes, 0.99 * second + 0.01 * slopes**2
    weights -= 0.05 * (first / (1 - 0.9**i)) / (np.sqrt(second / (1 - 0.99**i)) + 1e-12)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.5f}")
# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
for ax, field, title in zip(axes, (np.log(truth), np.log(guess)), ("log a, truth", "log a, found")):
    figure.colorbar(ax.pcolormesh(x, y, field, vmin=np.log(truth).min(), vmax=np.log(truth).max()), ax=ax)
    ax.set_title(title)
    ax.set_aspect("equal")
axes[2].semilogy(losses)
axes[2].set_title("loss");
# %% [markdown]
# ## Check
# The solver, not the operator, on the coefficient that was found: does it give the pressure that was measured?
# %%
solved = lano.solve("darcy", guess)


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


print(f"pressure of the found coefficient: {distance(solved, observed):.3f} from the measured one by the solver, "
      f"{distance(op.predict(guess), observed):.3f} by the operator")
print(f"log a: {distance(np.log(guess), np.log(truth)):.2f} from the truth; of no measurement at all: 1.00")
