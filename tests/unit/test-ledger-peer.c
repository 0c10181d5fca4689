/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "ledger/ledger-peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-peer-sink.h"
#include "ledger-fixture.h"
#include "tap.h"

static bool configure(const struct place *p, const char *type, const char *send, char path[256])
{
	char text[600];

	if (!place_path(p, "sink", path))
		return false;
	(void)snprintf(text, sizeof(text),
		       "{\"peers\":[{\"name\":\"one\",\"type\":\"%s\",\"path\":\"%s\",\"send\":\"%s\"}]}",
		       type, path, send);
	return spit(p, PEER_FILE, text, strlen(text));
}

static int listen_at(const char *path, int type)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	(void)unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 4) < 0))
		return -1;
	return fd;
}

static bool checkpoint(const struct place *p, int events)
{
	_cleanup_ledger_ struct ledger *l = NULL;

	if (ledger_open(p->state, NULL, &l, NULL, NULL) < 0)
		return false;
	for (int i = 0; i < events; i++)
		if (put(l, "test.event", LEDGER_OBSERVED) < 0)
			return false;
	return ledger_checkpoint(l, NULL, NULL, NULL) == 0;
}

static bool push_once(const struct place *p, struct peer_state *ret)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_peers_ struct peers peers = { 0 };

	if (peer_load(p->state, &peers, &f) == 0 && peers.n == 1 && peer_push(p->state, &peers, &f) == 0 &&
	    peer_state(p->state, &peers.items[0], ret, &f) == 0)
		return true;
	printf("# %s\n", fault_text(&f));
	return false;
}

/* One push has two seconds, in which a slow disk reads a few segments: the next push sends the rest. */
static bool push(const struct place *p, struct peer_state *ret)
{
	bool ok = push_once(p, ret);

	for (int i = 0; i < 100 && ok && ret->behind > 0 && !ret->error[0]; i++)
		ok = push_once(p, ret);
	return ok;
}

/* How many whole checkpoints are in the sink, and that they are the ledger's in ascending order. */
static int count_notes(const char *text, size_t len)
{
	uint64_t size = 0;
	int n = 0;

	for (size_t at = 0; at < len;) {
		struct checkpoint checkpoint;
		size_t used;

		if (checkpoint_parse(text + at, len - at, &checkpoint, &used) < 0 ||
		    checkpoint.mark.size < size)
			return -1;
		size = checkpoint.mark.size;
		at += used + 1;
		n++;
	}
	return n;
}

static void without_peers_nothing_is_done(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_peers_ struct peers peers = { 0 };

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL));
	CHECK(peer_load(p.state, &peers, NULL) == 0 && peers.n == 0);
	peer_kick(p.state);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void a_file_gets_every_checkpoint_once(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct peer_state st;
	char path[256];
	size_t len;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "file", "checkpoints", path));
	CHECK(checkpoint(&p, 1) && checkpoint(&p, 1) && push(&p, &st) && st.behind == 0 && st.sent == 4 &&
	      !st.error[0]);
	CHECK(checkpoint(&p, 3) && push(&p, &st) && st.behind == 0 && st.sent == 7);
	CHECK(push(&p, &st) && st.behind == 0);
	text = slurp(&p, "sink", &len);
	CHECK(text && count_notes(text, len) == 3);
}

static void a_file_gets_every_record_across_segments(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct peer_state st;
	struct digest k0;
	char path[256];
	size_t len;

	CHECK(place_make(&p) && fill(&p, 40, &(struct ledger_options){ .segment_max = 3000 }, &k0));
	CHECK(configure(&p, "file", "records", path) && push(&p, &st) && st.behind == 0);
	CHECK(checkpoint(&p, 30) && push(&p, &st) && st.behind == 0 && st.sent > 70);
	text = slurp(&p, "sink", &len);
	CHECK(text);
	CHECK(judge(text, len, &(struct ledger_verify_options){ .k0 = &k0, .n_k0 = 1 }).next == st.sent);
}

