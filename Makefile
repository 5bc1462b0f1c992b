# Every target sets up what it needs; the packages come from Debian, the crates from crates.io.
.PHONY: demo test build lint browser readme docs crosscheck bench bench-live bench-trace score soak fuzz clean

BIN := target/release/ackclock

demo: build
	@mkdir -p out
	$(BIN) compare --strategy $(DEMO_STRATEGIES) \
	    --drop 14 --drop 14,28 --drop 14,26,28 --drop 14,24,26,28 --html out/demo.html
	$(BIN) papers run all --quick --html out/papers >out/papers.txt
	@sed -n '/^ *experiment  *claims/,$$p' out/papers.txt
	$(BIN) explain $(CAPTURE) --html out/explain
	cp docs/demo.html out/index.html
	@echo "open out/index.html in a browser"

# What the kernel sent, taken by `ackclock-score take`.
CAPTURE := tests/kernel.pcap.gz

comma := ,
empty :=
space := $(empty) $(empty)
DEMO_STRATEGIES := $(subst $(space),$(comma),$(foreach s,tahoe reno newreno sack,$(s) $(s)+lt))

build:
	cargo build --release --locked --bin ackclock

test: lint
	tools/install curl iproute2 netcat-openbsd tcpdump tshark
	cargo test --workspace --locked
	$(MAKE) --no-print-directory browser readme

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The pictures, the pages of the papers and a page over our own TCP in a real browser, and the captures in the tools that people open them with.
browser: demo
	tools/install chromium tshark tcptrace tcpdump zstd iproute2 netcat-openbsd
	python3 tests/browser/smoke.py out/index.html out/demo.html out/explain/*.html \
	    $(addprefix out/papers/,index.html lin-kung-figure-5.html lin-kung-table-3.html)
	python3 tests/browser/serve.py --screenshot out/serve.png
	tests/captures.sh

# Every command of README.md, and its picture.
readme: build
	tools/install tcpdump
	python3 tests/readme.py
	@mkdir -p out
	$(PICTURE) out/first.svg >/dev/null
	cmp out/first.svg docs/first.svg

# Draws the picture of README.md anew.
docs: build
	$(PICTURE) docs/first.svg >/dev/null

PICTURE := $(BIN) compare --strategy reno,sack --drop 14,26,28 --svg

# The same networks through ns-2 and here: exact order of segments.
crosscheck: build
	tools/install ns2
	python3 crosscheck/run.py

# Paired with ns-2: packets per CPU second, memory, scaling.
bench: build
	tools/install ns2
	python3 bench/run.py

# Our stack over TUN devices beside the kernel's TCP and smoltcp's: bulk transfers without loss, then the labs `lossy` and
# `short` in short. Needs root.
bench-live: build
	@mkdir -p out
	cargo bench --locked -p ackclock-live --bench bulk -- --json $(CURDIR)/out/bench-bulk.json
	$(BIN) lab lossy --quick --format json >out/lab-lossy.json
	$(BIN) lab short --quick --format json >out/lab-short.json
	python3 bench/live.py out

# Captures through `ackclock explain`, tcptrace and tshark: packets per CPU second, memory.
bench-trace: build
	tools/install tcptrace tshark
	cargo build --release --locked -p ackclock-trace --example generate
	python3 bench/trace.py

# `ackclock explain` against the truth: of thousands of simulated connections, and of the kernel's TCP. With root it takes fresh captures of the
# kernel (3 minutes), without those of the checkout.
score:
	cargo build --release --locked -p ackclock-score
	target/release/ackclock-score
	if [ "$$(id -u)" = 0 ] && [ -e /dev/net/tun ]; then \
	    tools/install tcpdump iproute2 && rm -rf out/kernel && \
	    target/release/ackclock-score take out/kernel && target/release/ackclock-score kernel out/kernel; \
	else \
	    target/release/ackclock-score kernel crates/ackclock-score/tests/captures; \
	fi

# What takes minutes on the wire: 10 GB over a bad link, links down and windows closed for long, and for SOAK seconds transfers that come
# and go, while neither memory nor connections may grow. Needs root.
SOAK ?= 600
soak:
	tools/install iproute2
	ACKCLOCK_SOAK=$(SOAK) cargo test --release --locked -p ackclock-live --test hardship --test nothing_lost -- --ignored --nocapture --test-threads 1

# Each fuzz target for FUZZ_SECONDS (needs the nightly toolchain).
FUZZ_SECONDS ?= 60
fuzz:
	command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	cd fuzz && for t in $$(cargo fuzz list); do cargo +nightly fuzz run $$t -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

clean:
	cargo clean
	rm -rf out
