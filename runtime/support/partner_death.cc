#include "support/partner_death.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "yamba/cold.h"
#include "yamba/must.h"

YAMBA_COLD_BEGIN
namespace yamba {
namespace support {

static volatile pid_t watched = 0;
static const char *log_path = nullptr;
static char record_begin[512];  // the beginning of the error record

static void say(const char *text) { write_all(record_fd, text, strlen(text)); }

// The last line marked "[emerg]", or else the last line.
static const char *reason_in(char *text) {
    const char *found = nullptr;
    char *rest;
    bool is_marked = false;
    for (const char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
        const bool marked = strstr(line, "[emerg]") != nullptr;
        if (marked || !is_marked) found = line, is_marked = marked;
    }
    return found;
}

// Adds the reason from the partner's log to the record.
static void quote_log() {
    char text[2048] = "";
    int log = open(log_path, O_RDONLY | O_CLOEXEC);
    ssize_t length = log < 0 ? 0 : lseek(log, 0, SEEK_END);
    if (length >= ssize_t(sizeof text)) length = sizeof text - 1;
    if (length <= 0 || lseek(log, -length, SEEK_END) < 0 || read(log, text, size_t(length)) != length) return;
    const char *reason = reason_in(text);
    if (!reason) return;
    // As the content of a JSON string. Bytes outside ASCII are omitted.
    char quoted[2 * sizeof text];
    size_t end = 0;
    for (const char *c = reason; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') quoted[end++] = '\\';
        if (*c >= ' ' && *c <= '~') quoted[end++] = *c;
    }
    say(", and has said: ");
    write_all(record_fd, quoted, end);
}

[[noreturn]] static void end_with(int status) {
    // A partner that failed has recorded the reason itself.
    if (WIFEXITED(status) && WEXITSTATUS(status) == failed_status) _exit(failed_status);
    const char *how = WIFSTOPPED(status)    ? ", was stopped by signal "
                      : WIFSIGNALED(status) ? ", was killed by signal "
                                            : ", ended with status ";
    unsigned int number = static_cast<unsigned int>(WIFSTOPPED(status)    ? WSTOPSIG(status)
                                                    : WIFSIGNALED(status) ? WTERMSIG(status)
                                                                          : WEXITSTATUS(status));
    char digits[] = {char('0' + number / 100), char('0' + number / 10 % 10), char('0' + number % 10)};
    if (before_last_words) before_last_words();
    say(record_begin);
    say(how);
    size_t zeros = number < 10 ? 2 : number < 100 ? 1 : 0;
    write_all(record_fd, digits + zeros, sizeof digits - zeros);
    if (WIFEXITED(status) && log_path) quote_log();
    say("\"}\n");
    _exit(failed_status);
}

// Without this handler, a process would wait for ever for a partner that ended or stopped. As a
// signal handler it must not allocate, lock or use stdio.
static void partner_death(int) {
    int error = errno, status;
    if (waitpid(watched, &status, WNOHANG | WUNTRACED) == watched) end_with(status);
    errno = error;
}

void watch_partner(pid_t partner, const char *log) {
    watched = partner;
    log_path = log;
    snprintf(record_begin, sizeof record_begin,
             "{\"event\":\"error\",\"class\":\"%s\",\"file\":null,\"line\":null,\"text\":\"the partner, process %d", program_name,
             int(partner));
    signal(SIGCHLD, partner_death);
    partner_death(SIGCHLD);  // it may have ended before the handler was installed
}

void unwatch_partner() { signal(SIGCHLD, SIG_DFL); }

}  // namespace support
}  // namespace yamba
YAMBA_COLD_END
