/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-classifier.h"

#include <string.h>

#include "base/str.h"

#define NO OUTCOME_REVERSIBLE
#define SOFT OUTCOME_SOFT
#define LOST OUTCOME_IRREVERSIBLE
#define WORK DOMAIN_WORKSPACE
#define HOST DOMAIN_LOCALHOST
#define AWAY DOMAIN_UNTRUSTED
#define SYS DOMAIN_SYSTEM
#define NET COMMAND_NETWORK
#define GET (COMMAND_NETWORK | COMMAND_FETCHES)
#define RUN COMMAND_RUNS

/* clang-format off */
/* name, judge, outcome, domain, traits, options with an argument, options that are bad, operands to skip */
#define READ(name)                    { name, command_judge_read, NO, WORK, 0, NULL, NULL, 0 }
#define SYSTEM(name, outcome)         { name, command_judge_fixed, outcome, SYS, 0, NULL, NULL, 0 }
#define RUNS(name)                    { name, command_judge_fixed, NO, WORK, RUN, NULL, NULL, 0 }
#define WRAP(name, args, skip)        { name, command_judge_wrapper, NO, WORK, 0, args, NULL, skip }
#define WRAP_SYSTEM(name, args, skip) { name, command_judge_wrapper, NO, SYS, COMMAND_CHANGES, args, NULL, skip }
#define SHELL(name)                   { name, command_judge_shell, NO, WORK, 0, " rcfile,init-file", NULL, 0 }
#define FOREIGN(name)                 { name, command_judge_foreign_shell, NO, WORK, 0, NULL, NULL, 0 }
#define CODE(name)                    { name, command_judge_code, NO, WORK, 0, NULL, NULL, 0 }
#define SUB(name)                     { name, command_judge_sub, NO, WORK, 0, NULL, NULL, 0 }
#define SUB_AS(name, other)           { name, command_judge_sub, NO, WORK, 0, "=" other, NULL, 0 }
#define SUB_BAD(name, traits, bad)    { name, command_judge_sub, NO, SYS, traits, NULL, bad, 0 }
#define WRITE(name, outcome, args, bad) { name, command_judge_operands, outcome, WORK, 0, args, bad, 0 }
#define OTHER(name, how)              { name, how, NO, WORK, 0, NULL, NULL, 0 }
#define CLIENT(name, args, bad)       { name, command_judge_hosts, SOFT, AWAY, GET, args, bad, 0 }

