/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "subject/subject-fields.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "layer/layer.h"
#include "subject/subject-json.h"
#include "subject/subject-trace.h"

/* One function per object, each field named once: written and read form are the same. */

static const char *const root_types[] = { "host-ro", "dir", NULL };
static const char *const networks[] = { "none", "host", "allow", NULL }; /* enum profile_network */
static const char *const violations[] = { "errno", "kill", NULL };

static void map_lane(struct jmap *m, struct subject *s)
{
	const char *const lanes[] = { lane_name(LANE_SANDBOX), lane_name(LANE_PROD), NULL };
	unsigned int lane = s->lane;

	_Static_assert(_LANE_MAX == 2, "name them all");
	jmap_word(m, "lane", lanes, &lane);
	if (m->r == 0 && m->reading)
		s->lane = (enum lane)lane;
}

static void map_profile(struct jmap *parent, struct profile *p)
{
	struct jmap m;

	jmap_enter(parent, "profile", &m);
	jmap_string_or_null(&m, "name", &p->name);
	subject_map_digest(&m, "digest", &p->digest);
	jmap_leave(parent, &m);
}

static void map_user(struct jmap *parent, struct subject *s)
{
	struct jmap m;

	jmap_enter(parent, "user", &m);
	jmap_uint(&m, "uid", &s->uid, UINT32_MAX - 1);
	jmap_uint(&m, "gid", &s->gid, UINT32_MAX - 1);
	jmap_path(&m, "home", &s->home);
	/* Only where it holds, so that other subjects keep their digests. */
	if (m.r == 0 && (m.reading ? jdoc_get(m.d, "ids") != NULL : s->subordinate)) {
		jmap_constant(&m, "ids", "subordinate");
		s->subordinate = true;
	}
	jmap_leave(parent, &m);
}

static void map_root(struct jmap *parent, struct profile *p)
{
	unsigned int type = p->root;
	struct jmap m;

	jmap_enter(parent, "root", &m);
	jmap_word(&m, "type", root_types, &type);
	jmap_string_or_null(&m, "path", &p->root_path);
	jmap_bool(&m, "init", &p->process_init);
	jmap_leave(parent, &m);
	if (m.r == 0 && m.reading)
		p->root = (enum profile_root)type;
}

static void map_limits(struct jmap *parent, struct subject *s, struct profile *p)
{
	/* The default size of the profile: writing it explicitly makes no difference. */
	uint64_t tmp = parent->reading ? 0 : subject_tmp_size(s);
	bool has_shm = p->limit_shm && p->limit_shm != PROFILE_SHM_DEFAULT;
	struct jmap m;

	jmap_enter(parent, "limits", &m);
	jmap_u64(&m, "memory", &p->limit_memory);
	jmap_u64(&m, "pids", &p->limit_pids);
	jmap_u64(&m, "cpu_percent", &p->limit_cpu_percent);
	jmap_u64(&m, "disk", &p->limit_disk);
	jmap_u64(&m, "time_s", &s->approved_time_s);
	jmap_u64(&m, "grace_s", &p->limit_grace_s);
	jmap_u64(&m, "files", &p->limit_files);
	jmap_u64(&m, "tmp", &tmp);
	/* Only where it holds, so that other subjects keep their digests. */
	if (m.r == 0 && (m.reading ? jdoc_get(m.d, "shm") != NULL : has_shm))
		jmap_u64(&m, "shm", &p->limit_shm);
	jmap_leave(parent, &m);
	if (parent->reading)
		p->limit_tmp = tmp;
}

static int read_host(struct jmap *m, const char *text, struct host_rule *ret)
{
	return host_rule_parse(text, ret, NULL) < 0 ? jmap_fail(m, EINVAL, "'hosts': '%s' is no rule", text)
						    : 0;
}

/* In the order of the profile: "api.github.com:443 tls". */
static void map_hosts(struct jmap *m, struct profile *p)
{
	_cleanup_strv_ char **texts = NULL;
	size_t n;

	for (size_t i = 0; !m->reading && i < p->n_network_hosts; i++) {
		_cleanup_free_ char *text = host_rule_text(&p->network_hosts[i]);

		if (!text || strv_append(&texts, text) < 0)
			(void)jmap_fail(m, ENOMEM, "no memory");
	}
	jmap_strv(m, "hosts", &texts);
	n = m->reading && texts ? strv_len(texts) : 0;
	if (m->r < 0 || n == 0)
		return;
	p->network_hosts = calloc(n, sizeof(*p->network_hosts));
	if (!p->network_hosts)
		(void)jmap_fail(m, ENOMEM, "no memory");
	while (m->r == 0 && p->n_network_hosts < n &&
	       read_host(m, texts[p->n_network_hosts], &p->network_hosts[p->n_network_hosts]) == 0)
		p->n_network_hosts++;
}

static void map_network(struct jmap *m, struct profile *p)
{
	unsigned int network = p->network;

	jmap_word(m, "network", networks, &network);
	if (m->r == 0 && m->reading)
		p->network = (enum profile_network)network;
	if (m->r == 0 && network == PROFILE_NETWORK_ALLOW)
		map_hosts(m, p);
}

