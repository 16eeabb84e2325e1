/* peak FILE COMMAND [ARGUMENT...]: runs the command and writes the most memory that it held (KiB)
 * to the file. A program that starts another leaves its own peak in the count of the new one
 * (ru_maxrss outlives exec), so whoever measures has to be small: an interpreter is not. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = 0;
    struct rusage u;
    if (argc < 3) {
        return 2;
    }
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &u) != 0) {
        return 2;
    }
    FILE *f = fopen(argv[1], "w");
    if (!f || fprintf(f, "%ld\n", u.ru_maxrss) < 0 || fclose(f) != 0) {
        return 2;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
