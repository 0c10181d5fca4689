/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

/*
 * Acts on the system that hide in an abbreviation (`ip l s lo down`) or in an option (`openssl -out /etc/x`).
 * Whatever the table says about such a program, these add the domain; nothing here lowers a level.
 */

/* --- files that an option or an operand names ---------------------------------------------------------------- */

enum written_operands {
	WRITES_NONE,
	WRITES_FIRST,
	WRITES_SECOND, /* and all after it */
	WRITES_LAST,
	WRITES_ALL,
};

static const struct writer {
	const char *name;
	const char *options; /* whose value is written: "ab long,other" */
	const char *args;    /* others with a value, so that it is not taken for an operand */
	enum written_operands operands;
} writers[] = {
	/* clang-format off */
	{ "patch", "ord output,reject-file,directory", "piVBYzFD strip,input,get,prefix,suffix,fuzz", WRITES_FIRST },
	{ "openssl", " out,keyout,outdir,writerand,certsout,sess_out,keylogfile", NULL, WRITES_NONE },
	{ "curl", "oDc output,output-dir,dump-header,cookie-jar,trace,trace-ascii,stderr,etag-save,hsts,alt-svc,libcurl",
	  NULL, WRITES_NONE },
	{ "wget", "OoaP output-document,output-file,append-output,directory-prefix,save-cookies,hsts-file,warc-file,"
	  "rejected-log", NULL, WRITES_NONE },
	{ "aria2c", "od out,dir", NULL, WRITES_NONE },
	{ "sort", "o output", NULL, WRITES_NONE },
	{ "shuf", "o output", NULL, WRITES_NONE },
	{ "tree", "o", NULL, WRITES_NONE },
	{ "iconv", "o output", NULL, WRITES_NONE },
	{ "sdiff", "o output", NULL, WRITES_NONE },
	{ "uniq", NULL, "fsw skip-fields,skip-chars,check-chars", WRITES_SECOND },
	{ "xxd", NULL, "clogsn", WRITES_SECOND },
	{ "split", NULL, "abClnt bytes,lines,number,line-bytes,suffix-length,separator", WRITES_SECOND },
	{ "csplit", "f prefix", NULL, WRITES_NONE },
	{ "gcc", "o output", NULL, WRITES_NONE },
	{ "g++", "o output", NULL, WRITES_NONE },
	{ "cc", "o output", NULL, WRITES_NONE },
	{ "c++", "o output", NULL, WRITES_NONE },
	{ "clang", "o output", NULL, WRITES_NONE },
	{ "clang++", "o output", NULL, WRITES_NONE },
	{ "ld", "o output,Map", NULL, WRITES_NONE },
	{ "as", "o", NULL, WRITES_NONE },
	{ "rustc", "o out-dir", NULL, WRITES_NONE },
	{ "go", "o", NULL, WRITES_NONE },
	{ "cmake", "B", NULL, WRITES_NONE },
	{ "javac", "d", NULL, WRITES_NONE },
	{ "strip", "o output-file", NULL, WRITES_ALL },
	{ "objcopy", NULL, "OIBjRSN output-target,input-target,remove-section,only-section", WRITES_LAST },
	{ "gpg", "o output", NULL, WRITES_NONE },
	{ "age", "o output", NULL, WRITES_NONE },
	{ "ssh-keygen", "f", NULL, WRITES_NONE },
	{ "zstd", "o output-dir-flat", NULL, WRITES_NONE },
	{ "strace", "o output", NULL, WRITES_NONE },
	{ "ltrace", "o output", NULL, WRITES_NONE },
	{ "time", "o output", NULL, WRITES_NONE },
	{ "pandoc", "o output", NULL, WRITES_NONE },
	{ "tcpdump", "w", NULL, WRITES_NONE },
	{ "nmap", "o oN,oX,oG,oA", NULL, WRITES_NONE },
	{ "git", "o output,output-directory,separate-git-dir,git-dir,work-tree", NULL, WRITES_NONE },
	{ "pip", "t target,log,prefix,root,report,cache-dir,dest", NULL, WRITES_NONE },
	{ "npm", " prefix", NULL, WRITES_NONE },
	{ "tee", NULL, NULL, WRITES_ALL },
	{ "install", "tD target-directory", "gomS group,owner,mode,suffix", WRITES_LAST },
	{ "cp", "t target-directory", "S suffix", WRITES_LAST },
	{ "mv", "t target-directory", "S suffix", WRITES_ALL },
	{ "ln", "t target-directory", "S suffix", WRITES_LAST },
	{ "truncate", NULL, "sr size,reference", WRITES_ALL },
	{ "rsync", "T temp-dir,backup-dir,log-file,write-batch,partial-dir", "efBM rsh,exclude,include,filter,rsync-path",
	  WRITES_LAST },
	{ "scp", NULL, "cFiJloPSDX", WRITES_LAST },
	{ "script", "BIOT log-io,log-in,log-out,log-timing,timing", "cEmo command,echo,logging-format,output-limit",
	  WRITES_FIRST },
	{ "unzip", "d", NULL, WRITES_NONE },
	{ "zip", "O out", "bntPxi", WRITES_FIRST },
	{ "tar", "C directory,index-file,listed-incremental", NULL, WRITES_NONE },
	{ "dpkg", " root,instdir,admindir,log", NULL, WRITES_LAST },
	{ "dpkg-deb", NULL, "zZS", WRITES_LAST },
	{ "ar", NULL, NULL, WRITES_SECOND },
	{ "sqlite3", NULL, "cmd init,cmd,separator", WRITES_FIRST },
	{ "xz", NULL, "TFCS", WRITES_ALL },
	{ "gzip", NULL, "S suffix", WRITES_ALL },
	{ "bzip2", NULL, NULL, WRITES_ALL },
	{ "dos2unix", NULL, NULL, WRITES_ALL },
	{ NULL, NULL, NULL, WRITES_NONE },
	/* clang-format on */
};

