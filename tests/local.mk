# Unit tests: one program per module, named after it; one pair of lines each:
#	unit_tests += tests/unit/test-json
#	tests_unit_test_json_SOURCES = tests/unit/test-json.c tests/unit/tap.h
unit_tests =

# What a test of oci/ links; libcrun stays out as long as the test does not name the adapter.
oci_test_libs = liboci.a libcore.a libbase.a $(DEP_LIBS)

unit_tests += tests/unit/test-clock
tests_unit_test_clock_SOURCES = tests/unit/test-clock.c tests/unit/tap.h
unit_tests += tests/unit/test-digest
tests_unit_test_digest_SOURCES = tests/unit/test-digest.c tests/unit/tap.h
unit_tests += tests/unit/test-digest-two
tests_unit_test_digest_two_SOURCES = tests/unit/test-digest-two.c tests/unit/tap.h
unit_tests += tests/unit/test-fd
tests_unit_test_fd_SOURCES = tests/unit/test-fd.c tests/unit/tap.h
unit_tests += tests/unit/test-log
tests_unit_test_log_SOURCES = tests/unit/test-log.c tests/unit/tap.h
unit_tests += tests/unit/test-path
tests_unit_test_path_SOURCES = tests/unit/test-path.c tests/unit/tap.h tests/unit/openat2.h
unit_tests += tests/unit/test-str
tests_unit_test_str_SOURCES = tests/unit/test-str.c tests/unit/tap.h
unit_tests += tests/unit/test-fault
tests_unit_test_fault_SOURCES = tests/unit/test-fault.c tests/unit/tap.h
unit_tests += tests/unit/test-json
tests_unit_test_json_SOURCES = tests/unit/test-json.c tests/unit/tap.h

unit_tests += tests/unit/test-layer
tests_unit_test_layer_SOURCES = tests/unit/test-layer.c tests/unit/tap.h

unit_tests += tests/unit/test-config
tests_unit_test_config_SOURCES = tests/unit/test-config.c tests/unit/tap.h

unit_tests += tests/unit/test-migrate
tests_unit_test_migrate_SOURCES = tests/unit/test-migrate.c tests/unit/tap.h

unit_tests += tests/unit/test-lane
tests_unit_test_lane_SOURCES = tests/unit/test-lane.c tests/unit/tap.h

profile_fixture = tests/unit/profile-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-profile-danger
tests_unit_test_profile_danger_SOURCES = tests/unit/test-profile-danger.c $(profile_fixture)

unit_tests += tests/unit/test-profile-file
tests_unit_test_profile_file_SOURCES = tests/unit/test-profile-file.c $(profile_fixture)

unit_tests += tests/unit/test-profile-load
tests_unit_test_profile_load_SOURCES = tests/unit/test-profile-load.c $(profile_fixture)

unit_tests += tests/unit/test-profile-parse
tests_unit_test_profile_parse_SOURCES = tests/unit/test-profile-parse.c $(profile_fixture)

unit_tests += tests/unit/test-profile-schema
tests_unit_test_profile_schema_SOURCES = tests/unit/test-profile-schema.c $(profile_fixture)

unit_tests += tests/unit/test-profile-shipped
tests_unit_test_profile_shipped_SOURCES = tests/unit/test-profile-shipped.c $(profile_fixture)

unit_tests += tests/unit/test-profile-compare
tests_unit_test_profile_compare_SOURCES = tests/unit/test-profile-compare.c $(profile_fixture)

unit_tests += tests/unit/test-profile-trust
tests_unit_test_profile_trust_SOURCES = tests/unit/test-profile-trust.c $(profile_fixture)

policy_fixture = tests/unit/policy-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-policy-table
tests_unit_test_policy_table_SOURCES = tests/unit/test-policy-table.c $(policy_fixture)
unit_tests += tests/unit/test-policy-commands
tests_unit_test_policy_commands_SOURCES = tests/unit/test-policy-commands.c $(policy_fixture)
unit_tests += tests/unit/test-policy-property
tests_unit_test_policy_property_SOURCES = tests/unit/test-policy-property.c $(policy_fixture)
unit_tests += tests/unit/test-shell-split
tests_unit_test_shell_split_SOURCES = tests/unit/test-shell-split.c tests/unit/tap.h
unit_tests += tests/unit/test-command-class
tests_unit_test_command_class_SOURCES = tests/unit/test-command-class.c tests/unit/tap.h
unit_tests += tests/unit/test-policy
tests_unit_test_policy_SOURCES = tests/unit/test-policy.c $(policy_fixture)