/* Only where it is not the default, so that other subjects keep their digests. */
static void map_trace(struct jmap *m, struct profile *p)
{
	static const char *const usual[] = { "exec", "denied" };
	const bool is_usual = trace_words_parse(p->audit_trace) == SUBJECT_TRACE_DEFAULT;

	if (m->r == 0 && (m->reading ? jdoc_get(m->d, "trace") != NULL : !is_usual)) {
		jmap_strv(m, "trace", &p->audit_trace);
		for (char *const *word = p->audit_trace; m->r == 0 && m->reading && word && *word; word++)
			if (!trace_word_parse(*word))
				(void)jmap_fail(m, EINVAL, "'trace' contains an unknown word");
		return;
	}
	for (size_t i = 0; m->r == 0 && m->reading && i < ARRAY_SIZE(usual); i++)
		if (strv_append(&p->audit_trace, usual[i]) < 0)
			(void)jmap_fail(m, ENOMEM, "no memory");
}

static void map_seccomp(struct jmap *parent, struct profile *p)
{
	unsigned int violation = p->seccomp_violation;
	struct jmap m;

	jmap_enter(parent, "seccomp", &m);
	jmap_word(&m, "violation", violations, &violation);
	jmap_strv(&m, "allow", &p->seccomp_allow);
	jmap_strv(&m, "deny", &p->seccomp_deny);
	map_trace(&m, p);
	jmap_leave(parent, &m);
	if (m.r == 0 && m.reading)
		p->seccomp_violation = (enum profile_seccomp_violation)violation;
}

static void write_layers(struct jdoc *a, uint32_t layers)
{
	for (int l = 0; l < _LAYER_MAX; l++)
		if (layers & LAYER_BIT(l))
			jdoc_append_string(a, layer_info((enum layer)l)->name);
}

/* The reader writes it again and compares: a list in another order or with duplicates is refused. */
static void map_layers(struct jmap *m, const char *key, uint32_t *layers)
{
	struct jdoc *a = jmap_value(m, key, JDOC_ARRAY);

	if (!m->reading) {
		write_layers(a, *layers);
		return;
	}
	for (size_t i = 0; a && m->r == 0 && i < a->n_items; i++) {
		int l = a->items[i]->type == JDOC_STRING ? layer_from_name(a->items[i]->string) : -1;

		if (l < 0)
			(void)jmap_fail(m, EINVAL, "'%s' contains an unknown layer", key);
		else
			*layers |= LAYER_BIT(l);
	}
}

/* custody defines the lists for these words: oci/bundle/bundle.c. */
static void map_capabilities(struct jmap *m, const struct subject *s)
{
	jmap_constant(m, "capabilities", s->layers & LAYER_BIT(LAYER_CAPABILITIES) ? "none" : "usual");
}

/* Tools that a broker would offer; the section of the profile. */
static void map_broker(struct jmap *m, struct profile *p)
{
	const struct jdoc *section = p->sections[PROFILE_SECTION_BROKER];

	if (!m->reading) {
		if (m->r == 0)
			jdoc_set(m->d, "broker", section ? jdoc_copy(section) : jdoc_new_null());
		return;
	}
	if (jmap_is_null(m, "broker")) {
		char *nothing = NULL;

		jmap_string_or_null(m, "broker", &nothing);
		return;
	}
	section = jmap_value(m, "broker", JDOC_OBJECT);
	if (!section)
		return;
	p->document = jdoc_new_object();
	if (p->document)
		jdoc_set(p->document, "broker", jdoc_copy(section));
	p->sections[PROFILE_SECTION_BROKER] = jdoc_get(p->document, "broker");
	if (!p->sections[PROFILE_SECTION_BROKER])
		(void)jmap_fail(m, ENOMEM, "no memory");
}

void subject_map(struct jmap *m, struct subject *s, struct profile *p)
{
	uint32_t layers = s->layers & ~LAYER_BIT(LAYER_TIME_LIMIT);

	jmap_constant(m, "schema", SUBJECT_SCHEMA);
	map_lane(m, s);
	map_profile(m, p);
	jmap_strv(m, "argv", m->reading || !s->shown ? &s->argv : &s->shown);
	jmap_path(m, "cwd", &s->cwd);
	jmap_string(m, "hostname", &s->hostname);
	map_user(m, s);
	map_root(m, p);
	subject_map_mounts(m, s, p);
	jmap_strv(m, "hide", &p->fs_hide);
	jmap_strv(m, "secrets", &s->secret_patterns);
	map_network(m, p);
	map_limits(m, s, p);
	map_seccomp(m, p);
	/* limits.time_s says whether a time limit exists: a shorter one changes nothing here. */
	map_layers(m, "layers", &layers);
	if (m->reading)
		s->layers = layers;
	map_layers(m, "optional", &p->optional);
	jmap_strv(m, "dangerous", &p->dangerous);
	map_capabilities(m, s);
	map_broker(m, p);
	subject_map_operands(m, s);
	if (m->r == 0 && (!s->argv || !s->argv[0]))
		(void)jmap_fail(m, EINVAL, "'argv' is empty");
}
