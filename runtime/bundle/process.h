// Runs one program of the bundle from memory, and reads what it writes.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace bundle {

static volatile sig_atomic_t stop_requested = 0;

inline uint64_t clock_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

inline uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

struct Limits {
    uint64_t silence_ns = 0, timeout_ns = 0;
};

// How a process ended.
struct Exit {
    enum Kind { exited, signalled, hung, timed_out, flooded, stopped, not_started } kind = exited;
    int number = 0;  // the exit status or the signal
};

struct Output {
    Exit exit;
    std::string records, errors;
    std::vector<std::string> orphans;
    uint64_t began_ns = 0, ended_ns = 0, first_batch_ns = 0, last_batch_ns = 0;
};

// An executable in memory, or in the scratch folder if the system has no files in memory.
class Executable {
  public:
    Executable(const std::string &name, const std::string &bytes, const std::string &folder) {
        fd_ = int(syscall(SYS_memfd_create, name.c_str(), 0));
        if (fd_ < 0 && !folder.empty()) {
            path_ = folder + "/" + name + ".program";
            fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0700);
        }
        size_t done = 0;
        while (fd_ >= 0 && done < bytes.size()) {
            ssize_t n = write(fd_, bytes.data() + done, bytes.size() - done);
            if (n <= 0 && errno != EINTR) close(fd_), fd_ = -1;
            else if (n > 0) done += size_t(n);
        }
        // A file that is open for writing cannot be executed.
        if (fd_ >= 0 && !path_.empty()) close(fd_), fd_ = open(path_.c_str(), O_RDONLY);
        // Descriptor 3 is for records.
        const int low = fd_;
        if (low >= 0) fd_ = fcntl(low, F_DUPFD, 10), close(low);
    }

    ~Executable() {
        if (fd_ >= 0) close(fd_);
        if (!path_.empty()) unlink(path_.c_str());
    }

    Executable(const Executable &) = delete;
    Executable &operator=(const Executable &) = delete;

    bool is_ready() const { return fd_ >= 0; }

    // Replaces this process; returns only if that fails.
    void execute(const std::string &emulator, const std::vector<std::string> &arguments) const {
        std::vector<char *> words;
        const std::string path = path_.empty() ? "/proc/self/fd/" + std::to_string(fd_) : path_;
        if (!emulator.empty()) words = {const_cast<char *>(emulator.c_str()), const_cast<char *>(path.c_str())};
        for (size_t i = emulator.empty() ? 0 : 1; i < arguments.size(); i++)
            words.push_back(const_cast<char *>(arguments[i].c_str()));
        words.push_back(nullptr);
        if (!emulator.empty()) return (void)execvp(emulator.c_str(), words.data());
        fcntl(fd_, F_SETFD, FD_CLOEXEC);
        syscall(SYS_execveat, fd_, "", words.data(), environ, AT_EMPTY_PATH);
        execve(path.c_str(), words.data(), environ);
    }

  private:
    int fd_ = -1;
    std::string path_;
};

// A running program, with the pipes of its records and of its messages.
class Process {
  public:
    // `arguments` begins with the name of the program. Records come through descriptor 3, or
    // through standard output if `describes`.
    Process(const Executable &program, const std::string &emulator, const std::vector<std::string> &arguments, bool describes) {
        int records[2], errors[2];
        output_.began_ns = now_ns();
        heard_ns_ = output_.began_ns;
        if (!program.is_ready() || pipe2(records, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) return;
        fcntl(records[1], F_SETPIPE_SZ, 1 << 20);
        pid_t parent = getpid();
        child_ = fork();
        if (child_ == 0) {
            prepare(parent, records[1], errors[1], describes);
            program.execute(emulator, arguments);
            dprintf(STDERR_FILENO, "cannot start %s: %s", arguments[0].c_str(), strerror(errno));
            _exit(127);
        }
        close(records[1]), close(errors[1]);
        records_ = records[0], errors_ = errors[0];
        fcntl(records_, F_SETFL, O_NONBLOCK), fcntl(errors_, F_SETFL, O_NONBLOCK);
    }

    Output finish(const Limits &limits) {
        if (child_ <= 0) return output_.exit.kind = Exit::not_started, output_;
        while (!has_ended() && !is_overdue(limits)) wait_and_listen();
        kill(-child_, SIGKILL), kill(child_, SIGKILL);
        int status = 0;
        while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
        }
        listen();
        if (!is_killed_) output_.exit = exit_of(status);
        output_.ended_ns = now_ns();
        end_orphans();
        if (records_ >= 0) close(records_);
        if (errors_ >= 0) close(errors_);
        return std::move(output_);
    }

  private:
    static constexpr int tick_ms = 10;
    static constexpr size_t most_bytes = 1 << 28, kept_errors = 4096;
    static constexpr uint64_t grace_ns = 1000000000;

