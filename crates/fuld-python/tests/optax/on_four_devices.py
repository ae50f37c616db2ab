"""Steps on four devices of this processor, alike to those on one; run by test_devices."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from fuld.optax import fuld
from jax.sharding import AxisType, NamedSharding, PartitionSpec

assert len(jax.devices()) == 4
G = jnp.linspace(-20.0, 20.0, 64).reshape(8, 8)
OPTIMIZER = optax.inject_hyperparams(fuld)(0.1, 0.9, 1.5, 0.5)


def twice(g):
    state = OPTIMIZER.init(g)
    _, state = OPTIMIZER.update(g, state, g)
    return OPTIMIZER.update(g, state, g)


def known(g):
    optimizer = fuld(0.1, 0.9, 1.5, 0.5)
    return optimizer.update(g, optimizer.init(g), g)


def check(name, ours, g=G, of=twice):
    np.testing.assert_allclose(np.asarray(ours).reshape(8, 8), of(g)[0], rtol=3e-6)
    print(name)


check("pmap", jax.pmap(lambda g: twice(g)[0])(G.reshape(4, 2, 8)))
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind, kind))
    with jax.set_mesh(mesh):
        sharding = NamedSharding(mesh, PartitionSpec("x", "y"))
        shards = jax.device_put(G, sharding)
        for of in (twice, known):
            program = jax.jit(of).lower(shards).compile()
            assert "all-gather" not in str(program.as_text())
            updates, state = program(shards)
            assert updates.sharding.is_equivalent_to(sharding, 2), updates.sharding
            trace = jax.tree.leaves(state)[-1]
            assert trace.sharding.is_equivalent_to(sharding, 2), trace.sharding
            check(f"jit {kind} {of.__name__}", jax.device_get(updates), of=of)
    local = jax.shard_map(
        lambda g: twice(g)[0],
        mesh=mesh,
        in_specs=PartitionSpec("x", "y"),
        out_specs=PartitionSpec("x", "y"),
    )
    check(f"shard_map {kind}", jax.device_get(jax.jit(local)(shards)))
