# make test    everything CI checks: formatting, lints, all tests, doc tests, documentation
# make python  the Python package alone: lints, types, tests, tutorial; then fuld.torch and fuld.optax
# make frameworks  fuld.torch and fuld.optax alone: types and tests, in an environment with torch and jax that is kept
# make tutorial runs the tutorial again and puts what it prints and draws into docs/
# make bench   benchmarks, as ratios to scipy and numpy measured in the same run where those can be installed
# make bench-train  iterations of training a second beside torch.compile in the same run (installs torch)
# make bench-torch  a step of fuld.torch.FULD beside torch's SGD in the same run (installs torch)
# make bench-python  the Python package beside numpy and scipy in the same run (installs numpy, scipy and the package)
# make conformance  the tests of optimizers of PyTorch, optax and pytorch-optimizer, with ours under test
# make golden  computes the golden values of the tests again (needs python; installs python-flint)
# make accuracy measures the error of the law and draws the pictures of docs/ (needs python; installs matplotlib)

CARGO ?= cargo
PYTHON ?= python3
VENV := target/venv
# All but cuda, which no test runs without a GPU; lint compiles it.
FEATURES := levy-stable/serde

PACKAGE := crates/fuld-python

# torch and jax take six gigabytes: outside the tree, and one for all checkouts that want the same versions.
FRAMEWORKS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fuld/frameworks-$(shell cksum < tools/frameworks/requirements.txt | cut -d " " -f 1)

.PHONY: test fmt lint unit docs python wheel frameworks test-frameworks tutorial bench bench-train bench-torch bench-python conformance golden accuracy clean

test: fmt lint unit docs python

fmt:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings

# One test opens our files with the real ArviZ; where that cannot be installed it says that it was skipped.
unit:
	@$(MAKE) --no-print-directory $(VENV)/check.done || echo "arviz could not be installed: its test will be skipped"
	if test -e $(VENV)/check.done; then export FULD_PYTHON="$(CURDIR)/$(VENV)/bin/python"; fi; \
	$(CARGO) test --workspace --features $(FEATURES) --locked

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --features $(FEATURES) --no-deps --locked

