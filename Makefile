# Checks, from fast to complete. Each includes the ones above it. make check     formatting, lints
#   and unit tests; no network; three minutes with warm caches make test      all Rust tests and the
#   Python package; the command of the README make test-all  also PyTorch, JAX, Triton's
#   interpreter, a browser, kill loops, documentation; what CI runs make test-gpu  everything that
#   needs an NVIDIA GPU, and nothing else
#
# Benchmarks, as ratios to a peer in the same run.
#   make bench         the law and the chains, beside scipy and numpy
#   make bench-python  the Python package, beside scipy and numpy
#   make bench-train   training, beside torch.compile
#   make bench-train-gpu  training on an NVIDIA GPU, beside PyTorch's stacked CUDA graph
#   make bench-torch   one optimizer step, beside torch.optim.SGD
#
# Generated files.
#   make golden        reference values of the law's tests
#   make accuracy      measured errors and figures of docs/accuracy.md
#   make tutorial      output and figures of docs/tutorial.md
#   make modules       the module tree of CONTRIBUTING.md
#   make conformance   the optimizer tests of PyTorch, optax and pytorch-optimizer, run on ours

CARGO ?= cargo
PYTHON ?= python3
PACKAGE := crates/fuld-python
VENV := target/venv
# PyTorch and JAX take six gigabytes: they are installed once, outside the tree, for all checkouts
# that need the same versions.
FRAMEWORKS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fuld/frameworks-$(shell cksum < tools/frameworks/requirements.txt | cut -d " " -f 1)
PIP_INSTALL := pip install --quiet --disable-pip-version-check

.PHONY: check test test-binaries test-all test-gpu fmt lint python wheel frameworks docs kill-loops gpu-bundle \
	bench bench-python bench-train bench-train-gpu bench-torch golden accuracy tutorial modules conformance clean

# ---- checks

check: fmt lint
	$(CARGO) test --workspace --lib --locked --offline

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --locked --offline -- -D warnings

# The Python tools are installed while the tests compile. One test opens our store with ArviZ;
# FULD_PYTHON names the Python that has it.
test:
	@$(MAKE) --no-print-directory --jobs 2 test-binaries $(VENV)/python.done
	FULD_PYTHON="$(CURDIR)/$(VENV)/bin/python" $(CARGO) test --workspace --tests --locked
	@$(MAKE) --no-print-directory python

test-binaries:
	$(CARGO) test --workspace --tests --locked --no-run

# --offline in `check` needs the crates: fetch them first.
test-all:
	$(CARGO) fetch --locked
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory kill-loops docs frameworks
	$(VENV)/bin/python tools/tutorial/run.py docs/tutorial.md
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings
	$(CARGO) test --package fuld-train --lib --features cuda --locked cuda

# Tests marked #[ignore]: each kills a process many times, or needs a browser.
kill-loops:
	FULD_PYTHON="$(CURDIR)/$(VENV)/bin/python" $(CARGO) test --workspace --tests --locked -- --ignored

docs:
	$(CARGO) test --workspace --doc --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# ---- the Python package

