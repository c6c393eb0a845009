# The commands of Gatehouse: `make` lists them. All need Python 3.11 or newer; the list says what else some need.

VENV := .venv
BIN := $(VENV)/bin
PEER := bench/peer/node_modules/.package-lock.json
DOCS := .venv-docs
SECURITY := .venv-security
FUZZED := redirect_uris basic_header form json_body jwt_header phone email credential attestation

# Tests start hundreds of servers: modules are compiled once, even where the shell asks Python to keep no bytecode.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo argon2 pictures test test-fast coverage check audit verify verify-long mutate bench docs format lock messages release clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/runtime ## Start Gatehouse and its demo application; Ctrl-C stops both
	@DEBUG=$${DEBUG:-true} $(BIN)/python manage.py run

demo: $(VENV)/runtime ## Start it with a tenant full of made-up users, applications and sign-ins
	@DEBUG=$${DEBUG:-true} $(BIN)/python manage.py run --demo-tenant

argon2: $(VENV)/runtime ## Build Argon2id for AVX2 and AVX-512: hashing takes at least a quarter less CPU (needs gcc)
	@sh docs/deployment/build-argon2.sh $(BIN)/python requirements-argon2.lock

pictures: $(VENV)/development ## Take the pictures of docs/tour.md and of the README again
	GATEHOUSE_PICTURES=1 $(BIN)/python -m pytest -q tests/browser/test_pictures.py tests/browser/test_operators_day.py

test: $(VENV)/development ## Run the tests on SQLite and, where it is running, on PostgreSQL
	@tests/run

test-fast: $(VENV)/development ## Run the tests that need no server: about a minute
	@$(BIN)/python -m pytest -q --fast

coverage: $(VENV)/development ## Run the tests and say which lines and branches of the product nobody ran
	@tests/run --coverage

check: $(VENV)/development ## Check style, words, types, import order, house rules, settings and migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --fast tests/test_house.py tests/test_words.py
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/python manage.py check --settings config.settings_test
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings_test

audit: $(SECURITY)/ready ## Ask whether a dependency of production has a known weakness
	@$(BIN)/python .ci/audit_dependencies.py $(SECURITY)/bin/pip-audit

verify: check audit ## Check, then run every test with the long rounds: up to an hour
	@GATEHOUSE_THOROUGH=1 GATEHOUSE_REQUIRE_ALL=1 tests/run

verify-long: $(VENV)/development $(SECURITY)/ready ## Before a release: fuzzing, state machines and both engines for hours; SECONDS=300 says how long each
	@for target in $(FUZZED); do \
	    echo "── $$target"; \
	    $(SECURITY)/bin/python -m tests.fuzz.run $$target --seconds $(or $(SECONDS),1800) || exit 1; \
	done
	@GATEHOUSE_PROPERTY_SECONDS=$(or $(SECONDS),1800) tests/run tests/properties tests/security/test_ownership_property.py tests/security/test_consent_property.py
	@GATEHOUSE_BOTH_ENGINES=1 GATEHOUSE_REQUIRE_ALL=1 tests/run
	@$(BIN)/python -m bench soak

mutate: $(VENV)/development ## Change security decisions one by one, and list the changes that no test notices; ARGS=--help
	@$(BIN)/python -m tests.mutation $(ARGS)

bench: $(VENV)/development $(if $(shell command -v npm),$(PEER)) ## Measure requests per second, latency and CPU beside another provider and the machine's limits
	@$(BIN)/python -m bench run $(ARGS)

# No program of a package runs when it is installed: what the peer needs comes built.
$(PEER): bench/peer/package-lock.json
	@echo "Installing what $< lists"
	@npm ci --prefix bench/peer --ignore-scripts --no-audit --no-fund --silent && touch $@ || { rm -rf $(@D); echo "npm could not: it is left out"; }

docs: $(VENV)/runtime $(DOCS)/ready ## Build the documentation as a site in var/site; a broken link fails
	@$(BIN)/python docs/site/api.py
	@PATH="$(CURDIR)/$(DOCS)/bin:$$PATH" $(DOCS)/bin/python docs/site/build.py

format: $(VENV)/development ## Put the code into its canonical form
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

