# Every target sets up what it needs: the first one makes .venv (tools/env.sh).
#   make PYTHON=python …   uses your own environment instead, conda's for example
#   make TENSORFLOW=2.18 … uses an older TensorFlow, in .venv-2.18: docs and tests too
#   make DEVICE=gpu env    TensorFlow for the GPU, or cpu; unset: what nvidia-smi says
#   make CUDA=on …         installs a CUDA compiler where there is none; off: the CPU alone; auto: uses what is there
#   make CUDAARCHS=90 …    GPU code for fewer architectures than the usual five, which compiles faster
#   make SPHINXOPTS=…      more options for sphinx-build

PYTHON ?=
TENSORFLOW ?=
CUDA ?= auto
SPHINXOPTS ?= -q
# Twice as many as there are cores, for a page waits for its kernel and a test for its processes; each takes 1 GB.
jobs = $(shell $(python) -c 'import os; print(min(2 * os.cpu_count(), 8))')
sphinx = $(python) -m sphinx -n -W --keep-going -j $(jobs) -c . -d build/doctrees $(SPHINXOPTS) docs
names := $(patsubst examples/%/CMakeLists.txt,%,$(wildcard examples/*/CMakeLists.txt))

ifeq ($(PYTHON),)
venv := .venv$(if $(TENSORFLOW),-$(TENSORFLOW))
python := $(CURDIR)/$(venv)/bin/python
environment := $(venv)/complete
else
python := $(PYTHON)
environment := check-environment
# An environment that clones share holds the opcheck of one of them.
export PYTHONPATH := $(CURDIR)/packages/opcheck:$(CURDIR)/examples/common$(if $(PYTHONPATH),:$(PYTHONPATH))
endif

export CUDA CUDAARCHS TENSORFLOW ACCEPT
export TF_CPP_MIN_LOG_LEVEL ?= 2
export TF_ENABLE_ONEDNN_OPTS ?= 0
export TF_FORCE_GPU_ALLOW_GROWTH ?= true

.DEFAULT_GOAL := help
.PHONY: help env check-environment examples $(names) docs page new serve notebooks local-notebooks lab test test-slow format lint asan tsan bench compare bench-gpu test-gpu linkcheck versions clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F '|' '{printf "%-18s %s\n", $$1, $$2}'
	@echo "make NAME          one example: $(names)"

env: $(environment) ## the environment alone, in .venv

$(venv)/complete: pyproject.toml packages/opcheck/pyproject.toml constraints.txt tools/env.sh
	@sh tools/env.sh

check-environment:
	@$(python) tools/check_environment.py

examples: $(environment) ## compile every example, for the GPU too where there is a CUDA compiler
	@$(python) tools/examples.py

$(names): $(environment)
	@$(python) tools/examples.py $@

docs: examples ## run every chapter and write the site to build/html
	@$(python) packages/opcheck/mistakes/provoke.py
	@$(sphinx) build/html
	@echo "file://$(CURDIR)/build/html/index.html"

page: $(environment) ## one page and the examples that it needs: PAGE=zero_out; ACCEPT=1 takes the outputs that changed
	@$(python) tools/page.py $(PAGE)

new: $(environment) ## a page and an example of a small op that works, to be changed: NAME=soft_threshold
	@$(python) tools/new.py $(if $(findstring command,$(origin NAME)),'$(subst ','\'',$(NAME))')

serve: examples ## the site on localhost, rebuilt when a source changes
	@$(python) -m sphinx_autobuild -n -c . -d build/doctrees --watch examples --watch packages --watch conf.py --watch tools \
	  --ignore '*.so' --ignore '*/__pycache__/*' --pre-build "$(python) tools/examples.py" --open-browser -q docs build/html

notebooks: docs ## every chapter as an executed notebook in build/notebooks
	@$(sphinx) build/notebooks -b notebook

local-notebooks: examples
	@$(sphinx) build/lab -b notebook -d build/lab-doctrees -D notebooks=local -D nb_execution_mode=off

lab: local-notebooks ## JupyterLab with the chapters open as notebooks
	@$(python) -m jupyterlab --notebook-dir build/lab

# The examples that TESTS names, or all.
tested = $(or $(filter $(names),$(subst /, ,$(filter-out packages/%,$(TESTS)))),examples)

parallel = -n $(jobs) --dist loadgroup

test: $(if $(TESTS),$(tested),docs) ## the tests, on the site too; TESTS=examples/attrs, or TESTS="tests -k attrs": these alone
	@$(python) -m pytest -c pyproject.toml $(or $(TESTS),-m 'not slow' --opcheck-fast $(parallel))

test-slow: docs ## the tests that build projects, wheels and copies of the book, call ops for long or open every page, and opcheck's at length
	@$(python) -m pytest -c pyproject.toml -m 'slow or opcheck' $(parallel)

# The programs that pip has put beside this Python.
scripts = $(shell $(python) -c 'import sysconfig; print(sysconfig.get_path("scripts"))')
cpp_sources = $(shell find . -name '.?*' -prune -o -name build -prune -o \( -name '*.c' -o -name '*.cc' -o -name '*.h' \) -print)

format: $(environment) ## lets ruff and clang-format lay out the sources
	@$(scripts)/ruff check --quiet --fix . || true
	@$(scripts)/ruff format --quiet .
	@$(scripts)/clang-format -i $(cpp_sources)

lint: $(environment) ## ruff, codespell, clang-format, shellcheck and clang-tidy; EXAMPLES=attrs: clang-tidy for this one
	@$(scripts)/ruff check --quiet .
	@$(scripts)/ruff format --quiet --check . || { echo "make lint: make format lays these files out"; exit 1; }
	@$(scripts)/codespell
	@$(scripts)/clang-format --dry-run -Werror $(cpp_sources) || { echo "make lint: make format lays these files out"; exit 1; }
	@$(scripts)/shellcheck tools/env.sh .ci/run postBuild
	@$(scripts)/shellcheck --shell bash --exclude SC2035,SC2046,SC2086 packages/opcheck/mistakes/*/*.sh
	@$(python) tools/tidy.py $(EXAMPLES)

asan: $(environment) ## tests and generated calls, looking for wrong memory accesses and arithmetic; EXAMPLES=attrs: of this one
	@$(python) tools/sanitize.py asan $(EXAMPLES)

tsan: $(environment) ## the same, looking for data races
	@$(python) tools/sanitize.py tsan $(EXAMPLES)

# What make bench runs: first what installs the libraries that the others compare with.
benches := peers roi_pool roi_pool_composed roi_pool_steps cpu cpu_composed ps_roi_align ps_roi_align_xla extremes \
  medians softmax_gradient bridge prototype eigen elementwise broadcast lists mat_mul threads stochastic_rounding \
  dataset workers serving readers queues state random_sample send_recv sketch max_pool sliding_max \
  stable_abi stable_parallel conv2d conv2d_step xla page_faults check_seconds
ifneq ($(filter bench,$(MAKECMDGOALS)),)
$(foreach each,$(filter-out $(benches),$(BENCH)),$(error make bench: there is no $(each), only $(benches)))
endif

bench compare: python := env -u TF_ENABLE_ONEDNN_OPTS $(python)
bench: examples ## every measurement of bench/ that needs no GPU, against other libraries too; BENCH="cpu threads": these alone
	@set -e; for each in $(or $(BENCH),$(benches)); do $(python) bench/$$each.py; done

compare: $(environment) ## whether ops are slower than in another commit: REF=v1.0; EXAMPLES="roi_pool threads": these alone
	@$(python) bench/compare.py "$(REF)" $(EXAMPLES)

# gpu_profile.py makes gpu_profile.csv and gpu_calls.csv; gpu_autotuning.csv is of the command that it names.
bench-gpu: $(if $(PYTHON),,$(environment)) ## what needs a GPU, nvcc, TensorFlow for it and torchvision: our ops, TensorFlow's kernels, which ops have one
	@$(python) bench/gpu_ops.py
	@$(python) bench/gpu_limits.py
	@$(python) bench/gpu_profile.py
	@$(python) bench/gpu_kernels.py
	@$(python) bench/gpu_build.py

test-gpu: examples ## the tests of the CUDA kernels on a GPU, under compute-sanitizer too: needs a GPU and CUDA
	@$(python) bench/gpu_tests.py

# arm64.csv and containers.csv are of the commands that they name: a Debian of arm64, and buildah.
versions: $(environment) ## every example on every TensorFlow from 2.16 on, for bench/versions.csv: VERSIONS=2.18,2.20 EXAMPLES=stable_abi
	@$(python) tools/versions.py --versions "$(VERSIONS)" --examples "$(EXAMPLES)" $(if $(OWN),--own)

linkcheck: examples ## every link of the site
	@$(sphinx) build/linkcheck -b linkcheck -d build/linkcheck-doctrees

# What the examples' own .gitignore files name lies beside the sources, as the libraries do.
programs = $(foreach list,$(wildcard examples/*/.gitignore),$(addprefix $(dir $(list)),$(shell cat $(list))))

clean: ## all that was made, but for the environments
	@rm -rf build examples/*/lib*.so examples/*/*/lib*.so $(programs) .pytest_cache .ruff_cache
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
