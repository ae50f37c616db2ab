#!/usr/bin/env bash
# Runs every test that needs a GPU and prints one line per group; exits with 1 if a group failed or no Rust test ran.
#   run.sh BUNDLE [PYTHON]
# BUNDLE is the folder that `make gpu-bundle` leaves: the package, its tests and the compiled Rust tests. It can be copied to
# a machine without a network. PYTHON must have torch; python3 if it is not given.
set -u
bundle=$(cd "$1" && pwd) || exit 1
python=${2:-python3}
logs=$(mktemp -d)
failed=0
rust=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || { echo "no NVIDIA GPU was found"; exit 1; }

# group NAME COMMAND…: runs the command and prints its last line, or all of its output if it failed.
group() {
    local name=$1 log="$logs/${1//[^a-z]/-}"
    shift
    # A group whose tests were skipped has not passed.
    if "$@" > "$log" 2>&1 && grep -qE '[0-9]+ passed' "$log" && ! grep -qE '[1-9][0-9]* skipped' "$log"; then
        printf '%-28s %s\n' "$name" "$(grep -E '[0-9]+ passed' "$log" | tail -n 1)"
    else
        failed=1
        cat "$log"
        printf '%-28s FAILED\n' "$name"
    fi
}

cd "$bundle" || exit 1
# The program opens cuBLAS and NVRTC when it trains on a GPU. Those of torch serve if the system has none.
LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$("$python" libraries.py)"
export LD_LIBRARY_PATH
# CUDA tests are marked #[ignore], since they fail without a GPU. A program without one is left out.
for test in rust/*; do
    "$test" ::cuda_ _on_cuda --include-ignored --list | grep -q ': test$' || continue
    group "$(basename "$test")" "$test" ::cuda_ _on_cuda --include-ignored
    rust=1
done
[ "$rust" = 1 ] || { echo "the bundle has no CUDA test in Rust"; failed=1; }
group "fuld train and sweep" "$python" train.py ./fuld
PYTHONPATH="$bundle/site" group "fuld.torch" "$python" -m pytest -o addopts= -p no:cacheprovider -m gpu --rootdir "$bundle/python" python/tests/torch
exit $failed
