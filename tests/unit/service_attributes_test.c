// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/service_attributes.h"
#include "util/alloc.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char logs[] = "/tmp/beamflame-logs-XXXXXX";

static void make_log(const char *name)
{
    char *path = xasprintf("%s/%s", logs, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    close(fd);
    free(path);
}

static int make_logs(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(logs));
    make_log(
        "other-0_shop_web-ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.log");
    make_log("shop-0_prod_beam-app-" ID ".log");
    make_log("broken_" ID ".log");
    return 0;
}

static int remove_logs(void **state)
{
    char *command = xasprintf("rm -rf '%s'", logs);

    (void)state;
    assert_int_equal(system(command), 0);
    free(command);
    return 0;
}

#define assert_attributes(environment, container, expected)                                        \
    do {                                                                                           \
        char *list =                                                                               \
            service_attributes_from(environment, sizeof(environment) - 1, logs, container);        \
        assert_string_equal(list, expected);                                                       \
        free(list);                                                                                \
    } while (0)

#define POD "k8s.namespace.name=prod,k8s.pod.name=shop-0,k8s.container.name=beam-app"

/* The first name of a service that is there counts. */
static void test_service_is_named_by_the_first_source(void **state)
{
    (void)state;
    assert_attributes("A=1\0OTEL_SERVICE_NAME=shop\0RELEASE_NAME=r\0"
                      "OTEL_RESOURCE_ATTRIBUTES=service.name=other\0",
                      "", "service.name=shop");
    assert_attributes("RELEASE_NAME=r\0OTEL_RESOURCE_ATTRIBUTES=service.name=other\0", "",
                      "service.name=other");
    assert_attributes("RELEASE_NAME=r\0", ID, POD ",service.name=r");
    assert_attributes("HOME=/root\0", ID, POD ",service.name=prod/beam-app");
    assert_attributes("HOME=/root\0", "", "");
    assert_attributes("", "", "");
}

/* The version of the environment's attributes counts before that of the release. */
static void test_version_is_that_of_the_release(void **state)
{
    (void)state;
    assert_attributes("RELEASE_NAME=r\0RELEASE_VSN=1.2.3\0", "",
                      "service.name=r,service.version=1.2.3");
    assert_attributes("RELEASE_VSN=1.2.3\0OTEL_RESOURCE_ATTRIBUTES=service.version=1.2\0", "",
                      "service.version=1.2");
    assert_attributes("RELEASE_VSN=\0", "", "");
}

static void test_empty_variables_name_nothing(void **state)
{
    (void)state;
    assert_attributes("OTEL_SERVICE_NAME=\0RELEASE_NAME=r\0", "", "service.name=r");
    assert_attributes("XOTEL_SERVICE_NAME=a\0OTEL_SERVICE_NAMES=b\0", "", "");
}

/* Attributes of the environment stay, but can't name another pod than the kubelet does. */
static void test_environment_does_not_choose_the_pod(void **state)
{
    (void)state;
    assert_attributes("OTEL_RESOURCE_ATTRIBUTES=service.version=1.2,k8s.pod.name=other,bad\0", ID,
                      "service.version=1.2," POD ",service.name=prod/beam-app");
    assert_attributes("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=own,service.name=\0RELEASE_NAME=r\0",
                      "", "k8s.pod.name=own,service.name=r");
}

static void test_container_without_a_log_is_in_no_pod(void **state)
{
    (void)state;
    assert_attributes("A=1\0", "abcd456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                      "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_is_named_by_the_first_source),
        cmocka_unit_test(test_version_is_that_of_the_release),
        cmocka_unit_test(test_empty_variables_name_nothing),
        cmocka_unit_test(test_environment_does_not_choose_the_pod),
        cmocka_unit_test(test_container_without_a_log_is_in_no_pod),
    };

    return cmocka_run_group_tests(tests, make_logs, remove_logs);
}
