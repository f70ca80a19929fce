// SPDX-License-Identifier: Apache-2.0
#include "agent/host_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return the pid in a line of /proc/locks (proc_locks(5)) if it is an flock of the inode; else 0:
 *
 *   1: FLOCK  ADVISORY  WRITE 20290 00:04:4026531836 0 EOF
 */
static int holder_in(const char *line, uint64_t inode)
{
    uint64_t of;
    int pid;

    return sscanf(line, "%*d: FLOCK ADVISORY %*s %d %*x:%*x:%" SCNu64, &pid, &of) == 2 &&
                   of == inode
               ? pid
               : 0;
}

/* Return the pid of the process that has locked the file; 0 if it is not known. */
static int holder(int fd)
{
    FILE *locks = fopen("/proc/locks", "re");
    struct stat status;
    char line[256];
    int pid = 0;

    if (!locks)
        return 0;
    if (fstat(fd, &status) == 0)
        while (!pid && fgets(line, sizeof(line), locks))
            pid = holder_in(line, status.st_ino);
    fclose(locks);
    return pid;
}

static bool is_of_another_user(int pid)
{
    struct stat status;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d", pid);
    return pid > 0 && stat(path, &status) == 0 && status.st_uid != geteuid();
}

int host_lock_take(warn_function warn, struct error *error)
{
    int fd = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), pid;

    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't open /proc/self/ns/pid: %s", strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    pid = holder(fd);
    if (is_of_another_user(pid)) {
        warn("process %d of another user holds the lock of agents: another agent is not noticed",
             pid);
        return fd;
    }
    close(fd);
    return error_set(error, ERROR_FAILED,
                     "another agent, process %d, records the VMs of this host: end one of them, or "
                     "set record.beside_others",
                     pid);
}
