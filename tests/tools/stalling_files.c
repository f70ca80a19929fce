// SPDX-License-Identifier: Apache-2.0
/*
 * stalling_files DIRECTORY [FILE [READS]]: mount a FUSE file system with one file, "stalling".
 *
 * Without FILE, it can be opened and mapped, and its contents never come. The mount is in a mount
 * namespace of this process: others reach it by /proc/PID/root/DIRECTORY/stalling. With FILE, it
 * has the contents of FILE, and the mount, which others see, remains. After a line on standard
 * input, or so many reads of its contents, nothing is answered any more.
 *
 * Prints "ready", and "stalls" after that line; ends at the end of standard input, and then all who
 * wait for the file continue with an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    FILE_NODE = 2,
    FILE_BYTES = 1 << 20,
    READ_BYTES = 1 << 17, /* more than the kernel asks for at once */
    REQUEST_BYTES = 1 << 18,
    FOREVER = 1 << 30,
};

static int fuse, contents = -1; /* of FILE; -1: none */
static uint64_t file_bytes = FILE_BYTES;
static bool stalls;
static long reads_left = -1; /* -1: no limit */

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
        .size = node == FILE_NODE ? file_bytes : 0,
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

/* The seconds for which the kernel may cache the file's attributes. */
static uint64_t validity(void)
{
    return contents < 0 ? FOREVER : 1;
}

static void answer_lookup(const struct fuse_in_header *in)
{
    struct fuse_entry_out out = {.nodeid = FILE_NODE,
                                 .entry_valid = validity(),
                                 .attr_valid = validity(),
                                 .attr = attributes(FILE_NODE)};

    if (strcmp((const char *)(in + 1), "stalling") == 0)
        answer(in, 0, &out, sizeof(out));
    else
        answer(in, ENOENT, NULL, 0);
}

static void answer_read(const struct fuse_in_header *in)
{
    const struct fuse_read_in *read = (const void *)(in + 1);
    static char bytes[READ_BYTES];
    ssize_t got;

    if (contents < 0)
        return;
    if (reads_left >= 0 && reads_left-- == 0) {
        stalls = true;
        return;
    }
    got = pread(contents, bytes, read->size < READ_BYTES ? read->size : READ_BYTES,
                (off_t)read->offset);
    answer(in, got < 0 ? errno : 0, bytes, got < 0 ? 0 : (size_t)got);
}

static void serve(const struct fuse_in_header *in)
{
    struct fuse_attr_out attr = {.attr_valid = validity(), .attr = attributes(in->nodeid)};
    /* With this flag, each private mapping waits for reads of the file (fuse_file_mmap() in
     * fs/fuse/file.c), and the process waits for this mapping. */
    struct fuse_open_out open = {.open_flags = contents < 0 ? FOPEN_DIRECT_IO : 0};

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
        answer_read(in);
        break;
    case FUSE_FLUSH: /* without an answer, each close() waits */
        answer(in, 0, NULL, 0);
        break;
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
    if (contents < 0 &&
        (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)))
        fail("unshare");
    if (mount("stalling", directory, "fuse", MS_NOSUID | MS_NODEV, options))
        fail("mount");
}

static void open_contents(const char *path)
{
    struct stat status;

    contents = open(path, O_RDONLY | O_CLOEXEC);
    if (contents < 0 || fstat(contents, &status))
        fail(path);
    file_bytes = (uint64_t)status.st_size;
}

static void say(const char *what)
{
    puts(what);
    fflush(stdout);
}

/* True if there is a line; false at the end of standard input. */
static bool take_line(void)
{
    char line[16];

    return read(0, line, sizeof(line)) > 0;
}

int main(int argc, char **argv)
{
    static char request[REQUEST_BYTES] __attribute__((aligned(8)));
    struct pollfd ends[] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};

    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: stalling_files DIRECTORY [FILE [READS]]\n");
        return 2;
    }
    if (argc >= 3)
        open_contents(argv[2]);
    if (argc == 4)
        reads_left = strtol(argv[3], NULL, 10);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mount_at(argv[1]);
    ends[1].fd = fuse;
    say("ready");
    while (poll(ends, 2, -1) > 0) {
        ssize_t size;

        if (ends[0].revents && !take_line())
            break;
        if (ends[0].revents) {
            stalls = true;
            say("stalls");
            continue;
        }
        size = read(fuse, request, sizeof(request));
        if (size < 0 && errno != EINTR && errno != ENOENT)
            fail("read");
        if (!stalls && size >= (ssize_t)sizeof(struct fuse_in_header))
            serve((const struct fuse_in_header *)request);
    }
    return 0;
}
