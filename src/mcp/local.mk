# mcp: custody-mcp, the door for clients of MCP (no libc)
# Linked with no library, as custody-call: it runs in roots that have none.
pkglibexec_PROGRAMS += custody-mcp
mcp_parsers = src/mcp/mcp-answer.c src/mcp/mcp-answer.h \
	src/mcp/mcp-buffer.c src/mcp/mcp-buffer.h \
	src/mcp/mcp-json.c src/mcp/mcp-json.h \
	src/mcp/mcp-memory.h \
	src/mcp/mcp-message.c src/mcp/mcp-message.h \
	src/mcp/mcp-server.c src/mcp/mcp-server.h \
	src/mcp/mcp-tools.c src/mcp/mcp-tools.h \
	src/init/init-line.c src/init/init-rt.h
custody_mcp_SOURCES = $(mcp_parsers) \
	src/mcp/mcp-link.c src/mcp/mcp-link.h \
	src/mcp/mcp-main.c src/mcp/mcp-memory.c \
	src/init/init-rt.c
custody_mcp_CPPFLAGS = $(AM_CPPFLAGS) -DNDEBUG
custody_mcp_CFLAGS = $(static_cflags) -ffreestanding $(INIT_CFLAGS)
custody_mcp_LDFLAGS = $(HARDEN_LDFLAGS) -static -nostdlib -Wl,--strip-debug
custody_mcp_LDADD =
