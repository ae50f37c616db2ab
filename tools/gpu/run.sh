#!/usr/bin/env bash
# Runs every test that needs a GPU and prints one line per group; exits with 1 if a group failed or nothing ran.
#   run.sh BUNDLE [PYTHON]
# BUNDLE is the folder that `make gpu-bundle` leaves: the package, its tests and the compiled Rust tests. It can be copied to
# a machine without a network. PYTHON must have torch; python3 if it is not given.
set -u
bundle=$(cd "$1" && pwd) || exit 1
python=${2:-python3}
logs=$(mktemp -d)
failed=0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || { echo "there is no NVIDIA GPU here"; exit 1; }

# group NAME COMMAND…: runs the command and prints its last line, or all of its output if it failed.
group() {
    local name=$1 log="$logs/${1//[^a-z]/-}"
    shift
    if "$@" > "$log" 2>&1; then
        printf '%-28s %s\n' "$name" "$(grep -E '[0-9]+ passed' "$log" | tail -n 1)"
    else
        failed=1
        cat "$log"
        printf '%-28s FAILED\n' "$name"
    fi
}

cd "$bundle" || exit 1
for test in rust/*; do
    [ -x "$test" ] && group "$(basename "$test")" "$test" cuda
done
PYTHONPATH="$bundle/site" group "fuld.torch" "$python" -m pytest -o addopts= -p no:cacheprovider -m gpu --rootdir "$bundle/python" python/tests/torch
exit $failed
