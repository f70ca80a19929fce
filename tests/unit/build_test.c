// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beam/vm_internal.h"

/* A small ELF file: headers, dynamic section, its strings, and data. */
struct file {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[3];
    char strings[64];
    char loader[32];
    char data[1024];
};

static const char drivers[] = "\0erl_drv_mutex_create\0enif_alloc\0";

static struct file make_file(const char *banner, const char *config)
{
    struct file file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 3,
                   .e_phoff = offsetof(struct file, segments)},
        .segments = {{.p_type = PT_LOAD,
                      .p_flags = PF_R,
                      .p_vaddr = 0x1000,
                      .p_filesz = sizeof(struct file),
                      .p_memsz = sizeof(struct file)},
                     {.p_type = PT_DYNAMIC,
                      .p_offset = offsetof(struct file, dynamic),
                      .p_filesz = sizeof(Elf64_Dyn) * 3},
                     {.p_type = PT_INTERP,
                      .p_offset = offsetof(struct file, loader),
                      .p_filesz = sizeof(((struct file *)NULL)->loader)}},
        .loader = "/lib64/ld-linux-x86-64.so.2",
        .dynamic = {{.d_tag = DT_STRTAB, .d_un.d_ptr = 0x1000 + offsetof(struct file, strings)},
                    {.d_tag = DT_STRSZ, .d_un.d_val = sizeof(drivers)}},
    };

    memcpy(file.strings, drivers, sizeof(drivers));
    strcpy(file.data, "Erlang/OTP 18. For more");
    snprintf(file.data + 100, 400, "%s", banner);
    snprintf(file.data + 500, 500, "%s", config);
    return file;
}

static int identify(const struct file *file, size_t size, struct build *build)
{
    int fd = memfd_create("file", 0), result;
    struct error error;

    assert_int_equal(write(fd, file, size), size);
    result = build_identify(fd, build, &error);
    close(fd);
    return result;
}

static const char jit_banner[] =
    "Erlang/OTP 27%s [erts-15.2.7] [source] [64-bit] [smp:%beu:%beu] [jit:ns%s]\n";
static const char glibc_config[] = "/* config.h */\n#define ERLANG_FRAME_POINTERS /**/\n"
                                   "#define NATIVE_ERLANG_STACK /**/\n/* #undef USE_VM_PROBES */\n";

/* The JIT on glibc is found from its banner and the text of its config.h; texts that only begin
 * like a banner are skipped. */
static void test_jit_build_is_identified_by_its_banner_and_config(void **state)
{
    struct file file = make_file(jit_banner, glibc_config);
    struct build build;

    (void)state;
    assert_int_equal(identify(&file, sizeof(file), &build), 1);
    assert_int_equal(build.otp_release, 27);
    assert_string_equal(build.erts, "15.2.7");
    assert_true(build.jit && build.native_stack && build.frame_pointer_field);
    assert_false(build.vm_probes);
    assert_string_equal(build.special, "");
}

/* The loader shows the C library; an unknown loader, or none, shows nothing. */
static void test_c_library_is_that_of_the_loader(void **state)
{
    struct file file = make_file(jit_banner, glibc_config);
    struct build build;

    (void)state;
    assert_int_equal(identify(&file, sizeof(file), &build), 1);
    assert_int_equal(build.libc, LIBC_GLIBC);
    strcpy(file.loader, "/lib/ld-musl-x86_64.so.1");
    assert_int_equal(identify(&file, sizeof(file), &build), 1);
    assert_int_equal(build.libc, LIBC_MUSL);
    strcpy(file.loader, "/lib/ld-other.so.1");
    assert_int_equal(identify(&file, sizeof(file), &build), 1);
    assert_int_equal(build.libc, LIBC_UNKNOWN);
    file.header.e_phnum = 2;
    assert_int_equal(identify(&file, sizeof(file), &build), 1);
    assert_int_equal(build.libc, LIBC_UNKNOWN);
}

/* A disabled option is "#undef" in a comment, and does not count as defined. */
static void test_disabled_options_do_not_count_as_defined(void **state)
{
    struct file musl = make_file("Erlang/OTP 25%s [erts-13.2] [64-bit] [jit%s]\n",
                                 "\n/* #undef ERLANG_FRAME_POINTERS */\n"
                                 "/* #undef NATIVE_ERLANG_STACK */\n#define USE_VM_PROBES 1\n");
    struct file emulator =
        make_file("Erlang/OTP 26%s [erts-14.2] [64-bit] [smp:%beu:%beu]\n", glibc_config);
    struct build build;

    (void)state;
    assert_int_equal(identify(&musl, sizeof(musl), &build), 1);
    assert_true(build.jit && build.vm_probes);
    assert_false(build.native_stack || build.frame_pointer_field);
    assert_int_equal(identify(&emulator, sizeof(emulator), &build), 1);
    assert_false(build.jit || build.native_stack);
    assert_true(build.frame_pointer_field);
}

