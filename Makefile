# Everything runs in .venv, made here. What is needed beforehand: Python 3.11 or newer with its
# venv module, a Rust toolchain (https://rustup.rs), and a C linker.

PYTHON ?= python3
export PATH := $(HOME)/.cargo/bin:$(PATH)

# Every pip here, maturin's too, installs the versions that the tests are known to pass with.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

VENV := .venv
BIN := $(VENV)/bin
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin
PAGE := python/incast/explorer/index.html
WASM := target/wasm32-unknown-unknown/web/incast_web.wasm
SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml pyproject.toml
# Builds that `make bench` compares with $(VENV)/release, each a folder with the package.
OTHERS := target/builds
TRAINING := benches/train.py benches/timing/cases.py benches/timing/transports.py

.DEFAULT_GOAL := help
.PHONY: help explorer test-explorer bench-explorer demo test lint validate validate-quick mutants figures bench bench-shapes pgo wheel reference docs constraints clean fuzz

help:
	@echo "make demo      build, run scenarios/storage-read.toml, leave a table and a picture"
	@echo "make test      every lint and test"
	@echo "make validate  compare with ns-2, ns-3, theory and the literature, long property tests"
	@echo "make validate-quick  a sample of every comparison; STUDIES=\"ns2 ns3\" takes these only"
	@echo "make mutants   change the code at random and see whether the tests notice; hours, resumable"
	@echo "make explorer  the page of incast explore: the engine in a browser; needs Node 20"
	@echo "make test-explorer  its tests, in Chromium"
	@echo "make bench-explorer  how large and how fast it is, in Chromium"
	@echo "make fuzz      ten minutes of random captures; needs nightly Rust and cargo-fuzz"
	@echo "make figures   the figures of the literature, in reproduction/index.html"
	@echo "make bench     speed and memory, beside ns-2 where it is installed, per transport;"
	@echo "               HTSIM=PROGRAM also beside a program of htsim"
	@echo "make bench-shapes  how time grows with servers, bytes, holes, switches, ..."
	@echo "make pgo       the fast build of the package, by profile-guided optimisation; needs:"
	@echo "               rustup component add llvm-tools"
	@echo "make wheel     a wheel of the fast build for other machines, in dist/"
	@echo "make reference  write the generated reference pages"
	@echo "make docs      the documentation, in docs/_build"
	@echo "make constraints  make .venv of the newest versions, and keep their numbers for the tests"
	@echo "make clean     remove the output of these commands, except reproduction/"

demo: | $(VENV)/build
	@$(MAKE) --no-print-directory $(VENV)/$(if $(wildcard $(VENV)/release),release,demo)
	@mkdir -p demo
	$(BIN)/incast run scenarios/storage-read.toml --plot demo/storage-read.png
	@echo "The picture is in demo/storage-read.png, its data in demo/storage-read.csv."
	@$(BIN)/python benches/timing/packages.py "$$(cat $(VENV)/release 2>/dev/null || echo demo)"

test: lint
	cargo test --workspace --locked
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not alone"
	$(BIN)/python -m pytest -m alone

lint: $(VENV)/debug
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python .ci/lengths.py
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest incast._core

validate: $(VENV)/tools $(VENV)/release
	$(BIN)/python -m validation $(STUDIES)

validate-quick: $(VENV)/debug
	$(BIN)/python -m validation --quick $(STUDIES)

mutants: $(VENV)/debug
	@command -v cargo-mutants >/dev/null || { \
	  echo "make: cargo install cargo-mutants --locked" >&2; exit 1; }
	$(BIN)/pip install --quiet --group mutants
	$(BIN)/python -m validation.mutants.python; python=$$?; $(BIN)/python -m validation.mutants.rust && exit $$python

fuzz:
	@command -v cargo-fuzz >/dev/null || { \
	  echo "make: cargo install cargo-fuzz --locked; and rustup toolchain install nightly" >&2; exit 1; }
	mkdir -p crates/capture/fuzz/found
	cd crates/capture && cargo +nightly fuzz run read fuzz/found fuzz/corpus/read -- -max_total_time=600 -max_len=65536

bench: | $(VENV)/tools
	@if grep -qs pgo $(VENV)/release; then rm $(VENV)/release; fi
	@$(MAKE) --no-print-directory $(VENV)/release $(OTHERS)/pgo/built $(OTHERS)/demo/built
	$(BIN)/python benches/speed.py --builds $(OTHERS) --page docs/performance.md
	$(BIN)/python docs/write_reference.py

bench-shapes: $(VENV)/tools $(VENV)/release
	$(BIN)/python benches/shapes.py

