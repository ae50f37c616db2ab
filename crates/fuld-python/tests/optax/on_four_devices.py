"""Steps on four devices of this processor, alike to those on one; run by test_devices."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from fuld.optax import fuld
from jax.sharding import AxisType, NamedSharding, PartitionSpec

G = np.linspace(-20.0, 20.0, 64, dtype=np.float32).reshape(8, 8)
SPEC = PartitionSpec("x", "y")


def injected(g):
    """Take two steps with numbers that are traced."""
    optimizer = optax.inject_hyperparams(fuld)(0.1, 0.9, 1.5, 0.5)
    _, state = optimizer.update(g, optimizer.init(g), g)
    return optimizer.update(g, state, g)


def known(g):
    """Take one step with numbers that are known."""
    optimizer = fuld(0.1, 0.9, 1.5, 0.5)
    return optimizer.update(g, optimizer.init(g), g)


def guarded(g):
    """Take two steps behind a guard."""
    optimizer = fuld(0.1, 0.9, "auto")
    _, state = optimizer.update(g, optimizer.init(g), g)
    return optimizer.update(jnp.sin(g), state, g)


def guarded_on_shards(g):
    """Take five steps, each from the state of the one before."""
    optimizer = fuld(0.1, 0.9, "auto")

    def step(state, number):
        updates, state = optimizer.update(g * jnp.cos(number * g), state, g)
        return state, updates

    return jax.lax.scan(step, optimizer.init(g), jnp.arange(5.0))[1][-1]


def check(name, ours, of):
    """Compare with one device."""
    np.testing.assert_allclose(np.asarray(ours).reshape(8, 8), of(jnp.array(G))[0], rtol=3e-6)
    print(name)


def main():
    """Take the steps in every way."""
    assert len(jax.devices()) == 4
    check("pmap", jax.pmap(lambda g: injected(g)[0])(G.reshape(4, 2, 8)), injected)
    parts = G.reshape(4, 2, 8)
    ours = jax.pmap(guarded_on_shards)(parts)[2]
    np.testing.assert_allclose(ours, guarded_on_shards(jnp.array(parts[2])), rtol=1e-4, atol=1e-6)
    print("pmap guarded")
    for kind in (AxisType.Auto, AxisType.Explicit):
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind, kind))
        sharding = NamedSharding(mesh, SPEC)
        shards = jax.device_put(G, sharding)
        for of in (injected, known, guarded):
            with jax.set_mesh(mesh):
                program = jax.jit(of).lower(shards).compile()
                updates, state = program(shards)
            # Nothing is collected, and all stays where it was.
            assert "all-gather" not in str(program.as_text())
            for array in (updates, optax.tree.get(state, "trace")):
                assert array.sharding.is_equivalent_to(sharding, 2), array.sharding
            check(f"jit {kind.name} {of.__name__}", updates, of)
        local = jax.shard_map(lambda g: injected(g)[0], mesh=mesh, in_specs=SPEC, out_specs=SPEC)
        check(f"shard_map {kind.name}", jax.jit(local)(shards), injected)
        # Here every device sees its own part alone, and guards that.
        local = jax.shard_map(guarded_on_shards, mesh=mesh, in_specs=SPEC, out_specs=SPEC)
        ours = np.asarray(jax.jit(local)(shards))[:4, 4:]
        np.testing.assert_allclose(
            ours, guarded_on_shards(jnp.array(G[:4, 4:])), rtol=1e-4, atol=1e-6
        )
        print(f"shard_map {kind.name} guarded")


if __name__ == "__main__":
    main()
