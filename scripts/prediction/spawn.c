// Usage: spawn fork|posix_spawn PROCESSES MIB
// Runs /bin/true in so many processes, one after the other. The memory in use is copied by fork and not by posix_spawn.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **words)
{
    if (count != 4) return 2;
    int forks = strcmp(words[1], "fork") == 0;
    size_t bytes = (size_t)atoi(words[3]) << 20;
    char *memory = malloc(bytes);
    if (!memory) return 1;
    memset(memory, 1, bytes);
    for (int left = atoi(words[2]); left > 0; left--) {
        char *command[] = {"/bin/true", NULL};
        pid_t child;
        if (forks) {
            child = fork();
            if (child == 0) {
                execv(command[0], command);
                _exit(1);
            }
        } else if (posix_spawn(&child, command[0], NULL, NULL, command, environ) != 0) {
            child = -1;
        }
        if (child < 0) return 1;
        waitpid(child, NULL, 0);
    }
    return 0;
}
