#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine of architecture arm64: programs, layers and filter are of that architecture.
# shellcheck disable=SC2016,SC2154 # scripts for the inside; set by bats

load ../lib/suite.bash
load ../lib/runtime.bash

setup() {
	[ "$(uname -m)" = aarch64 ] || skip 'run by guest.sh, on arm64'
	suite_setup
}
teardown() {
	custody_teardown
}

# A program for AArch32, the 32-bit instructions of the same processor: exit(42).
make_aarch32() { # FILE
	python3 - "$1" <<-'END'
		import struct, sys
		code = struct.pack("<3I", 0xe3a0002a, 0xe3a07001, 0xef000000)
		size = 52 + 32 + len(code)
		elf = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
		elf += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0x10054, 52, 0, 0x5000000, 52, 32, 1, 0, 0, 0)
		elf += struct.pack("<8I", 1, 0, 0x10000, 0x10000, size, size, 5, 0x1000)
		open(sys.argv[1], "wb").write(elf + code)
	END
	chmod 0755 "$1"
}

@test "PLAT-5: every layer is proven, and the command runs on arm64" {
	custody_run -- sh -c 'uname -m; exit 7'
	assert_status 7
	assert_output_has aarch64
	assert_layer seccomp
	assert_layer no-new-privs
	assert_layer user-namespace
	assert_layer pid-namespace
	assert_layer mount-namespace
	assert_layer memory-limit
	assert_layer pids-limit
}

@test "PLAT-5: a program for AArch32 runs outside and dies inside" {
	make_aarch32 program
	run ./program
	[ "$status" -eq 42 ]
	custody_run -- ./program
	assert_status 159
	assert_reason signaled
	[ "$(custody_result .exit.signal)" = 31 ]
}

# Bit 30 selects x32 on x86_64, where it kills.  Numbers 0 to 2: io_setup, which is not listed, io_destroy and io_submit.
@test "PLAT-5: numbers mean the calls of arm64" {
	custody_run -- python3 -c '
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    ctypes.set_errno(0)
    libc.syscall(*[ctypes.c_long(a) for a in args])
    return errno.errorcode.get(ctypes.get_errno(), "0")
print(call(0x40000000 | 172), call(172), call(0, 1, 0), call(1, 0), call(97, 0x10000000), call(435, 0, 0))'
	assert_status 0
	[ "$output" = 'ENOSYS 0 ENOSYS EINVAL EPERM ENOSYS' ]
}

@test "PLAT-5: a bundle has the filter of arm64, under crun and runc" {
	local runtime
	suite_ungoverned # it tries to make a namespace
	bundle -- sh -c 'uname -m; grep ^Seccomp: /proc/self/status; unshare -U true 2>/dev/null || echo refused'
	[ "$(jq -c .linux.seccomp.architectures "$BUNDLE/config.json")" = '["SCMP_ARCH_AARCH64"]' ]
	for runtime in crun runc; do
		runtime_run "$runtime" "$BUNDLE"
		assert_status 0
		[ "$output" = $'aarch64\nSeccomp:\t2\nrefused' ]
	done
}
