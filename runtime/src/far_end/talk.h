// The communication between a benchmark and its far end. Defines non-inline functions: one
// translation unit of a program includes this.
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lines.h"
#include "ssh.h"
#include "yamba/far_end.h"

namespace yamba {
namespace far_end {

struct Answer {
    const char *question;
    uint64_t (*by)(void *self, uint64_t number);
    void *self;
};
inline std::vector<Answer> answers;

inline std::string system_name() {
    utsname name{};
    must(uname(&name));
    return std::string(name.sysname) + " " + name.machine;
}

// Removes the program's file and folder. The running program no longer needs them, and no process
// has to stay to remove them.
inline void leave_folder() {
    const char *folder = getenv("YAMBA_FAR_FOLDER");
    if (folder == nullptr) return;
    unlink((std::string(folder) + "/program").c_str());
    rmdir(folder);
}

inline void answer_on_standard_streams() {
    line = STDOUT_FILENO;
    leave_folder();
    signal(SIGPIPE, SIG_IGN);  // the end of the input reports the same
    say("begun", "");
}

bool await_input(int file, int seconds) {
    for (;;) {
        pollfd both[] = {{file, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        int heard = poll(both, 2, seconds * 1000);
        if (both[0].revents != 0 || heard == 0) return heard > 0;
        if (both[1].revents != 0) read_more();
    }
}

void open() {
    if (is_far_end) return answer_on_standard_streams();
    heed_earlier_silence();
    int turn = processes > 1 ? take_turn() : -1;
    start();
    const std::string there = hear("system"), own = system_name();
    if (there != own)
        skip("%s is %s and this is %s: both ends are one program, so they have to be of one kind; see --target", machine.c_str(),
             there.c_str(), own.c_str());
    send_program();
    hear("begun");
    if (turn >= 0) must(::close(turn));
}

const char *tell_text(const char *word, const char *text) {
    static std::string heard;
    if (is_far_end) say(word, heard = text);
    else heard = hear(word);
    return heard.c_str();
}

uint64_t tell(const char *word, uint64_t number) {
    return strtoull(tell_text(word, std::to_string(number).c_str()), nullptr, 10);
}

uint64_t ask(const char *question, uint64_t number) {
    say(question, std::to_string(number));
    return strtoull(hear(question).c_str(), nullptr, 10);
}

void answer(const char *question, uint64_t (*by)(void *self, uint64_t number), void *self) {
    answers.push_back({question, by, self});
}

void serve() {
    say("ready", "");
    for (;;) {
        std::string word, text;
        read_line(word, text);
        const Answer *known = nullptr;
        for (const Answer &each : answers)
            if (word == each.question) known = &each;
        if (known == nullptr) fail("nothing here answers the question %s", word.c_str());
        say(word.c_str(), std::to_string(known->by(known->self, strtoull(text.c_str(), nullptr, 10))));
    }
}

void await() { hear("ready"); }

void close() {
    must(::close(line));
    line = -1;
    wait_for_end();
}

}  // namespace far_end
}  // namespace yamba
