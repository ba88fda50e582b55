#include "support/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "yamba/cold.h"
#include "yamba/must.h"
#include "yamba/placement.h"
#include "yamba/scratch.h"
#include "yamba/system.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

// As fork, but the child is the first process of new name spaces.
static pid_t enter_new_spaces() {
    return static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
}

// Makes later mounts visible in this name space only.
static bool keep_mounts_apart() { return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0; }

static bool write_own(const char *name, const std::string &text) {
    int file = open((std::string("/proc/self/") + name).c_str(), O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, text.data(), text.size()) == ssize_t(text.size());
    int error = errno;
    if (file >= 0) must(close(file));
    errno = error;
    return written;
}

// Maps the user. An ordinary user is root in a user name space of his own. His servers run under
// his own id again, since they reject a root that cannot become another user.
static bool map_user(uid_t inside, uid_t outside, gid_t group_inside, gid_t group_outside) {
    return unshare(CLONE_NEWUSER) == 0 && write_own("setgroups", "deny") &&
           write_own("uid_map", std::to_string(inside) + " " + std::to_string(outside) + " 1") &&
           write_own("gid_map", std::to_string(group_inside) + " " + std::to_string(group_outside) + " 1");
}

static std::string name_of(const std::string &path) { return path.substr(path.rfind('/') + 1); }

// Asks a program for its version. Returns the line with `word`; other lines list parts of the
// program or report errors.
static std::string version(const char *program, const char *question, const char *word) {
    int ends[2];
    must(pipe2(ends, O_CLOEXEC));
    pid_t child = must(fork());
    if (child == 0) {
        yamba::system::signal_with_parent(SIGKILL);
        alarm(5);  // a program that does not answer must not delay the figure
        must(dup2(must(open("/dev/null", O_RDONLY)), STDIN_FILENO));
        must(dup2(ends[1], STDOUT_FILENO));
        must(dup2(ends[1], STDERR_FILENO));
        execl(program, program, question, nullptr);
        _exit(127);
    }
    must(close(ends[1]));
    FILE *said = must(fdopen(ends[0], "r"));
    std::string found;
    char line[512];
    while (found.empty() && fgets(line, sizeof line, said) != nullptr)
        if (strstr(line, word) != nullptr) found.assign(line, strcspn(line, "\r\n"));
    fclose(said);
    must(kill(child, SIGKILL));  // in case it is still running
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return found.empty() ? "it does not tell its version" : found;
}

bool has_ended(pid_t pid) {
    siginfo_t news{};
    if (waitid(P_PID, static_cast<id_t>(pid), &news, WEXITED | WNOHANG | WNOWAIT) != 0)
        return kill(pid, 0) != 0;  // another process's child
    return news.si_pid == pid;
}

std::string scratch_folder(const char *name) {
    std::string path = std::string(scratch_directory()) + "/" + name;
    if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
        yamba::fail("cannot make the directory %s: %s", path.c_str(), strerror(errno));
    return path;
}

std::string write_private_file(const std::string &path, const std::string &text) {
    int file = must(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    must(write(file, text.data(), text.size()));
    must(close(file));
    return path;
}

const char *find_program(const char *program) {
    const char *known = getenv("PATH");
    std::string folders = std::string(known == nullptr ? "" : known) + ":/usr/bin:/usr/sbin:/usr/local/sbin:/usr/lib/openssh";
    for (size_t from = 0, to; from <= folders.size(); from = to + 1) {
        to = std::min(folders.find(':', from), folders.size());
        std::string path = folders.substr(from, to - from) + "/" + program;
        if (access(path.c_str(), X_OK) == 0) return must(strdup(path.c_str()));
    }
    return nullptr;
}

void note_version(const char *part, const char *program, const char *question, const char *word) {
    yamba::place::note(
        (std::string("the ") + part + " is " + name_of(program) + ": " + version(program, question, word)).c_str());
}

void Sandbox::open() {
    logs_ = scratch_folder(("log-" + std::to_string(getpid())).c_str());
    find_user();
    if (user != 0 && !map_user(0, user, 0, group))
        skip(
            "no user name space can be had here: %s; root needs none, or see sysctl user.max_user_namespaces, "
            "kernel.apparmor_restrict_unprivileged_userns",
            strerror(errno));
}

void Sandbox::check_mounts() {
    pid_t child = enter_new_spaces();
    if (child < 0)
        skip("no process and mount name spaces can be made here: %s; root may, or anybody where user name spaces are allowed",
             strerror(errno));
    if (child == 0) _exit(keep_mounts_apart() ? 0 : errno);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status))
        skip(
            "whether mounting is allowed here cannot be known: the process that was to try it was killed by signal %d; if a "
            "container's filter did that, one that allows mounting (--privileged) fixes it",
            WTERMSIG(status));
    if (status != 0)
        skip("mounting is refused here: %s; outside of this container, or in one that allows it (--privileged), it works",
             strerror(WEXITSTATUS(status)));
}