static const struct command_row rows[] = {
	/* read-only with the words of their grammar */
	READ("cat"), READ("ls"), READ("dir"), READ("vdir"), READ("head"), READ("tail"), READ("wc"),
	READ("grep"), READ("egrep"), READ("fgrep"), READ("cut"), READ("tr"), READ("nl"), READ("tac"),
	READ("rev"), READ("fold"), READ("fmt"), READ("join"), READ("paste"), READ("comm"), READ("diff"),
	READ("cmp"), READ("stat"), READ("du"), READ("df"), READ("basename"), READ("dirname"),
	READ("realpath"), READ("readlink"), READ("pwd"), READ("echo"), READ("true"), READ("false"),
	READ(":"), READ("sleep"), READ("seq"), READ("yes"), READ("expr"), READ("factor"), READ("numfmt"),
	READ("md5sum"), READ("sha1sum"), READ("sha224sum"), READ("sha256sum"), READ("sha384sum"),
	READ("sha512sum"), READ("b2sum"), READ("cksum"), READ("sum"), READ("base64"), READ("base32"),
	READ("od"), READ("hexdump"), READ("hd"), READ("strings"), READ("id"), READ("whoami"),
	READ("groups"), READ("users"), READ("who"), READ("uname"), READ("arch"), READ("nproc"),
	READ("uptime"), READ("free"), READ("vmstat"), READ("ps"), READ("pgrep"), READ("printenv"),
	READ("tty"), READ("locale"), READ("which"), READ("whereis"), READ("type"), READ("lsblk"),
	READ("lscpu"), READ("findmnt"), READ("mountpoint"), READ("ss"), READ("nm"), READ("objdump"),
	READ("readelf"), READ("size"), READ("file"), READ("jq"), READ("column"), READ("tsort"),
	READ("logname"), READ("pathchk"), READ("pr"), READ("sort"), READ("shuf"), READ("date"),
	READ("dmesg"), READ("journalctl"), READ("tree"), READ("rg"), READ("fdfind"), READ("exit"),
	READ("return"), READ("break"), READ("continue"), READ("shift"), READ("wait"), READ("umask"),
	READ("ulimit"), READ("times"), READ("dirs"), READ("logout"),
	{ "xxd", command_judge_operands, SOFT, WORK, 0, "clogsn", NULL, 1 },
	{ "uniq", command_judge_operands, SOFT, WORK, 0, "fsw skip-fields,skip-chars,check-chars", NULL, 1 },
	{ "hostname", command_judge_operands, SOFT, SYS, 0, NULL, "F file", 0 },
	{ "test", command_judge_export, NO, WORK, 0, NULL, NULL, 1 },
	{ "[", command_judge_export, NO, WORK, 0, NULL, NULL, 1 }, { "[[", command_judge_export, NO, WORK, 0, NULL, NULL, 1 },
	{ "printf", command_judge_export, NO, WORK, 0, NULL, NULL, 1 },
	{ "read", command_judge_export, NO, WORK, 0, NULL, NULL, 1 },
	{ "unset", command_judge_export, NO, WORK, 0, NULL, NULL, 1 },
	{ "let", command_judge_export, NO, WORK, 0, NULL, NULL, 1 }, OTHER("export", command_judge_export),
	OTHER("readonly", command_judge_export), OTHER("declare", command_judge_export), OTHER("typeset", command_judge_export),
	OTHER("local", command_judge_export),

	/* shell builtins */
	OTHER("cd", command_judge_cd), OTHER("pushd", command_judge_cd), OTHER("popd", command_judge_popd), OTHER("eval", command_judge_eval),
	OTHER("command", command_judge_builtin), OTHER("builtin", command_judge_builtin),
	{ "exec", command_judge_builtin, NO, WORK, 0, "a", NULL, 0 }, OTHER("jobs", command_judge_builtin),
	{ "hash", command_judge_hash, NO, WORK, 0, "p", NULL, 0 }, OTHER("alias", command_judge_alias),
	OTHER("trap", command_judge_trap), OTHER("set", command_judge_set),

	/* delete */
	{ "rm", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "unlink", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "srm", command_judge_rm, LOST, WORK, 0, NULL, NULL, 0 }, { "wipe", command_judge_rm, LOST, WORK, 0, NULL, NULL, 0 },
	{ "shred", command_judge_rm, LOST, WORK, 0, "ns iterations,size,random-source", NULL, 0 },
	{ "remove_directory", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "rimraf", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "trash", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "trash-put", command_judge_rm, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "truncate", command_judge_rm, SOFT, WORK, 0, "sr size,reference", NULL, 0 }, OTHER("find", command_judge_find),
	WRITE("rmdir", SOFT, NULL, NULL),

	/* write */
	WRITE("touch", NO, "drt date,reference,time", NULL), WRITE("mkdir", NO, "m mode", NULL),
	WRITE("mkfifo", NO, "m mode", NULL), WRITE("mktemp", NO, "p tmpdir,suffix", NULL),
	WRITE("tee", SOFT, NULL, NULL), WRITE("split", SOFT, "abClnt", " filter"),
	WRITE("csplit", SOFT, "bfn", NULL), WRITE("gzip", SOFT, "S", NULL), WRITE("gunzip", SOFT, "S", NULL),
	WRITE("bzip2", SOFT, NULL, NULL), WRITE("bunzip2", SOFT, NULL, NULL), WRITE("xz", SOFT, "TFCS", NULL),
	WRITE("unxz", SOFT, NULL, NULL), WRITE("zstd", SOFT, "oTD", NULL),
	WRITE("dos2unix", SOFT, NULL, NULL), { "patch", command_judge_fixed, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "chmod", command_judge_mode, SOFT, WORK, 0, " reference", NULL, 0 },
	{ "chown", command_judge_mode, SOFT, WORK, 0, " reference,from", NULL, 0 },
	{ "chgrp", command_judge_mode, SOFT, WORK, 0, " reference", NULL, 0 },
	{ "cp", command_judge_copy, SOFT, WORK, 0, "tS target-directory,suffix", NULL, 0 },
	{ "mv", command_judge_copy, SOFT, WORK, 0, "tS target-directory,suffix", NULL, 0 },
	{ "ln", command_judge_copy, SOFT, WORK, 0, "tS target-directory,suffix", NULL, 0 },
	{ "install", command_judge_copy, SOFT, WORK, 0, "tSgom target-directory,suffix,group,owner,mode,"
	  "strip-program", " strip-program", 0 },
	{ "dd", command_judge_dd, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "tar", command_judge_tar, SOFT, WORK, 0, "fCXTbIFgLKNVHS file,directory,exclude-from,files-from,"
	  "use-compress-program", "IF use-compress-program,to-command,checkpoint-action,rsh-command,"
	  "rmt-command,info-script,new-volume-script" , 0 },
	{ "bsdtar", command_judge_tar, SOFT, WORK, 0, "fCXTbs file,directory", " use-compress-program", 0 },
	{ "unzip", command_judge_tar, SOFT, WORK, 0, "dxP", NULL, 0 },
	{ "zip", command_judge_operands, SOFT, WORK, 0, "bntPx", "T unzip-command,TT", 0 },
	{ "cpio", command_judge_fixed, SOFT, HOST, 0, NULL, NULL, 0 },
	{ "7z", command_judge_fixed, SOFT, WORK, 0, NULL, NULL, 0 },
	{ "sed", command_judge_sed, SOFT, WORK, 0, "efl expression,file,line-length", NULL, 0 },
	{ "awk", command_judge_awk, NO, WORK, 0, "Fvfeil file,include,load,source,assign,field-separator",
	  "feilE file,exec,include,load,source" , 0 },
	{ "gawk", command_judge_awk, NO, WORK, 0, "Fvfeil file,include,load,source,assign,field-separator",
	  "feilEp file,exec,include,load,source" , 0 },
	{ "mawk", command_judge_awk, NO, WORK, 0, "FvfW", "fW", 0 },
	{ "kill", command_judge_fixed, SOFT, HOST, 0, NULL, NULL, 0 },
	{ "pkill", command_judge_fixed, SOFT, HOST, 0, NULL, NULL, 0 },
	{ "killall", command_judge_fixed, SOFT, HOST, 0, NULL, NULL, 0 },
	{ "renice", command_judge_fixed, SOFT, HOST, 0, NULL, NULL, 0 },

	/* wrappers: they run the rest of their words */
	WRAP("nice", "n adjustment", 0), WRAP("nohup", NULL, 0), WRAP("timeout", "ks kill-after,signal", 1),
	WRAP("setsid", NULL, 0), WRAP("stdbuf", "ioe input,output,error", 0),
	WRAP("ionice", "cnpPu class,classdata", 0), WRAP("chrt", "TPDp", 1), WRAP("taskset", "p", 1),
	WRAP("time", "fo format,output", 0), WRAP("unbuffer", NULL, 0), WRAP("fakeroot", "lisbu", 0),
	WRAP("eatmydata", NULL, 0), WRAP("catchsegv", NULL, 0), WRAP("chronic", NULL, 0),
	{ "flock", command_judge_wrapper, NO, WORK, 0, "wEc timeout,conflict-exit-code,command", "c command", 1 },
	WRAP("cpulimit", "lpec", 0), WRAP("prlimit", "p pid,output", 0), WRAP("numactl", "NmpC", 0),
	WRAP("dbus-run-session", NULL, 0), WRAP("xvfb-run", "esfn", 0), WRAP("ts", NULL, 0),
	WRAP("faketime", "f", 1), WRAP("softlimit", "madcfrtpns", 0), WRAP("noglob", NULL, 0),
	WRAP("nocorrect", NULL, 0),
	{ "env", command_judge_env, NO, WORK, 0, "uCS unset,chdir,split-string", NULL, 0 },
	{ "xargs", command_judge_xargs, NO, WORK, 0, "InPLsdEa max-args,max-procs,max-chars,delimiter,"
	  "arg-file", NULL, 0 },
	OTHER("busybox", command_judge_busybox), OTHER("toybox", command_judge_busybox),
	WRAP_SYSTEM("sudo", "ugpCDRTUrthc user,group,prompt,chdir,chroot,close-from,host,role,type,"
	  "other-user,command-timeout", 0),
	WRAP_SYSTEM("doas", "uCa", 0), WRAP_SYSTEM("pkexec", " user", 0),
	{ "runuser", command_judge_su, SOFT, SYS, 0, "ucsgGwT user,command,shell,group,supp-group", NULL, 0 },
	WRAP_SYSTEM("gosu", NULL, 1), WRAP_SYSTEM("su-exec", NULL, 1), WRAP_SYSTEM("setpriv", NULL, 0),
	WRAP_SYSTEM("chroot", " userspec,groups", 1),
	WRAP_SYSTEM("unshare", "SGRw propagation,setuid,setgid,root,wd", 0),
	WRAP_SYSTEM("nsenter", "tSG target,setuid,setgid", 0), WRAP_SYSTEM("capsh", NULL, 0),
	WRAP_SYSTEM("systemd-run", "uptdGE unit,property", 0), WRAP_SYSTEM("machinectl", NULL, 0),
	WRAP_SYSTEM("bwrap", NULL, 0), WRAP_SYSTEM("firejail", NULL, 0),
	{ "su", command_judge_su, SOFT, SYS, 0, "csgGwT command,shell,group,supp-group", NULL, 0 },

	/* shells and languages */
	SHELL("sh"), SHELL("bash"), SHELL("dash"), SHELL("ash"), SHELL("ksh"), SHELL("mksh"), SHELL("rbash"),
	SHELL("posh"), FOREIGN("zsh"), FOREIGN("fish"), FOREIGN("csh"), FOREIGN("tcsh"), FOREIGN("pwsh"),
	FOREIGN("parallel"), FOREIGN("watch"), FOREIGN("script"), FOREIGN("tmux"), FOREIGN("screen"),
	FOREIGN("expect"), FOREIGN("entr"), CODE("python"), CODE("pypy"), CODE("perl"), CODE("ruby"),
	CODE("node"), CODE("nodejs"), CODE("deno"), CODE("bun"), CODE("php"), CODE("lua"), CODE("luajit"),
	CODE("tclsh"), CODE("Rscript"), CODE("R"), CODE("java"), CODE("ghc"), CODE("julia"), CODE("guile"),
	CODE("erl"), CODE("elixir"), CODE("scala"), CODE("groovy"), CODE("osascript"), CODE("vi"),
	CODE("vim"), CODE("nvim"), CODE("emacs"), CODE("ed"), CODE("ex"), CODE("gdb"), CODE("lldb"),
	CODE("m4"), CODE("sqlite3"), CODE("psql"), CODE("mysql"), CODE("dc"), CODE("less"), CODE("more"),
	CODE("man"), CODE("nano"), CODE("source"), CODE("."), CODE("ldd"), CODE("gdbserver"),

	/* build tools: run commands of the project */
	RUNS("make"), RUNS("gmake"), RUNS("cmake"), RUNS("ninja"), RUNS("meson"), RUNS("ctest"),
	RUNS("cpack"), RUNS("autoreconf"), RUNS("autoconf"), RUNS("automake"), RUNS("bazel"), RUNS("gradle"),
	RUNS("ant"), RUNS("scons"), RUNS("just"), RUNS("rake"), RUNS("tox"), RUNS("nox"), RUNS("pytest"),
	RUNS("mypy"), RUNS("ruff"), RUNS("eslint"), RUNS("prettier"), RUNS("tsc"), RUNS("jest"), RUNS("gcc"),
	RUNS("g++"), RUNS("cc"), RUNS("c++"), RUNS("clang"), RUNS("clang++"), RUNS("ld"), RUNS("as"),
	RUNS("rustc"), RUNS("javac"), RUNS("ar"), RUNS("strip"), RUNS("bats"), RUNS("shellcheck"),
	RUNS("pre-commit"),

	/* the network */
	{ "curl", command_judge_curl, SOFT, AWAY, GET, "oOHXdFTuAebcCDmKQrtUwxYyz output,output-dir,header,"
	  "request,data,data-raw,data-binary,data-urlencode,form,upload-file,user,user-agent,referer,"
	  "cookie,cookie-jar,continue-at,dump-header,max-time,connect-timeout,config,proxy,write-out,url,"
	  "cacert,cert,key,retry,limit-rate,resolve,connect-to,unix-socket,json,quote,range,interface,"
	  "trace,trace-ascii,stderr,libcurl,max-redirs,retry-delay,retry-max-time,proto,proto-redir,"
	  "engine,doh-url,socks5,socks4,preproxy,etag-save,etag-compare", "K config,engine,libcurl", 0 },
	{ "wget", command_judge_wget, SOFT, AWAY, GET, "OoaPtTUeiBQARDXIl output-document,output-file,"
	  "append-output,directory-prefix,tries,timeout,user-agent,header,post-data,post-file,method,"
	  "body-data,body-file,execute,input-file,config,save-cookies,load-cookies", "ei execute,"
	  "input-file,config,use-askpass", 0 },
	{ "ssh", command_judge_ssh, SOFT, AWAY, GET, "BbcDEeFIiJLlmOopQRSWw", NULL, 0 },
	{ "scp", command_judge_copy_remote, SOFT, AWAY, GET, "cFiJloPSDX", "SoFJD", 0 },
	{ "sftp", command_judge_copy_remote, SOFT, AWAY, GET, "BbcDFiJloPRSsX", "SoFbDJs", 0 },
	{ "rsync", command_judge_rsync, SOFT, WORK, 0, "efBTM rsh,exclude,include,exclude-from,include-from,"
	  "files-from,filter,rsync-path,chmod,chown,backup-dir,suffix,log-file,partial-dir,compare-dest,"
	  "copy-dest,link-dest,port,password-file,bwlimit,timeout,max-size,min-size", "eM rsh,rsync-path,"
	  "remote-option,daemon,early-input,log-file,write-batch,only-write-batch,backup-dir,temp-dir", 0 },
	CLIENT("nc", "ecipqswXxI", "ec exec,sh-exec,lua-exec"),
	CLIENT("ncat", "ecipqswXx exec,sh-exec,lua-exec", "ec exec,sh-exec,lua-exec"),
	CLIENT("netcat", "ecipqswXx", "ec exec"), CLIENT("socat", NULL, NULL), CLIENT("telnet", "bln", NULL),
	CLIENT("ftp", NULL, NULL), CLIENT("lftp", "ecfpu", "ecf"),
	CLIENT("aria2c", "dois", "i on-download-complete,conf-path"),
	{ "http", command_judge_hosts, LOST, AWAY, GET, NULL, NULL, 0 },
	{ "https", command_judge_hosts, LOST, AWAY, GET, NULL, NULL, 0 }, CLIENT("dig", "bcfkpqtxy", "f"),
	CLIENT("host", "ctNRWm", NULL), CLIENT("nslookup", NULL, NULL), CLIENT("whois", "hp", NULL),
	CLIENT("lynx", NULL, NULL), CLIENT("w3m", NULL, NULL), CLIENT("links", NULL, NULL),
	CLIENT("elinks", NULL, NULL), CLIENT("fetch", NULL, NULL), CLIENT("axel", NULL, NULL),
	CLIENT("GET", NULL, NULL), CLIENT("tftp", NULL, NULL), CLIENT("smbclient", NULL, NULL),
	{ "ping", command_judge_hosts, SOFT, AWAY, NET, "ciWwpsI", NULL, 0 },
	{ "traceroute", command_judge_hosts, SOFT, AWAY, NET, NULL, NULL, 0 },
	{ "nmap", command_judge_hosts, SOFT, AWAY, NET, NULL, " script,datadir,o", 0 },
	{ "npx", command_judge_fixed, SOFT, AWAY, NET | RUN, NULL, NULL, 0 },
	{ "pipx", command_judge_fixed, SOFT, AWAY, NET | RUN, NULL, NULL, 0 },
	{ "openssl", command_judge_fixed, SOFT, AWAY, GET, NULL, NULL, 0 },
	{ "mail", command_judge_fixed, LOST, AWAY, NET | RUN, NULL, NULL, 0 },
	{ "sendmail", command_judge_fixed, LOST, AWAY, NET | RUN, NULL, NULL, 0 },
	{ "git", command_judge_git, NO, WORK, 0, "Cc git-dir,work-tree,namespace,super-prefix,config-env",
	  " exec-path,config-env,git-dir,super-prefix", 0 },
	SUB("docker"), SUB_AS("nerdctl", "docker"), SUB_AS("docker-compose", "docker"), SUB("podman"),
	SUB_AS("buildah", "podman"), SUB("kubectl"), SUB_AS("oc", "kubectl"), SUB("helm"), SUB("terraform"),
	SUB_AS("tofu", "terraform"), SUB("apt"), SUB_AS("apt-get", "apt"), SUB("apt-cache"),
	SUB_AS("aptitude", "apt"), SUB("dnf"), SUB_AS("yum", "dnf"), SUB_AS("zypper", "dnf"), SUB("apk"),
	SUB("snap"), SUB_AS("flatpak", "snap"), SUB("brew"), SUB("pip"), SUB("uv"), SUB("poetry"),
	SUB("conda"), SUB_AS("mamba", "conda"), SUB("npm"), SUB("yarn"), SUB("pnpm"), SUB("cargo"), SUB("go"),
	SUB("gem"), SUB("bundle"), SUB("composer"), SUB("mvn"), SUB("gh"), SUB_AS("aws", "cloud"),
	SUB_AS("gcloud", "cloud"), SUB_AS("gsutil", "cloud"), SUB_AS("az", "cloud"),
	SUB_AS("ansible", "cloud"), SUB_AS("ansible-playbook", "cloud"), SUB_AS("vault", "cloud"), SUB("svn"),
	SUB("hg"),

	/* the system */
	SUB("systemctl"), SUB("loginctl"), SUB("zfs"), SUB("btrfs"), SUB("crontab"), SUB("ufw"),
	SUB("getent"),
	SUB_BAD("ip", 0, " "), SUB_BAD("sysctl", 0, " "), SUB("dpkg-query"),
	SUB_BAD("dpkg", RUN, " -i --install -r --remove -P --purge --configure --unpack -a "
	  "--set-selections --clear-selections --add-architecture "),
	SUB_BAD("rpm", RUN, " -i -e -U -F -iv -ivh -Uv -Uvh --install --erase --upgrade --freshen "
	  "--import --rebuilddb --eval -E --define -D --pipe --load --rcfile --macros --queryformat --qf "
	  "--initdb "),
	SUB_BAD("pacman", RUN, " -S -R -U -D -Sy -Syu -Su -Rs -Rns -Rsc --sync --remove --upgrade "),
	SUB_BAD("ifconfig", 0, " up down netmask add del hw mtu "),
	SUB_BAD("hostnamectl", 0, " set-hostname hostname set-icon-name "),
	SUB_BAD("timedatectl", 0, " set-time set-timezone set-ntp set-local-rtc "), SYSTEM("service", SOFT),
	SYSTEM("mount", SOFT), SYSTEM("umount", SOFT), SYSTEM("modprobe", SOFT), SYSTEM("insmod", SOFT),
	SYSTEM("rmmod", SOFT), SYSTEM("kmod", SOFT), SYSTEM("depmod", SOFT), SYSTEM("iptables", SOFT),
	SYSTEM("ip6tables", SOFT), SYSTEM("nft", SOFT), SYSTEM("route", SOFT), SYSTEM("brctl", SOFT),
	SYSTEM("tc", SOFT), SYSTEM("iw", SOFT), SYSTEM("useradd", SOFT), SYSTEM("adduser", SOFT),
	SYSTEM("usermod", SOFT), SYSTEM("groupadd", SOFT), SYSTEM("groupdel", LOST), SYSTEM("userdel", LOST),
	SYSTEM("deluser", LOST), SYSTEM("passwd", SOFT), SYSTEM("chpasswd", SOFT), SYSTEM("chsh", SOFT),
	SYSTEM("visudo", SOFT), SYSTEM("vipw", SOFT), { "at", command_judge_at, SOFT, SYS, 0, NULL, NULL, 0 },
	{ "batch", command_judge_at, SOFT, SYS, 0, NULL, NULL, 0 }, SYSTEM("swapon", SOFT), SYSTEM("swapoff", SOFT),
	SYSTEM("losetup", SOFT), SYSTEM("setcap", SOFT), SYSTEM("setfacl", SOFT), SYSTEM("chattr", SOFT),
	SYSTEM("setenforce", SOFT), SYSTEM("update-alternatives", SOFT), SYSTEM("update-rc.d", SOFT),
	SYSTEM("ldconfig", SOFT), SYSTEM("update-grub", SOFT), SYSTEM("grub-install", LOST),
	SYSTEM("efibootmgr", LOST), SYSTEM("pivot_root", SOFT), SYSTEM("switch_root", LOST),
	SYSTEM("reboot", LOST), SYSTEM("shutdown", LOST), SYSTEM("halt", LOST), SYSTEM("poweroff", LOST),
	SYSTEM("init", LOST), SYSTEM("telinit", LOST), SYSTEM("kexec", LOST), SYSTEM("mkfs", LOST),
	SYSTEM("mkswap", LOST), SYSTEM("mke2fs", LOST), SYSTEM("wipefs", LOST), SYSTEM("parted", LOST),
	SYSTEM("fdisk", LOST), SYSTEM("sfdisk", LOST), SYSTEM("cfdisk", LOST), SYSTEM("gdisk", LOST),
	SYSTEM("sgdisk", LOST), SYSTEM("blkdiscard", LOST), SYSTEM("hdparm", LOST), SYSTEM("nvme", LOST),
	SYSTEM("cryptsetup", LOST), SYSTEM("pvcreate", LOST), SYSTEM("pvremove", LOST),
	SYSTEM("vgremove", LOST), SYSTEM("lvremove", LOST), SYSTEM("lvcreate", SOFT),
	SYSTEM("lvresize", LOST), SYSTEM("mdadm", LOST), SYSTEM("zpool", LOST), SYSTEM("fsck", LOST),
	SYSTEM("e2fsck", LOST), SYSTEM("tune2fs", LOST), SYSTEM("resize2fs", LOST), SYSTEM("debugfs", LOST),
	SYSTEM("xfs_repair", LOST), SYSTEM("badblocks", LOST), SYSTEM("flashrom", LOST),
	SYSTEM("rtcwake", SOFT), SYSTEM("hwclock", SOFT),
	{ NULL, NULL, NO, WORK, 0, NULL, NULL, 0 },
};
/* clang-format on */

