// The end of the far end: normal shutdown, and error reports after an unexpected one.
#pragma once

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "silence.h"
#include "yamba/far_end.h"
#include "yamba/must.h"

namespace yamba {
namespace far_end {

constexpr time_t long_silence = 5;  // seconds; after an immediate refusal, other points may try again
inline time_t asked_at = 0;
inline pid_t ssh = -1;
inline int errors = -1;                                     // standard error of ssh and of the other machine
inline enum { silent, connected, running } stage = silent;  // the far end's state, by its messages
inline std::string last_record;

// Extracts the text of a record that the runtime wrote.
inline std::string text_of(const std::string &record) {
    constexpr char key[] = "\"text\":\"";
    std::string text;
    for (size_t i = record.find(key) + sizeof key - 1; i < record.size() && record[i] != '"'; i++) {
        if (record[i] == '\\') i++;
        text += record[i];
    }
    return text;
}

// Waits ten seconds for ssh to end. Then kills it, which ends the far end, too.
inline int wait_for_end() {
    int status = 0;
    signal(SIGCHLD, SIG_DFL);
    for (int tries = 0; ssh > 0 && waitpid(ssh, &status, WNOHANG) == 0; tries++) {
        if (tries == 2000) kill(ssh, SIGKILL);
        usleep(5000);
    }
    ssh = -1;
    return status;
}

inline std::string last_complaint() {
    std::string all;
    char block[4096];
    for (ssize_t part; (part = read(errors, block, sizeof block)) > 0;) all.append(block, size_t(part));
    while (!all.empty() && strchr("\r\n ", all.back()) != nullptr) all.pop_back();
    return all.substr(all.rfind('\n') + 1);
}

[[noreturn]] inline void give_up(const std::string &why) {
    const char *name = machine.c_str();
    if (stage == running) fail("the far end on %s has gone: %s", name, why.c_str());
    if (stage == connected)
        skip("the program cannot be started on %s: %s; it is put into a folder of its own in $TMPDIR there, or in /tmp", name,
             why.c_str());
    if (time(nullptr) - asked_at >= long_silence) note(why);
    refuse(why.c_str());
}

// Reports the loss of the far end, or its failure to start. The reason is in the far end's error
// record, or else in the last line on standard error.
[[noreturn]] inline void mourn() {
    shutdown(line, SHUT_WR);
    int status = wait_for_end();
    if (!last_record.empty()) fail("the far end: %s", text_of(last_record).c_str());
    std::string why = last_complaint();
    bool exited = WIFEXITED(status);
    if (exited && WEXITSTATUS(status) == skipped_status && stage == running) skip("the far end: %s", why.c_str());
    if (why.empty())
        why = exited ? "ssh ended with status " + std::to_string(WEXITSTATUS(status))
                     : "ssh was killed by signal " + std::to_string(WTERMSIG(status));
    give_up(why);
}

}  // namespace far_end
}  // namespace yamba