# The package as users get it, but for the profile: the one that everything else is built with.
wheel: $(VENV)/python.done
	rm -rf target/wheels
	$(VENV)/bin/maturin build --quiet --locked --profile dev --manifest-path $(PACKAGE)/Cargo.toml --out target/wheels
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/*.whl

# Doctests of fuld.torch and fuld.optax, which cannot be imported here, are left to the frameworks.
python: wheel
	$(VENV)/bin/ruff check $(PACKAGE) tools
	$(VENV)/bin/ruff format --check $(PACKAGE) tools
	cd $(PACKAGE) && $(CURDIR)/$(VENV)/bin/mypy --exclude '(^|/)(torch|optax)/' python tests
	cd target && $(CURDIR)/$(VENV)/bin/python -m mypy.stubtest --concise --ignore-disjoint-bases fuld._native
	cd $(PACKAGE) && $(CURDIR)/$(VENV)/bin/pytest --doctest-modules --doctest-ignore-import-errors --pyargs fuld tests
	$(VENV)/bin/python tools/tutorial/run.py docs/tutorial.md
	@$(MAKE) --no-print-directory $(FRAMEWORKS)/done || echo "torch and jax could not be installed: the tests of fuld.torch and fuld.optax are skipped"
	if test -e $(FRAMEWORKS)/done; then $(MAKE) --no-print-directory test-frameworks; fi

frameworks: wheel $(FRAMEWORKS)/done test-frameworks

# With the wheel that is there, and not in the environment itself: other checkouts may use it at the same time.
test-frameworks:
	rm -rf target/frameworks
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-deps --target target/frameworks target/wheels/*.whl
	cd $(PACKAGE) && PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/mypy python/fuld/torch python/fuld/optax tests/torch tests/optax examples
	cd $(PACKAGE) && PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/python -m pytest --doctest-modules --pyargs fuld.torch fuld.optax tests/torch tests/optax tests/test_readme.py

# Its name says what is in it: no newer list can want another.
$(FRAMEWORKS)/done:
	rm -rf $(FRAMEWORKS)
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-cache-dir -r tools/frameworks/requirements.txt
	touch $@

tutorial: wheel
	$(VENV)/bin/python tools/tutorial/run.py --write docs/tutorial.md

$(VENV)/%.done: tools/%/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

golden: $(VENV)/golden.done
	for job in random small quantile entropy; do \
		$(VENV)/bin/python tools/golden/make_golden.py $$job > crates/levy-stable/tests/golden/$$job.csv.part || exit 1; \
		mv crates/levy-stable/tests/golden/$$job.csv.part crates/levy-stable/tests/golden/$$job.csv; \
	done
	awk -F, 'BEGIN { print "# every twelfth of the random golden values of levy-stable with 0.3 <= alpha <= 2: make golden"; \
		print "alpha,x,pdf,sf,score" } /^#|^class/ { next } ++row % 12 == 0 && $$2 >= 0.3 && $$4 + 0 > 1e-290 && $$5 + 0 > 1e-290 \
		{ print $$2 "," $$3 "," $$4 "," $$5 "," $$6 }' crates/levy-stable/tests/golden/random.csv > crates/fuld-reproduce/src/law_reference.csv

# Criterion first, then its estimates beside the peers'. Without the peers, or without python, ours are still measured.
bench:
	$(CARGO) bench --workspace --locked -- --quiet
	@$(MAKE) --no-print-directory $(VENV)/bench.done || echo "numpy and scipy could not be installed"
	@python=$(VENV)/bin/python; test -x $$python || python=$(PYTHON); \
	if command -v $$python > /dev/null; then $$python tools/bench/peers.py; \
	else echo "no python: no comparison, criterion's times are above"; fi

# Beside torch.compile; without torch ours alone.
bench-train:
	$(CARGO) bench --package fuld-train --locked -- --quiet
	@$(MAKE) --no-print-directory $(FRAMEWORKS)/done || echo "torch could not be installed"
	@python=$(FRAMEWORKS)/bin/python; test -x $$python || python=$(PYTHON); \
	if command -v $$python > /dev/null; then $$python tools/bench/train.py; \
	else echo "no python: no comparison, criterion's times are above"; fi

# Beside torch's own SGD, on the CPU and, if there is one, on a GPU.
bench-torch:
	@$(MAKE) --no-print-directory $(FRAMEWORKS)/done || { echo "torch could not be installed: there is nothing to compare with"; exit 1; }
	rm -rf target/frameworks
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-deps --target target/frameworks ./crates/fuld-python
	PYTHONPATH=$(CURDIR)/target/frameworks $(FRAMEWORKS)/bin/python tools/bench/torch_step.py

# Other people's tests of optimizers, with ours under test. PyTorch's are not in its package: name the file of its repository.
OTHERS := target/conformance
conformance: wheel $(FRAMEWORKS)/done
	rm -rf $(OTHERS)
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $(OTHERS)/site target/wheels/*.whl -r tools/conformance/requirements.txt
	$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $(OTHERS)/site pytorch-optimizer==4.1.0
	$(FRAMEWORKS)/bin/pip download --quiet --disable-pip-version-check --no-binary :all: --no-deps --dest $(OTHERS) pytorch-optimizer==4.1.0
	tar --extract --directory $(OTHERS) --file $(OTHERS)/pytorch_optimizer-4.1.0.tar.gz
	PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/optax_common.py
	PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/pytorch_optimizer_package.py $(OTHERS)/pytorch_optimizer-4.1.0
	@if test -n "$(TEST_OPTIM)"; then PYTHONPATH=$(OTHERS)/site $(FRAMEWORKS)/bin/python tools/conformance/torch_optim.py $(TEST_OPTIM); \
	else echo "PyTorch's own tests were left out: make conformance TEST_OPTIM=PATH/TO/pytorch/test/test_optim.py"; fi

# The package as pip builds it, which is with the release profile.
bench-python: $(VENV)/bench.done
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./crates/fuld-python
	$(VENV)/bin/python tools/bench/python_law.py
	$(VENV)/bin/python tools/bench/python_callable.py

# Against ball arithmetic, at random points: some minutes. Raw errors are left in target/accuracy.
accuracy: $(VENV)/accuracy.done
	$(CARGO) build --release --package levy-stable --examples --locked
	$(VENV)/bin/python tools/accuracy/measure.py target/release/examples/evaluate
	$(VENV)/bin/python tools/accuracy/draw.py
	$(VENV)/bin/python tools/accuracy/law.py target/release/examples

clean:
	$(CARGO) clean
