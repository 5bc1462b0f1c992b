# Every target sets up what it needs; the packages come from Debian, the crates from crates.io.
.PHONY: demo playground test build build-release build-debug lint unit portable oldest rustdoc \
    package deny fuzz-check clients python wheel browser documents reference book crosscheck \
    crosscheck-linux bench bench-instructions bench-live bench-queues bench-impair bench-python \
    bench-trace score soak hostile deb fuzz fuzz-keep clean

# The command of a release; `make test` takes the one that its tests have built, which saves a build
# and checks its arithmetic.
PROFILE := release
BIN := target/$(PROFILE)/ackclock
export ACKCLOCK := $(CURDIR)/$(BIN)

demo: build playground
	@mkdir -p out
	$(BIN) compare --strategy $(DEMO_STRATEGIES) \
	    --drop 14 --drop 14,28 --drop 14,26,28 --drop 14,24,26,28 --html out/demo.html
	$(BIN) papers run all --quick --html out/papers >out/papers.txt
	@sed -n '/^ *experiment  *claims/,$$p' out/papers.txt
	$(BIN) explain $(CAPTURE) --html out/explain
	docs/demo.py $(BIN) $(CAPTURE) out
	@echo "open out/index.html in a browser"

# The playground as one file, out/playground.html: the module for wasm32, the figures of the papers
# to start from, and the page. The tool's own lock file names versions that mirrors may lack. Tool
# and figures run for a second, so they are built in the quickest way: the figures from what `unit`
# builds, too. Tests take the module that `portable` builds.
WASM_BINDGEN := out/tools/bin/wasm-bindgen
WASM_PROFILE := $(if $(filter debug,$(PROFILE)),test,playground)
WASM_FOLDER := target/wasm32-unknown-unknown/$(if $(filter debug,$(PROFILE)),debug,playground)
playground:
	@mkdir -p out
	rustup target add wasm32-unknown-unknown
	test -x $(WASM_BINDGEN) || CARGO_PROFILE_DEV_DEBUG=false cargo install wasm-bindgen-cli \
	    --version 0.2.130 --debug --no-default-features --bin wasm-bindgen --root out/tools
	cargo build --locked --profile $(WASM_PROFILE) --target wasm32-unknown-unknown \
	    -p ackclock-playground --lib
	cargo build --quiet --profile test --workspace --locked --example figures
	target/debug/examples/figures >out/figures.json
	crates/ackclock-playground/page/build.py --wasm-bindgen $(WASM_BINDGEN) \
	    --figures out/figures.json --wasm $(WASM_FOLDER)/ackclock_playground.wasm \
	    --out out/playground.html

# What the kernel sent, taken by `ackclock-score take`.
CAPTURE := tests/kernel.pcap.gz

comma := ,
empty :=
space := $(empty) $(empty)
DEMO_STRATEGIES := $(subst $(space),$(comma),$(foreach s,tahoe reno newreno sack,$(s) $(s)+lt))

build: build-$(PROFILE)

build-release:
	cargo build --release --locked --bin ackclock

build-debug:
	cargo test --workspace --locked --no-run

# All that has to pass, part by part, with the seconds that each one takes.
PARTS := lint unit portable oldest rustdoc package fuzz-check clients python browser documents \
    crosscheck

test:
	@for part in $(PARTS); do \
	    begin=$$(date +%s); \
	    $(MAKE) --no-print-directory PROFILE=debug $$part || exit 1; \
	    took="$$took  $$part $$(($$(date +%s) - begin)) s\n"; \
	done; printf "seconds of each part:\n$$took"

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	tools/check-lines

# Random tests draw the same cases on every run; another seed draws others:
# `make unit PROPTEST_RNG_SEED=7`.
export PROPTEST_RNG_SEED ?= 1

unit:
	tools/install curl iproute2 netcat-openbsd tcpdump tshark
	cargo test --workspace --locked

# The engine for a target without std; what the browser runs for wasm32; the proxy with a simulated
# network, checked for Windows and macOS.
portable:
	rustup target add thumbv7em-none-eabi wasm32-unknown-unknown x86_64-pc-windows-gnu \
	    aarch64-apple-darwin
	cargo build --locked --target thumbv7em-none-eabi -p ackclock-tcp
	cargo build --locked --profile test --target wasm32-unknown-unknown \
	    -p ackclock-playground --lib
	cargo check --locked --target x86_64-pc-windows-gnu -p ackclock-impair
	cargo check --locked --target aarch64-apple-darwin -p ackclock-impair

# With the oldest compiler that Cargo.toml admits.
oldest:
	rustup toolchain install $(RUST_VERSION) --profile minimal
	cargo +$(RUST_VERSION) check --workspace --locked --target-dir target/oldest

RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

rustdoc:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# What would be published: each crate is packed, unpacked and checked.
package:
	rm -rf target/package
	cargo package --workspace --exclude ackclock-score --exclude ackclock-playground \
	    --exclude own-mechanism --locked --allow-dirty --no-verify
	tools/check-packages

