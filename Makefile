# `make demo` and `make test` set everything up in .venv by themselves; Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMMA := ,

# Tests that take long: of trainings, and of the code in guides and pages of games.
TRAININGS := tests/test_outside_games.py
GUIDES := $(addprefix tests/test_,site.py examples.py readme.py games_page.py)
# The same, in files of others: the comparison that a guide shows, the package of a new game, trainings
# that end and go on, and what takes long to compile.
COMPARISON := tests/test_bench.py::test_all_that_the_guides_show
PACKAGED := tests/test_new_game.py::test_its_tests_pass
TRAINED := tests/test_plain.py::test_the_guide_s_program_trains \
	$(addprefix tests/test_training.py::test_,a_run_that_is_stopped_again_and_again_ends_like_an_uninterrupted_one \
		a_run_is_neither_overwritten_nor_resumed_by_mistake \
		callbacks_of_sb3_see_the_run_and_end_it the_next_steps_run_as_they_are_written) \
	$(addprefix tests/test_gumbel_training.py::test_,a_round_that_is_played_again_is_the_same \
		ctrl_c_reaches_the_learner_alone_which_goes_on_bit_for_bit it_learns_a_small_game_from_scratch \
		a_worker_that_keeps_dying_ends_the_run_with_the_reason) \
	$(addprefix tests/test_ntuple.py::test_,a_run_by_features_alone_learns positions_of_a_large_board_are_read_back)
COMPILED := tests/test_operations.py::test_every_row_compiled tests/test_search.py::test_machine_code_searches_as_recorded \
	'tests/test_search.py::test_ctrl_c_ends_a_search[numba]' tests/test_compile_cache.py

# Some images of containers set it: each of hundreds of processes would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test installed versions learning lint mutants fuzz soak soak-short browser compiled engines jax examples rllib speed docs install clean

# A short PPO self-play training on Othello; results in runs/demo/.
demo: $(VENV)/.train
	$(BIN)/python -m training.ppo configs/demo.yaml --overwrite

# Style, types and all tests but those of other targets below, which take minutes or programs of their own.
test: lint
	@echo "The tests take some minutes; those that are skipped say why."
	$(BIN)/python -m pytest -rs --numprocesses=auto --dist=loadfile --ignore-glob='tests/test_web_[ab]*' --ignore-glob='tests/test_jax*' \
		--ignore=tests/test_learning.py --ignore-glob='tests/test_*_long.py' \
		--ignore=tests/test_breakthrough_installed.py --ignore=tests/test_distribution.py \
		$(addprefix --ignore=,$(TRAININGS) $(GUIDES)) $(addprefix --deselect=,$(COMPARISON) $(PACKAGED) $(TRAINED) $(COMPILED))

# The package, and a game from outside of it, as others install them: environments of their own.
installed: $(VENV)/.dev
	$(BIN)/python -m pytest tests/test_breakthrough_installed.py tests/test_distribution.py $(PACKAGED)

# The lowest and the newest versions of other libraries, on two Pythons where there are two.
versions:
	PYTHON=$(PYTHON) .ci/versions

# Trainings that end, are killed and go on; and some until they are strong: some minutes.
learning: $(VENV)/.dev
	$(BIN)/python -m pytest $(TRAININGS) $(TRAINED)
	BOARDENVS_BACKEND=numba $(BIN)/python -m pytest tests/test_learning.py tests/test_examples_long.py -k learning

# The searches of every game in machine code, the compiler of rules with all optimizations, and the cache of
# what was compiled: minutes, most of them compiling.
compiled: $(VENV)/.dev
	NUMBA_OPT=3 $(BIN)/python -m pytest tests/test_compiled_long.py tests/test_kernel.py tests/test_operations.py \
		tests/test_turn.py tests/test_wide.py $(COMPILED) -k "compiled_long or numba or recorded or cache"

# Programs that others wrote as players, where they are installed (Debian's grhino, gnugo and stockfish), and ours through pipes.
engines: $(VENV)/.dev
	BOARDENVS_BACKEND=numba $(BIN)/python -m pytest -rs tests/test_engines_long.py tests/test_examples_long.py -k engines

# Every game in JAX, and training there: minutes, most of them compiling.
jax: $(VENV)/.dev
	$(BIN)/python -m pytest tests/test_jax*.py tests/test_examples_long.py -k jax