    // Runs in the child. The files of an empty root are missing, so a file in memory stands for
    // /dev/null.
    static void prepare(pid_t parent, int records, int errors, bool describes) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        setsid();
        int nothing = open("/dev/null", O_RDWR);
        if (nothing < 0) nothing = int(syscall(SYS_memfd_create, "nothing", 0));
        dup2(nothing, STDIN_FILENO);
        dup2(describes ? records : nothing, STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        if (!describes && records != 3) dup2(records, 3);
        else if (!describes) fcntl(3, F_SETFD, 0);
        signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL), signal(SIGHUP, SIG_DFL), signal(SIGPIPE, SIG_DFL);
    }

    static Exit exit_of(int status) {
        Exit exit;
        exit.kind = WIFSIGNALED(status) ? Exit::signalled : Exit::exited;
        exit.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
        return exit;
    }

    // The child stays unreaped, so that its number, which is also its group's, is not reused.
    bool has_ended() const {
        siginfo_t info;
        info.si_pid = 0;
        return waitid(P_PID, id_t(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_;
    }

    bool is_overdue(const Limits &limits) {
        uint64_t now = now_ns();
        Exit exit;
        if (stop_requested) exit.kind = Exit::stopped;
        else if (output_.records.size() > most_bytes) exit.kind = Exit::flooded;
        else if (now - output_.began_ns > limits.timeout_ns) exit.kind = Exit::timed_out;
        else if (now - heard_ns_ > limits.silence_ns) exit.kind = Exit::hung;
        else if (failed_ns_ != 0 && now - failed_ns_ > grace_ns) exit.number = 3;
        else return false;
        output_.exit = exit;
        return is_killed_ = true;
    }

    // Records do not end the wait: the work of this process must not disturb the program's core
    // after each of them. The run ends with the reader of its capture, such as a closed connection.
    void wait_and_listen() {
        pollfd waited[] = {{STDOUT_FILENO, 0, 0}, {errors_, POLLIN, 0}};
        poll(waited, 2, tick_ms);
        if ((waited[0].revents & (POLLERR | POLLHUP)) != 0) stop_requested = 1;
        listen();
    }

    void listen() {
        size_t known = output_.records.size();
        drain(records_, output_.records);
        drain(errors_, output_.errors);
        if (output_.errors.size() > kept_errors) output_.errors.erase(0, output_.errors.size() - kept_errors);
        if (output_.records.size() == known) return;
        heard_ns_ = now_ns();
        const std::string &all = output_.records;
        if (all.find("{\"event\":\"batch\"", known) != std::string::npos) {
            if (output_.first_batch_ns == 0) output_.first_batch_ns = heard_ns_;
            output_.last_batch_ns = heard_ns_;
        }
        if (failed_ns_ == 0 && all.find("{\"event\":\"error\"", known) != std::string::npos) failed_ns_ = heard_ns_;
    }

    static void drain(int &fd, std::string &into) {
        static char buffer[65536];
        while (fd >= 0) {
            ssize_t n = read(fd, buffer, sizeof buffer);
            if (n > 0) into.append(buffer, size_t(n));
            else if (n < 0 && errno == EINTR) continue;
            else if (n == 0) close(fd), fd = -1;
            else return;
        }
    }

    // Processes that left the group of the program became children of this one. Half a second is
    // left to those that clean up.
    void end_orphans() {
        for (int i = 0; i < 50; i++) {
            while (waitpid(-1, nullptr, WNOHANG) > 0) {
            }
            if (children().empty()) return;
            poll(nullptr, 0, tick_ms);
        }
        for (pid_t child : children()) {
            output_.orphans.push_back(name_of(child));
            kill(child, SIGKILL), waitpid(child, nullptr, 0);
        }
    }

    static std::string name_of(pid_t process) {
        std::string path = "/proc/" + std::to_string(process) + "/comm", name(64, '\0');
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, &name[0], name.size());
        if (fd >= 0) close(fd);
        name.resize(n > 0 ? size_t(n - 1) : 0);
        return name;
    }

    static std::vector<pid_t> children() {
        std::vector<pid_t> found;
        DIR *all = opendir("/proc");
        while (const dirent *entry = all == nullptr ? nullptr : readdir(all)) {
            pid_t process = atoi(entry->d_name);
            if (process > 0 && parent_of(process) == getpid()) found.push_back(process);
        }
        if (all != nullptr) closedir(all);
        return found;
    }

    static pid_t parent_of(pid_t process) {
        char text[512] = {};
        std::string path = "/proc/" + std::to_string(process) + "/stat";
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return 0;
        if (read(fd, text, sizeof text - 1) < 0) text[0] = '\0';
        close(fd);
        const char *after = strrchr(text, ')');  // the name may contain anything
        int parent = 0;
        return after != nullptr && sscanf(after, ") %*c %d", &parent) == 1 ? parent : 0;
    }

    Output output_;
    pid_t child_ = -1;
    int records_ = -1, errors_ = -1;
    uint64_t heard_ns_ = 0, failed_ns_ = 0;
    bool is_killed_ = false;
};

}  // namespace bundle
