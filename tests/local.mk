# Unit tests: one program per module, named after it, from the one source of its name.  A test is a word in the list of its room;
# a header of the tests is a word in noinst_HEADERS.
unit_tests = tests/unit/test-tap
# base
unit_tests += tests/unit/test-call-filter tests/unit/test-clock tests/unit/test-digest tests/unit/test-digest-two tests/unit/test-fault tests/unit/test-fd \
	tests/unit/test-disk-usage tests/unit/test-hostname tests/unit/test-id-map tests/unit/test-host-rule tests/unit/test-egress-decide tests/unit/test-local-time tests/unit/test-unit-text \
	tests/unit/test-json tests/unit/test-log tests/unit/test-net-address tests/unit/test-option tests/unit/test-path tests/unit/test-place tests/unit/test-process-detach tests/unit/test-str tests/unit/test-walk \
	tests/unit/test-write-access
# credential
unit_tests += tests/unit/test-credential tests/unit/test-credential-source tests/unit/test-secret-find
# rest
unit_tests += tests/unit/test-rest
# ledger
unit_tests += tests/unit/test-ledger-append tests/unit/test-ledger-checkpoint tests/unit/test-ledger-export tests/unit/test-ledger-full tests/unit/test-ledger-kill \
	tests/unit/test-ledger-peer tests/unit/test-ledger-record tests/unit/test-ledger-redact tests/unit/test-ledger-session \
	tests/unit/test-ledger-storm tests/unit/test-ledger-sync tests/unit/test-ledger-verify
# shell, policy
unit_tests += tests/unit/test-shell-split tests/unit/test-command-class tests/unit/test-command-options tests/unit/test-policy \
	tests/unit/test-policy-commands \
	tests/unit/test-policy-property tests/unit/test-policy-table
# trace
unit_tests += tests/unit/test-trace
# mcp
unit_tests += tests/unit/test-mcp
# layer, cgroup, init
unit_tests += tests/unit/test-layer tests/unit/test-layer-proof tests/unit/test-cgroup tests/unit/test-setup tests/unit/test-init tests/unit/test-init-run tests/unit/test-init-inherit tests/unit/test-inherit-table tests/unit/test-init-prove
# state, config
unit_tests += tests/unit/test-config tests/unit/test-digest-key tests/unit/test-disposable-dir tests/unit/test-git-link tests/unit/test-home-dir tests/unit/test-lane tests/unit/test-migrate tests/unit/test-project tests/unit/test-sandbox-root tests/unit/test-subid
# profile
unit_tests += tests/unit/test-profile-compare tests/unit/test-profile-danger tests/unit/test-profile-file tests/unit/test-profile-load \
	tests/unit/test-profile-parse tests/unit/test-profile-schema tests/unit/test-profile-shipped tests/unit/test-profile-trust
# subject
unit_tests += tests/unit/test-git-identity tests/unit/test-operand tests/unit/test-own-dirs tests/unit/test-program-interpreter tests/unit/test-subject tests/unit/test-subject-diff tests/unit/test-subject-digest \
	tests/unit/test-subject-git tests/unit/test-subject-exec tests/unit/test-subject-json
# tty
unit_tests += tests/unit/test-card tests/unit/test-interrupt-keys tests/unit/test-progress tests/unit/test-prompt-rate tests/unit/test-table
# worktree, capture
unit_tests += tests/unit/test-mount-watch tests/unit/test-capture tests/unit/test-capture-copy tests/unit/test-capture-sync \
	tests/unit/test-pack tests/unit/test-swap
# session
unit_tests += tests/unit/test-exec-socket tests/unit/test-exit-reason tests/unit/test-run-result tests/unit/test-session tests/unit/test-session-note tests/unit/test-session-process \
	tests/unit/test-session-summary tests/unit/test-session-upper
# approval
unit_tests += tests/unit/test-approver tests/unit/test-grant tests/unit/test-grant-race tests/unit/test-pin tests/unit/test-request \
	tests/unit/test-request-command tests/unit/test-standing
# inspect, gitwork, broker
unit_tests += tests/unit/test-process-keeper tests/unit/test-process-pages tests/unit/test-git-index tests/unit/test-git-source tests/unit/test-inspect \
	tests/unit/test-inspect-place tests/unit/test-broker tests/unit/test-broker-params \
	tests/unit/test-broker-relay