unit_tests += tests/unit/test-doctor
tests_unit_test_doctor_SOURCES = tests/unit/test-doctor.c tests/unit/tap.h
tests_unit_test_doctor_LDADD = librun.a liboci.a $(LDADD)

unit_tests += tests/unit/test-init
tests_unit_test_init_SOURCES = tests/unit/test-init.c tests/unit/tap.h $(init_parsers) \
	src/init/init-options.c src/init/init-options.h src/init/init-rt.h

unit_tests += tests/unit/test-init-run
tests_unit_test_init_run_SOURCES = tests/unit/test-init-run.c tests/unit/tap.h tests/lib/init-peer.c tests/lib/init-peer.h
unit_tests += tests/unit/test-layer-proof
tests_unit_test_layer_proof_SOURCES = tests/unit/test-layer-proof.c tests/unit/tap.h

unit_tests += tests/unit/test-warden
tests_unit_test_warden_SOURCES = tests/unit/test-warden.c tests/unit/tap.h

unit_tests += tests/unit/test-capture-copy
tests_unit_test_capture_copy_SOURCES = tests/unit/test-capture-copy.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-capture-sync
tests_unit_test_capture_sync_SOURCES = tests/unit/test-capture-sync.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-walk
tests_unit_test_walk_SOURCES = tests/unit/test-walk.c tests/unit/tap.h

unit_tests += tests/unit/test-changes
tests_unit_test_changes_SOURCES = tests/unit/test-changes.c tests/unit/child.h tests/unit/overlay-fixture.h tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-review
tests_unit_test_review_SOURCES = tests/unit/test-review.c tests/unit/child.h tests/unit/overlay-fixture.h tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-session-upper
tests_unit_test_session_upper_SOURCES = tests/unit/test-session-upper.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-line-diff
tests_unit_test_line_diff_SOURCES = tests/unit/test-line-diff.c tests/unit/tap.h
unit_tests += tests/unit/test-capture
tests_unit_test_capture_SOURCES = tests/unit/test-capture.c tests/unit/tree-fixture.h tests/unit/tap.h

unit_tests += tests/unit/test-pack
tests_unit_test_pack_SOURCES = tests/unit/test-pack.c tests/unit/tree-fixture.h tests/unit/tap.h

unit_tests += tests/unit/test-evidence-scope
tests_unit_test_evidence_scope_SOURCES = tests/unit/test-evidence-scope.c tests/unit/tap.h
unit_tests += tests/unit/test-container-orphan
tests_unit_test_container_orphan_SOURCES = tests/unit/test-container-orphan.c tests/unit/thread-fixture.h tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-evidence-diff
tests_unit_test_evidence_diff_SOURCES = tests/unit/test-evidence-diff.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-container-info
tests_unit_test_container_info_SOURCES = tests/unit/test-container-info.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-warden-handover
tests_unit_test_warden_handover_SOURCES = tests/unit/test-warden-handover.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-warden-channel
tests_unit_test_warden_channel_SOURCES = tests/unit/test-warden-channel.c tests/unit/tap.h
unit_tests += tests/unit/test-evidence-config
tests_unit_test_evidence_config_SOURCES = tests/unit/test-evidence-config.c tests/unit/tap.h
unit_tests += tests/unit/test-delivery
tests_unit_test_delivery_SOURCES = tests/unit/test-delivery.c tests/unit/tree-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-evidence
tests_unit_test_evidence_SOURCES = tests/unit/test-evidence.c tests/unit/tree-fixture.h tests/unit/tap.h

