"""Parameters of a class that holds its numbers in other tensors, not in memory of its own."""

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD  # noqa: E402
from torch.utils._pytree import tree_map_only  # noqa: E402


class Boxed(torch.Tensor):  # type: ignore[misc, name-defined, unused-ignore]
    """A tensor in a box."""

    @staticmethod
    def __new__(cls, content):
        return torch.Tensor._make_wrapper_subclass(cls, content.shape, dtype=content.dtype)

    def __init__(self, content):
        self.content = content

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        opened = tree_map_only(Boxed, lambda box: box.content, (args, kwargs or {}))
        result = function(*opened[0], **opened[1])
        # Operations in place return their first argument.
        if function._schema.is_mutable:
            return args[0]
        return tree_map_only(torch.Tensor, Boxed, result)


def boxed(**options):
    x = Boxed(torch.zeros(3, dtype=torch.float64))
    x.grad = Boxed(torch.tensor([1.0, 0.1, -3.0], dtype=torch.float64))
    return x, FULD([x], 0.1, **options)


@pytest.mark.parametrize("options", [{}, {"foreach": False, "fused": False}])
def test_torchs_own_operations_take_them(options):
    x = torch.zeros(3, dtype=torch.float64)
    x.grad = torch.tensor([1.0, 0.1, -3.0], dtype=torch.float64)
    FULD([x], 0.1).step()
    box, fuld = boxed(**options)
    fuld.step()
    torch.testing.assert_close(box.content, x, rtol=1e-12, atol=0)


def test_the_fused_step_refuses_them():
    box, fuld = boxed(fused=True)
    with pytest.raises(RuntimeError, match=r"no fused step for a Boxed, .* use fused=False"):
        fuld.step()
    assert (box.content == 0).all()