static void a_peer_that_is_down_lags_and_catches_up(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct peer_state st;
	char path[256], room[8192];
	int status;
	pid_t pid;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "dgram", "checkpoints", path));
	CHECK(checkpoint(&p, 1) && push(&p, &st) && st.behind == 3 && strstr(st.error, "connect"));
	CHECK(checkpoint(&p, 1) && push(&p, &st) && st.behind == 4);
	fd = listen_at(path, SOCK_DGRAM);
	CHECK(fd >= 0);
	pid = fork();
	if (pid == 0)
		_exit(!(push(&p, &st) && st.behind == 0 && !st.error[0]));
	for (int i = 0; i < 2; i++) {
		struct checkpoint n;
		size_t used;
		ssize_t len = recv(fd, room, sizeof(room), 0);

		CHECK(len > 0 && checkpoint_parse(room, (size_t)len, &n, &used) == 0 &&
		      n.mark.size == (uint64_t)(3 + i));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* A listener that never reads: its kernel queue takes everything, but nothing counts as sent. */
static void a_peer_that_does_not_read_lags(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF, client = -EBADF;
	struct peer_state st;
	char path[256], room[16384];
	size_t len = 0;
	ssize_t n;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "stream", "checkpoints", path));
	fd = listen_at(path, SOCK_STREAM);
	CHECK(fd >= 0 && checkpoint(&p, 1) && push(&p, &st) && st.behind == 3 &&
	      strstr(st.error, "does not read"));
	/* Queued data is received later; the sender still sends it again. */
	client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (client >= 0 && (n = recv(client, room + len, sizeof(room) - len, 0)) > 0)
		len += (size_t)n;
	CHECK(count_notes(room, len) == 1);
}

static void a_stream_that_reads_gets_all_in_order(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF, client = -EBADF;
	struct peer_state st;
	char path[256], room[16384];
	size_t len = 0;
	int status;
	ssize_t n;
	pid_t pid;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "stream", "checkpoints", path));
	fd = listen_at(path, SOCK_STREAM);
	for (int i = 0; i < 20; i++)
		CHECK(checkpoint(&p, 1));
	pid = fork();
	if (pid == 0)
		_exit(!(push(&p, &st) && st.behind == 0));
	client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (client >= 0 && (n = recv(client, room + len, sizeof(room) - len, 0)) > 0)
		len += (size_t)n;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(count_notes(room, len) == 20);
}

/* A full disk, as a limit on the size of files: half a checkpoint must not stay, and it comes whole later. */
static void a_peer_that_is_full_lags_and_catches_up(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_free_ char *text = NULL;
	struct peer_state st;
	char path[256];
	int status;
	pid_t pid;
	size_t len;

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "file", "checkpoints", path));
	CHECK(checkpoint(&p, 1) && push(&p, &st) && st.behind == 0);
	CHECK(checkpoint(&p, 1));
	pid = fork();
	if (pid == 0) {
		const struct rlimit limit = { 300, 300 };
		_cleanup_peers_ struct peers peers = { 0 };

		(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
		_exit(peer_load(p.state, &peers, NULL) < 0 || setrlimit(RLIMIT_FSIZE, &limit) < 0 ||
		      peer_push(p.state, &peers, NULL) < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	text = slurp(&p, "sink", &len);
	CHECK(text && count_notes(text, len) == 1);
	{
		_cleanup_peers_ struct peers peers = { 0 };

		CHECK(peer_load(p.state, &peers, NULL) == 0 &&
		      peer_state(p.state, &peers.items[0], &st, NULL) == 0);
		CHECK(st.behind == 1 && strstr(st.error, "write"));
	}
	CHECK(push(&p, &st) && st.behind == 0);
	free(text);
	text = slurp(&p, "sink", &len);
	CHECK(text && count_notes(text, len) == 2);
}

static void a_kick_returns_at_once_and_delivers(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct pollfd wait = { .events = POLLIN };
	char path[256], room[8192];

	CHECK(place_make(&p) && fill(&p, 2, NULL, NULL) && configure(&p, "dgram", "checkpoints", path));
	fd = listen_at(path, SOCK_DGRAM);
	CHECK(fd >= 0 && checkpoint(&p, 1));
	peer_kick(p.state);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	wait.fd = fd;
	CHECK(poll(&wait, 1, 60000) == 1 && recv(fd, room, sizeof(room), 0) > 0);
	/* The pusher saves its cursor after that; its lock is released when it is done. */
	CHECK(push(&p, &(struct peer_state){ 0 }));
}

static void a_wrong_configuration_is_refused_with_its_place(void)
{
	static const char twice[] = "{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"/x\"},"
				    "{\"name\":\"a\",\"type\":\"file\",\"path\":\"/y\"}]}";
	static const char *const bad[] = {
		"{}",
		"[]",
		"{\"peers\":{}}",
		"{\"peers\":[{}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\"}]}",
		"{\"peers\":[{\"name\":\"A\",\"type\":\"file\",\"path\":\"/x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"tape\",\"path\":\"/x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"/x\",\"send\":\"all\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"/x\",\"foo\":\"1\"}]}",
		twice,
		"{\"peers\":[],\"more\":1}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\",\"path\":\"/x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\",\"address\":\"siem.example.org:601\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\",\"address\":\"127.0.0.1:601\",\"format\":"
		"\"leef\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\",\"address\":\"127.0.0.1:601\",\"send\":"
		"\"checkpoints\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"/x\",\"format\":\"cef\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem.example.org\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"u@siem:6514\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem/x:6514\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem:0\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"url\":\"https://siem\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem:6514\",\"ca\":\"x\"}]"
		"}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem:6514\",\"send\":"
		"\"checkpoints\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"address\":\"siem:443\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"url\":\"http://siem/\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"url\":\"https://u:p@siem/\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"url\":\"https://siem/ x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"url\":\"https:///x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"https\",\"url\":\"https://siem/"
		"\",\"format\":\"cef\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog\",\"address\":\"127.0.0.1:601\",\"ca\":\"/"
		"x\"}]}",
		"{\"peers\":[{\"name\":\"a\",\"type\":\"file\",\"path\":\"/x\",\"url\":\"https://siem\"}]}",
	};
	_cleanup_place_ struct place p = { 0 };

	CHECK(place_make(&p));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_fault_ struct fault f = { 0 };
		_cleanup_peers_ struct peers peers = { 0 };

		CHECK(spit(&p, PEER_FILE, bad[i], strlen(bad[i])));
		CHECK(peer_load(p.state, &peers, &f) == -EINVAL && strstr(fault_text(&f), PEER_FILE ":1:"));
	}
}

static void DOOR_9_peers_over_tls_are_names_with_a_port_or_urls(void)
{
	static const char text[] =
		"{\"peers\":[{\"name\":\"a\",\"type\":\"syslog-tls\",\"address\":\"siem.example.org:6514\","
		"\"ca\":\"/ca\"},"
		"{\"name\":\"b\",\"type\":\"https\",\"url\":\"https://siem.example.org:8443/in?x=1\"}]}";
	_cleanup_peers_ struct peers peers = { 0 };
	_cleanup_place_ struct place p = { 0 };

	CHECK(place_make(&p) && spit(&p, PEER_FILE, text, strlen(text)));
	CHECK(peer_load(p.state, &peers, NULL) == 0 && peers.n == 2);
	CHECK(peers.items[0].type == PEER_TLS && peers.items[0].format == EXPORT_CEF &&
	      peers.items[0].records && str_eq(peers.items[0].ca, "/ca"));
	CHECK(peers.items[1].type == PEER_HTTPS && peers.items[1].format == EXPORT_JSONL &&
	      !peers.items[1].ca);
}

/* A listener on loopback; PORT in the configuration. */
static int listen_tcp(uint16_t *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons(*port) };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&addr, len) < 0 || listen(fd, 4) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) < 0)
		return -1;
	*port = ntohs(addr.sin_port);
	return fd;
}