# The page in a browser, where there is a chromium: some minutes.
browser: $(VENV)/.dev
	$(BIN)/python -m pytest tests/test_web_browser.py tests/test_web_accessible.py

# Other libraries on these games, each in an environment of its own that stays in .venv-examples/;
# one of them: `make examples EXAMPLES=torchrl_ppo`.
examples: | $(BIN)/uv
	PATH="$$PATH:$(CURDIR)/$(BIN)" $(PYTHON) .ci/examples.py $(EXAMPLES)

# Wrong inputs of all kinds, this number of each: `make fuzz FUZZ_CASES=1000`. Inputs that fail are
# stored in tests/.fuzz_corpus and tried first the next time.
FUZZ_CASES ?= 10000
fuzz: $(VENV)/.dev
	FUZZ_SECONDS=2 FUZZ_CASES=$(FUZZ_CASES) $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/test_fuzz.py

# Kills: `make soak MINUTES=60`.
MINUTES ?= 30
soak: $(VENV)/.dev
	$(BIN)/python tests/soak.py --minutes $(MINUTES)

soak-short: $(VENV)/.dev
	$(BIN)/python tests/soak.py --short

# Training on Ray, whose RLlib wants a gymnasium of its own: in another environment, some minutes.
# Its workers are as urgent as all else, or they would wait for all else on a busy machine.
RLLIB := .venv-rllib
rllib: $(RLLIB)/.rllib
	RAY_worker_niceness=0 $(RLLIB)/bin/python -m pytest tests/test_rllib_*.py tests/test_examples_long.py -k rllib

# How fast games are played, as a ratio to the last tag: `make speed COMMIT=main`.
speed: $(VENV)/.dev
	$(BIN)/python .ci/speed.py $(COMMIT)

# Errors planted one at a time in a copy, which tests must see; some: `make mutants MUTANTS=othello`,
# or ten that the date draws, or a seed: `make mutants MUTANTS="--draw 10 --seed 20260131"`.
mutants: $(VENV)/.dev
	cd tests && ../$(BIN)/python -m mutants $(MUTANTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "Checking types, which takes a minute the first time"
	$(BIN)/mypy

# The site: guides, games, reference; runs/site/index.html works from the file. All its links are tried, and all code.
docs: $(VENV)/.dev $(VENV)/.docs
	$(BIN)/python .ci/site/pages.py runs/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --config-file .ci/site/mkdocs.yml
	$(BIN)/python -m pytest $(GUIDES) $(COMPARISON)
	@echo "The site is in runs/site/: open $(CURDIR)/runs/site/index.html"

install: $(VENV)/.dev

# uv installs what pip would, in a quarter of the time, from where pip is told to look. PyTorch's own
# index is tried first: elsewhere torch for Linux comes with 2.7 GB of CUDA libraries.
export UV_CONFIG_FILE := $(CURDIR)/$(VENV)/uv.toml
UV_INSTALL := $(BIN)/uv pip install --quiet --constraint .ci/constraints.txt
define install # $(call install,PYTHON,PACKAGES)
	@echo "Installing $(2) into $(patsubst %/bin/python,%,$(1))"
	@$(UV_INSTALL) --torch-backend=cpu --python $(1) $(2) 2>/dev/null || $(UV_INSTALL) --python $(1) $(2)
endef

$(BIN)/uv:
	@echo "Setting up $(VENV), which takes some minutes."
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python .ci/uv_settings.py >$(UV_CONFIG_FILE)
	$(BIN)/python -m pip install --quiet uv

$(VENV)/.train: pyproject.toml .ci/constraints.txt | $(BIN)/uv
	$(call install,$(BIN)/python,--editable '.[train$(COMMA)web]')
	touch $@

$(VENV)/.dev: pyproject.toml .ci/constraints.txt | $(BIN)/uv
	$(call install,$(BIN)/python,--editable '.[dev]')
	touch $@ $(VENV)/.train

$(VENV)/.docs: pyproject.toml .ci/constraints.txt | $(BIN)/uv
	$(call install,$(BIN)/python,--editable '.[docs]')
	touch $@

$(RLLIB)/.rllib: pyproject.toml .ci/constraints.txt | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) $(RLLIB)
	$(call install,$(RLLIB)/bin/python,--editable '.[fast$(COMMA)rllib]' 'hypothesis>=6.100' 'pytest>=9')
	touch $@

clean:
	rm -rf $(VENV) .venv-* runs
