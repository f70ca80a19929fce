// SPDX-License-Identifier: Apache-2.0
/*
 * stalling_files DIRECTORY: mount a FUSE file system with one file, "stalling", that can be opened
 * and mapped, and whose contents never come. The mount is in a mount namespace of this process:
 * others reach it by /proc/PID/root/DIRECTORY/stalling. Prints "ready"; ends at the end of standard
 * input, and then all who wait for the file continue with an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILE_NODE = 2, FILE_BYTES = 1 << 20, REQUEST_BYTES = 1 << 18, FOREVER = 1 << 30 };

static int fuse;

static void fail(const char *what)
{
    fprintf(stderr, "stalling_files: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void answer(const struct fuse_in_header *in, int error, const void *body, size_t size)
{
    struct fuse_out_header out = {
        .len = (uint32_t)(sizeof(out) + size), .error = -error, .unique = in->unique};
    struct iovec parts[] = {{&out, sizeof(out)}, {(void *)(uintptr_t)body, size}};

    if (writev(fuse, parts, 2) < 0 && errno != ENOENT) /* it was interrupted meanwhile */
        fail("answer");
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){
        .ino = node,
        .size = node == FILE_NODE ? FILE_BYTES : 0,
        .mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
        .nlink = 1,
        .blksize = 4096,
    };
}

static void answer_init(const struct fuse_in_header *in)
{
    const struct fuse_init_in *init = (const void *)(in + 1);
    struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};

    if (init->minor < out.minor)
        out.minor = init->minor;
    answer(in, 0, &out, sizeof(out));
}

static void answer_lookup(const struct fuse_in_header *in)
{
    struct fuse_entry_out out = {.nodeid = FILE_NODE,
                                 .entry_valid = FOREVER,
                                 .attr_valid = FOREVER,
                                 .attr = attributes(FILE_NODE)};

    if (strcmp((const char *)(in + 1), "stalling") == 0)
        answer(in, 0, &out, sizeof(out));
    else
        answer(in, ENOENT, NULL, 0);
}

static void serve(const struct fuse_in_header *in)
{
    struct fuse_attr_out attr = {.attr_valid = FOREVER, .attr = attributes(in->nodeid)};
    /* With this flag, each private mapping waits for reads of the file (fuse_file_mmap() in
     * fs/fuse/file.c), and the process waits for this mapping. */
    struct fuse_open_out open = {.open_flags = FOPEN_DIRECT_IO};

    switch (in->opcode) {
    case FUSE_INIT:
        answer_init(in);
        break;
    case FUSE_LOOKUP:
        answer_lookup(in);
        break;
    case FUSE_GETATTR:
        answer(in, 0, &attr, sizeof(attr));
        break;
    case FUSE_OPEN:
        answer(in, 0, &open, sizeof(open));
        break;
    case FUSE_READ:
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(in, ENOSYS, NULL, 0);
    }
}

static void mount_at(const char *directory)
{
    char options[96];

    fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fuse < 0)
        fail("/dev/fuse");
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
             fuse);
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("stalling", directory, "fuse", MS_NOSUID | MS_NODEV, options))
        fail("mount");
}

int main(int argc, char **argv)
{
    static char request[REQUEST_BYTES] __attribute__((aligned(8)));
    struct pollfd ends[] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};

    if (argc != 2) {
        fprintf(stderr, "usage: stalling_files DIRECTORY\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mount_at(argv[1]);
    ends[1].fd = fuse;
    puts("ready");
    fflush(stdout);
    while (poll(ends, 2, -1) > 0 && !ends[0].revents) {
        ssize_t size = read(fuse, request, sizeof(request));

        if (size < 0 && errno != EINTR && errno != ENOENT)
            fail("read");
        if (size >= (ssize_t)sizeof(struct fuse_in_header))
            serve((const struct fuse_in_header *)request);
    }
    return 0;
}
