// SPDX-License-Identifier: Apache-2.0
/* What a pod has of itself. The pod is a process with its own root and host name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/pod.h"
#include "util/alloc.h"

#define ACCOUNT "var/run/secrets/kubernetes.io/serviceaccount"

#define HOST_NAME_62 "a23456789012345678901234567890123456789012345678901234567890ab"

static char root[64];

static void run(const char *format, const char *argument)
{
    char *command = xasprintf(format, argument);
    char *whole = xasprintf("cd '%s' && %s", root, command);

    assert_int_equal(system(whole), 0);
    free(whole);
    free(command);
}

static int begin(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/beamflame-test-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    run("mkdir -p %s", ACCOUNT);
    return 0;
}

static int end(void **state)
{
    (void)state;
    run("rm -rf '%s'", root);
    return 0;
}

/* Start a process in `root`, with a host name of its own unless `in_host`. */
static pid_t start(bool in_host)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (chroot(root) || chdir("/") || (!in_host && unshare(CLONE_NEWUTS)))
            _exit(1);
        (void)!write(ready[1], "", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) { /* only root may do so */
        close(ready[0]);
        waitpid(pid, NULL, 0);
        skip();
    }
    close(ready[0]);
    return pid;
}

static const char *shown(const char *text)
{
    return text ? text : "?";
}

static void check(struct pod pod, bool in_host, const char *host_name, const char *expected)
{
    pid_t pid = start(in_host);
    char *text;

    pod_learn_inside(&pod, pid, host_name);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    text = xasprintf("%s %s", shown(pod.name_space), shown(pod.name));
    assert_string_equal(text, expected);
    free(text);
    pod_free(&pod);
}

static struct pod of_uid(void)
{
    return (struct pod){.uid = xstrdup("u")};
}

static void test_pod_has_its_names(void **state)
{
    (void)state;
    check(of_uid(), false, "shop-0", "? shop-0");
    run("printf 'prod\\n' > %s/real && ln -s real " ACCOUNT "/namespace", ACCOUNT);
    check(of_uid(), false, "shop-0", "prod shop-0");
    check(of_uid(), false, NULL, "prod ?");
    check(of_uid(), false, HOST_NAME_62, "prod " HOST_NAME_62);
}

/* The host's name is not the pod's; a name of 63 characters may be cut. */
static void test_names_of_others_are_not_used(void **state)
{
    (void)state;
    check(of_uid(), true, "node-7", "? ?");
    check(of_uid(), false, HOST_NAME_62 "c", "? ?");
    check(of_uid(), false, "Shop_0", "? ?");
    check((struct pod){0}, false, "shop-0", "? ?");
}

static void test_what_the_host_knows_stays(void **state)
{
    struct pod pod = of_uid();

    (void)state;
    run("printf other > %s/namespace", ACCOUNT);
    pod.name = xstrdup("shop-0");
    pod.name_space = xstrdup("prod");
    check(pod, false, "other-0", "prod shop-0");
}

static void test_damaged_files_name_no_namespace(void **state)
{
    (void)state;
    run("mkdir %s/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
    run("rmdir %s/namespace && mkfifo " ACCOUNT "/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
    run("rm %s/namespace && ln -s /etc/hostname " ACCOUNT "/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
    run("rm %s/namespace && : > " ACCOUNT "/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
    run("printf 'a/../b' > %s/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
    run("printf %%064d 0 > %s/namespace", ACCOUNT);
    check(of_uid(), false, NULL, "? ?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pod_has_its_names),
        TEST(test_names_of_others_are_not_used),
        TEST(test_what_the_host_knows_stays),
        TEST(test_damaged_files_name_no_namespace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
