# Two commands do all that a newcomer needs; both install what is missing first (scripts/install-missing).
#   make run    builds Yamba, measures a few things on this machine and makes a page of them
#   make test   runs every test, for every instruction set

TARGET := $(or $(CARGO_TARGET_DIR),target)
YAMBA := $(TARGET)/release/yamba

# Page faults from storage, then one of each kind: a system call, processes, memory.
FIRST := pagefault lat_syscall_getppid lat_pipe lat_fork_exit lat_mem_rd bw_mem_copy

.PHONY: run test build

# An invalid figure (exit status 1) has its place on the page too.
run: build
	$(YAMBA) run --quick $(FIRST) && status=0 || status=$$?; \
	[ $$status -gt 1 ] || $(YAMBA) report -o $(TARGET)/report.html; exit $$status

build:
	scripts/install-missing run
	cargo build --release

# One profile for the binary and the tests, so that nothing is built twice.
# YAMBA_TEST_ALL: a test whose compiler or emulator is absent fails instead of being left out.
test:
	scripts/install-missing test
	YAMBA_TEST_ALL=1 cargo test --release --workspace --no-fail-fast
