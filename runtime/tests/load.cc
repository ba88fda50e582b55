// Tests the parts of the load protocol individually.
#include <sys/mman.h>
#include <sys/wait.h>

namespace load {

using namespace yamba::load;

void work_is_shared_down_to_a_tenth() {
    CHECK(share_of_work(1, 4) == 1);
    CHECK(share_of_work(4, 4) == 1);
    CHECK(share_of_work(7, 4) == 1);
    CHECK(share_of_work(8, 4) == 0.5);
    CHECK(share_of_work(40, 4) == 0.1);
    CHECK(share_of_work(256, 2) == 0.1);
    CHECK(wait_for_others(30, 100, 2, 2) == 30 && wait_for_others(0, 100, 1, 2) == 0);
    CHECK(wait_for_others(60, 100, 4, 2) == 10 && wait_for_others(60, 100, 5, 2) == 0);
    CHECK(wait_for_others(NAN, 100, 2, 2) == 0);
}

void passes_fill_a_time() {
    CHECK(passes_in(1e9, 1000) == 1000000);
    CHECK(passes_in(1e9, 3) == 333333334);
    CHECK(passes_in(1e9, 2e9) == 1);
    CHECK(passes_in(1e9, 1e9) == 1);
    // Passes that take no time never fill a batch.
    CHECK(passes_in(1e9, 0) == most_passes);
    CHECK(passes_in(5e6, 1e-20) == most_passes);
}

void a_batch_and_its_pieces() {
    Size s = size(Baseline{0, 1000, 10}, 1e9, 2, 2);
    CHECK(s.passes == 1000000 && s.piece == 5000 && s.dummy_piece == 500000);
    s = size(Baseline{0, 1000, 10}, 1e9, 8, 2);
    CHECK(s.passes == 250000 && s.piece == 5000 && s.dummy_piece == 250000);
    s = size(Baseline{0, 1000, 0}, 1e6, 256, 2);
    CHECK(s.passes == 100 && s.piece == 100 && s.dummy_piece == 100);
    s = size(Baseline{0, 3e9, 0}, 1e9, 256, 2);
    CHECK(s.passes == 1 && s.piece == 1 && s.dummy_piece == 1);
}

void contention_makes_batches_smaller() {
    const Baseline alone{0, 10, 1};
    const Size full = size(alone, 1e9, 2, 2);
    CHECK(contended_size(full, 20, alone, 1e9, 1).passes == full.passes);
    Size s = contended_size(full, 1000, alone, 1e9, 1);
    CHECK(s.passes == 1000000 && s.piece == 5000 && s.dummy_piece == 1000000);
    // A pass on a shared processor takes longer without contention, too.
    CHECK(contended_size(full, 100, alone, 1e9, 0.125).passes == full.passes);
    CHECK(trial_size(alone).passes == 500000);
}

void one_of_three_may_be_anything() {
    double orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    for (auto &order : orders) CHECK(middle(order) == 2);
    double same[3] = {2, 2, 9};
    CHECK(middle(same) == 2);
}

void patience_grows_with_the_turns() {
    CHECK(patience(1e9, 2, 2, 5) == 20e9 + 5);
    CHECK(patience(1e9, 3, 2, 5) == 40e9 + 5);
    CHECK(patience(1e9, 256, 2, 0) == 20e9 * 128);
}

// The exit status of a child that runs `act`.
template <class Act>
int status_of(Act act) {
    int status = 0;
    pid_t child = must(fork());
    if (child == 0) act(), _exit(0);
    must(waitpid(child, &status, WUNTRACED));
    if (WIFSTOPPED(status)) must(kill(child, SIGKILL)), must(waitpid(child, nullptr, 0));
    return status;
}

void an_end_has_a_name() {
    Sentence end;
    describe_end(status_of([] { _exit(7); }), end);
    CHECK(strcmp(end, "ended with status 7") == 0);
    describe_end(status_of([] { raise(SIGKILL); }), end);
    CHECK(strcmp(end, "was killed by signal 9 (SIGKILL)") == 0);
    describe_end(status_of([] { raise(SIGSTOP); }), end);
    CHECK(strstr(end, "was stopped by signal ") != nullptr && strstr(end, " (SIGSTOP)") != nullptr);
}

void what_is_shared_is_small() {
    Shared one = share(1), many = share(1000);
    CHECK(sizeof(Slot) <= 64);
    CHECK(many.bytes() - one.bytes() == 999 * sizeof(Slot));
    CHECK(one.slots[0].pid == 0 && one.header->step == 0);
    many.slots[999].state = timing;
    // Words that processes poll are in another cache line than words that others write.
    CHECK(reinterpret_cast<char *>(&one.header->arrived) - reinterpret_cast<char *>(&one.header->step) >= 64);
    munmap(one.header, one.bytes());
    munmap(many.header, many.bytes());
}

// Several processes count without atomics: only the lock keeps the count right.
void one_at_a_time() {
    constexpr int processes = 4, times = 20000;
    struct Both {
        uint32_t lock;
        volatile int count;
    };
    Both *both =
        static_cast<Both *>(must(mmap(nullptr, sizeof(Both), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)));
    for (int i = 0; i < processes; i++) {
        if (must(fork()) != 0) continue;
        for (int n = 0; n < times; n++) {
            if (!try_lock(both->lock))
                while (!lock_or_sleep(both->lock)) {
                }
            both->count = both->count + 1;
            unlock(both->lock);
        }
        _exit(0);
    }
    for (int i = 0; i < processes; i++) must(wait(nullptr));
    CHECK(both->count == processes * times);
    CHECK(both->lock == 0);
    munmap(both, sizeof *both);
}

// A process waits for a lock held by a dead process, but not forever.
void the_last_word_is_one_processs() {
    Shared shared = share(2);
    auto speak = [&] {
        record_lock = &shared.header->record_lock;
        last_words();
        last_words();
        _exit(0);
    };
    CHECK(status_of(speak) == 0);
    int second = status_of(speak);
    CHECK(WIFEXITED(second) && WEXITSTATUS(second) == yamba::failed_status);
    munmap(shared.header, shared.bytes());
}

void sleeping_ends() {
    uint32_t word = 1;
    uint64_t begin = yamba::system_clock();
    yamba::system::sleep_while(&word, 2, 60000000000u);  // another value: returns at once
    CHECK(yamba::system_clock() - begin < 30000000000u);
    while (yamba::system_clock() - begin < 3000000) yamba::system::sleep_while(&word, 1, 1000000);
    yamba::system::wake(&word, 1);
}

void processes_go_round_from_where_one_would_be() {
    yamba::placement.cpu = 5;
    for (int cpu : {2, 5, 7}) yamba::placement.allowed.push_back(cpu), yamba::placement.tested.push_back({cpu, size_t(cpu)});
    yamba::Plan plan;
    CHECK(processors(plan) == 3);
    CHECK(processor(plan, 0) == 5 && processor(plan, 1) == 7 && processor(plan, 2) == 2 && processor(plan, 3) == 5);
    plan.cpu = 5;
    CHECK(processors(plan) == 1 && processor(plan, 1) == 5);
    yamba::placement.order.clear(), yamba::placement.tested.clear();
    yamba::placement.cpu = plan.cpu = -1;
    CHECK(processors(plan) == 3 && processor(plan, 1) == -1);
}

void test() {
    work_is_shared_down_to_a_tenth();
    passes_fill_a_time();
    a_batch_and_its_pieces();
    contention_makes_batches_smaller();
    one_of_three_may_be_anything();
    patience_grows_with_the_turns();
    an_end_has_a_name();
    what_is_shared_is_small();
    one_at_a_time();
    the_last_word_is_one_processs();
    sleeping_ends();
    processes_go_round_from_where_one_would_be();
}

}  // namespace load