static const struct command_row *find_exact(const char *name, size_t len)
{
	for (const struct command_row *r = rows; r->name; r++)
		if (r->name[0] == name[0] && strncmp(r->name, name, len) == 0 && r->name[len] == '\0')
			return r;
	return NULL;
}

/* "python3.11" is python, "gcc-12" gcc, "mkfs.ext4" mkfs. */
const struct command_row *command_row_find(const char *name)
{
	size_t len = strlen(name), cut = len;
	const struct command_row *r;

	if (len == 0 || len > 32)
		return NULL;
	r = find_exact(name, len);
	if (r)
		return r;
	if (str_starts(name, "mkfs.") || str_starts(name, "fsck."))
		return find_exact(name, 4);
	if (str_starts(name, "git-"))
		return find_exact(name, 3);
	while (cut > 1 && strchr("0123456789.-", name[cut - 1]))
		cut--;
	return cut < len ? find_exact(name, cut) : NULL;
}

bool command_row_deletes(const struct command_row *row)
{
	return row && (row->judge == command_judge_rm || row->judge == command_judge_find ||
		       row->judge == command_judge_wrapper || row->judge == command_judge_env ||
		       row->judge == command_judge_xargs || row->judge == command_judge_shell ||
		       row->judge == command_judge_busybox || row->judge == command_judge_su ||
		       row->judge == command_judge_eval || row->judge == command_judge_rsync ||
		       row->judge == command_judge_builtin || row->judge == command_judge_git);
}

