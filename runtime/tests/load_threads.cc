// Tests the lock that threads take in turn, and the variables that each has of its own. Status 1 if
// a count is wrong. Built with ThreadSanitizer.
#include "../src/runtime.cc"

namespace {

constexpr int count = 4, times = 2000;
uint32_t lock = 0;
int shared = 0, own = 0;

void *work(void *index) {
    yamba::thread_index = *static_cast<uint64_t *>(index);
    yamba::batch.passes = yamba::thread_index;
    for (int i = 0; i < times; i++) {
        if (!yamba::load::try_lock(lock))
            while (!yamba::load::lock_or_sleep(lock)) {
            }
        shared++;
        yamba::load::unlock(lock);
    }
    __atomic_add_fetch(&own, yamba::batch.passes == *static_cast<uint64_t *>(index), __ATOMIC_SEQ_CST);
    return nullptr;
}

}  // namespace

int main() {
    pthread_t threads[count];
    uint64_t indices[count];
    for (int i = 0; i < count; i++) indices[i] = uint64_t(i), pthread_create(&threads[i], nullptr, work, &indices[i]);
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    return shared != count * times || own != count;
}
