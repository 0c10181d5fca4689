/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-userns.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "base/userns.h"
#include "base/walk.h"

#define ANSWER_MAX ((size_t)64 * 1024)
#define NO_NAMESPACE 2 /* exit status of the child */

bool evidence_userns_is_needed(int tree, uint64_t max)
{
	_cleanup_walk_ struct walk *w = NULL;
	const uid_t self = geteuid();
	struct walk_entry e;
	uint64_t n = 0;
	int event;

	/* The root of the tree cannot be opened. */
	if (walk_new(tree, 0, &w, NULL) < 0)
		return true;
	while ((event = walk_next(w, &e, NULL)) > 0 && (max == 0 || n++ < max)) {
		if (event == WALK_ERROR && e.error == EACCES)
			return true;
		if (event == WALK_ENTRY && S_ISREG(e.stx.stx_mode) && e.stx.stx_uid == self &&
		    !(e.stx.stx_mode & S_IRUSR))
			return true;
	}
	return false;
}

/* Answer of the child: this struct, then the path of the evidence or the text of the fault. */
struct answer {
	int r, code;
	struct evidence_taken taken; /* its texts are constants of this program; PATH follows the struct */
};

static void send_answer(int fd, int r, struct evidence_taken *taken, const struct fault *f)
{
	struct answer a = { .r = r, .code = f->code, .taken = *taken };
	const char *text = r < 0 ? fault_text(f) : taken->path;

	a.taken.path = NULL;
	if (fd_write_all(fd, &a, sizeof(a), NULL) < 0 || fd_write_all(fd, text, strlen(text), NULL) < 0)
		_exit(1);
	_exit(0);
}

/* Die with the parent, so that recovery does not race with this process. */
static int die_with_parent(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	return getppid() == parent ? 0 : -ESRCH;
}

static int read_answer(int fd, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_free_ char *bytes = NULL;
	struct answer a;
	size_t len = 0;

	if (fd_read_all(fd, ANSWER_MAX, &bytes, &len, NULL) < 0 || len <= sizeof(a))
		return fault_set(f, EIO, "the capture process exited without reporting an error");
	memcpy(&a, bytes, sizeof(a));
	if (a.r < 0)
		return fault_set(f, a.code > 0 ? a.code : EIO, "%s", bytes + sizeof(a));
	a.taken.path = strdup(bytes + sizeof(a));
	if (!a.taken.path)
		return fault_errno(f, ENOMEM, "evidence");
	*ret = a.taken;
	return 0;
}

int evidence_userns_write(int (*write)(const struct evidence_request *request, struct evidence_taken *ret,
				       struct fault *f),
			  const struct evidence_request *request, struct evidence_taken *ret, struct fault *f)
{
	_cleanup_close_ int out = -EBADF;
	_cleanup_fault_ struct fault received = { 0 };
	pid_t parent = getpid(), pid;
	int fd[2], status = 0, r;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "evidence");
	pid = fork();
	if (pid == 0) {
		struct evidence_taken taken = { 0 };
		struct fault why = { 0 };

		/* custody-warden is not dumpable: root would own /proc/self/uid_map. */
		(void)prctl(PR_SET_DUMPABLE, 1);
		/* After userns_enter: a change of credentials clears PR_SET_PDEATHSIG. */
		if (userns_enter_map(request->owners, &why) < 0 || die_with_parent(parent) < 0)
			_exit(NO_NAMESPACE);
		seam("namespace-entered");
		r = write(request, &taken, &why);
		send_answer(fd[1], r, &taken, &why);
	}
	(void)fd_close(fd[1]);
	out = fd[0];
	if (pid < 0)
		return fault_errno(f, errno, "evidence");
	r = read_answer(out, ret, &received);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0 && WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACE)
		return -ENOSYS;
	return r < 0 ? fault_set(f, received.code, "%s", fault_text(&received)) : 0;
}
