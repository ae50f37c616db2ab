"""Prints the folders of the CUDA libraries that PyTorch's packages brought, for LD_LIBRARY_PATH.

python libraries.py
"""

from importlib.util import find_spec
from pathlib import Path

# The packages of NVIDIA share the namespace `nvidia`.
namespace = find_spec("nvidia")
packages = [] if namespace is None else namespace.submodule_search_locations
folders = {
    path.parent
    for package in packages
    for name in ("cublas", "nvrtc")
    for path in Path(package).glob(f"**/lib{name}.so*")
}
print(":".join(sorted(map(str, folders))))
