// The parts of the kernel that the programs use: types, maps and helper functions.

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
// A function that is called rarely: the processor reads less, and its variables take no register or
// stack of the caller.
#define RARE static __attribute__((noinline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// The members that the programs read. The loader replaces their offsets by those of the running
// kernel.
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
    unsigned long r10, r8, bx, cx, dx, si, di;
    unsigned short cs;
};
struct super_block {
    unsigned int s_dev;
};
struct inode {
    unsigned short i_mode;
    struct super_block *i_sb;
    unsigned long i_ino;
    long long i_size;
};
struct file {
    struct inode *f_inode;
    long long f_pos;
};
struct address_space {
    struct inode *host;
};
struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};
struct files_struct {
    struct fdtable *fdt;
};
struct mm_struct {};
struct task_struct {
    unsigned int __state;
    struct mm_struct *mm;
    int pid, tgid;
    struct files_struct *files;
};
#pragma clang attribute pop

// Whether each change of a process's number of pages has an event, as since Linux 6.2: before, the
// event had one more parameter. The test for the struct puts it into the object, without which the
// parameters would not be compared.
typedef void (*btf_trace_rss_stat)(void *, struct mm_struct *, int);
#define HAS_TYPE(type) __builtin_preserve_type_info(*(type *)0, 0)
#define HAS_PAGE_EVENTS (HAS_TYPE(struct mm_struct) && HAS_TYPE(btf_trace_rss_stat))

// Reads a member of a struct at an address that the verifier does not know.
#define READ_MEMBER(value, pointer, member) \
    bpf_probe_read_kernel(&(value), sizeof(value), __builtin_preserve_access_index(&(pointer)->member))

// Numbers in `linux/bpf.h`.
enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_STACK = 23,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_MAP_TYPE_TASK_STORAGE = 29,
    BPF_F_NO_PREALLOC = 1,
    BPF_NOEXIST = 1,
    BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
    BPF_RB_NO_WAKEUP = 1,
    BPF_RB_AVAIL_DATA = 0,
};

// The types of such members describe a map.
#define NUMBER(name, value) int(*name)[value]
#define TYPE(name, type) type *name

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static long (*bpf_map_push_elem)(void *map, const void *value, u64 flags) = (void *)87;
static long (*bpf_map_pop_elem)(void *map, void *value) = (void *)88;
static long (*bpf_probe_read_user)(void *to, u32 bytes, const void *from) = (void *)112;
static long (*bpf_probe_read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;
static long (*bpf_probe_read_user_str)(void *to, u32 bytes, const void *from) = (void *)114;
static long (*bpf_ringbuf_output)(void *ring, void *data, u64 bytes, u64 flags) = (void *)130;
static void *(*bpf_ringbuf_reserve)(void *ring, u64 bytes, u64 flags) = (void *)131;
static void (*bpf_ringbuf_submit)(void *data, u64 flags) = (void *)132;
static u64 (*bpf_ringbuf_query)(void *ring, u64 flags) = (void *)134;
static void *(*bpf_task_storage_get)(void *map, struct task_struct *task, void *value, u64 flags) = (void *)156;
static struct task_struct *(*bpf_get_current_task_btf)(void) = (void *)158;