pid_t Sandbox::start(const Words &words, bool is_far, Place place, void *self, void (*before_exec)()) {
    int gate[2];
    must(pipe2(gate, O_CLOEXEC));
    pid_t pid = must(enter_new_spaces());
    if (pid == 0) {
        yamba::system::signal_with_parent(SIGKILL);
        char go;
        must(close(gate[1]));
        if (read(gate[0], &go, 1) != 1) _exit(1);  // the parent ended before its end was watched
        keep(words, is_far, place, self, before_exec);
    }
    must(write(gate[1], "", 1));
    must(close(gate[0]));
    must(close(gate[1]));
    started_.push_back(pid);
    return pid;
}

void Sandbox::end() {
    for (pid_t pid : started_) {
        must(kill(pid, SIGKILL));
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    started_.clear();
}

void Sandbox::give_up(std::initializer_list<const char *> programs) {
    std::string words;
    for (const char *program : programs)
        words += std::string(words.empty() ? "" : ", ") + program + " says \"" + last_line(program) + "\"";
    skip("its programs do not work here: %s", words.c_str());
}

// Runs in the first process of the new name spaces: all their other processes end with it. It ends
// with the program.
void Sandbox::keep(const Words &words, bool is_far, Place place, void *self, void (*before_exec)()) {
    must(keep_mounts_apart());
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    }  // a container may forbid it; few programs miss it
    place(self, is_far);
    pid_t program = must(fork());
    if (program == 0) {
        if (before_exec != nullptr) before_exec();
        if (user != 0 && is_far) must(map_user(user, 0, group, 0));
        become(words);
    }
    while (wait(nullptr) != program) {
    }
    _exit(0);
}

void Sandbox::become(const Words &words) {
    int input = must(::open("/dev/null", O_RDONLY));
    int output = must(::open(log_of(name_of(words[0])).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    std::vector<char *> arguments;
    for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    must(dup2(input, 0));
    must(dup2(output, 1));
    must(dup2(output, 2));
    for (int file = 3; file < 1024; file++) close(file);
    execv(arguments[0], arguments.data());
    fprintf(stderr, "%s\n", strerror(errno));
    _exit(1);
}

std::string Sandbox::last_line(const std::string &program) {
    std::string last;
    FILE *log = fopen(log_of(program).c_str(), "re");
    char line[512];
    while (log != nullptr && fgets(line, sizeof line, log) != nullptr)
        if (strcspn(line, "\r\n") > 0) last.assign(line, strcspn(line, "\r\n"));
    if (log != nullptr) fclose(log);
    return last;
}

void Sandbox::find_user() {
    user = geteuid();
    group = getegid();
    char name[256] = "root";
    if (user != 0) {
        FILE *id = must(popen("id -un", "re"));
        if (fscanf(id, "%255s", name) != 1)
            skip("`id -un` gives this user no name; a line for %u in /etc/passwd fixes that, or run as root",
                 static_cast<unsigned int>(user));
        pclose(id);
    }
    user_name = name;
}

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