# egress
unit_tests += tests/unit/test-dns-message tests/unit/test-dns-pool tests/unit/test-egress-confine tests/unit/test-http-body tests/unit/test-http-head tests/unit/test-http-target tests/unit/test-tls-hello
# evidence
unit_tests += tests/unit/test-delivery tests/unit/test-evidence tests/unit/test-evidence-config tests/unit/test-evidence-diff \
	tests/unit/test-evidence-scope tests/unit/test-evidence-source
# review
unit_tests += tests/unit/test-apply-batch tests/unit/test-changes tests/unit/test-line-diff tests/unit/test-overlay-sum tests/unit/test-reflog tests/unit/test-rename tests/unit/test-review tests/unit/test-review-ask
# container, decision, warden
unit_tests += tests/unit/test-decision tests/unit/test-container-compare tests/unit/test-container-info tests/unit/test-container-orphan tests/unit/test-container-text tests/unit/test-disk-watch tests/unit/test-output-log tests/unit/test-parent-status tests/unit/test-pump \
	tests/unit/test-warden tests/unit/test-warden-call tests/unit/test-warden-channel tests/unit/test-warden-handover
# oci
unit_tests += tests/unit/test-bundle tests/unit/test-bundle-subject tests/unit/test-hook-args tests/unit/test-json-span \
	tests/unit/test-libcrun-base64 tests/unit/test-libcrun-confine \
	tests/unit/test-engine-broker tests/unit/test-engine-exec tests/unit/test-engine-field tests/unit/test-engine-image tests/unit/test-engine-limit tests/unit/test-engine-merge tests/unit/test-engine-pin tests/unit/test-engine-read tests/unit/test-engine-slurm tests/unit/test-engine-upper \
	tests/unit/test-runtime-options tests/unit/test-runtime-types tests/unit/test-seccomp tests/unit/test-seccomp-arch \
	tests/unit/test-seccomp-cache tests/unit/test-seccomp-trace
# run, doctor, cli
unit_tests += tests/unit/test-dispatch tests/unit/test-doctor tests/unit/test-run-ledger tests/unit/test-run-options

noinst_HEADERS = tests/fuzz/ledger-fix.h tests/lib/init-peer.h tests/unit/approval-fixture.h tests/unit/bpf-judge.h tests/unit/child.h tests/unit/engine-fixture.h tests/unit/engine-tight.h tests/unit/engine-tight-filter.h tests/unit/engine-exec-tight.h tests/unit/container-fixture.h \
	tests/unit/ledger-fixture.h tests/unit/openat2.h tests/unit/overlay-files.h tests/unit/overlay-fixture.h tests/unit/overlay-play.h tests/unit/policy-fixture.h \
	tests/unit/profile-fixture.h tests/unit/subject-fixture.h tests/unit/tap.h tests/unit/unprivileged.h tests/unit/thread-fixture.h tests/unit/tree-fixture.h

# Parts of custody-init, custody-call and custody-mcp, which are no libraries.
tests_unit_test_mcp_SOURCES = tests/unit/test-mcp.c $(mcp_parsers) src/mcp/mcp-memory.c
tests_unit_test_broker_params_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_broker_SOURCES = tests/unit/test-broker.c src/call/call-reply.c src/call/call-reply.h
tests_unit_test_broker_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_init_SOURCES = tests/unit/test-init.c $(init_parsers) \
	src/init/init-options.c src/init/init-options.h src/init/init-rt.h
tests_unit_test_init_run_SOURCES = tests/unit/test-init-run.c tests/lib/init-peer.c
tests_unit_test_init_prove_SOURCES = tests/unit/test-init-prove.c tests/lib/init-peer.c
tests_unit_test_init_inherit_SOURCES = tests/unit/test-init-inherit.c tests/lib/init-peer.c