static bool configure_syslog(const struct place *p, uint16_t port, const char *format)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "{\"peers\":[{\"name\":\"siem\",\"type\":\"syslog\",\"address\":\"127.0.0.1:%u\","
		       "\"format\":\"%s\"}]}",
		       port, format);
	return spit(p, PEER_FILE, text, strlen(text));
}

/* Messages in TEXT with seq FIRST and the following ones; -1: malformed or out of order. */
static int count_messages(const char *text, size_t len, int first)
{
	int n = 0;

	for (size_t at = 0; at < len; n++) {
		char *end, want[64];
		size_t size = strtoul(text + at, &end, 10);
		_cleanup_free_ char *message = NULL;

		at = (size_t)(end + 1 - text);
		if (*end != ' ' || size == 0 || at + size > len || !(message = strndup(text + at, size)))
			return -1;
		(void)snprintf(want, sizeof(want), " externalId=%d ", first + n);
		if (!strstr(message, want) || strncmp(message, "<1", 2) != 0 ||
		    !strstr(message, " custody - ") || !strstr(message, " - CEF:0|custody|") ||
		    strchr(message, '\n'))
			return -1;
		at += size;
	}
	return n;
}

/* Pushes in a child while this process reads until it has N bytes or the peer closes. */
static size_t receive(const struct place *p, int fd, char *room, size_t size, bool *ret_ok)
{
	_cleanup_close_ int client = -EBADF;
	struct peer_state st;
	size_t len = 0;
	int status;
	ssize_t n;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!(push(p, &st) && st.behind == 0 && !st.error[0]));
	client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	while (client >= 0 && (n = recv(client, room + len, size - len, 0)) > 0)
		len += (size_t)n;
	*ret_ok = waitpid(pid, &status, 0) == pid && status == 0;
	return len;
}

static void DOOR_9_a_syslog_peer_gets_every_record_as_a_message(void)
{
	static char room[1 << 20];
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct peer_state st;
	uint16_t port = 0;
	size_t len;
	bool ok;

	fd = listen_tcp(&port);
	CHECK(fd >= 0 && place_make(&p) &&
	      fill(&p, 40, &(struct ledger_options){ .segment_max = 3000 }, NULL));
	CHECK(configure_syslog(&p, port, "cef"));
	len = receive(&p, fd, room, sizeof(room), &ok);
	CHECK(ok && push(&p, &st) && count_messages(room, len, 0) == (int)st.sent && st.sent >= 40);
	CHECK(st.lost == 0 && st.behind == 0);
}

