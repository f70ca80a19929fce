// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/service_attributes.h"

static struct pod pod = {
    .uid = "u", .name_space = "prod", .name = "shop-0", .container = "beam-app"};
static struct pod none;

#define assert_attributes(environment, pod, expected)                                              \
    do {                                                                                           \
        char *list = service_attributes_from(environment, sizeof(environment) - 1, &(pod), NULL);  \
        assert_string_equal(list, expected);                                                       \
        free(list);                                                                                \
    } while (0)

#define POD "k8s.namespace.name=prod,k8s.pod.name=shop-0,k8s.pod.uid=u,k8s.container.name=beam-app"

/* The first name of a service that is there counts. */
static void test_service_is_named_by_the_first_source(void **state)
{
    (void)state;
    assert_attributes("A=1\0OTEL_SERVICE_NAME=shop\0RELEASE_NAME=r\0"
                      "OTEL_RESOURCE_ATTRIBUTES=service.name=other\0",
                      none, "service.name=shop");
    assert_attributes("RELEASE_NAME=r\0OTEL_RESOURCE_ATTRIBUTES=service.name=other\0", none,
                      "service.name=other");
    assert_attributes("RELEASE_NAME=r\0", pod, POD ",service.name=r");
    assert_attributes("HOME=/root\0", pod, POD ",service.name=prod/beam-app");
    assert_attributes("HOME=/root\0", none, "");
    assert_attributes("", none, "");
}

/* The version of the environment's attributes counts before that of the release. */
static void test_version_is_that_of_the_release(void **state)
{
    (void)state;
    assert_attributes("RELEASE_NAME=r\0RELEASE_VSN=1.2.3\0", none,
                      "service.name=r,service.version=1.2.3");
    assert_attributes("RELEASE_VSN=1.2.3\0OTEL_RESOURCE_ATTRIBUTES=service.version=1.2\0", none,
                      "service.version=1.2");
    assert_attributes("RELEASE_VSN=\0", none, "");
}

static void test_empty_variables_name_nothing(void **state)
{
    (void)state;
    assert_attributes("OTEL_SERVICE_NAME=\0RELEASE_NAME=r\0", none, "service.name=r");
    assert_attributes("XOTEL_SERVICE_NAME=a\0OTEL_SERVICE_NAMES=b\0", none, "");
}

/* Attributes of the environment stay, but can't name another pod than the kubelet does. */
static void test_environment_does_not_choose_the_pod(void **state)
{
    (void)state;
    assert_attributes("OTEL_RESOURCE_ATTRIBUTES=service.version=1.2,k8s.pod.name=other,bad\0", pod,
                      "service.version=1.2," POD ",service.name=prod/beam-app");
    assert_attributes("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=own,service.name=\0RELEASE_NAME=r\0",
                      none, "k8s.pod.name=own,service.name=r");
}

/* What the user calls it counts before all else; an empty name is none. */
static void test_user_names_the_service(void **state)
{
    static const char environment[] = "OTEL_SERVICE_NAME=shop\0";
    char *named = service_attributes_from(environment, sizeof(environment) - 1, &none, "till");
    char *unnamed = service_attributes_from(environment, sizeof(environment) - 1, &none, "");

    (void)state;
    assert_string_equal(named, "service.name=till");
    assert_string_equal(unnamed, "service.name=shop");
    free(named);
    free(unnamed);
}

static void test_each_attribute_is_the_hosts_if_it_knows_it(void **state)
{
    struct pod of_cgroup = {.uid = "u"}, of_logs = pod;

    (void)state;
    of_logs.container = NULL;
    assert_attributes("OTEL_RESOURCE_ATTRIBUTES=k8s.pod.uid=other,k8s.pod.name=own\0", of_cgroup,
                      "k8s.pod.name=own,k8s.pod.uid=u");
    assert_attributes(
        "OTEL_RESOURCE_ATTRIBUTES=k8s.container.name=app,k8s.pod.name=other\0", of_logs,
        "k8s.container.name=app,k8s.namespace.name=prod,k8s.pod.name=shop-0,k8s.pod.uid=u");
}

/* The annotation counts before what is not made for services, and behind what is. */
static void test_annotation_names_the_service(void **state)
{
    struct pod with = pod, unnamed = {.uid = "u", .name_space = "prod", .name = "shop-0"};

    (void)state;
    with.service = "checkout";
    assert_attributes("RELEASE_NAME=r\0", with, POD ",service.name=checkout");
    assert_attributes("OTEL_SERVICE_NAME=shop\0", with, POD ",service.name=shop");
    assert_attributes("A=1\0", unnamed,
                      "k8s.namespace.name=prod,k8s.pod.name=shop-0,k8s.pod.uid=u");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_service_is_named_by_the_first_source),
        cmocka_unit_test(test_version_is_that_of_the_release),
        cmocka_unit_test(test_empty_variables_name_nothing),
        cmocka_unit_test(test_environment_does_not_choose_the_pod),
        cmocka_unit_test(test_each_attribute_is_the_hosts_if_it_knows_it),
        cmocka_unit_test(test_annotation_names_the_service),
        cmocka_unit_test(test_user_names_the_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