# Tests that link more than $(LDADD).  libcrun stays out as long as the test does not name the adapter.
tests_unit_test_approver_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_grant_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_grant_race_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_pin_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_request_LDADD = $(LDADD) $(CRYPT_LIBS)
tests_unit_test_standing_LDADD = $(LDADD) $(CRYPT_LIBS)
oci_test_libs = liboci.a libcore.a libbase.a $(DEP_LIBS)
tests_unit_test_seccomp_LDADD = $(oci_test_libs)
tests_unit_test_seccomp_trace_LDADD = $(oci_test_libs)
tests_unit_test_seccomp_arch_LDADD = $(oci_test_libs)
tests_unit_test_subject_json_LDADD = $(oci_test_libs)
tests_unit_test_bundle_subject_LDADD = $(oci_test_libs)
tests_unit_test_bundle_LDADD = $(oci_test_libs)
tests_unit_test_hook_args_LDADD = $(oci_test_libs)
engine_test_libs = libengine.a libcore.a libbase.a $(DEP_LIBS)
tests_unit_test_engine_broker_LDADD = $(engine_test_libs)
tests_unit_test_engine_field_LDADD = libruntime.a $(engine_test_libs)
tests_unit_test_engine_limit_LDADD = libruntime.a $(engine_test_libs)
tests_unit_test_engine_exec_LDADD = $(engine_test_libs)
tests_unit_test_engine_merge_LDADD = $(engine_test_libs)
tests_unit_test_engine_image_LDADD = $(engine_test_libs)
tests_unit_test_engine_pin_LDADD = $(engine_test_libs)
tests_unit_test_engine_read_LDADD = $(engine_test_libs)
tests_unit_test_engine_slurm_LDADD = $(engine_test_libs)
tests_unit_test_engine_upper_LDADD = $(engine_test_libs)
runtime_test_libs = libruntime.a libbase.a $(DEP_LIBS)
# The replaced calls of libcrun, without libcrun.
tests_unit_test_libcrun_confine_SOURCES = tests/unit/test-libcrun-confine.c $(libcrun_confine)
tests_unit_test_libcrun_confine_LDFLAGS = $(AM_LDFLAGS) $(confine_wraps)
tests_unit_test_libcrun_confine_LDADD = libbase.a $(DEP_LIBS)
tests_unit_test_libcrun_base64_SOURCES = tests/unit/test-libcrun-base64.c oci/libcrun/libcrun-base64.c
tests_unit_test_libcrun_base64_LDADD = $(DEP_LIBS)
tests_unit_test_seccomp_cache_LDADD = $(runtime_test_libs)
tests_unit_test_json_span_LDADD = $(runtime_test_libs)
tests_unit_test_runtime_options_LDADD = $(runtime_test_libs)
tests_unit_test_runtime_types_LDADD = $(runtime_test_libs)
tests_unit_test_run_options_LDADD = libcli.a librun.a $(LDADD)
tests_unit_test_run_ledger_LDADD = librun.a $(LDADD)
tests_unit_test_doctor_LDADD = librun.a liboci.a $(LDADD)
tests_unit_test_dispatch_LDADD = libcli.a librun.a $(LDADD)

# Fuzz targets: a word in the list and a line for what it links; the corpus is tests/fuzz/corpus/<name>/ (one file per finding or shape).
fuzz_targets = tests/fuzz/fuzz-broker tests/fuzz/fuzz-card tests/fuzz/fuzz-credential-answer tests/fuzz/fuzz-custody-json tests/fuzz/fuzz-engine-merge \
	tests/fuzz/fuzz-http-body tests/fuzz/fuzz-http-head tests/fuzz/fuzz-dns-message tests/fuzz/fuzz-hostname tests/fuzz/fuzz-git-identity tests/fuzz/fuzz-git-index tests/fuzz/fuzz-grant tests/fuzz/fuzz-hook tests/fuzz/fuzz-inspect tests/fuzz/fuzz-interpreter tests/fuzz/fuzz-json tests/fuzz/fuzz-ledger-export \
	tests/fuzz/fuzz-ledger-tail tests/fuzz/fuzz-ledger-verify tests/fuzz/fuzz-manifest tests/fuzz/fuzz-mcp tests/fuzz/fuzz-oci-config tests/fuzz/fuzz-profile \
	tests/fuzz/fuzz-reflog tests/fuzz/fuzz-rest tests/fuzz/fuzz-secret-find \
	tests/fuzz/fuzz-shell tests/fuzz/fuzz-subid tests/fuzz/fuzz-subject \
	tests/fuzz/fuzz-tls-hello tests/fuzz/fuzz-trace
