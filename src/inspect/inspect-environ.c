/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "inspect/inspect-impl.h"

#define IN_A_ROW 3 /* variables with NUL between, of which one is known */
#define COMPONENTS_MAX 64
#define COMPONENT_MAX 20 /* of proc; longer: a sentence */
#define IN_LINES 8	 /* with line ends between, of which three are known: as env prints them */

static size_t name_of(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && (inspect_is(p[n], INSPECT_ALNUM) || p[n] == '_'))
		n++;
	return n > 0 && n < len && p[n] == '=' && !inspect_is(p[0], INSPECT_DIGIT) ? n : 0;
}

/* That every process has. */
static bool is_known(const char *p, size_t len)
{
	static const char *const names[] = { "PATH",	 "HOME", "PWD",	 "USER",  "SHELL", "LOGNAME",
					     "HOSTNAME", "LANG", "TERM", "SHLVL", "OLDPWD" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], p, len) == 0)
			return true;
	return false;
}

static bool has_environment(const char *p, size_t len, char separator, size_t in_a_row, size_t known_min,
			    size_t *ret)
{
	const char *end = p + len, *next;
	size_t row = 0, known = 0;

	for (const char *at = p; at < end; at = next + 1) {
		size_t name;

		next = memchr(at, separator, (size_t)(end - at));
		next = next ? next : end;
		name = name_of(at, (size_t)(next - at));
		known = name > 0 ? known + is_known(at, name) : 0;
		row = name > 0 ? row + 1 : 0;
		if (row >= in_a_row && known >= known_min) {
			*ret = (size_t)(at - p);
			return true;
		}
	}
	return false;
}

void inspect_environ(const struct inspect_scan *s, const char *p, size_t len)
{
	size_t at;

	if (memchr(p, '\0', len) && has_environment(p, len, '\0', IN_A_ROW, 1, &at))
		inspect_report(s, INSPECT_PROC_ENVIRON, at);
	else if (memmem(p, len, "PATH=", 5) && has_environment(p, len, '\n', IN_LINES, 3, &at))
		inspect_report(s, INSPECT_PROC_ENVIRON, at);
}

static bool is_memory(const char *name, size_t len)
{
	static const char *const files[] = { "environ", "mem" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const size_t n = strlen(files[i]);

		if (len >= n && memcmp(name, files[i], n) == 0 &&
		    (len == n || !inspect_is(name[n], INSPECT_ALNUM)))
			return true;
	}
	return false;
}

/* Behind "/proc/": N, self or thread-self, perhaps /task/N, and a file with the process's memory; "." and ".." between them. */
static bool is_process_file(const char *p, const char *end)
{
	unsigned int names = 0;

	for (unsigned int i = 0; i < COMPONENTS_MAX && names <= 3 && p < end; i++) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		const size_t n = (size_t)((slash ? slash : end) - p);

		if (names > 0 && is_memory(p, n))
			return true;
		if (!slash || n > COMPONENT_MAX)
			return false;
		if (n == 2 && p[0] == '.' && p[1] == '.')
			names -= names > 0;
		else
			names += n > 0 && !(n == 1 && p[0] == '.');
		p = slash + 1;
	}
	/* So many hide something. */
	return p < end && names <= 3;
}

bool inspect_has_proc_path(const char *p, size_t len)
{
	const char *end = p + len, *hit;

	for (const char *at = p; (hit = memmem(at, (size_t)(end - at), "proc/", 5)); at = hit + 1) {
		const char *name = hit + 5;

		while (name < end && *name == '/')
			name++;
		if (is_process_file(name, end))
			return true;
	}
	return false;
}
