// SPDX-License-Identifier: Apache-2.0
/* large_recording PATH: write a recording of now whose profiles are too large for services. */
#include "../unit/large_recording.h"

#include <time.h>

#include "util/files.h"

static const char *target;

static void write_recording(void **state)
{
    int fd = large_recording((uint64_t)time(NULL) * 1000000000);
    int out = open(target, O_WRONLY | O_CREAT | O_EXCL, 0600);
    size_t size;
    char *bytes = file_bytes(fd, &size);

    (void)state;
    assert_true(out >= 0);
    assert_int_equal(files_write_all(out, bytes, size), 0);
    close(out);
    close(fd);
    free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest work[] = {cmocka_unit_test(write_recording)};

    if (argc != 2)
        return 2;
    target = argv[1];
    return cmocka_run_group_tests(work, NULL, NULL);
}