# Licences and duplicates of the dependencies, as deny.toml has them. cargo-deny is built once, into
# out/tools.
deny:
	test -x $(DENY) || cargo install cargo-deny --version 0.20.2 --locked --root out/tools
	$(DENY) check licenses bans sources

DENY := out/tools/bin/cargo-deny

# That the fuzz targets compile. `make fuzz` runs them.
fuzz-check:
	cargo check --manifest-path fuzz/Cargo.toml --locked --target-dir target

# The client of the API of `ackclock impair`, with the command.
clients: build
	cd clients/python && ACKCLOCK_IMPAIR="$(ACKCLOCK) impair" python3 -m unittest

# The Python package, in the virtual environment out/venv: its tests and its types, with a wheel
# that is built in half the time. Clippy reads the module as it is built: to check it apart takes
# all crates once more.
VENV := out/venv
MATURIN := PATH=$(CURDIR)/$(VENV)/bin:$$PATH maturin build --quiet --locked \
    --manifest-path python/Cargo.toml --target-dir target
INSTALL_WHEEL := $(VENV)/bin/pip install -q --force-reinstall --no-deps
python: $(VENV)/bin/maturin
	rm -rf out/wheels/quick
	cargo fmt --check --manifest-path python/Cargo.toml
	RUSTFLAGS="-D warnings" RUSTC_WORKSPACE_WRAPPER=clippy-driver \
	    $(MATURIN) --profile quick --out out/wheels/quick
	$(INSTALL_WHEEL) out/wheels/quick/*.whl
	cd python/tests && ../../$(VENV)/bin/python -m pytest -q
	cd out && ../$(VENV)/bin/stubtest ackclock
	$(VENV)/bin/pyright --project python --pythonpath $(VENV)/bin/python

# The wheel to install elsewhere, in out/wheels.
wheel: $(VENV)/bin/maturin
	rm -f out/wheels/*.whl
	$(MATURIN) --release --out out/wheels
	test $$(stat -c %s out/wheels/*.whl) -lt 15000000

$(VENV)/bin/maturin: python/requirements.txt
	tools/install python3-venv
	test -x $(VENV)/bin/pip || python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q -r $<
	touch $@

# The playground, the pictures, the pages of the papers and a page over our own TCP in a real
# browser, and the captures in the tools that people open them with.
BROWSER := out/browser
browser: demo
	tools/install chromium tshark tcptrace tcpdump zstd iproute2 netcat-openbsd python3-venv
	test -x $(BROWSER)/bin/pip || python3 -m venv $(BROWSER)
	$(BROWSER)/bin/pip install -q -r tests/browser/requirements.txt
	$(BROWSER)/bin/python tests/browser/playground.py out/playground.html --ackclock $(BIN) \
	    --screenshots out/playground
	python3 tests/browser/smoke.py out/index.html out/demo.html out/explain/*.html \
	    $(addprefix out/papers/,index.html lin-kung-figure-5.html lin-kung-table-3.html)
	python3 tests/browser/serve.py --ackclock $(BIN) --screenshot out/serve.png
	tests/captures.sh

# README.md and the guide: links, every command, the reference pages, the picture.
documents: build
	tools/install curl iproute2 netcat-openbsd tcpdump
	python3 docs/reference.py --check
	python3 tests/documents.py
	@mkdir -p out
	$(PICTURE) out/first.svg >/dev/null
	cmp out/first.svg docs/src/first.svg

# Writes what is generated: the reference pages of the guide, the outputs that documents show, and
# the picture.
reference: build
	python3 docs/reference.py
	python3 tests/documents.py --update
	$(PICTURE) docs/src/first.svg >/dev/null

# The guide as a book, in out/book. mdBook is built once, into out/tools.
book:
	test -x $(MDBOOK) || cargo install mdbook --version 0.5.4 --locked --no-default-features \
	    --features search --root out/tools
	$(MDBOOK) build docs
	@echo "open out/book/index.html in a browser"

MDBOOK := out/tools/bin/mdbook
PICTURE := $(BIN) compare --strategy reno,sack --drop 14,26,28 --svg

# The same networks through ns-2 and here: exact order of segments.
crosscheck: build
	tools/install ns2 ns2-examples
	python3 crosscheck/run.py --ackclock $(BIN)

# `linux` against the local kernel, ACK by ACK: records CROSSCHECK_LINUX scenarios from the seed
# CROSSCHECK_SEED on and compares. Seeds from 1000000 on are kept apart. Needs root.
CROSSCHECK_LINUX ?= 1100
CROSSCHECK_SEED ?= 1
crosscheck-linux:
	tools/install iproute2
	cargo build --release --locked -p ackclock-score
	target/release/ackclock-score linux --scenarios $(CROSSCHECK_LINUX) \
	    --seed $(CROSSCHECK_SEED) --shrink --differences 3

# Paired with ns-2: packets per CPU second, memory, scaling. BENCH has options for the
# script, such as BENCH="--tables speed --rows '^10 flows'" for the rows that a change touches.
BENCH ?=
bench: build
	tools/install ns2
	python3 bench/run.py $(BENCH)

# Instructions and modelled cache misses a packet, beside those kept in bench/instructions.json;
# fails if instructions rose by more than 1 %.
bench-instructions: build
	tools/install valgrind
	python3 bench/instructions.py $(BENCH)

# Our stack over TUN devices beside the kernel's TCP and smoltcp's: bulk transfers without loss,
# then the labs `lossy` and `short` in short. Needs root.
bench-live: build
	@mkdir -p out
	cargo bench --locked -p ackclock-live --bench bulk -- --json $(CURDIR)/out/bench-bulk.json
	$(BIN) lab lossy --quick --format json >out/lab-lossy.json
	$(BIN) lab short --quick --format json >out/lab-short.json
	python3 bench/live.py out

# What a byte costs `serve` and `proxy` with two queues, in units of what it costs with one. BENCH
# has options for the script. Needs root.
bench-queues: build
	tools/install iproute2 curl
	python3 bench/queues.py $(BENCH)

# `ackclock impair` beside kernels that send through `ackclock gateway`: times of transfers,
# goodput. BENCH has options for the script. Needs root.
bench-impair: build
	tools/install iproute2
	python3 bench/impair.py $(BENCH)

# What the Python package costs over the command, and how fast rows get to polars.
bench-python: wheel
	$(INSTALL_WHEEL) out/wheels/*.whl
	$(VENV)/bin/python bench/python.py

# Captures through `ackclock explain`, tcptrace and tshark: packets per CPU second, memory.
bench-trace: build
	tools/install tcptrace tshark
	cargo build --release --locked -p ackclock-trace --example generate
	python3 bench/trace.py

# `ackclock explain` against the truth: of thousands of simulated connections, and of the kernel's
# TCP. With root it takes fresh captures of the kernel (7 minutes), those of its plan and some that
# are drawn at random; without it takes those of the checkout.
score:
	cargo build --release --locked -p ackclock-score
	target/release/ackclock-score
	target/release/ackclock-score what-if
	target/release/ackclock-score loss-causes
	if [ "$$(id -u)" = 0 ] && [ -e /dev/net/tun ]; then \
	    tools/install tcpdump iproute2 && rm -rf out/kernel out/drawn && \
	    target/release/ackclock-score take out/kernel && \
	    target/release/ackclock-score kernel out/kernel && \
	    target/release/ackclock-score take out/drawn --drawn 120 && \
	    target/release/ackclock-score kernel out/drawn && \
	    target/release/ackclock-score what-if --kernel 400; \
	else \
	    target/release/ackclock-score kernel crates/ackclock-score/tests/captures; \
	fi

# What takes minutes on the wire: 10 GB over a bad link, links down and windows closed for long, and
# for SOAK seconds transfers that come and go, while neither memory nor connections may grow. Needs
# root.
SOAK ?= 600
soak:
	tools/install iproute2
	ACKCLOCK_SOAK=$(SOAK) cargo test --release --locked -p ackclock-live --test all -- \
	    --ignored --nocapture --test-threads 1

# Attacks `serve` and `proxy` for some minutes, while an honest client fetches files: their memory
# stays within its budget. Needs root.
hostile: build
	tools/install iproute2
	python3 tests/hostile.py
	python3 tests/hostile.py --queues 2

# A Debian package in out/: a static binary, man pages, the unit and the dashboard.
MUSL := x86_64-unknown-linux-musl
deb:
	tools/install musl-tools binutils dpkg
	rustup target add $(MUSL)
	cargo build --release --locked --target $(MUSL) -p ackclock --bin ackclock
	packaging/deb target/$(MUSL)/release/ackclock out

# Each fuzz target for FUZZ_SECONDS (needs the nightly toolchain), from what is kept in fuzz/seeds
# on.
FUZZ_SECONDS ?= 60
FUZZ_KEPT := capture frame tracker
fuzz:
	command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	cd fuzz && for t in $(FUZZ_KEPT); do \
	    mkdir -p corpus/$$t && tar -xzf seeds/$$t.tar.gz -C corpus/$$t || exit 1; done
	cd fuzz && for t in $$(cargo fuzz list); do \
	    cargo +nightly fuzz run $$t -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# Keeps what the targets for captures have found: of each the least corpus that reaches as much.
fuzz-keep:
	cd fuzz && for t in $(FUZZ_KEPT); do cargo +nightly fuzz cmin $$t && \
	    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C corpus/$$t -c . | \
	    gzip -9n >seeds/$$t.tar.gz || exit 1; done

clean:
	cargo clean
	rm -rf out
