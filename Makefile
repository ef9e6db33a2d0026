# Everything a developer types. `make quick` is for after each change (half a minute), `make test` is what CI runs first,
# `make conformance` second.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PURE := tests/domain tests/reading tests/functions
EXTENSIONS := tests/functions/cluster_extension
STORIES := unmeasured and not measured
LIFECYCLE := tests/conformance/lifecycle
RUNNING := $(addprefix tests/eventing/,endpoint worker)
DECIDING := $(addprefix tests/eventing/,effects events journal runner watch workqueue)
# The tests start hundreds of processes: where nothing compiled is kept, each would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo quick quick-steps quick-domain test lint domain measured-steps \
	measured-domain stories-steps stories-extensions pipeline measured-running measured-deciding programs rest lifecycle lines conformance cluster cluster-down bench wheel lock stubs crds clean

setup: $(VENV)/.ready

$(VENV)/.ready: requirements.lock pyproject.toml
	@echo "making $(VENV) with what requirements.lock names, from your package index; the first time this takes about a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: setup
	$(BIN)/olmf demo

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks, and the tests of `domain` without coverage and without what takes long: a property is tried with ten examples
# instead of a hundred, and the stories of steps, which reach no branch that others do not, are left to `make test`.
quick: setup
	$(MAKE) --no-print-directory --output-sync=target -j 2 quick-steps quick-domain lint

quick-steps: setup
	$(BIN)/pytest -m "not ($(STORIES))" tests/functions

quick-domain: setup
	$(BIN)/pytest --hypothesis-profile=quick tests/domain tests/reading

# Two parts at a time, and more than two processes for those that start programs, because these wait more than they work;
# what only works comes last. In parts, because every process of a part collects all tests of the part before its first.
test: setup
	$(MAKE) --no-print-directory -j 2 programs pipeline rest domain

# The domain and its reads are tested apart, because their branch coverage has to be complete.
domain: setup
	$(BIN)/coverage erase
	$(MAKE) --no-print-directory --output-sync=target -j 5 measured-steps measured-domain stories-steps lint stories-extensions
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/python -m tests.spec

measured-steps: setup
	$(BIN)/coverage run -m pytest -m "not ($(STORIES))" tests/functions

measured-domain: setup
	$(BIN)/coverage run -m pytest -m "not ($(STORIES))" tests/domain tests/reading

stories-steps: setup
	$(BIN)/pytest -m "$(STORIES)" --ignore $(EXTENSIONS) tests/domain tests/functions

stories-extensions: setup
	$(BIN)/pytest -m "$(STORIES)" $(EXTENSIONS)

# Measured in every process that these tests start, so that what runs in a worker or a watcher counts, too.
pipeline: export COVERAGE_RCFILE := tests/pipeline_coverage.toml
pipeline: setup
	$(BIN)/coverage erase
	$(MAKE) --no-print-directory -j 2 measured-running measured-deciding
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/pytest -m unmeasured $(DECIDING)

measured-running: setup
	$(BIN)/python -m tests.steady $(BIN)/coverage run -m pytest -n 4 --dist worksteal $(RUNNING)

measured-deciding: setup
	$(BIN)/python -m tests.steady $(BIN)/coverage run -m pytest -n 2 --dist worksteal -m "not unmeasured" $(DECIDING)

# What people start and ask, on a laptop or in a cluster.
programs: setup
	$(BIN)/python -m tests.steady $(BIN)/pytest -n 3 --dist loadfile \
		$(RUNNING:%=--ignore %) $(DECIDING:%=--ignore %) tests/eventing

# Without the longest suite, which `make conformance` runs on both targets.
rest: setup
	$(BIN)/python -m tests.steady $(BIN)/pytest -n 3 --dist loadfile -m "not conformance" \
		$(PURE:%=--ignore %) --ignore tests/eventing --ignore $(LIFECYCLE) tests

# That suite where no API server can be built: on the sandbox alone.
lifecycle: setup
	$(BIN)/python -m tests.steady $(BIN)/pytest -n 2 --dist loadfile -m "not conformance" $(LIFECYCLE)

# Lines of Python and Lua per folder.
lines:
	@git ls-files '*.py' '*.lua' | xargs wc -l | awk '$$2 != "total" { depth = split($$2, part, "/"); \
		sum[depth > 2 ? part[1] "/" part[2] : part[1]] += $$1 } END { for (each in sum) print sum[each], each }' | sort -k 2

conformance: setup
	$(BIN)/python -m tests.conformance

# A real node on this machine, as root, with the programs and two sample operators in its pods; then
# `python -m tests.conformance node` runs there. `cluster-down` takes all of it away.
cluster: setup
	tests/conformance/node/cluster.sh up

cluster-down:
	tests/conformance/node/cluster.sh down

bench: setup
	$(BIN)/python -m tests.bench

wheel: setup
	$(BIN)/python -m build --wheel

lock: setup
	$(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --strip-extras --allow-unsafe \
		--extra dev --extra otel -o requirements.lock pyproject.toml

# The messages of the registry API; a test compares them with what is generated.
stubs: setup
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. shared/adapters/catalog_client/registry.proto

# Our CustomResourceDefinitions again from the models in shared/api; a test compares them with what is generated.
crds: setup
	$(BIN)/olmf crds --out k8s/crds
	$(BIN)/python -m eventing.deploy.crds

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
