// SPDX-License-Identifier: Apache-2.0
/* What the files of a host say of a pod. The host is a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/pod.h"
#include "util/alloc.h"

#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER  "ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID    "2f0c1d7e-1111-4222-8333-0123456789ab"
#define UID_   "2f0c1d7e_1111_4222_8333_0123456789ab"
#define CGROUP "0::/kubepods/burstable/pod" UID "/" ID "\n"
#define SYSTEMD                                                                                    \
    "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_                      \
    ".slice/cri-containerd-" ID ".scope\n"
#define CONTAINERD "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
#define CRIO       "run/containers/storage/overlay-containers/" ID "/userdata"

static char host[64];

static void run(const char *command, const char *path)
{
    char *whole = xasprintf("%s '%s/%s'", command, host, path);

    assert_int_equal(system(whole), 0);
    free(whole);
}

static void make_folder(const char *path)
{
    run("mkdir -p", path);
}

static void make_file(const char *path, const char *content)
{
    char *whole = xasprintf("%s/%s", host, path);
    FILE *file = fopen(whole, "we");

    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(whole);
}

static int begin(void **state)
{
    (void)state;
    snprintf(host, sizeof(host), "/tmp/beamflame-test-XXXXXX");
    return mkdtemp(host) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    run("rm -rf", "");
    return 0;
}

static const char *shown(const char *text)
{
    return text ? text : "?";
}

static void check(const char *cgroup, const char *container, const char *expected)
{
    struct pod pod = {0};
    char *text;

    pod_learn(&pod, host, cgroup, container);
    text = xasprintf("%s %s %s %s %s", shown(pod.uid), shown(pod.name_space), shown(pod.name),
                     shown(pod.container), shown(pod.service));
    assert_string_equal(text, expected);
    free(text);
    pod_free(&pod);
}

static void test_cgroup_has_the_uid(void **state)
{
    (void)state;
    check(CGROUP, ID, UID " ? ? ? ?");
    check(SYSTEMD, ID, UID " ? ? ? ?");
    check("4:memory:/kubepods/besteffort/podd41d8cd98f00b204e9800998ecf8427e/" ID "\n", ID,
          "d41d8cd98f00b204e9800998ecf8427e ? ? ? ?");
    check("0::/kubepods/podinger/" ID "\n", ID, "? ? ? ? ?");
    check("0::/libpod-" ID ".scope\n", ID, "? ? ? ? ?");
    check("0::/../../pod" UID "/" ID "\n", ID, UID " ? ? ? ?");
    check("0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
          ".slice/cri-containerd-" ID ".scope\n",
          ID, UID " ? ? ? ?");
    check(CGROUP, "", "? ? ? ? ?");
}

/* A user can name a cgroup of their own as containers of systemd and LXC are named. */
static void test_other_ids_are_in_no_pod(void **state)
{
    (void)state;
    make_folder("run/containerd/io.containerd.runtime.v2.task/k8s.io");
    make_folder("tmp/x");
    make_file("tmp/x/config.json", "{\"annotations\": {\"io.kubernetes.pod.name\": \"shop-0\"}}");
    check(CGROUP, "../../../../tmp/x", "? ? ? ? ?");
    check(CGROUP, "shop", "? ? ? ? ?");
}

static void test_log_of_the_container_has_all_names(void **state)
{
    (void)state;
    make_folder("var/log/containers");
    make_file("var/log/containers/other-0_shop_web-" OTHER ".log", "");
    make_file("var/log/containers/broken_" ID ".log", "");
    check("", ID, "? ? ? ? ?");
    make_file("var/log/containers/shop-0_prod_beam-app-" ID ".log", "");
    check("", ID, "? prod shop-0 beam-app ?");
    check(CGROUP, ID, UID " prod shop-0 beam-app ?");
    check("", "abcd456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "? ? ? ? ?");
}

static void test_logs_of_the_pod_have_its_names(void **state)
{
    (void)state;
    make_folder("var/log/pods/other_web-0_11111111-1111-4222-8333-0123456789ab");
    make_folder("var/log/pods/broken_" UID);
    check(CGROUP, ID, UID " ? ? ? ?");
    make_folder("var/log/pods/prod_shop-0_" UID "/beam-app");
    check(CGROUP, ID, UID " prod shop-0 ? ?");
    check("0::/docker/" ID "\n", ID, "? ? ? ? ?");
}

#define CONTAINERD_CONFIG                                                                          \
    "{\"ociVersion\":\"1.1.0\",\"process\":{\"args\":[\"a\",{\"annotations\":{\"io.kubernetes.cri" \
    ".sandbox-name\":\"wrong\"}}]},\"annotations\":{\"io.kubernetes.cri.container-name\":"         \
    "\"beam-app\",\"x\":{\"io.kubernetes.cri.sandbox-name\":\"deep\"},\"io.kubernetes.cri."        \
    "sandbox-name\":\"shop-0\",\"io.kubernetes.cri.sandbox-namespace\":\"prod\",\"io.kubernetes."  \
    "cri.sandbox-uid\":\"" UID "\",\"pyroscope.io/service_name\":\"check\\u006fut\"},"             \
    "\"linux\":{\"io.kubernetes.cri.sandbox-name\":\"wrong\"}}"

static void test_runtimes_have_all(void **state)
{
    (void)state;
    make_folder(CONTAINERD);
    make_file(CONTAINERD "/config.json", CONTAINERD_CONFIG);
    check("", ID, UID " prod shop-0 beam-app checkout");
    make_file(CONTAINERD "/config.json", "{}");
    make_folder(CRIO);
    make_file(CRIO "/config.json",
              "{\"annotations\": {\"io.kubernetes.pod.name\": \"shop-1\", "
              "\"io.kubernetes.pod.namespace\": \"test\", \"io.kubernetes.container.name\": "
              "\"app\", \"io.kubernetes.pod.uid\": \"" UID "\"}}");
    check("", ID, UID " test shop-1 app ?");
}

/* The kubelet's names come first, and the runtime adds what they lack. */
static void test_later_sources_add_what_is_missing(void **state)
{
    (void)state;
    make_folder("var/log/containers");
    make_file("var/log/containers/web-0_shop_kubelet-" ID ".log", "");
    make_folder(CONTAINERD);
    make_file(CONTAINERD "/config.json", CONTAINERD_CONFIG);
    check(CGROUP, ID, UID " shop web-0 kubelet checkout");
}

/* What is not a runtime's file names nothing, and nothing goes wrong. */
static void test_damaged_files_of_runtimes(void **state)
{
    static const char *const texts[] = {
        "",
        "[",
        "{",
        "{\"annotations\"",
        "{\"annotations\":[\"io.kubernetes.pod.name\",\"a\"",
        "\"annotations\"",
        "[[]]",
        "{\"annotations\":null}",
        "{\"annotations\":{\"a\":",
        "\x01\xff",
        "{{}: {\"annotations\": {\"io.kubernetes.pod.name\": \"a\"}}}",
        "a: &x {b: c}\nannotations: *x\n",
        "annotations: [io.kubernetes.pod.name, a]\n"};

    (void)state;
    make_folder(CONTAINERD);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        make_file(CONTAINERD "/config.json", texts[i]);
        check("", ID, "? ? ? ? ?");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cgroup_has_the_uid),
        TEST(test_other_ids_are_in_no_pod),
        TEST(test_log_of_the_container_has_all_names),
        TEST(test_logs_of_the_pod_have_its_names),
        TEST(test_runtimes_have_all),
        TEST(test_later_sources_add_what_is_missing),
        TEST(test_damaged_files_of_runtimes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