static void read_operands(struct classifier *k, const struct writer *r, const struct shell_word *w, size_t n)
{
	const struct command_row row = { .name = "", .args = r->args };
	const char *last = NULL;
	struct option_iter o;
	struct option_word at;
	size_t operands = 0;

	option_iter_init(&o, &(struct simple_command){ &row, w, n }, false);
	while (option_iter_next(&o, &at)) {
		if (!option_word_is_operand(&at))
			continue;
		last = at.word;
		operands++;
		if (r->operands == WRITES_ALL || (r->operands == WRITES_FIRST && operands == 1) ||
		    (r->operands == WRITES_SECOND && operands > 1))
			classifier_add_system_write(k, at.word);
	}
	/* One operand of cp, ln and others is a source. */
	if (r->operands == WRITES_LAST && operands > 1)
		classifier_add_system_write(k, last);
}

static void read_writer(struct classifier *k, const char *name, const struct shell_word *w, size_t n)
{
	const struct writer *r = writers;
	const char *value;

	while (r->name && !str_eq(r->name, name))
		r++;
	if (!r->name)
		return;
	for (size_t i = 1; i < n; i++)
		if (command_is_option(w, n, i, r->options, &value) && *value)
			classifier_add_system_write(k, value);
	if (r->operands != WRITES_NONE)
		read_operands(k, r, w, n);
}

/* --- programs that configure the system ---------------------------------------------------------------------- */

/* ip, bridge: without a verb, or with one of these, they only show. "s" alone is `set` for a link. */
static bool ip_only_shows(const struct shell_word *w, size_t n)
{
	static const char *const verbs[] = { "show", "sho", "sh",   "list", "lis",     "li",
					     "lst",  "ls",  "help", "get",  "monitor", NULL };
	size_t i = 1;

	for (; i < n && w[i].text[0] == '-'; i++)
		if (str_starts("-batch", w[i].text) || str_starts("--batch", w[i].text))
			return false;
		else if (str_eq(w[i].text, "-n") || str_starts("-netns", w[i].text) ||
			 str_eq(w[i].text, "-f") || str_starts("-family", w[i].text) ||
			 str_starts("-rcvbuf", w[i].text))
			i++;
	if (i + 1 >= n || str_starts("monitor", w[i].text))
		return true;
	for (size_t v = 0; verbs[v]; v++)
		if (str_eq(w[i + 1].text, verbs[v]))
			return true;
	/* ip addr s, ip route s: show. */
	return str_eq(w[i + 1].text, "s") &&
	       (w[i].text[0] == 'a' || w[i].text[0] == 'r' || w[i].text[0] == 'n');
}

