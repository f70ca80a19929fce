# SPDX-License-Identifier: Apache-2.0
#
# make            build/beamflame
# make deps       install what building needs (Debian)
# make demo       build, start a small Erlang node, profile it, print where the flame graph is
# make test       every test that this machine can run
# make install    the program, manual pages and completions, below $(prefix)
# make install-agent   the agent's unit for systemd, and its configuration if there is none
# make image      a container image of the agent, in build/image
# make deb        Debian packages, in build/deb
# make check      format, static analysis, layering
# make bench      measure what the docs claim
# make coverage   test, and print how many lines of src/ ran
# make fuzz       feed random input to the parsers of untrusted bytes
# make sanitize   unit and replay tests with the sanitizers
# make SAN=1      everything with the address and undefined-behaviour sanitizers, in build/san
# make BPF_DEBUG=1   BPF programs that say why they give up, in build/bpf-debug
# V=1             show the commands

.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 0.1.0
prefix ?= /usr/local
sysconfdir ?= /etc
unitdir ?= $(prefix)/lib/systemd/system
CC := gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
CPU := $(shell uname -m)
ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')

BUILD := build$(if $(SAN),/san)$(if $(COVERAGE),/coverage)$(if $(BPF_DEBUG),/bpf-debug)
LIBS := libbpf libelf libdw zlib liblzma libzstd capstone libprotobuf-c yaml-0.1
CPPFLAGS += -D_GNU_SOURCE -DBEAMFLAME_VERSION='"$(VERSION)"' -Isrc -Iinclude -I$(BUILD)/gen
CFLAGS += -std=c11 -O2 -g -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
          -Wno-missing-field-initializers -fno-omit-frame-pointer
# What makes faults of this program harder to use. The sanitizers do not work with _FORTIFY_SOURCE.
# tests/tools/hardening_test.py checks that each is in the program.
CFLAGS += -fPIE -fstack-protector-strong -fstack-clash-protection \
          $(if $(filter x86_64,$(CPU)),-fcf-protection) \
          $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
LDFLAGS += -pie -Wl,-z,relro,-z,now,-z,noexecstack
ifdef SAN
  # gcc's "undefined" lacks float-cast-overflow.
  CFLAGS += -fsanitize=address,undefined,float-cast-overflow \
            -fno-sanitize-recover=undefined,float-cast-overflow
  LDFLAGS += -fsanitize=address,undefined
endif
# Clang counts in a file that is mapped, so what a process ran is known even if it is killed, or may
# not open files any more. The file's name is %m, one for each program.
ifdef COVERAGE
  CC := $(CLANG)
  COUNT := -fprofile-instr-generate=$(abspath $(BUILD))/raw/%c%m.profraw
  CFLAGS += $(COUNT) -fcoverage-mapping -mllvm -runtime-counter-relocation \
            -Wno-gnu-variable-sized-type-not-at-end -Wno-unknown-attributes
  LDFLAGS += $(COUNT)
endif
LDLIBS += $(shell pkg-config --libs $(LIBS)) -liberty -lm -lstdc++

ifeq ($(V),1)
  Q :=
  say = @:
else
  Q := @
  say = @printf '  %-8s %s\n'
endif