tests_fuzz_fuzz_broker_SOURCES = tests/fuzz/fuzz-broker.c src/call/call-reply.c src/call/call-reply.h
tests_fuzz_fuzz_broker_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_card_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_credential_answer_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_engine_merge_LDADD = libengine.a $(fuzz_libs)
tests_fuzz_fuzz_oci_config_LDADD = libruntime.a $(fuzz_libs)
tests_fuzz_fuzz_custody_json_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_dns_message_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_git_identity_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_git_index_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_grant_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_hook_LDADD = libhook.a $(fuzz_libs)
tests_fuzz_fuzz_hostname_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_http_body_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_http_head_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_inspect_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_interpreter_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_json_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_ledger_export_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_ledger_tail_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_ledger_verify_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_manifest_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_mcp_SOURCES = tests/fuzz/fuzz-mcp.c $(mcp_parsers)
tests_fuzz_fuzz_mcp_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_profile_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_reflog_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_secret_find_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_rest_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_shell_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_subid_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_tls_hello_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_trace_LDADD = $(fuzz_libs)
tests_fuzz_fuzz_subject_LDADD = liboci.a $(fuzz_libs)
if FUZZING
fuzz_libs = $(FUZZ_LINK) $(LDADD)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c
fuzz_libs = tests/fuzz/libreplay.a $(LDADD)
endif

# custody from the very same objects, with a seam that ends it where a test says (src/base/seam.h).
check_PROGRAMS += tests/custody-seamed
tests_custody_seamed_SOURCES = tests/seam-die.c $(custody_SOURCES)
tests_custody_seamed_LDFLAGS = $(custody_LDFLAGS)
tests_custody_seamed_LDADD = $(custody_LDADD)

# Levels of many commands at once, for tests/lib/policy-strace.py.
check_PROGRAMS += tests/lib/policy-levels
check_PROGRAMS += tests/lib/engine-probe
# Runs in an image without libraries.
check_PROGRAMS += tests/lib/pause
tests_lib_pause_CFLAGS = $(static_cflags)
tests_lib_pause_LDFLAGS = $(static_ldflags)
tests_lib_pause_LDADD =
tests_lib_engine_probe_LDADD = $(engine_test_libs)

# container_prove by hand, for tests/integration/container-prove.bats.
# The answer of kernels before Linux 6.13, and an engine that reaps before any other process runs.
check_PROGRAMS += tests/lib/no-pidfd-exit tests/lib/reap-at-once
tests_lib_no_pidfd_exit_SOURCES = tests/lib/no-pidfd-exit.c
tests_lib_reap_at_once_SOURCES = tests/lib/reap-at-once.c
check_PROGRAMS += tests/lib/prove-container

check_PROGRAMS += $(unit_tests) $(fuzz_targets)

script_tests = tests/check-requirements.sh tests/check-rooms.sh tests/check-kinds.sh tests/check-map.sh tests/check-symbols.sh tests/fuzz-replay.sh
TESTS = $(unit_tests) $(script_tests)
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
# A cross build: in an emulator, which lacks parts of a kernel.
if CROSS
check_PROGRAMS += tests/arm64/probe
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/arm64/test.sh
endif
# As the time limit of a test in tests/unit/tap.h.
SH_LOG_COMPILER = timeout 3600 $(SHELL)
AM_TESTS_ENVIRONMENT = \
	SRCDIR='$(abs_top_srcdir)' BUILDDIR='$(abs_top_builddir)' LIBCRUN_A='$(LIBCRUN_A)' NM='$(NM)' \
	FUZZ_TARGETS='$(fuzz_targets)' EMULATOR='$(EMULATOR)'; \
	export SRCDIR BUILDDIR LIBCRUN_A NM FUZZ_TARGETS EMULATOR;
EXTRA_DIST += $(script_tests) tests/rooms tests/rooms-table.sh tests/engine-table.sh tests/words tests/check-words.sh tests/data tests/lint.sh tests/valgrind.sh tests/fuzz/corpus tests/fuzz/shell-oracle.py tests/arm64 tests/integration tests/conformance tests/lib tests/mutants tests/on tests/vm

# Built by the scripts in contrib/bench only.
EXTRA_PROGRAMS = contrib/bench/inspect-driver contrib/bench/ledger-driver contrib/bench/policy-driver \
	contrib/bench/evidence-driver
contrib_bench_inspect_driver_SOURCES = contrib/bench/inspect-driver.c
contrib_bench_policy_driver_SOURCES = contrib/bench/policy-driver.c
contrib_bench_ledger_driver_SOURCES = contrib/bench/ledger-driver.c
contrib_bench_evidence_driver_SOURCES = contrib/bench/evidence-driver.c
