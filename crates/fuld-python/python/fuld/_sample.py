"""Sampling from exp(-beta f)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike

from fuld import _arguments, _native
from fuld._executor_sampling import ExecutorSampling, check_picklable
from fuld._local_sampling import LocalSampling
from fuld._model import Model
from fuld._models import subject_of
from fuld._part_files import PartFiles
from fuld._potential import Potential, target_of
from fuld._progress import Bar
from fuld._result import Output, check_output
from fuld._samples import Samples
from fuld._sampling import Sampling, SamplingWarning
from fuld._slow_functions import SlowFunction
from fuld._store import Store
from fuld._tasks import PartRunner

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fuld._settings import Settings


@overload
def sample(
    potential: Potential = ...,
    *,
    blocking: Literal[False],
    output: Output = ...,
    **settings: Unpack[Settings],
) -> Sampling: ...
@overload
def sample(
    potential: Potential = ...,
    *,
    output: Literal["numpy"] = ...,
    blocking: Literal[True] = ...,
    **settings: Unpack[Settings],
) -> Samples: ...
@overload
def sample(
    potential: Potential = ...,
    *,
    blocking: bool = ...,
    output: Output = ...,
    **settings: Unpack[Settings],
) -> Any: ...  # noqa: ANN401
def sample(
    potential: Potential = None,
    *,
    logp: Potential = None,
    variables: Mapping[str, object] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
    data: Any = None,
    batch_size: SupportsIndex | None = None,
    gradient: Literal["jax", "torch"] | None = None,
    system: str = "fuld",
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    step: float | None = None,
    integrator: str | None = None,
    adapt: bool | None = None,
    path: float | None = None,
    temper: SupportsIndex = 1,
    chains: SupportsIndex = 64,
    draws: SupportsIndex = 1000,
    warmup: SupportsIndex | None = None,
    thin: SupportsIndex | None = None,
    seed: SupportsIndex | np.random.Generator | None = None,
    dim: SupportsIndex | None = None,
    params: Mapping[str, float] | None = None,
    start: ArrayLike | Mapping[str, Any] | None = None,
    spread: float = 1.0,
    step_power: float | None = None,
    half_life: float | None = None,
    noise_scale: float | None = None,
    velocities: bool = False,
    vectorized: bool | None = None,
    stochastic: bool = False,
    name: str | None = None,
    threads: SupportsIndex | None = None,
    executor: Executor | None = None,
    parts: SupportsIndex = 16,
    progress: bool = True,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    blocking: bool = True,
    output: Output = "numpy",
) -> Any:
    r"""Draw from the density proportional to exp(-beta f), with chains under heavy-tailed noise.

    Parameters
    ----------
    potential
        The potential f, minus the log density: a formula like ``"x^4/4 - x^2/2"``, the name of a
        potential like ``"double_well"`` (`fuld.potentials` lists them), or a function. A function
        is called with one point, an array (dim,), and returns a number and the gradient, an array
        (dim,); or with the points of all chains, an array (chains, dim), and returns arrays
        (chains,) and (chains, dim). Unless `vectorized` is given, both calls are tried. A function
        written with jax.numpy or torch may return the number alone: it is differentiated, for all
        chains at once; JAX computes in the precision that it is set to. Or a model: a PyMC model,
        which may also be that of the surrounding ``with model:``, a NumPyro model as
        `fuld.numpyro.model` returns it, or a ``bridgestan.StanModel``.
    logp
        The log density, in place of `potential`, in any of its forms: a function returns the log
        density, with its gradient or without.
    variables
        Named variables of the function, each with a shape, and a constraint before it if there is
        one: ``{"mu": (), "tau": ("positive", ()), "theta": 8}``. Constraints are ``"positive"``,
        ``("lower", a, shape)``, ``("upper", b, shape)``, ``("interval", a, b, shape)``,
        ``"unit_interval"``, and along the last axis ``"ordered"`` and ``"simplex"``. The function
        takes them by name, ``def logp(mu, tau, theta)``, or as one dict. Its density is that of
        the variables: chains move in transformed coordinates, and Jacobians are added. A gradient
        is returned as a dict with an entry for each variable. Draws have the names of variables.
    dims, coords
        Names of the axes of variables, and labels along axes, as in ArviZ:
        ``dims={"theta": ["school"]}, coords={"school": names}``.
    data, batch_size
        Arrays with one row per observation, alone or in a tuple, list or dict. The function takes
        them as a further argument. With `batch_size` it takes that many random rows in each step,
        and its value must be an unbiased estimate: a sum over a batch of n of N rows is multiplied
        by N / n. Chains should start near the mode: see ``docs/stochastic-gradients.md``.
    gradient
        ``"jax"`` or ``"torch"`` for a function that works with arrays of any kind and returns the
        value alone. By default the framework is found out by what the function returns.
    system
        The dynamics, by name; `fuld.systems` lists them.
    alpha
        Tail index of the noise, at most 2, which is Gaussian; 1.8 by default. `fuld` requires
        alpha >= 0.1; below 0.3 its field is so steep at 0 that steps must be far below the default.
    beta
        Inverse temperature; 1 by default.
    gamma
        Friction; 2 by default. ``integrator="exact"`` draws new velocities in each iteration by
        default.
    step
        Step size, at first if it is adapted; by default one that suits the system.
    integrator
        ``"exact"`` accepts or rejects proposals, so that the step causes no bias, and adapts
        itself during the warmup. It is the default of the systems ``fuld``, ``fuld-gaussian`` and
        ``underdamped-langevin``, unless gradients are stochastic or the step falls. The others,
        ``"baoab"``, ``"aboba"``, ``"euler"`` and ``"tamed-euler"``, have a bias that vanishes with
        the step.
    adapt
        Whether step, paths and scales of ``integrator="exact"`` are adapted; True by default. What
        was adapted is in the settings ``step``, ``path``, ``paths`` and ``scales`` of the result.
    path
        Mean time of an iteration of ``integrator="exact"``, at first if it is adapted; 1 by
        default.
    temper
        Number of temperatures of parallel tempering, for densities with many modes; 1 by default,
        which is no tempering, and 8 is a good first choice. Each chain then also runs at higher
        temperatures, at which it crosses from mode to mode, and exchanges positions between
        them. The temperatures adapt themselves; the settings of the result report
        ``inverse_temperatures`` as fractions of beta, and the ``exchange_rates``.
    chains, draws
        Number of chains, and of draws per chain.
    warmup
        Iterations before the first draw; by default 500 for ``integrator="exact"``, which adapts
        itself in them, else those of 100 draws.
    thin
        Iterations per draw; by default 1 for ``integrator="exact"``, else a time of 1.
    seed
        Seed of the random numbers, or a ``numpy.random.Generator`` to draw one from. Draws depend
        on the seed alone, not on `threads` or `executor`. By default it is drawn from the operating
        system; with `resume` it is that of the run in `store`. The settings of the result report
        it.
    dim
        Dimension, if the potential does not determine it; by default that of `start`, or 1.
    params
        Parameters of a named potential.
    start
        Starting point of all chains: a point, or one number for all coordinates; or an array
        (chains, dim) with one point for each chain. By default every coordinate of every chain is
        drawn from N(0, `spread`\ :sup:`2`). For named variables and models, a dict of values.
    step_power, half_life
        The step size decreases as step (1 + k/half_life)^-step_power with the iteration k.
    noise_scale
        Scale sigma of the noise in `stochastic` gradients, if every coordinate carries independent
        noise SaS(sigma) of the tail index `alpha`; at alpha = 2 that is N(0, 2 sigma^2). The
        dynamics then adds only the noise that is missing, and samples from exp(-beta f) as with
        exact gradients. By default the noise is unknown. For the integrators ``"baoab"``,
        ``"aboba"`` and ``"euler"`` of systems with linear friction, such as ``fuld``.
    velocities
        Whether to keep velocities.
    vectorized
        Whether a function takes the points of all chains at once.
    stochastic
        Whether a function takes random bits beside the points, which choose a minibatch: an integer
        below 2**64 for one point, or an array of uint64 with one number per chain.
    name
        Name of a function in the settings and in a store; by default its own. A store identifies
        the function by this name and a hash of its code, see `resume`.
    threads
        Number of threads; by default all cores, or one for each part of an `executor`. Functions
        are called from one thread.
    executor
        A `concurrent.futures.Executor` that runs the chains in other processes or on other
        machines, such as a ``ProcessPoolExecutor`` or
        ``dask.distributed.Client(...).get_executor()``. The chains of ``"exact"`` adapt together:
        their warm-up is one task, which comes before the `parts`.
    parts
        Number of tasks for the `executor` that the chains are divided into. Draws do not depend on
        it, but for the last bits of functions of JAX, which compiles one for each number of chains.
    progress
        Whether to show a progress bar, in terminals and notebooks, after one second.
    store
        A new folder for the draws, in Zarr format. It is written during the run, and opened by
        ``xarray.open_zarr(store, group="posterior")``. For a model it holds the unconstrained
        coordinates ``x``; the same call with ``resume=True`` returns the variables.
    resume
        Whether to continue an interrupted run in `store`. The draws are those of an uninterrupted
        run. A store with other settings or another potential is refused. A function is the same if
        `name` is, and the code and data of the function and of all functions, classes and objects
        that it refers to, except for those of installed packages. With `store`, a function that
        refers to data that cannot be identified, such as an open file, raises a TypeError.
    blocking
        Whether to wait for the end. Otherwise a `Sampling` is returned at once: a handle with
        ``progress``, ``pause``, ``resume``, ``peek``, ``abort`` and ``result``.
    output
        ``"numpy"``: `Samples`, a mapping of arrays with statistics, settings and a summary.
        ``"arviz"``: the object of the installed ArviZ, with groups ``posterior`` and
        ``sample_stats``. ``"xarray"``: a dataset. Each has the variable ``x`` (and ``v``) with axes
        chain, draw and, if there are several, coordinate. ``Samples.to`` converts later.

    Returns
    -------
    object
        `Samples`, or the draws in another form of `output`; a `Sampling` if not `blocking`.

    Notes
    -----
    Ctrl-C stops the run and returns the draws made so far, with a warning `fuld.Interrupted`;
    before the first draw it raises KeyboardInterrupt. An exception in a function ends the run and
    is raised here, with its traceback. Overflow in a function does not warn: proposals at which f
    is not finite are rejected, and counted.

    With ``integrator="exact"`` a proposal that diverges is rejected, and marked by ``diverging`` in
    ``Samples.stats``. With other integrators the draws of a chain that diverges are NaN from there
    on; a warning `fuld.Diverged` reports it.

    A warning `fuld.SamplingWarning` says if the draws are not to be trusted: chains that disagree
    (R-hat above 1.01), fewer than 400 effective draws, divergent proposals, an acceptance rate far
    from the target, slow energies, or a density that cannot be normalised; or if a gradient seems
    to be wrong. ``docs/sampling.md`` in the repository explains each. A warning
    `fuld.SlowFunction` has the line that makes a function faster.

    All settings are in ``Samples.settings``, and attributes of the other forms. ``exact`` is 1
    if the dynamics leaves exp(-beta f) invariant as the step size tends to 0, and 0 if not or if
    gradients are stochastic with noise of unknown scale; with ``integrator="exact"`` the step size
    does not matter.

    Examples
    --------
    >>> import fuld
    >>> import numpy as np
    >>> samples = fuld.sample("x^4/4 - x^2/2", seed=1)
    >>> samples["x"].shape
    (64, 1000)
    >>> bool(abs((samples["x"] ** 2).mean() - 1.0418) < 0.03)
    True

    A function of NumPy, for all chains at once:

    >>> def rosenbrock(x):
    ...     a, b = x[:, 0], x[:, 1]
    ...     slope = np.stack([2 * (a - 1) - 20 * a * (b - a**2), 10 * (b - a**2)], axis=1)
    ...     return (1 - a) ** 2 + 5 * (b - a**2) ** 2, slope
    >>> fuld.sample(rosenbrock, dim=2, draws=1000, seed=1)["x"].shape
    (64, 1000, 2)

    A log density of named variables, here of NumPy, which returns the gradient as well:

    >>> def logp(mu, tau):
    ...     value = -0.5 * (mu / tau) ** 2 - np.log(tau) - tau
    ...     return value, {"mu": -mu / tau**2, "tau": mu**2 / tau**3 - 1 / tau - 1}
    >>> samples = fuld.sample(logp=logp, variables={"mu": (), "tau": ("positive", ())}, seed=1)
    >>> bool((samples["tau"] > 0).all()), bool(abs(samples["tau"].mean() - 1) < 0.05)
    (True, True)
    """
    check_output(output)
    if executor is not None:
        _arguments.executor(executor)
    for setting, value in (("progress", progress), ("resume", resume), ("blocking", blocking)):
        _arguments.flag(setting, value)
    if resume and store is None:
        raise ValueError("resume=True requires store=")
    if seed is None and store is not None and resume:
        seed = Store.stored_seed(store)
    threads = _arguments.count_or_none("threads", threads, 1)
    parts = _arguments.count("parts", parts, 1)
    chains = _arguments.count("chains", chains, 1)
    dim = _arguments.count_or_none("dim", dim, 1)
    vectorized = None if vectorized is None else _arguments.flag("vectorized", vectorized)
    name = None if name is None else _arguments.text("name", name)
    if start is not None and not isinstance(start, Mapping):
        start = _arguments.start(start, chains)
    subject = subject_of(
        potential,
        logp,
        variables=variables,
        dims=dims,
        coords=coords,
        gradient=gradient,
        data=data,
        batch_size=_arguments.count_or_none("batch_size", batch_size, 1),
        dim=np.shape(start)[-1] if dim is None and isinstance(start, list) else dim,
        vectorized=vectorized,
        name=name,
        start=start,
    )
    if velocities and isinstance(subject, Model) and "v" in subject.variable_names():
        raise ValueError("velocities=True calls them v: rename the variable 'v' of the model")
    if isinstance(start, Mapping):
        if not isinstance(subject, Model):
            raise TypeError("start may be a dict only with variables=, got a dict")
        start = _arguments.start(subject.coordinates(start), chains)
    options = {
        "system": _arguments.text("system", system),
        "integrator": None if integrator is None else _arguments.text("integrator", integrator),
        "adapt": None if adapt is None else _arguments.flag("adapt", adapt),
        "temper": _arguments.count("temper", temper, 1),
        "chains": chains,
        "draws": _arguments.count("draws", draws, 1),
        "warmup": _arguments.count_or_none("warmup", warmup, 0),
        "thin": _arguments.count_or_none("thin", thin, 1),
        "seed": _native.random_seed() if seed is None else _arguments.seed(seed),
        "start": start,
        "spread": _arguments.number("spread", spread),
        "velocities": _arguments.flag("velocities", velocities),
        **_arguments.numbers(
            alpha=alpha,
            beta=beta,
            gamma=gamma,
            path=path,
            step=step,
            step_power=step_power,
            half_life=half_life,
            noise_scale=noise_scale,
        ),
    }
    with Bar(progress) as bar:
        if isinstance(subject, Model):
            bar.say("is compiling the model …")
        target = target_of(
            subject,
            dim=dim,
            params=_arguments.params(params),
            vectorized=vectorized,
            stochastic=_arguments.flag("stochastic", stochastic),
            name=name,
            identify=store is not None,
            options=options,
        )
    for text in target.warnings:
        warnings.warn(text, SamplingWarning, stacklevel=2)
    for text in target.advice:
        warnings.warn(text, SlowFunction, stacklevel=2)
    native = target.native()
    options["potential"] = target.name
    planned = _native.PlannedRun(native, options)
    if executor is not None and planned.settings.get("temper", 1) > 1:
        raise ValueError(
            f"temper={temper} requires all chains in one process: leave executor or temper out"
        )
    begin = {"spread": spread} if options["start"] is None else {"start": options["start"]}
    settings = {
        "potential": target.name,
        **planned.settings,
        **begin,
        "velocities": int(velocities),
    }
    runner = PartRunner(target, options, min(threads or 1, chains))
    if executor is not None:
        check_picklable(executor, runner)
    claimed = store if store is None else Store.claim(store, resume=resume, executor=bool(executor))
    sampling: Sampling
    try:
        if executor is None:
            # More threads than chains or processors would be idle.
            threads = min(threads or 0, chains, os.cpu_count() or 1)
            location = None if claimed is None else os.fspath(claimed.path)
            run = planned.start(0, chains, threads, location, None)
            sampling = LocalSampling(run, planned, target, native.names, settings, claimed, output)
        else:
            part_files = None if claimed is None else PartFiles(claimed, planned, settings)
            sampling = ExecutorSampling(
                executor,
                runner,
                planned,
                target,
                native.names,
                settings,
                parts=parts,
                part_files=part_files,
                output=output,
            )
    except BaseException:
        if claimed is not None:
            claimed.release()
        raise
    return sampling.follow(progress) if blocking else sampling