unit_tests += tests/unit/test-dispatch
tests_unit_test_dispatch_SOURCES = tests/unit/test-dispatch.c tests/unit/tap.h
tests_unit_test_dispatch_LDADD = libcli.a $(LDADD)
unit_tests += tests/unit/test-card
tests_unit_test_card_SOURCES = tests/unit/test-card.c tests/unit/tap.h
unit_tests += tests/unit/test-progress
tests_unit_test_progress_SOURCES = tests/unit/test-progress.c tests/unit/tap.h
unit_tests += tests/unit/test-prompt-rate
tests_unit_test_prompt_rate_SOURCES = tests/unit/test-prompt-rate.c tests/unit/tap.h
unit_tests += tests/unit/test-request-command
tests_unit_test_request_command_SOURCES = tests/unit/test-request-command.c tests/unit/tap.h

unit_tests += tests/unit/test-seccomp
tests_unit_test_seccomp_SOURCES = tests/unit/test-seccomp.c tests/unit/tap.h
tests_unit_test_seccomp_LDADD = $(oci_test_libs)

unit_tests += tests/unit/test-subject
tests_unit_test_subject_SOURCES = tests/unit/test-subject.c tests/unit/tap.h

unit_tests += tests/unit/test-operand
tests_unit_test_operand_SOURCES = tests/unit/test-operand.c tests/unit/tap.h
subject_fixture = tests/unit/subject-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-subject-digest
tests_unit_test_subject_digest_SOURCES = tests/unit/test-subject-digest.c $(subject_fixture)
unit_tests += tests/unit/test-subject-json
tests_unit_test_subject_json_SOURCES = tests/unit/test-subject-json.c $(subject_fixture)
tests_unit_test_subject_json_LDADD = $(oci_test_libs)
unit_tests += tests/unit/test-bundle-subject
tests_unit_test_bundle_subject_SOURCES = tests/unit/test-bundle-subject.c $(subject_fixture)
tests_unit_test_bundle_subject_LDADD = $(oci_test_libs)
unit_tests += tests/unit/test-subject-diff
tests_unit_test_subject_diff_SOURCES = tests/unit/test-subject-diff.c $(subject_fixture)
unit_tests += tests/unit/test-digest-key
tests_unit_test_digest_key_SOURCES = tests/unit/test-digest-key.c tests/unit/tap.h

unit_tests += tests/unit/test-bundle
tests_unit_test_bundle_SOURCES = tests/unit/test-bundle.c tests/unit/tap.h
tests_unit_test_bundle_LDADD = $(oci_test_libs)

unit_tests += tests/unit/test-hook-args
tests_unit_test_hook_args_SOURCES = tests/unit/test-hook-args.c tests/unit/tap.h
tests_unit_test_hook_args_LDADD = $(oci_test_libs)

unit_tests += tests/unit/test-cgroup
tests_unit_test_cgroup_SOURCES = tests/unit/test-cgroup.c tests/unit/tap.h

unit_tests += tests/unit/test-exit-reason
tests_unit_test_exit_reason_SOURCES = tests/unit/test-exit-reason.c tests/unit/tap.h

unit_tests += tests/unit/test-run-options
tests_unit_test_run_options_SOURCES = tests/unit/test-run-options.c tests/unit/tap.h
tests_unit_test_run_options_LDADD = librun.a $(LDADD)

unit_tests += tests/unit/test-output-log
tests_unit_test_output_log_SOURCES = tests/unit/test-output-log.c tests/unit/tap.h
unit_tests += tests/unit/test-pump
tests_unit_test_pump_SOURCES = tests/unit/test-pump.c tests/unit/tap.h

unit_tests += tests/unit/test-run-result
tests_unit_test_run_result_SOURCES = tests/unit/test-run-result.c tests/unit/tap.h

unit_tests += tests/unit/test-session
tests_unit_test_session_SOURCES = tests/unit/test-session.c tests/unit/tap.h
unit_tests += tests/unit/test-session-note
tests_unit_test_session_note_SOURCES = tests/unit/test-session-note.c tests/unit/thread-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-sandbox-root
tests_unit_test_sandbox_root_SOURCES = tests/unit/test-sandbox-root.c tests/unit/tap.h tests/unit/openat2.h

