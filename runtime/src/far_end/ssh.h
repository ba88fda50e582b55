// Copies the program over ssh to the other machine and starts it there.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lines.h"
#include "yamba/far_end.h"
#include "yamba/parameters.h"
#include "yamba/placement.h"
#include "yamba/system.h"

namespace yamba {
namespace far_end {

// The script for the other machine's shell. $1 is the program's size in bytes; the rest are the
// program's arguments. While the program is copied, a second shell reports the progress
// periodically. If the first shell is killed, the second one removes the folder.
constexpr const char *script =
    "umask 077; echo \"system $(uname -sm)\"; d=$(mktemp -d \"${TMPDIR:-/tmp}/yamba-XXXXXX\") || exit 1; p=\"$d/program\"; n=$1; "
    "shift; "
    "(trap 'kill $s; exit' TERM; a=0; while sleep 2 >&2 & s=$!; wait $s; kill -0 $$; do b=$(wc -c <\"$p\") && [ \"$b\" -gt "
    "\"$a\" ] && a=$b && echo \"copied $b\"; done; rm -rf \"$d\") 2>/dev/null & w=$!; "
    "dismiss() { [ -z \"$w\" ] || { kill $w; wait $w; w=; } 2>/dev/null; }; trap 'dismiss; rm -rf \"$d\"' EXIT; trap \"exit 1\" "
    "HUP INT TERM; "
    "head -c \"$n\" >\"$p\" && dismiss; [ \"$(wc -c <\"$p\")\" -eq \"$n\" ] && chmod 700 \"$p\" && YAMBA_FAR_FOLDER=\"$d\" "
    "\"$p\" --far \"$@\"";

inline std::string quoted(const std::string &text) {
    std::string all = "'";
    // Shells of the csh family expand an exclamation mark within quotes, too, and fish interprets a
    // backslash there.
    for (char c : text) all += strchr("'!\\", c) != nullptr ? std::string("'\\") + c + "'" : std::string(1, c);
    return all + "'";
}

inline int open_program() { return must(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)); }

inline off_t program_size() {
    struct stat about {};
    int program = open_program();
    must(fstat(program, &about));
    must(::close(program));
    return about.st_size;
}

// The other machine's shell may be of any kind, so the command uses only words in single quotes.
inline std::string remote_command() {
    const char *address = getenv(address_variable);
    const std::string environment =
        address == nullptr ? "" : "env " + std::string(address_variable) + "=" + quoted(address) + " ";
    std::string all = "exec " + environment + "sh -c " + quoted(script) + " yamba " + std::to_string(program_size());
    if (process > 0) all += " --process " + std::to_string(process);
    for (const Settled &each : measured->settled)
        all += " --set " + quoted(std::string(each.name) + "=" + each.value.plain.c_str());
    return all;
}

// YAMBA_SSH is a command with options, for the shell. If an option is given twice, ssh uses the
// first.
[[noreturn]] inline void become_ssh(const char *command) {
    const char *given = getenv("YAMBA_SSH");
    const std::string words = std::string(given != nullptr && *given != '\0' ? given : "exec ssh") + " \"$@\"";
    execl("/bin/sh", "sh", "-c", words.c_str(), "ssh", "-4", "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10",
          "-o", "ServerAliveInterval=15", "-o", "ControlMaster=no", "--", machine.c_str(), command, nullptr);
    fprintf(stderr, "/bin/sh: %s\n", strerror(errno));
    _exit(127);
}

// Starts ssh, with one socket for messages and a pipe for the standard error of ssh and the other
// machine.
inline void start() {
    int ends[2], complaints[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    must(pipe(complaints));
    must(fcntl(complaints[0], F_SETFL, O_NONBLOCK));
    const std::string command = remote_command();
    asked_at = time(nullptr);
    pid_t self = getpid();
    ssh = must(fork());
    if (ssh == 0) {
        system::signal_with_parent(SIGKILL);
        if (getppid() != self) _exit(failed_status);
        place::roam();
        must(dup2(ends[1], STDIN_FILENO));
        must(dup2(ends[1], STDOUT_FILENO));
        must(dup2(complaints[1], STDERR_FILENO));
        for (int file = 3; file < 1024; file++) ::close(file);
        become_ssh(command.c_str());
    }
    must(::close(ends[1]));
    must(::close(complaints[1]));
    line = ends[0], errors = complaints[0];
    timeval patience{};
    patience.tv_sec = near_patience();
    must(setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience));
}

// Serialises the connections of several processes: an ssh server drops some of many simultaneous
// ones.
inline int take_turn() {
    int turn = open_program();
    must(flock(turn, LOCK_EX));
    return turn;
}

// Sends the program. If the other side stops reading, it reports the reason itself.
inline void send_program() {
    int program = open_program();
    std::vector<char> block(1 << 16);
    for (ssize_t have; (have = must(read(program, block.data(), block.size()))) > 0;)
        for (ssize_t sent = 0, part; sent < have; sent += part) {
            part = send(line, block.data() + sent, size_t(have - sent), MSG_NOSIGNAL);
            if (part < 0) return void(::close(program));
            goes_on();
        }
    must(::close(program));
}

}  // namespace far_end
}  // namespace yamba
