# oci/hook: custody-hook
libhook_a_SOURCES += \
	oci/hook/hook-approve-supervise.c \
	oci/hook/hook-approve-verify.c \
	oci/hook/hook-approve.c oci/hook/hook-approve.h \
	oci/hook/hook-attach.c oci/hook/hook-attach.h \
	oci/hook/hook-audit.c \
	oci/hook/hook-gate.c oci/hook/hook-gate.h \
	oci/hook/hook-mount.c \
	oci/hook/hook-pidfd.c \
	oci/hook/hook-plan.c oci/hook/hook-plan.h \
	oci/hook/hook-report.c \
	oci/hook/hook-state.c \
	oci/hook/hook.h

pkglibexec_PROGRAMS += custody-hook
custody_hook_SOURCES = oci/hook/hook-main.c $(nettle_cpuid)
custody_hook_LDFLAGS = $(prog_ldflags) $(nettle_wraps)
custody_hook_LDADD = libhook.a liboci.a libcore.a libbase.a $(PROG_LIBS)