# The wheel is built with the profile of everything else, so that the crates compile once.
wheel: $(VENV)/python.done
	rm -rf target/wheels
	$(VENV)/bin/maturin build --quiet --locked --profile dev --manifest-path $(PACKAGE)/Cargo.toml --out target/wheels
	$(VENV)/bin/$(PIP_INSTALL) --force-reinstall --no-deps target/wheels/*.whl

# fuld.torch and fuld.optax cannot be imported here: their tests are part of `make frameworks`.
python: wheel
	$(VENV)/bin/ruff check $(PACKAGE) tools
	$(VENV)/bin/ruff format --check $(PACKAGE) tools
	cd $(PACKAGE) && $(CURDIR)/$(VENV)/bin/mypy --exclude '(^|/)(torch|optax|blackjax|models)/' python tests
	cd target && $(CURDIR)/$(VENV)/bin/python -m mypy.stubtest --concise --ignore-disjoint-bases fuld._native
	cd $(PACKAGE) && $(CURDIR)/$(VENV)/bin/pytest --doctest-modules --doctest-ignore-import-errors --pyargs fuld tests

# The wheel goes into target/frameworks and not into the environment, which other checkouts may use
# at the same time.
frameworks: wheel $(FRAMEWORKS)/done
	rm -rf target/frameworks
	$(FRAMEWORKS)/bin/$(PIP_INSTALL) --no-deps --target target/frameworks target/wheels/*.whl
	cd $(PACKAGE) && PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/mypy python/fuld/torch python/fuld/optax python/fuld/blackjax python/fuld/numpyro.py tests/torch tests/optax tests/blackjax tests/models examples
	cd $(PACKAGE) && PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/python -m pytest --doctest-modules --pyargs fuld.torch fuld.optax fuld.blackjax fuld.numpyro tests/torch tests/optax tests/blackjax tests/models tests/test_readme.py

$(FRAMEWORKS)/done:
	rm -rf $(FRAMEWORKS)
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/$(PIP_INSTALL) --no-cache-dir -r tools/frameworks/requirements.txt
	touch $@

$(VENV)/%.done: tools/%/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/$(PIP_INSTALL) -r $<
	touch $@

# ---- GPU

# A folder with all that the GPU tests need but torch itself; it can be copied to a machine without
# a network.
gpu-bundle: wheel
	rm -rf target/gpu && mkdir -p target/gpu/rust target/gpu/python
	$(VENV)/bin/$(PIP_INSTALL) --no-deps --target target/gpu/site target/wheels/*.whl pytest pluggy iniconfig packaging
	cp -r $(PACKAGE)/tests $(PACKAGE)/examples $(PACKAGE)/docs $(PACKAGE)/pyproject.toml target/gpu/python
	$(CARGO) test --no-run --locked --package fuld-burn --features cuda --message-format json \
		| $(PYTHON) tools/gpu/test_binaries.py target/gpu/rust
	$(CARGO) test --no-run --locked --package fuld-train --lib --features cuda --message-format json \
		| $(PYTHON) tools/gpu/test_binaries.py target/gpu/rust
	$(CARGO) build --locked --package fuld-cli --features cuda
	strip -o target/gpu/fuld target/debug/fuld
	cp tools/gpu/run.sh tools/gpu/train.py tools/gpu/libraries.py target/gpu

test-gpu: gpu-bundle $(FRAMEWORKS)/done
	target/gpu/run.sh target/gpu $(FRAMEWORKS)/bin/python

# ---- benchmarks

# Criterion first, then its estimates beside the peers'. Without the peers, or without Python, ours
# are still measured.
bench:
	$(CARGO) bench --workspace --locked -- --quiet
	@$(MAKE) --no-print-directory $(VENV)/bench.done || echo "numpy and scipy could not be installed: no comparison"
	@if test -x $(VENV)/bin/python; then $(VENV)/bin/python tools/bench/peers.py; fi

# With the release profile, as pip builds the package.
bench-python: $(VENV)/bench.done
	$(VENV)/bin/$(PIP_INSTALL) --force-reinstall --no-deps ./$(PACKAGE)
	$(VENV)/bin/python tools/bench/python_law.py
	$(VENV)/bin/python tools/bench/python_callable.py

bench-train:
	$(CARGO) bench --package fuld-train --locked -- --quiet
	@$(MAKE) --no-print-directory $(FRAMEWORKS)/done || echo "torch could not be installed: no comparison"
	@if test -x $(FRAMEWORKS)/bin/python; then $(FRAMEWORKS)/bin/python tools/bench/train.py; fi

# cuBLAS and NVRTC are those that torch brings.
bench-train-gpu: $(FRAMEWORKS)/done
	$(CARGO) build --release --locked --package fuld-cli --features cuda
	LD_LIBRARY_PATH="$$($(FRAMEWORKS)/bin/python tools/gpu/libraries.py):$$LD_LIBRARY_PATH" \
		$(FRAMEWORKS)/bin/python tools/bench/train_cuda.py target/release/fuld --sweep

# On the CPU and, if there is one, on a GPU.
bench-torch: $(FRAMEWORKS)/done
	rm -rf target/frameworks
	$(FRAMEWORKS)/bin/$(PIP_INSTALL) --no-deps --target target/frameworks ./$(PACKAGE)
	PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/python tools/bench/torch_step.py

# ---- generated files

modules:
	$(PYTHON) tools/modules/tree.py

tutorial: wheel
	$(VENV)/bin/python tools/tutorial/run.py --write docs/tutorial.md

GOLDEN := crates/levy-stable/tests/golden
golden: $(VENV)/golden.done
	for set in random small quantile entropy; do \
		$(VENV)/bin/python tools/golden/make_golden.py $$set > $(GOLDEN)/$$set.csv.part || exit 1; \
		mv $(GOLDEN)/$$set.csv.part $(GOLDEN)/$$set.csv; \
	done
	awk -F, 'BEGIN { print "# every twelfth of the random golden values of levy-stable with 0.3 <= alpha <= 2: make golden"; \
		print "alpha,x,pdf,sf,score" } /^#|^class/ { next } ++row % 12 == 0 && $$2 >= 0.3 && $$4 + 0 > 1e-290 && $$5 + 0 > 1e-290 \
		{ print $$2 "," $$3 "," $$4 "," $$5 "," $$6 }' $(GOLDEN)/random.csv > crates/fuld-reproduce/src/law_reference.csv

# Against ball arithmetic, at random points: some minutes. Raw errors are left in target/accuracy.
accuracy: $(VENV)/accuracy.done
	$(CARGO) build --release --package levy-stable --examples --locked
	$(VENV)/bin/python tools/accuracy/measure.py target/release/examples/evaluate
	$(VENV)/bin/python tools/accuracy/draw.py
	$(VENV)/bin/python tools/accuracy/law.py target/release/examples

# PyTorch's own tests are not in its package: TEST_OPTIM names the file of its repository.
OTHERS := target/conformance
conformance: wheel $(FRAMEWORKS)/done
	rm -rf $(OTHERS)
	$(FRAMEWORKS)/bin/$(PIP_INSTALL) --no-deps --target $(OTHERS)/site target/wheels/*.whl -r tools/conformance/requirements.txt
	$(FRAMEWORKS)/bin/$(PIP_INSTALL) --no-deps --target $(OTHERS)/site pytorch-optimizer==4.1.0
	$(FRAMEWORKS)/bin/pip download --quiet --disable-pip-version-check --no-binary :all: --no-deps --dest $(OTHERS) pytorch-optimizer==4.1.0
	tar --extract --directory $(OTHERS) --file $(OTHERS)/pytorch_optimizer-4.1.0.tar.gz
	PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/optax_common.py
	PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/pytorch_optimizer_package.py $(OTHERS)/pytorch_optimizer-4.1.0
	@if test -n "$(TEST_OPTIM)"; then PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/torch_optim.py $(TEST_OPTIM); \
	else echo "PyTorch's own tests were left out: make conformance TEST_OPTIM=PATH/TO/pytorch/test/test_optim.py"; fi

clean:
	$(CARGO) clean
