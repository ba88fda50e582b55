// The protocol between the two ends: lines of a word and a text.
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "loss.h"
#include "yamba/far_end.h"
#include "yamba/placement.h"

// Older systems and macOS lack it. There, writing to a closed connection ends this process by
// SIGPIPE before it can report the loss.
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

namespace yamba {
namespace far_end {

// Seconds. The limit is below a run's timeout for a program and below the timeout between
// concurrent processes.
inline int near_patience() { return processes > 1 ? 25 : 50; }
inline std::string said;  // received from the other end and not yet parsed

[[noreturn]] inline void hear_to_the_end();

inline void say(const char *word, const std::string &text) {
    const std::string all = std::string(word) + " " + text + "\n";
    if (!is_far_end) {
        if (send(line, all.data(), all.size(), MSG_NOSIGNAL) != ssize_t(all.size())) hear_to_the_end();
    } else if (write(line, all.data(), all.size()) < 0) {
        exit(0);
    }
}

inline void heed_record(const std::string &one) {
    auto is = [&](const char *kind) { return one.compare(0, strlen(kind), kind) == 0; };
    if (is("{\"event\":\"error\",")) last_record = one;
    if (is("{\"event\":\"note\",")) place::note(("the far end: " + text_of(one)).c_str());
}

inline void read_more() {
    bool is_far = is_far_end;
    pollfd ear = {is_far ? STDIN_FILENO : line, POLLIN, 0};
    int heard;
    while ((heard = poll(&ear, 1, 1000 * (is_far ? far_patience : near_patience()))) < 0 && errno == EINTR) {
    }
    char block[4096];
    ssize_t part = heard > 0 ? read(ear.fd, block, sizeof block) : 0;
    if (part > 0) return void(said.append(block, size_t(part)));
    if (is_far) exit(0);
    if (heard == 0) give_up("it has said nothing for " + std::to_string(near_patience()) + " s");
    mourn();
}

// Reads the next message. Records in between are handled here and skipped.
inline void read_line(std::string &word, std::string &text) {
    for (;;) {
        size_t end = said.find('\n');
        if (end == std::string::npos) {
            read_more();
            continue;
        }
        std::string one = said.substr(0, end);
        said.erase(0, end + 1);
        if (one.empty() || one[0] == '{') {
            heed_record(one);
            continue;
        }
        size_t blank = one.find(' ');
        word = one.substr(0, blank);
        text = blank == std::string::npos ? "" : one.substr(blank + 1);
        return;
    }
}

// Reads the remaining messages after a failed write, since the other end may have sent the reason
// before.
[[noreturn]] inline void hear_to_the_end() {
    for (std::string word, text;;) read_line(word, text);
}

// Whether the message reports a copy in progress. It also reports progress to the parent, so that a
// slow copy is no timeout.
inline bool is_copying(const std::string &word) {
    bool is = word == "copied";
    if (is) goes_on();
    return is;
}

inline std::string hear(const char *expected) {
    std::string word, text;
    // Skips the other machine's login messages.
    do read_line(word, text);
    while ((stage == silent && word != expected) || (stage == connected && is_copying(word)));
    if (word != expected) fail("the far end says \"%s %s\" where \"%s\" was expected", word.c_str(), text.c_str(), expected);
    if (word == "system") stage = connected;
    if (word == "begun") {
        stage = running;
        note(answered);
    }
    return text;
}

}  // namespace far_end
}  // namespace yamba
