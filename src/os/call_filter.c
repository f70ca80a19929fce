// SPDX-License-Identifier: Apache-2.0
#include "os/call_filter.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/cpu.h"

/* What every filter allows. */
static const int always[] = {
    /* open files */
    SYS_read,
    SYS_pread64,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_close,
    /* open sockets, and the files that come through them */
    SYS_recvmsg,
    SYS_sendmsg,
    /* memory, apart from mmap and mprotect */
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    /* the process itself, which may abort */
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_getpid,
    SYS_gettid,
    SYS_futex,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    /* the machine */
    SYS_sysinfo,
    SYS_getrandom,
    SYS_clock_gettime,
};

/* To write files and pipes that are open, and to look at this process and the machine. */
static const int open_files[] = {
    /* files: of x86-64 also the calls that newer ones have replaced */
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pwrite64,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_fstatfs,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_fadvise64,
    SYS_copy_file_range,
    SYS_sendfile,
    SYS_ppoll,
#ifdef SYS_poll
    SYS_poll,
    SYS_dup2,
#endif
    /* the process itself */
    SYS_sigaltstack,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getrusage,
    SYS_sched_yield,
    SYS_sched_getaffinity,
#ifdef SYS_time
    SYS_time,
#endif
    /* the machine */
    SYS_uname,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getcpu,
};

/* To look at files and folders by name, and to wait for a child. The flags of openat2() are in
 * memory, where a filter can't see them. */
static const int look_at_files[] = {
    SYS_openat2,      SYS_close_range, SYS_flock,      SYS_statx,    SYS_statfs,
    SYS_faccessat,    SYS_faccessat2,  SYS_readlinkat, SYS_getcwd,   SYS_getdents64,
    SYS_memfd_create,
#ifdef SYS_open
    SYS_stat,         SYS_lstat,       SYS_access,     SYS_readlink, SYS_pipe,
#endif
    SYS_pipe2,        SYS_getgroups,   SYS_capget,     SYS_wait4,    SYS_set_robust_list,
    SYS_rseq,
};

/* To open files for writing too, to rename and to remove them. */
static const int change_files[] = {
    SYS_openat,  SYS_renameat, SYS_renameat2, SYS_unlinkat, SYS_linkat,   SYS_symlinkat,
    SYS_mkdirat, SYS_fchmod,   SYS_fchmodat,  SYS_fchown,   SYS_fchownat, SYS_utimensat,
    SYS_umask,
#ifdef SYS_open
    SYS_open,    SYS_rename,   SYS_unlink,    SYS_link,     SYS_mkdir,    SYS_chmod,
#endif
};

/* Threads, processes without a program of their own, giving up rights, and passing descriptors. */
static const int children[] = {
    SYS_clone,   SYS_clone3,     SYS_kill,    SYS_prctl,   SYS_capset,
    SYS_seccomp, SYS_socketpair, SYS_sendmsg, SYS_recvmsg, SYS_recvfrom,
};

/* To use connections. allow_network() permits socket() and socketpair() for some families only. */
static const int network[] = {
    SYS_connect,
    SYS_accept4,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_sendto,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_shutdown,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_rt_sigtimedwait,
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
    SYS_epoll_create,
    SYS_fork,
#endif
};

/* What would give power over this host or over other processes, by any of its interfaces. */
static const int powerful[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_migrate_pages,
    SYS_move_pages,
    /* file systems */
    SYS_mount,
    SYS_umount2,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fspick,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_mount_setattr,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_by_handle_at,
    SYS_mknodat,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_swapon,
    SYS_swapoff,
    /* other users and namespaces; unshare() and clone() have rules of their own. The flags of
     * clone3() are in memory, and the C library uses clone() without it. */
    SYS_clone3,
    SYS_setns,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    /* the kernel */
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_acct,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_personality,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_userfaultfd,
    /* calls that no filter sees */
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#ifdef SYS_mknod
    SYS_mknod,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_kexec_file_load,
#endif
};

/* The network, and services of this host. Connections of sockets that listen already can be
 * accepted. */
static const int services[] = {SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept};

/* Namespaces that unshare() and clone() can make. */
enum {
    NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                     CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */
};

/* Numbers of system calls from here on are those of x32, a second table of the same calls
 * (arch/x86/include/uapi/asm/unistd.h, v6.12). No other architecture has calls there. */
enum { OTHER_TABLE = 0x40000000 };

/* Flags of open() that make, empty or write a file. */
enum { OPEN_TO_WRITE = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY) };

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
enum {
    ROOM = (LENGTH(always) + LENGTH(open_files) + LENGTH(look_at_files) + LENGTH(change_files) +
            LENGTH(children) + LENGTH(network) + LENGTH(powerful) + LENGTH(services)) *
               2 +
           96
};

/* Each level permits what those before it permit, but READ_FILES_AND_CHILDREN opens no file to
 * write it. */
enum level { PARSE_ONLY, OPEN_FILES, FILES_ONLY, READ_FILES_AND_CHILDREN, NETWORK };

struct filter {
    struct sock_filter code[ROOM];
    unsigned short length;
};

static void add(struct filter *filter, struct sock_filter instruction)
{
    filter->code[filter->length++] = instruction;
}

static void load(struct filter *filter, size_t offset)
{
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void give(struct filter *filter, uint32_t result)
{
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result));
}