static void DOOR_9_a_syslog_peer_that_was_down_gets_the_rest_from_its_cursor(void)
{
	static char room[1 << 20];
	_cleanup_place_ struct place p = { 0 };
	int fd;
	struct peer_state st;
	uint16_t port = 0;
	uint64_t sent;
	size_t len;
	bool ok;

	fd = listen_tcp(&port);
	CHECK(fd >= 0 && place_make(&p) && fill(&p, 5, NULL, NULL) && configure_syslog(&p, port, "cef"));
	len = receive(&p, fd, room, sizeof(room), &ok);
	(void)close(fd);
	CHECK(ok && count_messages(room, len, 0) == 5);
	CHECK(checkpoint(&p, 3) && push(&p, &st) && st.behind == 3 && strstr(st.error, "connect"));
	sent = st.sent;
	fd = listen_tcp(&port);
	CHECK(fd >= 0);
	len = receive(&p, fd, room, sizeof(room), &ok);
	CHECK(ok && count_messages(room, len, (int)sent) == 3);
	CHECK(push(&p, &st) && st.behind == 0 && st.lost == 0);
	(void)close(fd);
}

/* The peer ends while more is on the way than its queue takes: nothing of the batch counts as received. */
static void a_syslog_peer_that_hangs_up_lags(void)
{
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct peer_state st;
	uint16_t port = 0;
	int client, size = 4096, status;
	char byte;
	pid_t pid;

	fd = listen_tcp(&port);
	CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) == 0);
	CHECK(place_make(&p) && fill(&p, 200, NULL, NULL) && configure_syslog(&p, port, "otlp-json"));
	pid = fork();
	if (pid == 0) {
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		_exit(recv(client, &byte, 1, 0) != 1 || close(client) != 0);
	}
	CHECK(push_once(&p, &st) && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(st.behind == 200 && st.sent == 0 && st.error[0]);
}

static void records_that_are_gone_count_as_lost(void)
{
	static char room[1 << 20];
	_cleanup_place_ struct place p = { 0 };
	_cleanup_close_ int fd = -EBADF;
	char path[256], first[256];
	struct peer_state st;
	uint16_t port = 0;
	uint64_t *list = NULL;
	size_t len, n = 0;
	bool ok;
	int dir;

	fd = listen_tcp(&port);
	CHECK(fd >= 0 && place_make(&p) &&
	      fill(&p, 40, &(struct ledger_options){ .segment_max = 3000 }, NULL));
	CHECK(configure_syslog(&p, port, "cef") && place_path(&p, "ledger", path));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0 && segment_list(dir, &list, &n, NULL) == 0 && n > 2);
	(void)close(dir);
	CHECK(place_path(&p, FIRST_SEGMENT, first) && unlink(first) == 0);
	len = receive(&p, fd, room, sizeof(room), &ok);
	CHECK(ok && push(&p, &st) && st.lost == list[1] && count_messages(room, len, (int)list[1]) > 0);
	free(list);
}

static void addresses_of_syslog_are_numbers(void)
{
	static const char *const good[] = { "127.0.0.1:601", "[::1]:65535", "[2001:db8::1]:1" };
	static const char *const bad[] = {
		"",	   "127.0.0.1", "127.0.0.1:",	   "127.0.0.1:0", "127.0.0.1:65536", "localhost:6",
		"::1:601", "[::1]",	"[127.0.0.1]:601", ":601",	  "127.0.0.1: 6",    "[::1%lo]:601",
		"[]:601"
	};
	struct sockaddr_storage addr;
	socklen_t len;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(syslog_address_parse(good[i], &addr, &len) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(syslog_address_parse(bad[i], &addr, &len) < 0);
}

TAP_MAIN(T(without_peers_nothing_is_done), T(a_file_gets_every_checkpoint_once),
	 T(a_file_gets_every_record_across_segments), T(a_peer_that_is_down_lags_and_catches_up),
	 T(a_peer_that_does_not_read_lags), T(a_stream_that_reads_gets_all_in_order),
	 T(a_peer_that_is_full_lags_and_catches_up), T(DOOR_9_a_syslog_peer_gets_every_record_as_a_message),
	 T(DOOR_9_a_syslog_peer_that_was_down_gets_the_rest_from_its_cursor),
	 T(DOOR_9_peers_over_tls_are_names_with_a_port_or_urls), T(a_syslog_peer_that_hangs_up_lags),
	 T(records_that_are_gone_count_as_lost), T(addresses_of_syslog_are_numbers),
	 T(a_kick_returns_at_once_and_delivers), T(a_wrong_configuration_is_refused_with_its_place))
