"""Log densities of the tests, where other processes can import them."""

import numpy as np

#: A correlated Gaussian, far from the origin in one coordinate.
MEAN = np.array([1.0, -2.0, 30.0])
COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)


def jax_gaussian(x):
    import jax.numpy as jnp

    away = x - MEAN
    return -0.5 * jnp.dot(away, PRECISION @ away)


def torch_gaussian(x):
    import torch

    away = x - torch.tensor(MEAN)
    return -0.5 * torch.dot(away, torch.tensor(PRECISION) @ away)


def jax_scale(mu, tau):
    import jax.numpy as jnp

    return -0.5 * (mu / tau) ** 2 - jnp.log(tau) - tau


def any_rows(mu, batch):
    """A Gaussian mean given 40 numbers, from a minibatch of them."""
    return -0.5 * 40 / len(batch) * ((mu - batch) ** 2).sum()