# Of the folders of src/arch, only that of this CPU.
SOURCES := $(filter-out $(filter-out src/arch/$(CPU)/%,$(wildcard src/arch/*/*.c)), \
           $(wildcard src/*/*.c src/*/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/obj/%.o)
PAGE := $(BUILD)/gen/html_files.o
KNOWN_BUILDS := $(BUILD)/gen/known_build_files.o
SCHEMAS := $(shell find proto -name '*.proto')
SCHEMA_HEADERS := $(SCHEMAS:proto/%.proto=$(BUILD)/gen/%.pb-c.h)
SCHEMA_OBJECTS := $(SCHEMAS:proto/%.proto=$(BUILD)/obj/proto/%.o)
ROOM_OBJECTS := $(filter-out $(BUILD)/obj/cli/main.o,$(OBJECTS)) $(PAGE) $(KNOWN_BUILDS) \
                $(SCHEMA_OBJECTS)
# The files that define maps for others come first: the linker of libbpf 1.1 misplaces a map if it
# reads the declaration before the definition.
BPF_SHARED := bpf/sample.bpf.c bpf/event.bpf.c
BPF_APART := bpf/calibration.bpf.c bpf/calls.bpf.c
BPF_SOURCES := $(BPF_SHARED) $(filter-out $(BPF_SHARED) $(BPF_APART),$(wildcard bpf/*.bpf.c))
BPF_OBJECTS := $(BPF_SOURCES:bpf/%.bpf.c=$(BUILD)/gen/%.bpf.o)
APART := $(BPF_APART:bpf/%.bpf.c=%)
SKELETONS := $(BUILD)/gen/beamflame.skel.h $(APART:%=$(BUILD)/gen/%.skel.h)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*_test.c))

# Only pattern rules name these files, so make would delete them as intermediate and build them
# again.
.SECONDARY: $(SKELETONS) $(BPF_OBJECTS) $(APART:%=$(BUILD)/gen/%.bpf.o) $(SCHEMA_HEADERS) \
            $(SCHEMA_HEADERS:.h=.c)

.PHONY: all
all: $(BUILD)/beamflame

$(BUILD)/beamflame: $(OBJECTS) $(PAGE) $(KNOWN_BUILDS) $(SCHEMA_OBJECTS)
	$(say) LINK $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/obj/%.o: src/%.c | $(SKELETONS) $(SCHEMA_HEADERS)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The files of the HTML page, as bytes in the program. A file that is added or removed changes its
# folder.
PAGE_FILES := web/index.html web/style.css $(sort $(wildcard web/*.js web/*/*.js))
$(BUILD)/gen/html_files.inc: $(sort $(dir $(PAGE_FILES)))
	$(Q)mkdir -p $(@D)
	$(Q)printf '\tfile "%s"\n' $(PAGE_FILES) > $@

$(PAGE): src/output/html/page_files.S $(BUILD)/gen/html_files.inc $(PAGE_FILES)
	$(say) AS $<
	$(Q)$(CC) -Wa,-I,$(BUILD)/gen -c -o $@ $<

# The tables of symbols/ as bytes in the program, with a NUL at the end of each line.
SYMBOL_TABLES := $(sort $(filter-out %.md,$(wildcard symbols/*)))
$(BUILD)/gen/symbols/%.lines: symbols/%
	$(Q)mkdir -p $(@D)
	$(Q)tr '\n' '\0' < $< > $@

$(BUILD)/gen/known_builds.inc: symbols Makefile
	$(Q)mkdir -p $(@D)
	$(Q)printf '\tbuild "%s" "symbols/%s.lines"\n' \
		$(foreach table,$(notdir $(SYMBOL_TABLES)),$(table) $(table)) > $@

$(KNOWN_BUILDS): src/elf/known_build_files.S $(BUILD)/gen/known_builds.inc \
		$(SYMBOL_TABLES:%=$(BUILD)/gen/%.lines)
	$(say) AS $<
	$(Q)$(CC) -Wa,-I,$(BUILD)/gen -c -o $@ $<

# Messages of formats with a published schema.
$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: proto/%.proto
	$(say) PROTO $<
	$(Q)mkdir -p $(BUILD)/gen
	$(Q)protoc-c -Iproto --c_out=$(BUILD)/gen $<

$(BUILD)/obj/proto/%.o: $(BUILD)/gen/%.pb-c.c | $(SCHEMA_HEADERS)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The BPF programs of each family, linked together; those with an object of their own; and the
# skeletons through which C loads them.
$(BUILD)/gen/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/*.h vmlinux/*.h)
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -Wall -Wextra -Werror -mcpu=v3 --target=bpf -D__TARGET_ARCH_$(ARCH) \
		$(if $(BPF_DEBUG),-DBEAMFLAME_BPF_DEBUG) \
		-Ivmlinux -Iinclude -c -o $@ $<

$(BUILD)/gen/beamflame.o: $(BPF_OBJECTS)
$(APART:%=$(BUILD)/gen/%.o): $(BUILD)/gen/%.o: $(BUILD)/gen/%.bpf.o
$(BUILD)/gen/beamflame.o $(APART:%=$(BUILD)/gen/%.o):
	$(say) LINK $@
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/gen/%.skel.h: $(BUILD)/gen/%.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# Functions that a unit test replaces by its own __wrap_NAME.
$(BUILD)/tests/recorder_test $(BUILD)/fuzz/tests/recorder_test: UNIT_WRAPPED := session_begin session_step \
	session_end session_pause session_resume session_stop session_alive session_may_continue \
	rotation_create rotation_write rotation_is_busy
$(BUILD)/tests/cfi_test $(BUILD)/fuzz/tests/cfi_test: UNIT_WRAPPED := elf_file_rules
$(BUILD)/tests/session_follow_test $(BUILD)/fuzz/tests/session_follow_test: UNIT_WRAPPED := node_name_now \
	target_is_readable target_note_end symbolizer_look_at_threads arrivals_again event_samples_leave \
	programs_remove_target
$(BUILD)/tests/%: tests/unit/%.c $(ROOM_OBJECTS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(UNIT_WRAPPED:%=-Wl,--wrap=%) -MMD -MP -MF $@.d -o $@ $< $(ROOM_OBJECTS) $(LDLIBS) -lcmocka

# Replay of recorded nodes: the test, and the program that records them (tests/replay/image.h).
IMAGE := tests/replay/image.c tests/replay/image_vm.c
$(BUILD)/tests/replay_test: tests/replay/replay_test.c $(IMAGE) tests/replay/image.h $(ROOM_OBJECTS)
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DREPLAY_DIR='"$(CURDIR)/tests/replay"' \
		-DREPLAY_OUT='"$(abspath $(@D))"' $(LDFLAGS) \
		-o $@ $(filter-out %.h,$^) $(LDLIBS) -lcmocka

$(BUILD)/tests/replay_capture: $(wildcard tests/tools/replay_*.[ch]) $(IMAGE) $(ROOM_OBJECTS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests/replay $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LDLIBS)

# The program that makes recordings for tests of hostile input, and seeds for the fuzzers.
$(BUILD)/tests/seeds: tests/fuzz/seeds.c tests/fuzz/full_profile.h tests/fuzz/fuzz_recording.h \
		$(ROOM_OBJECTS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LDLIBS)

# Programs that print properties of a VM for the end-to-end tests: its hooks, its processes, the
# frames of its functions, and what recognizes functions in other builds. The next two write lies
# into one, and have files for it. The last four send files to services, print the keys of the
# agent's configuration and its metrics for the tests of the docs, and write a recording for the
# agent's spool.
LISTS := $(BUILD)/tests/hook_list $(BUILD)/tests/process_list $(BUILD)/tests/leaf_depths \
	$(BUILD)/tests/likeness_list $(BUILD)/tests/hostile $(BUILD)/tests/stalling_files \
	$(BUILD)/tests/push_send $(BUILD)/tests/config_keys $(BUILD)/tests/metric_list \
	$(BUILD)/tests/large_recording
$(BUILD)/tests/large_recording: LDLIBS += -lcmocka
$(BUILD)/tests/hostile: $(wildcard tests/tools/hostile_*.c) tests/tools/hostile.h
$(LISTS): $(BUILD)/tests/%: tests/tools/%.c $(ROOM_OBJECTS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LDLIBS)

# The program that makes long recordings for the benchmarks. It is built with the tests, so that a
# change that breaks it is seen.
$(BUILD)/bench/replicate: tools/bench.d/replicate.c $(ROOM_OBJECTS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS) $(BUILD)/tests/replay_test $(BUILD)/tests/seeds $(LISTS) $(BUILD)/bench/replicate

# Fuzzing: run each fuzzer of tests/fuzz, or those of FUZZ_NAMES ("recording text"), for
# FUZZ_SECONDS, with the sanitizers.
FUZZ_SECONDS ?= 20
FUZZ_NAMES ?=
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_FLAGS := -std=c11 -O1 -g -Wall -Wextra -Werror -Wno-missing-field-initializers \
              -Wno-gnu-variable-sized-type-not-at-end -Wno-unknown-attributes -fno-omit-frame-pointer \
              -fsanitize=address,undefined,float-cast-overflow \
              -fno-sanitize-recover=undefined,float-cast-overflow -D__SANITIZE_ADDRESS__
$(BUILD)/fuzz/obj/%.o: src/%.c | $(SKELETONS) $(SCHEMA_HEADERS)
	$(say) FUZZ $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/obj/proto/%.o: $(BUILD)/gen/%.pb-c.c | $(SCHEMA_HEADERS)
	$(say) FUZZ $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -c -o $@ $<

FUZZ_OBJECTS := $(ROOM_OBJECTS:$(BUILD)/obj/%=$(BUILD)/fuzz/obj/%)
.SECONDARY: $(FUZZ_OBJECTS)
# Functions that a fuzzer replaces by its own __wrap_NAME.
$(BUILD)/fuzz/proc_fuzz: FUZZ_WRAPPED := procfs_read fopen
$(BUILD)/fuzz/decoded_fuzz $(BUILD)/fuzz/elf_fuzz: FUZZ_WRAPPED := parser_ask
$(BUILD)/fuzz/vm_fuzz: FUZZ_WRAPPED := random_word nanosleep
$(BUILD)/fuzz/vm_fuzz: tests/fuzz/imitated_vm.h tests/fuzz/imitated_process.h
$(BUILD)/fuzz/command_line_fuzz: FUZZ_WRAPPED := message_usage message_warning message_print_own log_listen \
	file_place_append regcomp command_line_parse
$(BUILD)/fuzz/%_fuzz: tests/fuzz/%_fuzz.c tests/fuzz/fuzz_recording.h $(FUZZ_OBJECTS)
	$(say) FUZZ $@
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer $(FUZZ_WRAPPED:%=-Wl,--wrap=%) -o $@ \
		$(filter-out %.h,$^) $(LDLIBS)

# Unit and replay tests with the sanitizers, in BUILD/fuzz/tests. They take the objects of the fuzzers,
# which exist where fuzzers ran; of an archive, a test links only what it needs.
SANITIZED := $(patsubst $(BUILD)/tests/%,$(BUILD)/fuzz/tests/%,$(UNIT_TESTS))
SANITIZED_REPLAY := $(BUILD)/fuzz/tests/replay_test
$(BUILD)/fuzz/rooms.a: $(FUZZ_OBJECTS)
	$(Q)rm -f $@
	$(Q)ar rcsT $@ $^

$(SANITIZED): $(BUILD)/fuzz/tests/%: tests/unit/%.c $(BUILD)/fuzz/rooms.a
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -Wno-unknown-attributes $(UNIT_WRAPPED:%=-Wl,--wrap=%) -MMD -MP -MF $@.d -o $@ \
		$< $(BUILD)/fuzz/rooms.a $(LDLIBS) -lcmocka

$(SANITIZED_REPLAY): tests/replay/replay_test.c $(IMAGE) tests/replay/image.h $(BUILD)/fuzz/rooms.a
	$(say) TEST $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -DREPLAY_DIR='"$(CURDIR)/tests/replay"' \
		-DREPLAY_OUT='"$(abspath $(@D))"' -o $@ $(filter-out %.h,$^) $(LDLIBS) -lcmocka

.PHONY: sanitized-tests sanitize run-sanitized
sanitized-tests: $(SANITIZED) $(SANITIZED_REPLAY)
sanitize:
	$(Q)$(if $(HAS_FUZZER),$(MAKE) --no-print-directory run-sanitized, \
		echo "tests with sanitizers are skipped: $(CLANG) has none here")
run-sanitized: sanitized-tests
	$(Q)LSAN_OPTIONS=suppressions=$(CURDIR)/tests/fuzz/leaks tests/run $(BUILD)/fuzz unit/

# libFuzzer is a part of clang that distributions may package on its own.
HAS_FUZZER = $(shell echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | $(CLANG) -x c - \
               -fsanitize=fuzzer,address -o /dev/null 2>/dev/null && echo yes)
.PHONY: fuzzers fuzz run-fuzzers
fuzzers:
	$(Q)$(if $(HAS_FUZZER),$(MAKE) --no-print-directory $(FUZZERS) $(BUILD)/tests/seeds,:)
fuzz:
	$(Q)$(if $(HAS_FUZZER),$(MAKE) --no-print-directory run-fuzzers, \
		echo "fuzzing is skipped: $(CLANG) has no libFuzzer here")
run-fuzzers: $(FUZZERS) $(BUILD)/tests/seeds
	$(Q)tests/fuzz/run $(BUILD) $(FUZZ_SECONDS) $(FUZZ_NAMES)

# Part of `make check`: files that were recompiled are analysed again. .clang-tidy selects the
# checks, compile_flags.txt has the compiler's flags. clang-tidy's counts of suppressed warnings are
# printed only on a failure.
TIDY := $(OBJECTS:$(BUILD)/obj/%.o=$(BUILD)/tidy/%.ok)
$(BUILD)/tidy/%.ok: src/%.c $(BUILD)/obj/%.o .clang-tidy compile_flags.txt
	$(say) TIDY $<
	$(Q)mkdir -p $(@D)
	$(Q)clang-tidy --quiet $< 2>$@.log || { cat $@.log >&2; exit 1; }
	$(Q)touch $@

.PHONY: tidy
tidy: $(TIDY)

.PHONY: deps demo test test-long coverage check bench install install-agent clean
deps:
	$(Q)tools/install-deps build
demo:
	$(Q)tools/install-deps demo
	$(Q)$(MAKE) all
	$(Q)tools/demo $(BUILD)/beamflame
test:
	$(Q)tools/install-deps test
	$(Q)$(MAKE) all unit-tests
	$(Q)tests/run $(BUILD)
# Tests that take hours. docs/measurements.md has the results of the last run.
test-long:
	$(Q)tools/install-deps test
	$(Q)$(MAKE) all unit-tests
	$(Q)tests/run $(BUILD) --long
# Line coverage of all tests, or of those whose path contains one of TEST_NAMES ("unit/ replay/").
coverage:
	$(Q)tools/install-deps test
	$(Q)$(MAKE) COVERAGE=1 all unit-tests
	$(Q)tools/coverage $(BUILD)/coverage $(TEST_NAMES)
check:
	$(Q)tools/install-deps check
	$(Q)tools/check
bench: all
	$(Q)tools/bench

COMMANDS := record ctl report prof diff dump ps calls probes doctor agent help completion

install: all
	install -D -m 755 $(BUILD)/beamflame $(DESTDIR)$(prefix)/bin/beamflame
	install -d $(DESTDIR)$(prefix)/share/man/man1
	$(BUILD)/beamflame help --man > $(DESTDIR)$(prefix)/share/man/man1/beamflame.1
	for command in $(COMMANDS); do $(BUILD)/beamflame help --man $$command \
		> $(DESTDIR)$(prefix)/share/man/man1/beamflame-$$command.1; done
	install -d $(DESTDIR)$(prefix)/share/bash-completion/completions \
		$(DESTDIR)$(prefix)/share/zsh/site-functions \
		$(DESTDIR)$(prefix)/share/fish/vendor_completions.d
	$(BUILD)/beamflame completion bash \
		> $(DESTDIR)$(prefix)/share/bash-completion/completions/beamflame
	$(BUILD)/beamflame completion zsh > $(DESTDIR)$(prefix)/share/zsh/site-functions/_beamflame
	$(BUILD)/beamflame completion fish \
		> $(DESTDIR)$(prefix)/share/fish/vendor_completions.d/beamflame.fish

# A configuration that is there stays.
install-agent:
	install -d $(DESTDIR)$(unitdir)
	sed 's|/usr/bin/|$(prefix)/bin/|' deploy/systemd/beamflame-agent.service \
		> $(DESTDIR)$(unitdir)/beamflame-agent.service
	test -e $(DESTDIR)$(sysconfdir)/beamflame/agent.yaml || \
		install -D -m 644 deploy/agent.yaml $(DESTDIR)$(sysconfdir)/beamflame/agent.yaml

.PHONY: image deb
image:
	$(Q)tools/install-deps package
	$(Q)$(MAKE) all
	$(Q)tools/image $(BUILD) $(VERSION)
deb:
	$(Q)tools/install-deps package
	$(Q)$(MAKE) all
	$(Q)tools/deb $(BUILD) $(VERSION)

clean:
	rm -rf build

-include $(OBJECTS:.o=.d) $(UNIT_TESTS:=.d) $(SANITIZED:=.d) $(wildcard $(BUILD)/fuzz/obj/*/*.d $(BUILD)/fuzz/obj/*/*/*.d)
