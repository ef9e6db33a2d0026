# Everything a developer types. `make quick` is for after each change (half a minute), `make test` is what CI runs first,
# `make conformance` second.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EVENTING := tests/eventing
EXTENSIONS := tests/functions/cluster_extension
LIFECYCLE := tests/conformance/lifecycle
DECIDING := $(addprefix $(EVENTING)/,effects events journal runner watch)
PIPELINE := $(DECIDING) $(addprefix $(EVENTING)/,endpoint worker workqueue)
STEADY := $(BIN)/python -m tests.steady
# The parts of the tests, of which each is one process: those that wait for what they start come first.
PIPELINE_PARTS := test-worker test-endpoint test-workqueue test-deciding
DOMAIN_PARTS := test-steps test-domain test-extensions
PARTS := test-verbs test-local test-programs test-replay $(PIPELINE_PARTS) test-adapters test-rest $(DOMAIN_PARTS)
# The tests start hundreds of processes: where nothing compiled is kept, each would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo quick quick-steps quick-domain lint test domain pipeline erase covered-domain covered-pipeline \
	$(PARTS) lifecycle lines conformance cluster cluster-down bench wheel lock stubs crds clean

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
	$(BIN)/pytest -m "not unmeasured or measured" tests/functions

quick-domain: setup
	$(BIN)/pytest --hypothesis-profile=quick tests/domain tests/reading

# Four parts at a time: the first ones wait more than they work, the last ones do not wait. One that fails stops no other.
test: setup erase
	$(MAKE) --no-print-directory --output-sync=target --keep-going -j 4 $(PARTS) lint
	$(MAKE) --no-print-directory covered-domain covered-pipeline

# The domain and its reads, whose branch coverage has to be complete.
domain: setup erase
	$(MAKE) --no-print-directory --output-sync=target -j 3 $(DOMAIN_PARTS)
	$(MAKE) --no-print-directory covered-domain

# Measured in every process that these tests start, so that what runs in a worker or a watcher counts, too.
pipeline: setup erase
	$(MAKE) --no-print-directory --output-sync=target -j 4 $(PIPELINE_PARTS)
	$(MAKE) --no-print-directory covered-pipeline

erase: setup
	$(BIN)/coverage erase
	$(BIN)/coverage erase --rcfile tests/pipeline_coverage.toml

covered-domain: setup
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/python -m tests.spec

test-steps: setup
	$(BIN)/coverage run -m pytest --ignore $(EXTENSIONS) tests/functions

test-extensions: setup
	$(BIN)/coverage run -m pytest $(EXTENSIONS)

test-domain: setup
	$(BIN)/coverage run -m pytest tests/domain tests/reading

$(PIPELINE_PARTS) covered-pipeline: export COVERAGE_RCFILE := tests/pipeline_coverage.toml

covered-pipeline: setup
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-worker: setup
	$(STEADY) $(BIN)/coverage run -m pytest $(EVENTING)/worker

test-endpoint: setup
	$(STEADY) $(BIN)/coverage run -m pytest $(EVENTING)/endpoint

test-workqueue: setup
	$(STEADY) $(BIN)/coverage run -m pytest $(EVENTING)/workqueue

test-deciding: setup
	$(STEADY) $(BIN)/coverage run -m pytest $(DECIDING)

# What people start and ask, on a laptop or in a cluster.
test-verbs: setup
	$(STEADY) $(BIN)/pytest $(EVENTING)/cli

test-local: setup
	$(STEADY) $(BIN)/pytest $(EVENTING)/local

test-programs: setup
	$(STEADY) $(BIN)/pytest $(PIPELINE:%=--ignore %) --ignore $(EVENTING)/cli --ignore $(EVENTING)/local $(EVENTING)

test-replay: setup
	$(STEADY) $(BIN)/pytest tests/replay

test-adapters: setup
	$(STEADY) $(BIN)/pytest tests/adapters

# Without the longest suite, which `make conformance` runs on both targets.
test-rest: setup
	$(STEADY) $(BIN)/pytest -m "not conformance" --ignore $(LIFECYCLE) --ignore tests/domain --ignore tests/reading \
		--ignore tests/functions --ignore $(EVENTING) --ignore tests/replay --ignore tests/adapters tests

# That suite where no API server can be built: on the sandbox alone.
lifecycle: setup
	$(STEADY) $(BIN)/pytest -n 2 --dist loadfile -m "not conformance" $(LIFECYCLE)

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