static void refuse(struct filter *filter)
{
    give(filter, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Skip the next `count` instructions unless the loaded word is `value`. */
static void unless_equal(struct filter *filter, uint32_t value, uint8_t count)
{
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
}

/* Allow a call if the low half of its argument is one value. The number of the call is loaded, and
 * stays loaded where the call is another one. */
static void allow_with(struct filter *filter, int call, int argument, uint32_t value)
{
    unless_equal(filter, (uint32_t)call, 4);
    load(filter, offsetof(struct seccomp_data, args[argument]));
    unless_equal(filter, value, 1);
    give(filter, SECCOMP_RET_ALLOW);
    refuse(filter);
}

/* Allow a call unless its argument has one of these bits. */
static void allow_without(struct filter *filter, int call, int argument, uint32_t bits)
{
    unless_equal(filter, (uint32_t)call, 4);
    load(filter, offsetof(struct seccomp_data, args[argument]));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
    give(filter, SECCOMP_RET_ALLOW);
    refuse(filter);
}

/* Allow a call if the low half of its argument is one of some values. */
static void allow_with_any(struct filter *filter, int call, int argument, const uint32_t *values,
                           uint8_t count)
{
    unless_equal(filter, (uint32_t)call, (uint8_t)(2 * count + 2));
    load(filter, offsetof(struct seccomp_data, args[argument]));
    for (uint8_t i = 0; i < count; i++) {
        unless_equal(filter, values[i], 1);
        give(filter, SECCOMP_RET_ALLOW);
    }
    refuse(filter);
}

static void allow(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unless_equal(filter, (uint32_t)calls[i], 1);
        give(filter, SECCOMP_RET_ALLOW);
    }
}

/* A socketpair of datagrams could be connected to the socket file of a service. The resolver of
 * names asks the kernel for addresses (AF_NETLINK), and for the bytes that wait (FIONREAD). */
static void allow_network(struct filter *filter)
{
    static const uint32_t families[] = {AF_INET, AF_INET6, AF_NETLINK};
    static const uint32_t controls[] = {TCGETS, FIONREAD, FIONBIO};

    allow_without(filter, SYS_socketpair, 1, SOCK_DGRAM | 4);
    allow_with_any(filter, SYS_socket, 0, families, LENGTH(families));
    allow_with_any(filter, SYS_ioctl, 1, controls, LENGTH(controls));
    allow(filter, network, LENGTH(network));
}

/* Calls of another architecture end the process. Load the number of the call. */
static void begin(struct filter *filter)
{
    load(filter, offsetof(struct seccomp_data, arch));
    unless_equal(filter, cpu.audit, 1);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
    give(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
}

static void refuse_all(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unless_equal(filter, (uint32_t)calls[i], 1);
        refuse(filter);
    }
}

static void make(struct filter *filter, enum level level)
{
    begin(filter);
    allow(filter, always, LENGTH(always));
    if (level >= OPEN_FILES)
        allow(filter, open_files, LENGTH(open_files));
    if (level >= FILES_ONLY)
        allow(filter, look_at_files, LENGTH(look_at_files));
    if (level == FILES_ONLY || level == NETWORK)
        allow(filter, change_files, LENGTH(change_files));
    if (level == NETWORK)
        allow_network(filter);
    if (level >= READ_FILES_AND_CHILDREN)
        allow(filter, children, LENGTH(children));
    if (level == READ_FILES_AND_CHILDREN) {
        allow_without(filter, SYS_openat, 2, OPEN_TO_WRITE);
#ifdef SYS_open
        allow_without(filter, SYS_open, 1, OPEN_TO_WRITE);
#endif
    }
    allow_without(filter, SYS_mmap, 2, PROT_EXEC);
    allow_without(filter, SYS_mprotect, 2, PROT_EXEC);
    if (level >= OPEN_FILES) {
        allow_with(filter, SYS_ioctl, 1, TCGETS); /* isatty(3) */
        allow_with(filter, SYS_prlimit64, 0, 0);  /* of this process */
        allow_with(filter, SYS_tgkill, 0, (uint32_t)getpid());
    }
    refuse(filter);
}

/* Unlike the others, this filter permits what it does not name. */
static void make_without_power(struct filter *filter, bool with_network)
{
    begin(filter);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_TABLE, 0, 1));
    refuse(filter);
    refuse_all(filter, powerful, LENGTH(powerful));
    if (!with_network) {
        refuse_all(filter, services, LENGTH(services));
        allow_without(filter, SYS_socketpair, 1, SOCK_DGRAM); /* it can send to any socket file */
    }
    allow_without(filter, SYS_unshare, 0, NEW_NAMESPACES);
    allow_without(filter, SYS_clone, 0, NEW_NAMESPACES);
    give(filter, SECCOMP_RET_ALLOW);
}

static int install(struct filter *filter, unsigned flags)
{
    struct sock_fprog program = {.len = filter->length, .filter = filter->code};
    long failed;

    if (CALL_FILTER_IS_MISSING)
        return 0;
    failed =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | flags, &program);
    if (failed > 0)
        errno = EBUSY; /* that thread has a filter of its own */
    return failed ? -1 : 0;
}

static int install_level(enum level level)
{
    struct filter filter = {.length = 0};

    make(&filter, level);
    return install(&filter, 0);
}

int call_filter_files_only(void)
{
    return install_level(FILES_ONLY);
}

int call_filter_open_files(void)
{
    return install_level(OPEN_FILES);
}

int call_filter_read_files_and_children(void)
{
    return install_level(READ_FILES_AND_CHILDREN);
}

int call_filter_network(void)
{
    return install_level(NETWORK);
}

int call_filter_parse_only(void)
{
    return install_level(PARSE_ONLY);
}

int call_filter_without_power(bool with_network)
{
    struct filter filter = {.length = 0};

    /* Before Linux 5.16 a filter slows down each load from memory, as if this process ran code of
     * others. */
    make_without_power(&filter, with_network);
    return install(&filter, SECCOMP_FILTER_FLAG_SPEC_ALLOW);
}
