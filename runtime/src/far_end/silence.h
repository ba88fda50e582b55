// Reports a machine that ssh cannot reach, and spares the run's other points the wait for it.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

#include "yamba/far_end.h"
#include "yamba/must.h"

namespace yamba {
namespace far_end {

[[noreturn]] inline void refuse(const char *why) {
    const char *name = machine.c_str();
    // The C libraries' messages for a name that has only other addresses.
    bool has_no_address = strstr(why, "Address family") != nullptr || strstr(why, "No address") != nullptr;
    skip(
        "%s cannot be had by ssh: %s; `ssh -o BatchMode=yes -4 %s true` has to work without a question, and YAMBA_SSH may name "
        "another command than ssh%s",
        name, why, name, has_no_address ? "; both ends talk by IPv4 only" : "");
}

// A point that waited for the far machine in vain notes this in a file next to the benchmarks'
// scratch folders. The run's later points read the file and do not wait. A machine that has
// answered once in this run is always tried again.
constexpr const char *answered = "has answered";
inline std::string list_of_the_silent() {
    const char *own = getenv("YAMBA_SCRATCH");
    const std::string folder = own == nullptr ? "" : own;
    return folder.empty() ? folder : folder.substr(0, folder.rfind('/') + 1) + "far-ends-without-answer";
}

inline void heed_earlier_silence() {
    FILE *list = fopen(list_of_the_silent().c_str(), "re");
    char line[1024];
    std::string silence;
    bool has_answered = false;
    while (list != nullptr && fgets(line, sizeof line, list) != nullptr) {
        line[strcspn(line, "\n")] = '\0';
        const char *why = strchr(line, ' ');
        if (why == nullptr || std::string(line, size_t(why - line)) != machine.c_str()) continue;
        if (strcmp(why + 1, answered) == 0) has_answered = true;
        else silence = why + 1;
    }
    if (list != nullptr) fclose(list);
    if (!has_answered && !silence.empty()) refuse(silence.c_str());
}

inline void note(const std::string &text) {
    const std::string line = std::string(machine.c_str()) + " " + text + "\n";
    int list = ::open(list_of_the_silent().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (list < 0) return;  // then each point waits for itself
    if (write(list, line.data(), line.size()) < 0) {
    }
    ::close(list);
}

}  // namespace far_end
}  // namespace yamba