bool command_row_runs_arguments(const struct command_row *row)
{
	/* Build tools, package managers, and programs with options that name another program. */
	if ((row->traits & COMMAND_RUNS) || row->bad || row->judge == command_judge_sub ||
	    str_eq(row->name, "sort"))
		return true;
	return row->judge == command_judge_wrapper || row->judge == command_judge_env ||
	       row->judge == command_judge_xargs || row->judge == command_judge_shell ||
	       row->judge == command_judge_foreign_shell || row->judge == command_judge_code ||
	       row->judge == command_judge_busybox || row->judge == command_judge_su ||
	       row->judge == command_judge_find || row->judge == command_judge_awk ||
	       row->judge == command_judge_sed || row->judge == command_judge_git;
}

bool command_row_reads(const struct command_row *row)
{
	/* getent asks other hosts for some of its tables; crontab without words installs its stdin. */
	return row->judge == command_judge_read || row->judge == command_judge_awk ||
	       (row->judge == command_judge_sub && !str_eq(row->name, "getent") &&
		!str_eq(row->name, "crontab"));
}

/* Programs that say their version without reading a file of the current directory. */
bool command_row_says_version(const struct command_row *row)
{
	static const char *const names[] = { "python", "perl",	  "ruby",  "node",    "make",
					     "gmake",  "gcc",	  "g++",   "cc",      "c++",
					     "clang",  "clang++", "cmake", "ninja",   "ld",
					     "as",     "ar",	  "strip", "vim",     "nano",
					     "less",   "gdb",	  "java",  "openssl", NULL };

	for (size_t i = 0; names[i]; i++)
		if (str_eq(row->name, names[i]))
			return true;
	return false;
}

static bool is_system_dir(const char *path, size_t len)
{
	static const char *const dirs[] = {
		"/bin",		  "/sbin",	     "/usr/bin",	  "/usr/sbin",
		"/usr/local/bin", "/usr/local/sbin", "/usr/lib/git-core", NULL
	};

	for (size_t i = 0; dirs[i]; i++)
		if (strlen(dirs[i]) == len && strncmp(path, dirs[i], len) == 0)
			return true;
	return false;
}

const char *command_base(const char *path, bool *ret_own)
{
	const char *slash = strrchr(path, '/');

	*ret_own = slash && !is_system_dir(path, (size_t)(slash - path));
	return slash ? slash + 1 : path;
}
