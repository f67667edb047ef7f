# OpenJarvis Web. `make help` lists what there is.

VENV := .venv
IN := $(VENV)/bin/
PACKAGES := openjarvis_web tools_app scheduler_app nodes_app
.DEFAULT_GOAL := help
.PHONY: help setup run test lint bench screenshots translations clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed-dev ## install everything that development needs

run: $(VENV)/.installed ## install what is missing and start; Ctrl-C stops it
	@exec $(IN)python manage.py serve

test: $(VENV)/.installed-dev ## lint, then the whole suite
	@exec $(IN)python -m tests.suite

lint: $(VENV)/.installed-dev ## check style, types, layers, templates, settings and schema
	$(IN)ruff check .
	$(IN)ruff format --check .
	$(IN)mypy $(PACKAGES)
	$(IN)lint-imports
	find templates -name '*.html' -print0 | xargs -0 $(IN)djade --check --target-version 5.2
	$(IN)python -m tests.suite --project

bench: $(VENV)/.installed-dev ## measure requests and live fan-out in both process modes
	@exec $(IN)python -m tests.bench

screenshots: $(VENV)/.installed-dev ## take the pictures in docs/screenshots
	@exec $(IN)python -m tests.screenshots

translations: $(VENV)/.installed-dev ## collect the sentences to translate, compile the catalogues
	$(IN)python manage.py makemessages -l th --no-wrap --no-obsolete --add-location file \
	  --ignore 'tests/*' --ignore 'data/*'
	sed -i '/^"POT-Creation-Date:/d' locale/th/LC_MESSAGES/django.po
	$(IN)python manage.py compilemessages -l th --ignore '.venv*'

clean: ## remove what was built; the data folder stays
	rm -rf $(VENV) .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(IN)python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(IN)python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/bin/python:
	@sh .ci/make-venv $(VENV)
