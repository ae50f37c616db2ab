"""The native module. Its functions take and return plain arrays; the package wraps them."""

import numpy as np
from numpy.typing import NDArray

__version__: str

def pdf(x: NDArray[np.float64], alpha: float, scale: float) -> NDArray[np.float64]: ...
