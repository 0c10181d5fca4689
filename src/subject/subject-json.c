/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-json.h"

#include <errno.h>

#include "base/str.h"
#include "layer/layer.h"
#include "subject/subject-fields.h"

#define LABEL "subject"

int subject_to_json(const struct subject *s, const struct digest_key *key, struct jdoc **ret, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	struct jmap m;
	int r;

	if (!d)
		return fault_errno(f, ENOMEM, "subject");
	jmap_init_write(&m, d, LABEL, f);
	/* Both are only read: the map assigns only when reading. */
	subject_map(&m, (struct subject *)s, (struct profile *)s->profile);
	subject_map_redacted(&m, (struct subject *)s, NULL, key);
	subject_map_env(&m, s, key);
	r = jmap_end(&m);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

static int set_time(struct subject *s, struct profile *p, uint64_t time_s, struct fault *f)
{
	uint64_t approved = s->approved_time_s;

	if (approved != 0 && (time_s == 0 || time_s > approved))
		return fault_set(f, EPERM, "the time limit exceeds the approved %llu seconds",
				 (unsigned long long)approved);
	p->limit_time_s = time_s;
	if (time_s)
		s->layers |= LAYER_BIT(LAYER_TIME_LIMIT);
	return 0;
}

/*
 * Final strict check: a document that is not written again byte for byte was not written by subject_to_json.
 */
static int require_same(const struct subject *s, const struct digest_key *key, const struct jdoc *d,
			struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *again = NULL;
	int r = subject_to_json(s, key, &again, f);

	if (r < 0)
		return r;
	return jdoc_equal(d, again) ? 0
				    : fault_set(f, EINVAL, "subject: not in the form that custody writes");
}

/*
 * Parts that only the supervisor of a run proves: the stamp of a disposable directory, the lock of the changes that it continues,
 * the upper of a repository, the map of the ids.  Any process could have written the text of a bundle.
 */
static int require_portable(const struct subject *s, struct fault *f)
{
	bool disposable = s->disposable;

	for (size_t i = 0; i < s->n_mounts; i++)
		disposable = disposable || s->mounts[i].disposable;
	if (disposable)
		return fault_set(f, EPERM,
				 "subject: 'disposable': a bundle cannot use a disposable directory");
	if (s->continued)
		return fault_set(f, EPERM, "subject.worktree: 'base': a bundle cannot continue a session");
	if (s->subordinate)
		return fault_set(f, EPERM, "subject.user: 'ids': a bundle cannot use subordinate ids");
	if (s->profile->network == PROFILE_NETWORK_ALLOW)
		return fault_set(
			f, EPERM,
			"subject: 'network': a bundle has no custody-egress that decides about hosts");
	if (subject_find_overlay(s))
		return fault_set(f, EPERM,
				 "subject: 'overlay': a bundle cannot show a repository beside the worktree");
	return 0;
}

int subject_from_json(const struct jdoc *d, char *const *env, char *const *args, uint64_t time_s,
		      const struct digest_key *key, struct subject **ret, struct fault *f)
{
	_cleanup_subject_ struct subject *s = NULL;
	int r = subject_from_session(d, env, args, time_s, key, &s, f);

	if (r == 0)
		r = require_portable(s, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

int subject_from_session(const struct jdoc *d, char *const *env, char *const *args, uint64_t time_s,
			 const struct digest_key *key, struct subject **ret, struct fault *f)
{
	_cleanup_subject_ struct subject *s = calloc(1, sizeof(*s));
	struct profile *p = s ? calloc(1, sizeof(*p)) : NULL;
	struct jmap m;
	int r;

	if (!p)
		return fault_errno(f, ENOMEM, "subject");
	s->profile = s->own_profile = p;
	s->env = strv_copy(env);
	if (env && !s->env)
		return fault_errno(f, ENOMEM, "subject");
	jmap_init_read(&m, d, LABEL, f);
	subject_map(&m, s, p);
	subject_map_redacted(&m, s, args, key);
	subject_map_env(&m, s, key);
	r = jmap_end(&m);
	if (r >= 0)
		r = set_time(s, p, time_s, f);
	p->layers = s->layers;
	if (r >= 0)
		r = require_same(s, key, d, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}