unit_tests += tests/unit/test-run-ledger
tests_unit_test_run_ledger_SOURCES = tests/unit/test-run-ledger.c tests/unit/ledger-fixture.h tests/unit/tap.h
tests_unit_test_run_ledger_LDADD = librun.a $(LDADD)
unit_tests += tests/unit/test-ledger-append
tests_unit_test_ledger_append_SOURCES = tests/unit/test-ledger-append.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-checkpoint
tests_unit_test_ledger_checkpoint_SOURCES = tests/unit/test-ledger-checkpoint.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-peer
tests_unit_test_ledger_peer_SOURCES = tests/unit/test-ledger-peer.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-session
tests_unit_test_ledger_session_SOURCES = tests/unit/test-ledger-session.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-full
tests_unit_test_ledger_full_SOURCES = tests/unit/test-ledger-full.c tests/unit/child.h tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-sync
tests_unit_test_ledger_sync_SOURCES = tests/unit/test-ledger-sync.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-storm
tests_unit_test_ledger_storm_SOURCES = tests/unit/test-ledger-storm.c tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-kill
tests_unit_test_ledger_kill_SOURCES = tests/unit/test-ledger-kill.c tests/unit/child.h tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-ledger-record
tests_unit_test_ledger_record_SOURCES = tests/unit/test-ledger-record.c tests/unit/tap.h
unit_tests += tests/unit/test-ledger-redact
tests_unit_test_ledger_redact_SOURCES = tests/unit/test-ledger-redact.c tests/unit/tap.h
unit_tests += tests/unit/test-ledger-verify
tests_unit_test_ledger_verify_SOURCES = tests/unit/test-ledger-verify.c tests/unit/ledger-fixture.h tests/unit/tap.h

# Approval; the PIN needs libcrypt.
approval_fixture = tests/unit/approval-fixture.h tests/unit/child.h tests/unit/ledger-fixture.h tests/unit/tap.h
unit_tests += tests/unit/test-approver
tests_unit_test_approver_SOURCES = tests/unit/test-approver.c $(approval_fixture)
tests_unit_test_approver_LDADD = $(LDADD) $(CRYPT_LIBS)
unit_tests += tests/unit/test-grant
tests_unit_test_grant_SOURCES = tests/unit/test-grant.c $(approval_fixture)
tests_unit_test_grant_LDADD = $(LDADD) $(CRYPT_LIBS)
unit_tests += tests/unit/test-mount-watch
tests_unit_test_mount_watch_SOURCES = tests/unit/test-mount-watch.c tests/unit/tap.h
unit_tests += tests/unit/test-grant-race
tests_unit_test_grant_race_SOURCES = tests/unit/test-grant-race.c $(approval_fixture)
tests_unit_test_grant_race_LDADD = $(LDADD) $(CRYPT_LIBS)
unit_tests += tests/unit/test-pin
tests_unit_test_pin_SOURCES = tests/unit/test-pin.c $(approval_fixture)
tests_unit_test_pin_LDADD = $(LDADD) $(CRYPT_LIBS)
unit_tests += tests/unit/test-request
tests_unit_test_request_SOURCES = tests/unit/test-request.c $(approval_fixture)
tests_unit_test_request_LDADD = $(LDADD) $(CRYPT_LIBS)

# custody-runtime: parts that need no libcrun.
runtime_test_libs = libruntime.a libbase.a $(DEP_LIBS)
unit_tests += tests/unit/test-seccomp-cache
tests_unit_test_seccomp_cache_SOURCES = tests/unit/test-seccomp-cache.c tests/unit/tap.h
tests_unit_test_seccomp_cache_LDADD = $(runtime_test_libs)
unit_tests += tests/unit/test-json-span
tests_unit_test_json_span_SOURCES = tests/unit/test-json-span.c tests/unit/tap.h
tests_unit_test_json_span_LDADD = $(runtime_test_libs)
unit_tests += tests/unit/test-runtime-options
tests_unit_test_runtime_options_SOURCES = tests/unit/test-runtime-options.c tests/unit/tap.h
tests_unit_test_runtime_options_LDADD = $(runtime_test_libs)

# Fuzz targets: three lines each; the corpus is tests/fuzz/corpus/<name>/ (one file per finding or shape).
#	fuzz_targets += tests/fuzz/fuzz-json
#	tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz-json.c
#	tests_fuzz_fuzz_json_LDADD = $(fuzz_libs)
fuzz_targets =