lock: ## Resolve the dependencies again (needs uv); UPGRADE=1 takes the newest allowed
	@command -v uv >/dev/null || { echo "make lock needs uv: python3 -m pip install uv"; exit 1; }
	$(COMPILE) --group demo --output-file requirements.lock pyproject.toml
	$(COMPILE) --constraint requirements.lock --output-file requirements-production.lock pyproject.toml
	$(COMPILE) --group demo --group dev --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml
	$(COMPILE) --group security --constraint requirements.lock --output-file requirements-security.lock pyproject.toml
	$(COMPILE) --group docs --output-file requirements-docs.lock
	$(COMPILE) --group argon2 --constraint requirements.lock --output-file requirements-argon2.lock
	$(COMPILE) --output-file tests/interop/requirements.lock tests/interop/requirements.in
	@! command -v npm >/dev/null || npm --prefix tests/interop install --package-lock-only --ignore-scripts --legacy-peer-deps --silent
	@! command -v npm >/dev/null || npm --prefix tests/interop/directus install --package-lock-only --ignore-scripts --silent
	@! command -v npm >/dev/null || npm --prefix tests/interop/nextjs install --package-lock-only --ignore-scripts --silent
	@! command -v npm >/dev/null || npm --prefix bench/peer install --package-lock-only --ignore-scripts --silent

# No index address, no annotation, no machine's path: the locks are the same wherever they are made.
COMPILE = uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

messages: $(VENV)/development ## Gather the sentences of pages and messages for translators, and compile (needs gettext)
	$(BIN)/python manage.py makemessages --settings config.settings_test --all --no-obsolete --no-wrap --add-location file --ignore tests --ignore docs --ignore bench --ignore var
	$(BIN)/python manage.py compilemessages --settings config.settings_test --ignore '.venv*'

release: $(VENV)/development ## Commit and tag a release, after make verify: make release VERSION=1.2.0
	@$(BIN)/python .ci/release.py "$(VERSION)"

clean: ## Remove the environments and all caches; the data in var/ stays
	rm -rf $(VENV) $(DOCS) $(SECURITY) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +


# ── The environment ──────────────────────────────────────────────────────────────────────────────────────────────────
# A stamp per lock: a second `make run` starts at once, and a changed lock is installed by whatever is typed next.
# uv is used where it is there, because it is quick; pip does the same, hashes and all. Stamps of an environment whose
# Python went away (an upgrade of the machine does that) count for nothing.

_ := $(shell test -x $(BIN)/python || rm -f $(VENV)/runtime $(VENV)/development)

$(VENV)/runtime: requirements.lock | $(BIN)/python
	@$(call install,$<)
	@touch $@

$(VENV)/development: requirements-dev.lock | $(BIN)/python
	@$(call install,$<)
	@touch $@ $(VENV)/runtime

# What makes the site has an environment of its own: nothing of it is needed to run or to test Gatehouse.
$(DOCS)/ready: requirements-docs.lock | $(BIN)/python
	@rm -rf $(DOCS)
	@if command -v uv >/dev/null; then uv venv --quiet --python $(BIN)/python $(DOCS); else $(BIN)/python -m venv $(DOCS); fi
	@$(call install,$<,$(DOCS))
	@touch $@

# What looks for weaknesses has one, too: fuzzing needs the product beside it.
$(SECURITY)/ready: requirements-security.lock | $(BIN)/python
	@rm -rf $(SECURITY)
	@if command -v uv >/dev/null; then uv venv --quiet --python $(BIN)/python $(SECURITY); else $(BIN)/python -m venv $(SECURITY); fi
	@$(call install,$<,$(SECURITY))
	@touch $@

$(BIN)/python:
	@rm -rf $(VENV)
	@$(find_python); \
	echo "Making $(VENV) with $$("$$python" --version)"; \
	if command -v uv >/dev/null; then exec uv venv --quiet --python "$$python" $(VENV); fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "This Python cannot make virtual environments: its venv module is packed separately."; \
	    echo "On Debian or Ubuntu: apt install python3-venv. Elsewhere: install uv, or Python from python.org."; \
	    exit 1; \
	fi; \
	"$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Sets $python to the real path of the first suitable interpreter; make PYTHON=/path/to/python says which one to take.
define find_python
python=""; \
for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
    python=$$("$$candidate" -c 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")' \
        2>/dev/null) && [ -n "$$python" ] && break; \
done; \
if [ -z "$$python" ]; then \
    echo "Gatehouse needs Python 3.11 or newer; $(or $(PYTHON),python3) is$$($(or $(PYTHON),python3) --version 2>/dev/null \
        | sed 's/^Python/ only/' | grep . || echo ' not there')."; \
    echo "On Debian 12 or Ubuntu 24.04 and newer: apt install python3 python3-venv. Elsewhere: python.org, or uv python install."; \
    exit 1; \
fi
endef

# Installs a lock, $(1), into an environment, $(2) or $(VENV).
define install
echo "Installing what $(1) lists"; \
if command -v uv >/dev/null; then \
    uv pip install --quiet --python $(or $(2),$(VENV))/bin/python --require-hashes -r $(1); \
else \
    $(or $(2),$(VENV))/bin/python -m pip --version >/dev/null 2>&1 || $(or $(2),$(VENV))/bin/python -m ensurepip >/dev/null; \
    $(or $(2),$(VENV))/bin/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r $(1); \
fi
endef