static bool sysctl_only_shows(const struct shell_word *w, size_t n)
{
	static const char *const names[] = { "--all",	 "--values",  "--names", "--ignore",  "--quiet",
					     "--binary", "--pattern", "--help",	 "--version", NULL };

	for (size_t i = 1; i < n; i++) {
		const char *t = w[i].text;
		bool known = t[0] == '-' && t[1] != '-' && strspn(t + 1, "aAnNebqXxdhVr") == strlen(t + 1);

		for (size_t o = 0; names[o]; o++)
			known = known || str_eq(t, names[o]);
		if (t[0] == '-' ? !known : strpbrk(t, "=\x01") != NULL)
			return false;
	}
	return true;
}

static bool date_only_shows(const struct shell_word *w, size_t n)
{
	const char *value;

	for (size_t i = 1; i < n; i++) {
		if (command_is_option(w, n, i, "s set", &value))
			return false;
		if (str_eq(w[i].text, "-d") || str_eq(w[i].text, "-r") || str_eq(w[i].text, "-f") ||
		    str_eq(w[i].text, "--date") || str_eq(w[i].text, "--reference") ||
		    str_eq(w[i].text, "--file"))
			i++;
		else if (w[i].text[0] >= '0' && w[i].text[0] <= '9')
			return false;
	}
	return true;
}

static size_t count_operands(const struct shell_word *w, size_t n)
{
	size_t operands = 0;

	for (size_t i = 1; i < n; i++)
		operands += w[i].text[0] != '-';
	return operands;
}

static bool has_option(const struct shell_word *w, size_t n, const char *list)
{
	const char *value;

	for (size_t i = 1; i < n; i++)
		if (command_is_option(w, n, i, list, &value))
			return true;
	return false;
}

static bool configures(const char *name, const struct shell_word *w, size_t n)
{
	if (str_eq(name, "ip") || str_eq(name, "bridge"))
		return !ip_only_shows(w, n);
	if (str_eq(name, "sysctl"))
		return !sysctl_only_shows(w, n);
	if (str_eq(name, "date"))
		return !date_only_shows(w, n);
	if (str_eq(name, "dmesg"))
		return has_option(w, n, "CcnDE clear,read-clear,console-off,console-on,console-level");
	if (str_eq(name, "ifconfig") || str_eq(name, "iwconfig"))
		return count_operands(w, n) > 1;
	if (str_eq(name, "hostname"))
		return count_operands(w, n) > 0 || has_option(w, n, "Fb file,boot");
	if (str_eq(name, "arp"))
		return has_option(w, n, "sdf set,delete,file");
	if (str_eq(name, "ethtool"))
		return has_option(
			w, n, "sKACGLXENUWpfrE change,features,offload,pause,coalesce,set-ring,reset,flash");
	if (str_eq(name, "rfkill"))
		return n > 1 && (str_starts(w[1].text, "b") || str_starts(w[1].text, "u"));
	if (str_eq(name, "nmcli"))
		return count_operands(w, n) > 1 && !has_option(w, n, "g get-values") &&
		       !str_starts("show", w[n - 1].text) && !str_starts("status", w[n - 1].text);
	return false;
}

void classifier_read_system(struct classifier *k, const char *name, const struct shell_word *w, size_t n)
{
	read_writer(k, name, w, n);
	if (!configures(name, w, n))
		return;
	classifier_add_change(k, OUTCOME_SOFT, DOMAIN_SYSTEM);
	classifier_add_finding(k, "system-tool", w[0].text, "changes the system");
}