# An engine laid out by the profile of the runs in benches/train.py. It stands in for
# $(VENV)/release until a source changes.
pgo: | $(VENV)/build
	@$(NEEDS_PROFDATA)
	$(MATURIN) develop --release --pgo
	@rm -f $(VENV)/debug $(VENV)/demo && echo pgo > $(VENV)/release

wheel: $(PAGE) | $(VENV)/build
	@$(NEEDS_PROFDATA)
	$(MATURIN) build --profile wheel --pgo --out dist
	@$(BIN)/python .ci/wheels.py dist

NEEDS_PROFDATA = test -x \
	"$$(rustc --print sysroot)/lib/rustlib/$$(rustc --print host-tuple)/bin/llvm-profdata" || { \
	echo "make: there is no llvm-profdata; add it: rustup component add llvm-tools" >&2; exit 1; }

$(OTHERS)/pgo/built: $(SOURCES) $(TRAINING) $(shell find python/incast -name '*.py') | $(VENV)/build
	@$(NEEDS_PROFDATA)
	rm -rf $(@D)
	$(MATURIN) build --profile wheel --pgo --out $(@D)
	$(UNPACK)

$(OTHERS)/demo/built: $(SOURCES) $(shell find python/incast -name '*.py') | $(VENV)/build
	rm -rf $(@D)
	$(MATURIN) build --profile demo --out $(@D)
	$(UNPACK)

UNPACK = $(BIN)/python -m zipfile -e $(@D)/*.whl $(@D) && touch $@

explorer: $(PAGE)

test-explorer: $(PAGE) $(VENV)/debug
	cd explorer && npx tsc --noEmit && npx playwright test

bench-explorer: $(PAGE) $(VENV)/debug
	cd explorer && npx playwright test --config bench.config.ts

figures: $(VENV)/release
	$(BIN)/incast reproduce

reference: $(VENV)/debug
	$(BIN)/python docs/write_reference.py

docs: $(VENV)/debug
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build

constraints:
	rm -rf $(VENV)
	$(MAKE) PIP_CONSTRAINT= $(VENV)/debug
	sed -i '1!d' constraints.txt
	$(BIN)/pip freeze --exclude incast >> constraints.txt
	@touch $(VENV)/tools

clean:
	rm -rf $(VENV) target demo docs/_build python/incast/*.so
	rm -rf python/incast/explorer explorer/node_modules explorer/engine.wasm explorer/test-results
	find python tests -name __pycache__ -type d -exec rm -rf {} +

# An empty environment with the build tool in it.
$(VENV)/build:
	@command -v cargo >/dev/null || { \
	  echo "make: there is no cargo in PATH or ~/.cargo/bin; see https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: $(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "make: $(PYTHON) cannot make environments; Debian: apt install python3-venv" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1" "maturin>=1.15,<2"
	@touch $@

# The page: the engine for browsers, and around it what Vite makes of explorer/.
$(PAGE): $(WASM) $(shell find explorer/src explorer/public -type f) explorer/index.html \
		explorer/vite.config.ts explorer/tsconfig.json explorer/node_modules/.package-lock.json
	cp $(WASM) explorer/engine.wasm
	cd explorer && npx tsc --noEmit && npx vite build --logLevel warn

$(WASM): $(SOURCES)
	@test -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown)" || { \
	  echo "make: no Rust for browsers; add it: rustup target add wasm32-unknown-unknown" >&2; \
	  exit 1; }
	cargo build --package incast-web --target wasm32-unknown-unknown --profile web --locked
	@touch $@

explorer/node_modules/.package-lock.json: explorer/package.json explorer/package-lock.json
	@node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null || { \
	  echo "make: the page is built by Node, 20 or newer; Debian: apt install nodejs npm" >&2; \
	  exit 1; }
	cd explorer && npm ci --no-audit --no-fund
	@touch $@

# What tests, lints and documentation need.
$(VENV)/tools: pyproject.toml constraints.txt | $(VENV)/build
	$(BIN)/pip install --quiet --group contribute
	@touch $@

# The package, the extension compiled for speed; or in the profile of the tests, which shares
# their artefacts. The two replace each other.
$(VENV)/release: $(SOURCES) | $(VENV)/build
	$(MATURIN) develop --release
	@rm -f $(VENV)/debug $(VENV)/demo && echo release > $@

# Compiled in less time than $(VENV)/release.
$(VENV)/demo: $(SOURCES) | $(VENV)/build
	$(MATURIN) develop --profile demo
	@rm -f $(VENV)/debug $(VENV)/release && touch $@

$(VENV)/debug: $(SOURCES) | $(VENV)/tools
	$(MATURIN) develop --profile dev
	@rm -f $(VENV)/release $(VENV)/demo && touch $@
