"""Functions that a potential of `test_identity` calls from another module."""

FACTOR = 2.0


def curvature(x):
    return FACTOR * x**2


def energy(x):
    return curvature(x).sum(axis=-1)


def unused():
    raise NotImplementedError
