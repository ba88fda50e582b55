#include "yamba/scratch.h"

namespace yamba {
namespace scratch {

Text directory;
static pid_t owner = -1;  // the process that created the directory; -1 if the parent did, which removes it
static pid_t janitor = -1;

const char *home() {
    const char *given = getenv("YAMBA_SCRATCH");
    if (given != nullptr && *given != '\0') return given;
    const char *named = getenv("TMPDIR");
    return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

static void remove_entries(int directory_fd) {
    DIR *entries = fdopendir(directory_fd);
    if (entries == nullptr) return (void)close(directory_fd);
    while (const dirent *entry = readdir(entries)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (unlinkat(dirfd(entries), name, 0) == 0) continue;
        int child = openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (child >= 0) remove_entries(child);
        unlinkat(dirfd(entries), name, AT_REMOVEDIR);
    }
    closedir(entries);
}

static void remove_tree(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) remove_entries(fd);
    rmdir(path);
}

static void remove_own() {
    if (owner != getpid() || directory.empty()) return;
    remove_tree(directory.c_str());
    if (janitor > 0) kill(janitor, SIGKILL);
}

// Starts a process that removes the directory when its parent ends, so that even kill -9 leaves
// nothing behind.
static void start_janitor() {
    pid_t parent = getpid();
    sigset_t death, old;
    sigemptyset(&death);
    sigaddset(&death, SIGUSR1);
    sigprocmask(SIG_BLOCK, &death, &old);
    janitor = fork();
    if (janitor != 0) return (void)sigprocmask(SIG_SETMASK, &old, nullptr);
    setsid();  // Ctrl-C must not end the janitor
    for (int fd = 0; fd < 1024; fd++) close(fd);
    if (!system::signal_with_parent(SIGUSR1)) _exit(0);
    int signal;
    if (getppid() == parent) sigwait(&death, &signal);
    remove_tree(directory.c_str());
    _exit(0);
}

// Adds a hint if there is no room for another block or file. A partial write has no error of its
// own.
static void say_if_full(Text &text, int error) {
    struct statvfs space;
    if (error != 0 && error != ENOSPC && error != EDQUOT) return;
    constexpr uint64_t block = 64 << 10;  // no file system needs more for the next one
    if (statvfs(directory.c_str(), &space) != 0) return;
    const bool is_root = geteuid() == 0;  // reserved space is for root
    const uint64_t bytes = uint64_t(is_root ? space.f_bfree : space.f_bavail) * space.f_frsize,
                   files = is_root ? space.f_ffree : space.f_favail;
    const bool no_bytes = bytes < block, no_files = space.f_files > 0 && files == 0;
    if (!no_bytes && !no_files) return;
    text.addf("; there is no room for more %s in %s: let TMPDIR %sname a larger disk", no_bytes ? "bytes" : "files",
              directory.c_str(), is_far_end ? "there " : "");
}

static void make_own() {
    directory.add(home()).add("/yamba-XXXXXX");
    Text made = directory;
    if (mkdtemp(const_cast<char *>(made.c_str())) == nullptr) {
        int error = errno;
        directory.clear();
        fail("cannot make a directory in %s: %s", home(), strerror(error));
    }
    directory = made;
    owner = getpid();
    before_early_end = remove_own;
    atexit(remove_own);
    start_janitor();
}

void fill(uint64_t *words, size_t count, uint64_t &state) {
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        words[i] = state;
    }
}

// Writes a file. Its length is set first, so that concurrent processes see each other's claims on
// the disk.
static void write_file(const char *path, uint64_t bytes) {
    static uint64_t block[8192];
    uint64_t state = first_state;
    int fd = must(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    disk::find_room(directory.c_str(), bytes, bytes, path);
    must(ftruncate(fd, off_t(bytes)));
    disk::find_room(directory.c_str(), 0, bytes, path);
    for (uint64_t done = 0; done < bytes;) {
        fill(block, sizeof block / sizeof *block, state);
        uint64_t part = bytes - done < sizeof block ? bytes - done : sizeof block;
        done += uint64_t(must(write(fd, block, size_t(part))));
    }
    must(fsync(fd));
    must(close(fd));
}

}  // namespace scratch

const char *scratch_directory() {
    if (!scratch::directory.empty()) return scratch::directory.c_str();
    const char *given = getenv("YAMBA_SCRATCH");
    if (given != nullptr && *given != '\0') {
        if (mkdir(given, 0700) != 0 && errno != EEXIST) fail("cannot make the directory %s: %s", given, strerror(errno));
        scratch::directory.add(given);
    } else {
        scratch::make_own();
    }
    suggest_fix = scratch::say_if_full;
    return scratch::directory.c_str();
}

const char *scratch_file(const char *name, uint64_t bytes) {
    Text *path = new Text(scratch_directory());  // lives as long as the process: benchmarks keep the pointer
    path->add("/").add(name);
    struct stat there;
    if (stat(path->c_str(), &there) == 0 && uint64_t(there.st_size) == bytes) {
        utimensat(AT_FDCWD, path->c_str(), nullptr, 0);  // marks the file as used by this launch
        return path->c_str();
    }
    unlink(path->c_str());
    Text part = *path;
    part.add(disk::being_written);
    scratch::write_file(part.c_str(), bytes);
    must(rename(part.c_str(), path->c_str()));
    return path->c_str();
}

void scratch_room(uint64_t bytes) { disk::find_room(scratch_directory(), bytes, bytes); }

}  // namespace yamba
