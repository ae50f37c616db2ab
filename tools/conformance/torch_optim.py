"""PyTorch's own tests of optimizers, with FULD in the place of all of its optimizers.

python torch_optim.py PATH/TO/test/test_optim.py

The file is in PyTorch's repository; take the tag of the installed version. It imports its neighbours in test/optim.
Every test of TestOptimRenewed runs for two optimizers: FULD as it is, and FULD at alpha = 2, which takes sparse gradients
too. Where there is a GPU the tests for CUDA run as well.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import outcomes
import torch
from fuld.torch import FULD
from torch.optim.lr_scheduler import ExponentialLR, LinearLR, ReduceLROnPlateau, StepLR
from torch.testing._internal import common_optimizers as infos


class FULDAtAlpha2(FULD):
    """FULD that is SGD unless told otherwise, without momentum as SGD is.

    The tests of sparse gradients leave it out, and with momentum torch's own SGD misses their tolerance.
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0.0, alpha: float = 2.0, **options: Any
    ) -> None:
        super().__init__(params, lr, momentum, alpha, **options)


SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "non-default lr": {"lr": 1e-2},
    "tensor lr": {"lr": torch.tensor(0.001)},
    "momentum": {"momentum": 0.9},
    "no momentum": {"momentum": 0.0},
    "noise_scale within the gradients": {"noise_scale": 0.1, "lr": 1e-2},
    "alpha": {"alpha": 1.2},
    "the paper's form": {"form": "paper", "lr": 1e-2},
    "weight_decay": {"weight_decay": 0.5},
    # As SGD has it there: with momentum, torch's own fused SGD misses the tolerance in bfloat16.
    "maximize": {"momentum": 0.0, "weight_decay": 0.1, "maximize": True},
    "nesterov": {"nesterov": True, "momentum": 0.9, "weight_decay": 0.1},
    "nesterov uphill": {"nesterov": True, "momentum": 0.9, "maximize": True},
}
ON_A_DEVICE = {
    "capturable": {"capturable": True},
    "capturable tensor lr": {"capturable": True, "lr": torch.tensor(0.001)},
}
# Settings and what the error has to say, for parameters that are torch's own.
ERRORS: dict[str, dict[str, Any]] = {
    "alpha <= 2, got 2.1": {"alpha": 2.1},
    "lr must be finite and not negative, got -1": {"lr": -1.0},
    "momentum": {"momentum": -0.5},
    "noise_scale": {"noise_scale": 0.0},
    "weight_decay must be finite and not negative, got -1": {"weight_decay": -1.0},
    "form must be 'matched' or 'paper', got 'other'": {"form": "other"},
    "nesterov=True needs a momentum above 0": {"nesterov": True, "momentum": 0.0},
    "fused and foreach cannot both be True": {"foreach": True, "fused": True},
}
EXCUSES = {
    "test_defaults_changed_to_foreach": "replaces a function that only torch's own modules have",
}


def settings(device: str, dtype: torch.dtype | None = None) -> list[Any]:
    """What each test goes through; where a device has graphs, capturable too."""
    on_device = ON_A_DEVICE if infos._get_device_type(device) == "cuda" else {}
    return [
        infos.OptimizerInput(params=None, kwargs=_on(device, kwargs), desc=desc)
        for desc, kwargs in {**SETTINGS, **on_device}.items()
    ]


def _on(device: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    lr = kwargs.get("lr")
    return {**kwargs, "lr": lr.to(device)} if isinstance(lr, torch.Tensor) else dict(kwargs)


def plain_settings(device: str, dtype: torch.dtype | None = None) -> list[Any]:
    """Without those that SGD does not know."""
    return [i for i in settings(device) if not {"alpha", "noise_scale", "form"} & i.kwargs.keys()]


def errors(device: str, dtype: torch.dtype) -> list[Any]:
    """What every optimizer of torch refuses, and what FULD does."""
    found = list(infos.get_error_inputs_for_all_optims(device, dtype))
    if infos._get_device_type(device) == "cpu":
        x = torch.nn.Parameter(torch.randn(1, device=device, dtype=dtype))
        found += [
            infos.ErrorOptimizerInput(
                infos.OptimizerInput(params=[x], kwargs=kwargs, desc=says),
                error_type=ValueError,
                error_regex=says,
            )
            for says, kwargs in ERRORS.items()
        ]
    return found


def info(cls: type, inputs: Any, **more: Any) -> Any:
    """What torch's tests have to know of an optimizer."""
    return infos.OptimizerInfo(
        cls,
        optim_inputs_func=inputs,
        optim_error_inputs_func=errors,
        scheduler_inputs=(
            [lambda opt: StepLR(opt, gamma=0.9, step_size=10)],
            [lambda opt: LinearLR(opt, start_factor=0.4, end_factor=0.8, total_iters=4)],
            [lambda opt: ExponentialLR(opt, gamma=0.99), lambda opt: ReduceLROnPlateau(opt)],
        ),
        supported_impls=("foreach", "differentiable", "fused"),
        not_og_supported_flags=("foreach", "differentiable", "fused", "maximize", "capturable"),
        supports_fused_on=("cpu", "cuda"),
        has_capturable_arg=True,
        **more,
    )


def main() -> int:
    """Runs the tests and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "path", type=Path, help="PyTorch's test/test_optim.py, with test/optim beside it"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="what pytest prints, too")
    options = parser.parse_args()
    if not options.path.is_file():
        parser.error(
            f"there is no file {options.path}: it is test/test_optim.py of PyTorch's repository"
        )
    infos.optim_db[:] = [
        info(FULD, settings),
        info(
            FULDAtAlpha2,
            plain_settings,
            supports_sparse=True,
            metadata_for_sparse=(
                {
                    "lr": 4.8e-3,
                    "momentum": 0.0,
                    "nesterov": False,
                    "maximize": False,
                    "weight_decay": 0.0,
                },
                [lambda opt: StepLR(opt, gamma=0.99999, step_size=300)],
            ),
        ),
    ]
    print(f"torch {torch.__version__}, {options.path}")
    arguments = ["--noconftest", "-k", "TestOptimRenewed", str(options.path)]
    return 0 if outcomes.run(arguments, label, EXCUSES, options.verbose) else 1


def label(name: str) -> str | None:
    """The test's name without what it was run for."""
    return name.split("_FULD")[0] if "_FULD" in name else None


if __name__ == "__main__":
    sys.exit(main())
