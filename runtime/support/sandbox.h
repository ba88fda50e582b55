// Third-party programs, such as servers, that a benchmark starts in process and mount name spaces
// of their own. When this process ends, for any reason, all processes and mounts of such a program
// disappear. The output of a program goes to a file in the scratch directory; its last line is the
// reason if the program fails.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace yamba {
namespace support {

using Words = std::vector<std::string>;

// Whether a process has ended. If it is a child, it can still be waited for.
bool has_ended(pid_t pid);
// Makes a folder in the scratch directory, unless it exists. Returns its path.
std::string scratch_folder(const char *name);
// Writes a file that only this user may read. Returns its path.
std::string write_private_file(const std::string &path, const std::string &text);
// Finds a program in PATH and in the usual folders of servers. Returns null if it is not installed.
const char *find_program(const char *program);
// Notes in the record the program used for a part of the figure, with the line containing `word` of
// its answer to `question`.
void note_version(const char *part, const char *program, const char *question, const char *word);

class Sandbox {
  public:
    // Called in the first process of the new name spaces, before the program starts: moves the
    // process to its host.
    using Place = void (*)(void *self, bool is_far);

    uid_t user = 0;  // the user who started the run
    gid_t group = 0;
    std::string user_name;

    // Finds the user and makes the folder of outputs. An ordinary user becomes root in a user name
    // space. Ends the run as skipped if no sandbox can be made.
    void open();
    // Ends the run as skipped if process and mount name spaces, or mounting, are refused.
    void check_mounts();
    // Starts a program; the first word is its path. Its name spaces end with it. `before_exec` is
    // called in the program's process.
    pid_t start(const Words &words, bool is_far, Place place, void *self, void (*before_exec)());
    // Ends all programs. They end with this process, too.
    void end();
    // Ends the run as skipped, with the last lines of these programs.
    [[noreturn]] void give_up(std::initializer_list<const char *> programs);

  private:
    [[noreturn]] void keep(const Words &words, bool is_far, Place place, void *self, void (*before_exec)());
    [[noreturn]] void become(const Words &words);
    std::string log_of(const std::string &program) const { return logs_ + "/" + program; }
    std::string last_line(const std::string &program);
    void find_user();

    std::string logs_;            // the folder of the programs' outputs
    std::vector<pid_t> started_;  // the first process of each program's name spaces
};

}  // namespace support
}  // namespace yamba