/* A JIT that keeps Erlang stacks apart from the machine stack is refused, except that of OTP 25. */
static void test_unknown_stacks_apart_from_the_machine_stack_are_refused(void **state)
{
    struct build build = {.otp_release = 26, .erts = "14.2", .jit = true, .libc = LIBC_MUSL};
    struct error error;

    (void)state;
    assert_int_equal(build_check(&build, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "OTP 26 (erts 14.2) built against musl"));
    assert_non_null(strstr(error.text, "run OTP 25, OTP 27 or later, or an image with glibc"));
    build.libc = LIBC_GLIBC;
    assert_int_equal(build_check(&build, &error), -1);
    assert_non_null(strstr(error.text, "built without NATIVE_ERLANG_STACK"));
    build.otp_release = 24;
    assert_int_equal(build_check(&build, &error), -1);
    build.otp_release = 25;
    assert_int_equal(build_check(&build, &error), 0);
    build.otp_release = 26;
    build.native_stack = true;
    assert_int_equal(build_check(&build, &error), 0);
    build.native_stack = build.jit = false;
    assert_int_equal(build_check(&build, &error), 0);
}

/* Builds with different structs are named, so that they can be refused. */
static void test_builds_with_different_structs_are_named(void **state)
{
    struct file locks =
        make_file("Erlang/OTP 27%s [erts-15.0] [64-bit] [lock-counting]\n", glibc_config);
    struct file narrow = make_file("Erlang/OTP 27%s [erts-15.0] [source]\n", glibc_config);
    struct build build;

    (void)state;
    assert_int_equal(identify(&locks, sizeof(locks), &build), 1);
    assert_string_equal(build.special, "lock-counting");
    assert_int_equal(identify(&narrow, sizeof(narrow), &build), 1);
    assert_string_equal(build.special, "32-bit words");
}

/* Refused: a program that only mentions Erlang, a program without a banner, and a file that is not
 * a program. */
static void test_other_programs_and_files_are_no_vm(void **state)
{
    struct file talker = make_file(jit_banner, glibc_config);
    struct file no_banner = make_file("Erlang/OTP 27 is great", glibc_config);
    struct file text = make_file(jit_banner, glibc_config);
    struct build build = {.otp_release = 5};

    (void)state;
    memset(talker.strings, 0, sizeof(talker.strings));
    memset(&text.header, ' ', sizeof(text.header));
    assert_int_equal(identify(&talker, sizeof(talker), &build), 0);
    assert_int_equal(identify(&no_banner, sizeof(no_banner), &build), 0);
    assert_int_equal(identify(&text, sizeof(text), &build), 0);
    assert_int_equal(build.otp_release, 5);
}

/* A file that is cut anywhere, or has absurd sizes, is not a VM and does no harm. */
static void test_damaged_file_is_no_vm(void **state)
{
    struct file file = make_file(jit_banner, glibc_config);
    struct build build;

    (void)state;
    for (size_t size = 0; size < sizeof(file); size += 13)
        assert_int_equal(identify(&file, size, &build), 0);
    file.dynamic[1].d_un.d_val = UINT64_MAX;
    assert_int_equal(identify(&file, sizeof(file), &build), 0);
    file = make_file(jit_banner, glibc_config);
    file.segments[0].p_filesz = UINT64_MAX - 64;
    assert_int_equal(identify(&file, sizeof(file), &build), 0);
    file.header.e_phoff = UINT64_MAX - 8;
    assert_int_equal(identify(&file, sizeof(file), &build), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jit_build_is_identified_by_its_banner_and_config),
        cmocka_unit_test(test_c_library_is_that_of_the_loader),
        cmocka_unit_test(test_unknown_stacks_apart_from_the_machine_stack_are_refused),
        cmocka_unit_test(test_disabled_options_do_not_count_as_defined),
        cmocka_unit_test(test_builds_with_different_structs_are_named),
        cmocka_unit_test(test_other_programs_and_files_are_no_vm),
        cmocka_unit_test(test_damaged_file_is_no_vm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