fuzz_targets += tests/fuzz/fuzz-json
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz-json.c
tests_fuzz_fuzz_json_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-custody-json
tests_fuzz_fuzz_custody_json_SOURCES = tests/fuzz/fuzz-custody-json.c
tests_fuzz_fuzz_custody_json_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-manifest
tests_fuzz_fuzz_manifest_SOURCES = tests/fuzz/fuzz-manifest.c
tests_fuzz_fuzz_manifest_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-profile
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz-profile.c
tests_fuzz_fuzz_profile_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-shell
tests_fuzz_fuzz_shell_SOURCES = tests/fuzz/fuzz-shell.c
tests_fuzz_fuzz_shell_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-hook
tests_fuzz_fuzz_hook_SOURCES = tests/fuzz/fuzz-hook.c
tests_fuzz_fuzz_hook_LDADD = libhook.a $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-grant
tests_fuzz_fuzz_grant_SOURCES = tests/fuzz/fuzz-grant.c
tests_fuzz_fuzz_grant_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-ledger-tail
tests_fuzz_fuzz_ledger_tail_SOURCES = tests/fuzz/fuzz-ledger-tail.c tests/fuzz/ledger-fix.h
tests_fuzz_fuzz_ledger_tail_LDADD = $(fuzz_libs)
fuzz_targets += tests/fuzz/fuzz-ledger-verify
tests_fuzz_fuzz_ledger_verify_SOURCES = tests/fuzz/fuzz-ledger-verify.c tests/fuzz/ledger-fix.h
tests_fuzz_fuzz_ledger_verify_LDADD = $(fuzz_libs)

if FUZZING
fuzz_libs = $(FUZZ_LINK) $(LDADD)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c
fuzz_libs = tests/fuzz/libreplay.a $(LDADD)
endif

fuzz_targets += tests/fuzz/fuzz-subject
tests_fuzz_fuzz_subject_SOURCES = tests/fuzz/fuzz-subject.c
tests_fuzz_fuzz_subject_LDADD = liboci.a $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-card
tests_fuzz_fuzz_card_SOURCES = tests/fuzz/fuzz-card.c
tests_fuzz_fuzz_card_LDADD = $(fuzz_libs)

fuzz_targets += tests/fuzz/fuzz-config
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz-config.c
tests_fuzz_fuzz_config_LDADD = libruntime.a $(fuzz_libs)

# custody from the very same objects, with a seam that ends it where a test says (src/base/seam.h).
check_PROGRAMS += tests/custody-seamed
tests_custody_seamed_SOURCES = tests/seam-die.c $(custody_SOURCES)
tests_custody_seamed_LDFLAGS = $(custody_LDFLAGS)
tests_custody_seamed_LDADD = $(custody_LDADD)

check_PROGRAMS += $(unit_tests) $(fuzz_targets)

script_tests = tests/check-rooms.sh tests/check-symbols.sh tests/fuzz-replay.sh
TESTS = $(unit_tests) $(script_tests)
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	SRCDIR='$(abs_top_srcdir)' BUILDDIR='$(abs_top_builddir)' LIBCRUN_A='$(LIBCRUN_A)' NM='$(NM)' \
	FUZZ_TARGETS='$(fuzz_targets)'; \
	export SRCDIR BUILDDIR LIBCRUN_A NM FUZZ_TARGETS;
EXTRA_DIST += $(script_tests) tests/rooms tests/data tests/lint.sh tests/valgrind.sh tests/fuzz/corpus tests/fuzz/shell-oracle.py tests/integration tests/conformance tests/lib tests/vm

# Built by the scripts in contrib/bench only.
EXTRA_PROGRAMS = contrib/bench/ledger-driver contrib/bench/policy-driver \
	contrib/bench/evidence-driver
contrib_bench_policy_driver_SOURCES = contrib/bench/policy-driver.c
contrib_bench_ledger_driver_SOURCES = contrib/bench/ledger-driver.c
contrib_bench_evidence_driver_SOURCES = contrib/bench/evidence-driver.c
