# Two commands do all that a newcomer needs; both install what is missing first (scripts/install-missing).
#   make run    builds Yamba and measures a few things on this machine
#   make test   runs every test, for every instruction set

YAMBA := $(or $(CARGO_TARGET_DIR),target)/release/yamba

# Page faults from storage, then one of each kind: a system call, processes, memory.
FIRST := pagefault lat_syscall_getppid lat_pipe lat_fork_exit lat_mem_rd bw_mem_copy

.PHONY: run test build

run: build
	$(YAMBA) run --quick $(FIRST)

build:
	scripts/install-missing run
	cargo build --release

# One profile for the binary and the tests, so that nothing is built twice.
# YAMBA_TEST_ALL: a test whose compiler or emulator is absent fails instead of being left out.
test:
	scripts/install-missing test
	YAMBA_TEST_ALL=1 cargo test --release --workspace
