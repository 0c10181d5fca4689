/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/command-grammar.h"

#include "base/array.h"

/* clang-format off */
/* name, flags, operands, short options, long options, words of the first operand */
const struct grammar_row grammar_rows[] = {
	{ ":", GRAMMAR_TOTAL | GRAMMAR_POSIX, ':', NULL, NULL, NULL },
	{ "[", GRAMMAR_POSIX, 't', NULL, NULL, NULL },
	{ "[[", GRAMMAR_POSIX, 'T', NULL, NULL, NULL },
	{ "arch", GRAMMAR_TOTAL, '<', NULL, "help version", NULL },
	{ "awk", GRAMMAR_POSIX, 'a', "F:", NULL, NULL },
	{ "b2sum", GRAMMAR_TOTAL, '<', "l:bctwz", "length: check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "base32", GRAMMAR_TOTAL, '<', "diw#", "decode wrap: ignore-garbage help version", NULL },
	{ "base64", GRAMMAR_TOTAL, '<', "diw#", "decode wrap: ignore-garbage help version", NULL },
	{ "basename", GRAMMAR_TOTAL, ':', "as:z", "multiple suffix: zero help version", NULL },
	{ "bash", GRAMMAR_POSIX, 'h', "ceuxlfho^", "login noprofile norc posix help version", NULL },
	{ "break", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "builtin", GRAMMAR_POSIX, '$', NULL, NULL, NULL },
	{ "bunzip2", 0, '>', "cdzfktqvs123456789", "stdout decompress compress force keep test quiet verbose small fast best help version", NULL },
	{ "bzip2", 0, '>', "cdzfktqvs123456789", "stdout decompress compress force keep test quiet verbose small fast best help version", NULL },
	{ "cat", GRAMMAR_TOTAL, '<', "benstuvAET", "number-nonblank number squeeze-blank show-nonprinting show-ends show-tabs show-all help "
	  "version", NULL },
	{ "cd", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "LPe@", NULL, NULL },
	{ "chgrp", 0, '>', "RcfhHLPv", "changes dereference no-dereference quiet silent verbose recursive reference< help "
	  "version", NULL },
	{ "chmod", 0, '>', "Rcfv", "changes quiet silent verbose recursive reference< help version", NULL },
	{ "chown", 0, '>', "RcfhHLPv", "changes dereference no-dereference from: quiet silent verbose recursive reference< help "
	  "version", NULL },
	{ "cksum", GRAMMAR_TOTAL, '<', "a:l:bctwz", "length: check ignore-missing quiet status warn strict tag zero algorithm: debug untagged "
	  "help version", NULL },
	{ "cmp", GRAMMAR_TOTAL, '<', "bci:ln#sv", "print-bytes print-chars ignore-initial: verbose bytes# silent quiet version help", NULL },
	{ "column", GRAMMAR_TOTAL, '<', "c:dE:eH:hi:Jl:LN:n:O:o:p:R:r:s:T:tVW:x", "columns: fillrows help json keep-empty-lines output-separator: output-width: separator: "
	  "table table-columns: table-columns-limit: table-hide: table-name: table-noextreme: "
	  "table-noheadings table-order: table-right: table-truncate: table-wrap: table-empty-lines "
	  "table-header-repeat tree: tree-id: tree-parent: version", NULL },
	{ "comm", GRAMMAR_TOTAL, '<', "123z", "check-order nocheck-order output-delimiter: total zero-terminated help version", NULL },
	{ "command", GRAMMAR_POSIX, '$', "pvV", NULL, NULL },
	{ "continue", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "cp", 0, '>', "abdfHilLnPprRst>Tuvx", "archive attributes-only copy-contents dereference force interactive link no-clobber "
	  "no-dereference no-preserve: no-target-directory one-file-system parents preserve? "
	  "recursive reflink? remove-destination sparse: strip-trailing-slashes symbolic-link "
	  "target-directory> update verbose help version", NULL },
	{ "crontab", 0, '0', "l", NULL, NULL },
	{ "curl", 0, ':', "sSfLIikvgGN460A#b:C#d:e:F:H:m#o>OJr:RT:u:w:x:X:y:Y:z:c>D>", "silent show-error fail fail-with-body location head include insecure verbose globoff get "
	  "no-buffer ipv4 ipv6 http1.0 http1.1 http2 http3 user-agent: cookie: continue-at: data: "
	  "data-ascii: data-binary: data-raw: data-urlencode: referer: form: form-string: header: "
	  "max-time# output> remote-name remote-name-all output-dir> create-dirs range: "
	  "upload-file: user: write-out: request: url: compressed connect-timeout# max-redirs# "
	  "retry# retry-delay: retry-max-time: retry-all-errors retry-connrefused cacert< "
	  "limit-rate: json: proto: proto-redir: tlsv1.2 tlsv1.3 progress-bar no-progress-meter "
	  "fail-early parallel cookie-jar> dump-header> resolve: connect-to: proxy: unix-socket: "
	  "help? version", NULL },
	{ "cut", GRAMMAR_TOTAL, '<', "b:c:d:f:nsz", "bytes# characters: fields: delimiter: only-delimited output-delimiter: complement "
	  "zero-terminated help version", NULL },
	{ "dash", GRAMMAR_POSIX, 'h', "ceuxlfo^", NULL, NULL },
	{ "date", 0, '+', "d:f<I?r<Ru", "date: debug file< iso-8601? reference< resolution rfc-email rfc-822 rfc-2822 rfc-3339: "
	  "uct utc universal help version", NULL },
	{ "dd", 0, 'd', NULL, "if< of> bs: ibs: obs: cbs: count: skip: seek: conv: iflag: oflag: status: iseek: oseek:", NULL },
	{ "declare", GRAMMAR_POSIX, 'v', "rxgp", NULL, NULL },
	{ "df", 0, '<', "aB#iF:hHklmPTt:vx:", "all block-size: inodes human-readable si local output? portability print-type no-sync "
	  "total type: exclude-type: help version", NULL },
	{ "diff", GRAMMAR_DIGITS, '<', "0123456789abBcC#dD:eEfF:hHiI:L:nNpPqrsS:tTuU#vwW:x:X<yZ", "binary brief changed-group-format: color? context? ed exclude: exclude-from< expand-tabs "
	  "forward-ed from-file< help horizon-lines: ifdef: ignore-all-space ignore-blank-lines "
	  "ignore-case ignore-file-name-case ignore-matching-lines: ignore-space-change "
	  "ignore-tab-expansion ignore-trailing-space inhibit-hunk-merge initial-tab label: "
	  "left-column line-format: minimal new-file new-group-format: new-line-format: "
	  "no-dereference no-ignore-file-name-case normal old-group-format: old-line-format: "
	  "palette: rcs recursive report-identical-files show-c-function show-function-line: "
	  "side-by-side speed-large-files starting-file: strip-trailing-cr suppress-blank-empty "
	  "suppress-common-lines tabsize# text to-file: unchanged-group-format: "
	  "unchanged-line-format: unidirectional-new-file unified? version width#", NULL },
	{ "dig", 0, 'H', "46p:q:t:x:c:", NULL, NULL },
	{ "dir", GRAMMAR_TOTAL, '<', "abcdfghiklmnopqrstuvw:xABCDFGHI:LNQRST:UXZ1", "all escape directory dired full-time group-directories-first human-readable inode "
	  "kibibytes numeric-uid-gid no-group hide-control-chars reverse size width# almost-all "
	  "ignore-backups classify? file-type si dereference-command-line "
	  "dereference-command-line-symlink-to-dir hide: ignore: indicator-style: dereference "
	  "literal quote-name quoting-style: recursive format: show-control-chars sort: tabsize# "
	  "time: time-style: zero color? hyperlink? block-size: context author help version", NULL },
	{ "dirname", GRAMMAR_TOTAL, ':', "z", "zero help version", NULL },
	{ "dirs", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "clpv", NULL, NULL },
	{ "dmesg", 0, '0', "def:hJkL?l:iPprSs:TtuVWwx", "buffer-size: color? decode facility: follow follow-new help json kernel level: since: "
	  "syslog raw reltime show-delta ctime noescape notime nopager until: userspace version "
	  "time-format: force-prefix", NULL },
	{ "doas", GRAMMAR_POSIX, '$', "nu:", NULL, NULL },
	{ "dpkg-query", 0, ':', "lLsSWf:", "list listfiles status search show showformat: no-pager version help", NULL },
	{ "du", GRAMMAR_TOTAL, '<', "0abd#chHklmst:xB#DLPSX<", "all apparent-size block-size: bytes count-links dereference dereference-args exclude: "
	  "exclude-from< files0-from< human-readable inodes si max-depth# null no-dereference "
	  "one-file-system separate-dirs summarize total threshold: time? time-style: help version", NULL },
	{ "echo", GRAMMAR_TOTAL | GRAMMAR_POSIX, ':', "neE", "help version", NULL },
	{ "egrep", GRAMMAR_TOTAL | GRAMMAR_DIGITS, '<', "0123456789A#B#C#D:EFGHIPTUVX:abcd:e:f:hiLlm#noqRrsuvwxyZz", "basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp after-context# "
	  "before-context# binary-files: byte-offset context# color? colour? count devices: "
	  "directories: exclude: exclude-from< exclude-dir: file< files-with-matches "
	  "files-without-match group-separator: help include: ignore-case no-ignore-case "
	  "initial-tab label: line-buffered line-number line-regexp max-count# no-filename "
	  "no-group-separator no-messages null null-data only-matching quiet recursive "
	  "dereference-recursive regexp: invert-match silent text binary unix-byte-offsets version "
	  "with-filename word-regexp", NULL },
	{ "env", GRAMMAR_POSIX, '$', "iu:C#0v", "ignore-environment unset: chdir: null debug help version", NULL },
	{ "eval", GRAMMAR_POSIX, '$', NULL, NULL, NULL },
	{ "exec", GRAMMAR_POSIX, '$', "cla:", NULL, NULL },
	{ "exit", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "export", GRAMMAR_POSIX, 'v', "p", NULL, NULL },
	{ "expr", GRAMMAR_TOTAL, ':', NULL, "help version", NULL },
	{ "factor", GRAMMAR_TOTAL, ':', NULL, "-debug help version", NULL },
	{ "false", GRAMMAR_TOTAL | GRAMMAR_POSIX, ':', NULL, "help version", NULL },
	{ "fdfind", 0, '<', "HIusigFaLp0d#E:t:e:S:o:c:j#1qhV", "glob hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive "
	  "ignore-case regex fixed-strings and: absolute-path follow full-path print0 max-depth# "
	  "min-depth# exact-depth: exclude: prune type: extension: size# changed-within: "
	  "change-newer-than: newer: changed-after: changed-before: change-older-than: older: "
	  "owner: ignore-file: color: threads# max-results: quiet show-errors base-directory: "
	  "path-separator: search-path: strip-cwd-prefix one-file-system help version maxdepth# "
	  "no-hidden ignore", NULL },
	{ "fgrep", GRAMMAR_TOTAL | GRAMMAR_DIGITS, '<', "0123456789A#B#C#D:EFGHIPTUVX:abcd:e:f:hiLlm#noqRrsuvwxyZz", "basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp after-context# "
	  "before-context# binary-files: byte-offset context# color? colour? count devices: "
	  "directories: exclude: exclude-from< exclude-dir: file< files-with-matches "
	  "files-without-match group-separator: help include: ignore-case no-ignore-case "
	  "initial-tab label: line-buffered line-number line-regexp max-count# no-filename "
	  "no-group-separator no-messages null null-data only-matching quiet recursive "
	  "dereference-recursive regexp: invert-match silent text binary unix-byte-offsets version "
	  "with-filename word-regexp", NULL },
	{ "file", 0, '<', "be:Ef<F:hiklLnNrsv0", "help version brief exclude: exclude-quiet: files-from< separator: mime apple extension "
	  "mime-type mime-encoding keep-going list dereference no-dereference no-buffer no-pad "
	  "print0 raw special-files", NULL },
	{ "find", GRAMMAR_WORDS, 'f', NULL, "H L P O? amin: anewer< atime: cmin: cnewer< context: ctime: daystart delete depth empty "
	  "exec$ execdir$ executable false files0-from< fls> follow fprint> fprint0> fprintf\" "
	  "fstype: gid: group: -help ignore_readdir_race ilname: iname: inum: ipath: iregex: "
	  "iwholename: links: lname: ls maxdepth: mindepth: mmin: mount mtime: name: newer< nogroup "
	  "noignore_readdir_race noleaf nouser nowarn ok$ okdir$ path: perm: print print0 printf: "
	  "prune quit readable regex: regextype: samefile< show-control-chars: size: true type: "
	  "uid: used: user: version -version warn wholename: writable xdev xtype: a and o or not", NULL },
	{ "findmnt", GRAMMAR_TOTAL, '<', "AabCcDd:ehiJfF:o:O:p?PklmM:nN:rst:uvRS:T:Uw:Vxy", "all ascii bytes canonicalize direction: df evaluate first-only fstab help invert json "
	  "kernel list mountpoint: mtab noheadings notruncate options: output: output-all poll? "
	  "pairs raw types: nocanonicalize nofsroot submounts source: tab-file: task: target: "
	  "timeout# uniq verify version shell verbose tree real pseudo vfs-all shadowed", NULL },
	{ "fmt", GRAMMAR_TOTAL, '<', "0123456789cstuw#p:g:", "crown-margin prefix: split-only tagged-paragraph uniform-spacing width# goal: help "
	  "version", NULL },
	{ "fold", GRAMMAR_TOTAL, '<', "bsw#0?1?2?3?4?5?6?7?8?9?", "bytes spaces width# help version", NULL },
	{ "free", GRAMMAR_TOTAL, '<', "bkmghltvc#ws#V", "bytes kilo mega giga tera peta kibi mebi gibi tebi pebi human si lohi total committed "
	  "seconds: count: wide help version", NULL },
	{ "gawk", GRAMMAR_POSIX, 'a', "F:", "field-separator:", NULL },
	{ "getent", 0, ':', NULL, NULL, "passwd group services protocols rpc ethers initgroups hosts ahosts ahostsv4 ahostsv6 "
	  "networks" },
	{ "git", GRAMMAR_POSIX, 'g', "C/c=P", "no-pager no-optional-locks no-replace-objects literal-pathspecs version", NULL },
	{ "git add", 0, '<', "AnvfuN", "dry-run verbose force update intent-to-add all ignore-errors ignore-missing refresh "
	  "renormalize", NULL },
	{ "git apply", 0, '<', "Rp#3v", "check stat numstat summary index cached reverse 3way verbose", NULL },
	{ "git blame", GRAMMAR_DIGITS, '<', "bfnpctlsewC?M?L:h", "incremental root show-stats progress score-debug show-name show-number porcelain "
	  "line-porcelain show-email ignore-rev: ignore-revs-file: color-lines color-by-age minimal "
	  "abbrev? reverse: first-parent encoding: date: no-progress no-incremental no-root "
	  "no-show-stats no-score-debug no-show-name no-show-number no-porcelain no-line-porcelain "
	  "no-show-email no-ignore-rev no-ignore-revs-file no-color-lines no-color-by-age "
	  "no-minimal no-contents no-abbrev", NULL },
	{ "git branch", 0, '<', "vqt?u:radDmMcClfi", "verbose quiet track? set-upstream-to: unset-upstream color? remotes contains: "
	  "no-contains: abbrev? all delete move copy list show-current create-reflog force merged: "
	  "no-merged: column? sort: points-at: ignore-case format: no-color no-column no-abbrev "
	  "no-track set-upstream with without no-verbose no-quiet no-set-upstream "
	  "no-set-upstream-to no-unset-upstream no-remotes no-all no-delete no-move no-copy no-list "
	  "no-show-current no-create-reflog no-force no-sort no-points-at no-ignore-case "
	  "no-recurse-submodules no-format", NULL },
	{ "git cat-file", 0, '<', "epts", NULL, NULL },
	{ "git check-ignore", 0, '<', "qvzn", "quiet verbose stdin non-matching no-index index no-quiet no-verbose no-stdin "
	  "no-non-matching", NULL },
	{ "git checkout", 0, '<', "b:B#fqt?", "detach force quiet ours theirs track? orphan: guess no-guess", NULL },
	{ "git cherry", 0, '<', "v", "abbrev? verbose no-abbrev no-verbose", NULL },
	{ "git cherry-pick", 0, '<', "nxm:", "abort continue skip quit no-commit", NULL },
	{ "git clean", 0, '>', "fdxXnqe:", "force dry-run quiet exclude:", NULL },
	{ "git clone", 0, '>', "qvb:n", "quiet verbose branch: depth# single-branch no-single-branch no-tags bare mirror "
	  "no-checkout progress", NULL },
	{ "git commit", 0, '<', "am:qnF<sC#", "all message: quiet no-verify amend no-edit file< allow-empty allow-empty-message signoff "
	  "author: date: dry-run short reset-author reuse-message:", NULL },
	{ "git config", 0, ':', "lz", "get get-all get-regexp list null name-only show-origin show-scope local global system", NULL },
	{ "git count-objects", 0, '<', "vH", "verbose human-readable no-verbose no-human-readable", NULL },
	{ "git describe", 0, '<', NULL, "contains debug all tags long first-parent abbrev? exact-match candidates: match: "
	  "exclude: always dirty? broken? no-contains no-debug no-all no-tags no-long "
	  "no-first-parent no-abbrev no-exact-match no-candidates no-match no-exclude no-always "
	  "no-dirty no-broken", NULL },
	{ "git diff", GRAMMAR_DIGITS, '<', "pusU#X?zB?M?C?Dl#S:G:RabwI:W1230cmr", "patch no-patch unified# output-indicator-new: output-indicator-old: "
	  "output-indicator-context: raw patch-with-raw indent-heuristic no-indent-heuristic "
	  "minimal patience histogram anchored: diff-algorithm: stat? compact-summary numstat "
	  "shortstat dirstat? cumulative dirstat-by-file? summary patch-with-stat name-only "
	  "name-status color? no-color color-moved? no-color-moved color-moved-ws: "
	  "no-color-moved-ws word-diff? word-diff-regex: color-words? no-renames rename-empty "
	  "no-rename-empty check ws-error-highlight: full-index binary abbrev? break-rewrites? "
	  "find-renames? find-copies? find-copies-harder irreversible-delete diff-filter: "
	  "find-object: pickaxe-all pickaxe-regex skip-to: rotate-to: relative? no-relative text "
	  "ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space "
	  "ignore-blank-lines ignore-matching-lines: inter-hunk-context: function-context exit-code "
	  "quiet no-ext-diff no-textconv ignore-submodules? src-prefix: dst-prefix: no-prefix "
	  "line-prefix: ita-invisible-in-index base ours theirs stat-width: stat-name-width: "
	  "stat-graph-width: stat-count: follow ita-visible-in-index no-function-context "
	  "no-compact-summary no-full-index no-abbrev no-find-copies-harder no-follow no-minimal "
	  "no-ignore-matching-lines no-text no-exit-code no-quiet min-parents: max-parents: "
	  "no-walk? expand-tabs? diff-merges: cc dd cached staged merge-base", NULL },
	{ "git fetch", 0, '<', "qvptnfa", "all prune tags no-tags depth# dry-run force quiet verbose append", NULL },
	{ "git for-each-ref", 0, '<', "sp", "shell perl python tcl count: format: color? sort: points-at: merged: no-merged: "
	  "contains: no-contains: ignore-case no-shell no-perl no-python no-tcl no-count no-format "
	  "no-color no-sort no-points-at no-ignore-case", NULL },
	{ "git grep", GRAMMAR_DIGITS, '<', "viwaIrEGFPnhHlLzocC#B#A#pWf:e:qm#", "cached untracked exclude-standard invert-match ignore-case word-regexp text recursive "
	  "max-depth# extended-regexp basic-regexp fixed-strings perl-regexp line-number column "
	  "full-name files-with-matches name-only files-without-match null only-matching count "
	  "color? break heading context# before-context# after-context# show-function "
	  "function-context and or not quiet all-match max-count# no-exclude-standard no-textconv "
	  "no-recursive no-color index no-cached no-untracked no-recurse-submodules no-invert-match "
	  "no-ignore-case no-word-regexp no-text no-extended-regexp no-basic-regexp "
	  "no-fixed-strings no-perl-regexp no-line-number no-column no-full-name "
	  "no-files-with-matches no-name-only no-files-without-match no-null no-only-matching "
	  "no-count no-break no-heading no-context no-before-context no-after-context no-threads "
	  "no-show-function no-function-context no-or no-quiet no-all-match no-ext-grep "
	  "no-max-count", NULL },
	{ "git init", 0, '>', "qb:", "bare quiet initial-branch:", NULL },
	{ "git log", GRAMMAR_DIGITS, '<', "qL:n#iEFPgpusU#tX?zB?M?C?Dl#S:G:RabwI:Wcmr", "quiet source use-mailmap mailmap clear-decorations decorate-refs: decorate-refs-exclude: "
	  "decorate? follow no-decorate no-mailmap no-use-mailmap full-diff log-size max-count# "
	  "skip# since: after: since-as-filter: until: before: author: committer: grep-reflog: "
	  "grep: all-match invert-grep regexp-ignore-case basic-regexp extended-regexp "
	  "fixed-strings perl-regexp remove-empty merges no-merges min-parents: max-parents: "
	  "no-min-parents no-max-parents first-parent exclude-first-parent-only not all branches? "
	  "tags? remotes? glob: exclude: exclude-hidden: reflog alternate-refs single-worktree "
	  "ignore-missing bisect stdin cherry-mark cherry-pick left-only right-only cherry "
	  "walk-reflogs merge boundary simplify-by-decoration show-pulls full-history dense sparse "
	  "simplify-merges ancestry-path? date-order author-date-order topo-order reverse no-walk "
	  "do-walk pretty% format% abbrev-commit no-abbrev-commit oneline encoding: expand-tabs: "
	  "no-expand-tabs notes? no-notes show-notes? standard-notes? no-standard-notes "
	  "relative-date date: parents children left-right graph show-linear-break? patch no-patch "
	  "diff-merges: no-diff-merges combined-all-paths unified# output-indicator-new: "
	  "output-indicator-old: output-indicator-context: raw patch-with-raw indent-heuristic "
	  "no-indent-heuristic minimal patience histogram anchored: diff-algorithm: stat? "
	  "compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary "
	  "patch-with-stat name-only name-status color? no-color color-moved? no-color-moved "
	  "color-moved-ws: no-color-moved-ws word-diff? word-diff-regex: color-words? no-renames "
	  "rename-empty no-rename-empty check ws-error-highlight: full-index binary abbrev? "
	  "break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete "
	  "diff-filter: find-object: pickaxe-all pickaxe-regex skip-to: rotate-to: relative? "
	  "no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change "
	  "ignore-all-space ignore-blank-lines ignore-matching-lines: inter-hunk-context: "
	  "function-context no-ext-diff no-textconv ignore-submodules? src-prefix: dst-prefix: "
	  "no-prefix line-prefix: ita-invisible-in-index no-quiet no-source no-decorate-refs "
	  "no-decorate-refs-exclude cc dd", NULL },
	{ "git ls-files", 0, '<', "ztvfcdmoiskux:X:", "cached deleted modified others ignored stage killed directory eol empty-directory "
	  "unmerged resolve-undo exclude: exclude-from< exclude-per-directory: exclude-standard "
	  "full-name recurse-submodules error-unmatch with-tree: abbrev? debug deduplicate sparse "
	  "format: no-empty-directory no-cached no-deleted no-modified no-others no-ignored "
	  "no-stage no-killed no-directory no-eol no-unmerged no-resolve-undo "
	  "no-exclude-per-directory no-recurse-submodules no-error-unmatch no-with-tree no-abbrev "
	  "no-debug no-deduplicate no-sparse", NULL },
	{ "git ls-remote", 0, '<', "htq", "heads tags refs quiet exit-code symref sort:", NULL },
	{ "git ls-tree", 0, '<', "drtzl", "long name-only name-status object-only full-name full-tree format: abbrev? no-full-name "
	  "no-full-tree no-abbrev", NULL },
	{ "git merge", 0, '<', "m:nqX:", "ff no-ff ff-only squash no-commit no-edit abort continue quit stat no-stat quiet", NULL },
	{ "git merge-base", 0, '<', "a", "all octopus independent is-ancestor fork-point no-all", NULL },
	{ "git mv", 0, '>', "fknv", "force dry-run verbose", NULL },
	{ "git name-rev", 0, '<', NULL, "name-only tags refs: exclude: all stdin annotate-stdin undefined always no-undefined "
	  "peel-tag no-name-only no-tags no-refs no-exclude no-all no-stdin no-annotate-stdin "
	  "no-always no-peel-tag", NULL },
	{ "git pull", 0, '<', "qvr?pt", "rebase? no-rebase ff no-ff ff-only quiet verbose prune tags autostash no-edit all", NULL },
	{ "git push", 0, '<', "ufdnqv", "set-upstream force force-with-lease? tags all mirror delete prune dry-run quiet verbose "
	  "atomic follow-tags no-verify porcelain", NULL },
	{ "git rebase", 0, '<', "q", "abort continue skip quit onto: autostash no-autostash quiet root", NULL },
	{ "git reflog", 0, '<', NULL, NULL, "show expire delete" },
	{ "git remote", 0, ':', "v", "verbose no-verbose", "add get-url show remove rm rename set-url prune update" },
	{ "git reset", 0, '<', "q", "hard soft mixed merge keep quiet", NULL },
	{ "git restore", 0, '<', "s:SWq", "source: staged worktree quiet ours theirs", NULL },
	{ "git rev-list", GRAMMAR_DIGITS, '<', "n:iEFPgcmr", "max-count# max-age: min-age: sparse no-merges min-parents: no-min-parents max-parents: "
	  "no-max-parents remove-empty all branches tags remotes stdin exclude-hidden: quiet "
	  "topo-order date-order reverse parents children objects objects-edge disk-usage? unpacked "
	  "header pretty% object-names no-object-names abbrev# no-abbrev abbrev-commit left-right "
	  "count bisect bisect-vars bisect-all skip# since: after: since-as-filter: until: before: "
	  "author: committer: grep-reflog: grep: all-match invert-grep regexp-ignore-case "
	  "basic-regexp extended-regexp fixed-strings perl-regexp merges first-parent "
	  "exclude-first-parent-only not glob: exclude: reflog alternate-refs single-worktree "
	  "ignore-missing cherry-mark cherry-pick left-only right-only cherry walk-reflogs merge "
	  "boundary progress: simplify-by-decoration show-pulls full-history dense simplify-merges "
	  "ancestry-path? author-date-order in-commit-order objects-edge-aggressive indexed-objects "
	  "filter: no-filter filter-provided-objects filter-print-omitted missing: "
	  "exclude-promisor-objects no-walk do-walk format% no-abbrev-commit oneline encoding: "
	  "expand-tabs: no-expand-tabs relative-date date: no-commit-header commit-header timestamp "
	  "graph show-linear-break? patch no-patch unified function-context raw patch-with-raw "
	  "patch-with-stat numstat shortstat dirstat cumulative dirstat-by-file check summary "
	  "name-only name-status stat stat-width: stat-name-width: stat-graph-width: stat-count: "
	  "compact-summary binary full-index color ws-error-highlight: src-prefix: dst-prefix: "
	  "line-prefix: no-prefix inter-hunk-context: output-indicator-new: output-indicator-old: "
	  "output-indicator-context: break-rewrites find-renames irreversible-delete find-copies "
	  "find-copies-harder no-renames rename-empty follow minimal ignore-all-space "
	  "ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines "
	  "ignore-matching-lines: indent-heuristic patience histogram diff-algorithm: anchored: "
	  "word-diff word-diff-regex: color-words color-moved color-moved-ws: relative text "
	  "exit-code ignore-submodules ita-invisible-in-index ita-visible-in-index pickaxe-all "
	  "pickaxe-regex rotate-to: skip-to: find-object: diff-filter: no-function-context "
	  "no-compact-summary no-full-index no-color no-find-copies-harder no-rename-empty "
	  "no-follow no-minimal no-ignore-matching-lines no-indent-heuristic no-color-moved "
	  "no-color-moved-ws no-relative no-text no-exit-code no-quiet no-ext-diff no-textconv "
	  "diff-merges: cc dd", NULL },
	{ "git rev-parse", 0, '<', "q", "keep-dashdash stop-at-non-option stuck-long revs-only no-revs flags no-flags default: "
	  "prefix: verify quiet sq short? not abbrev-ref? symbolic symbolic-full-name all branches? "
	  "tags? remotes? glob: exclude: exclude-hidden: disambiguate: local-env-vars path-format: "
	  "git-dir git-common-dir resolve-git-dir: git-path: show-toplevel "
	  "show-superproject-working-tree shared-index-path absolute-git-dir is-inside-git-dir "
	  "is-inside-work-tree is-bare-repository is-shallow-repository show-cdup show-prefix "
	  "show-object-format? since: after: until: before:", NULL },
	{ "git revert", 0, '<', "nm:", "abort continue skip quit no-commit no-edit", NULL },
	{ "git rm", 0, '>', "rfnq", "force dry-run quiet cached ignore-unmatch", NULL },
	{ "git shortlog", GRAMMAR_DIGITS, '<', "cnsew?iEFPgmr", "committer numbered summary email group: format% date: max-count# skip# since: after: "
	  "since-as-filter: until: before: author: grep-reflog: grep: all-match invert-grep "
	  "regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp remove-empty "
	  "merges no-merges min-parents: max-parents: no-min-parents no-max-parents first-parent "
	  "exclude-first-parent-only not all branches? tags? remotes? glob: exclude: "
	  "exclude-hidden: reflog alternate-refs single-worktree ignore-missing bisect stdin "
	  "cherry-mark cherry-pick left-only right-only cherry walk-reflogs merge boundary "
	  "simplify-by-decoration show-pulls full-history dense sparse simplify-merges "
	  "ancestry-path? no-committer no-numbered no-summary no-email no-group no-walk? "
	  "expand-tabs? diff-merges: no-ext-diff cc color? dd", NULL },
	{ "git show", GRAMMAR_DIGITS, '<', "qL:pusU#tX?zB?M?C?Dl#S:G:RabwI:Wcmr", "quiet source use-mailmap mailmap clear-decorations decorate-refs: decorate-refs-exclude: "
	  "decorate? pretty% format% abbrev-commit no-abbrev-commit oneline encoding: expand-tabs: "
	  "no-expand-tabs notes? no-notes show-notes? standard-notes? no-standard-notes patch "
	  "no-patch diff-merges: no-diff-merges combined-all-paths unified# output-indicator-new: "
	  "output-indicator-old: output-indicator-context: raw patch-with-raw indent-heuristic "
	  "no-indent-heuristic minimal patience histogram anchored: diff-algorithm: stat? "
	  "compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary "
	  "patch-with-stat name-only name-status color? no-color color-moved? no-color-moved "
	  "color-moved-ws: no-color-moved-ws word-diff? word-diff-regex: color-words? no-renames "
	  "rename-empty no-rename-empty check ws-error-highlight: full-index binary abbrev? "
	  "break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete "
	  "diff-filter: find-object: pickaxe-all pickaxe-regex skip-to: rotate-to: relative? "
	  "no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change "
	  "ignore-all-space ignore-blank-lines ignore-matching-lines: inter-hunk-context: "
	  "function-context no-ext-diff no-textconv ignore-submodules? src-prefix: dst-prefix: "
	  "no-prefix line-prefix: ita-invisible-in-index no-quiet no-source no-use-mailmap "
	  "no-mailmap no-decorate-refs no-decorate-refs-exclude no-decorate min-parents: "
	  "max-parents: no-walk? cc dd", NULL },
	{ "git show-ref", 0, '<', "ds?q", "tags heads verify head dereference hash? abbrev? quiet exclude-existing? no-tags "
	  "no-heads no-verify no-head no-dereference no-hash no-abbrev no-quiet", NULL },
	{ "git stash", 0, ':', "aukSqm:", "all include-untracked keep-index staged quiet message: index", "list show push pop apply drop clear" },
	{ "git status", GRAMMAR_TOTAL, '<', "vsbzu?M?", "verbose short branch show-stash ahead-behind porcelain? long null untracked-files? "
	  "ignored? ignore-submodules? column? no-renames find-renames? no-column no-ahead-behind "
	  "renames no-optional-locks no-verbose no-short no-branch no-show-stash no-porcelain "
	  "no-long no-null no-untracked-files no-ignored no-ignore-submodules", NULL },
	{ "git switch", 0, '<', "c:C#dfqt?", "create: force-create: detach discard-changes force quiet guess no-guess track?", NULL },
	{ "git tag", 0, '<', "ln?dam:fi", "list delete annotate message: cleanup: force create-reflog column? contains: "
	  "no-contains: merged: no-merged: sort: points-at: format: color? ignore-case no-sign "
	  "no-column with without no-annotate no-file no-edit no-cleanup no-force no-create-reflog "
	  "no-sort no-points-at no-format no-color no-ignore-case", NULL },
	{ "git worktree", 0, '0', "vz", "porcelain verbose", "list" },
	{ "grep", GRAMMAR_TOTAL | GRAMMAR_DIGITS, '<', "0123456789A#B#C#D:EFGHIPTUVX:abcd:e:f<hiLlm#noqRrsuvwxyZz", "basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp after-context# "
	  "before-context# binary-files: byte-offset context# color? colour? count devices: "
	  "directories: exclude: exclude-from< exclude-dir: file< files-with-matches "
	  "files-without-match group-separator: help include: ignore-case no-ignore-case "
	  "initial-tab label: line-buffered line-number line-regexp max-count# no-filename "
	  "no-group-separator no-messages null null-data only-matching quiet recursive "
	  "dereference-recursive regexp: invert-match silent text binary unix-byte-offsets version "
	  "with-filename word-regexp", NULL },
	{ "groups", GRAMMAR_TOTAL, ':', NULL, "help version", NULL },
	{ "gunzip", 0, '>', "cfklnNqtv", "stdout to-stdout force keep list no-name name quiet test verbose help version", NULL },
	{ "gzip", 0, '>', "cdfklnNqtv123456789", "stdout to-stdout decompress uncompress force keep list no-name name quiet test verbose "
	  "fast best help version", NULL },
	{ "hash", GRAMMAR_POSIX, '0', "r", NULL, NULL },
	{ "hd", GRAMMAR_TOTAL, '<', "bcCde:f<L?n#os#vxhV", "one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex "
	  "format: format-file: color? length: skip# no-squeezing help version", NULL },
	{ "head", GRAMMAR_TOTAL | GRAMMAR_DIGITS, '<', "c#n#qvz0123456789", "bytes# lines# -presume-input-pipe quiet silent verbose zero-terminated help version", NULL },
	{ "hexdump", GRAMMAR_TOTAL, '<', "bcCde:f<L?n#os#vxhV", "one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex "
	  "format: format-file: color? length: skip# no-squeezing help version", NULL },
	{ "host", 0, 'H', "ac:t:TvW:46", NULL, NULL },
	{ "hostname", 0, '0', "aAdfiIsy", "alias all-fqdns all-ip-addresses domain fqdn ip-address long short version help", NULL },
	{ "id", GRAMMAR_TOTAL, ':', "agnruzGZ", "context group groups name real user zero help version", NULL },
	{ "ionice", GRAMMAR_POSIX, '$', "c#n#t", "class: classdata: ignore help version", NULL },
	{ "ip", GRAMMAR_WORDS, 'p', NULL, "V s d 4 6 0 o j p c? br brief details statistics stats oneline json pretty color? human "
	  "human-readable iec Version", NULL },
	{ "jobs", GRAMMAR_POSIX, 'b', "lnprs", NULL, NULL },
	{ "join", GRAMMAR_TOTAL, '<', "a:e:i1:2:j:o:t:v:z", "ignore-case check-order nocheck-order zero-terminated header help version", NULL },
	{ "journalctl", 0, ':', "ab?efg:kln?o:p:qrS:t:u:U#x", "all boot? catalog dmesg follow full grep: identifier: lines? list-boots no-hostname "
	  "no-pager no-tail output: output-fields: pager-end priority: quiet reverse since: system "
	  "this-boot unit: until: user user-unit: utc disk-usage fields version help", NULL },
	{ "jq", GRAMMAR_TOTAL, ':', "cnesrRCMSajf<L:hV", "compact-output null-input exit-status slurp raw-output raw-input color-output "
	  "monochrome-output sort-keys ascii-output join-output from-file< tab indent# unbuffered "
	  "stream seq args jsonargs help version debug-dump-disasm debug-trace run-tests? arg\" "
	  "argjson\" slurpfile\" rawfile\" argfile\"", NULL },
	{ "kill", GRAMMAR_DIGITS, 'k', "s:n:lL", NULL, NULL },
	{ "ln", 0, '>', "fiLnPrst>Tv", "force interactive logical no-dereference physical relative symbolic target-directory> "
	  "no-target-directory verbose help version", NULL },
	{ "local", GRAMMAR_POSIX, 'v', "rxgp", NULL, NULL },
	{ "locale", 0, ':', "ackvV", "all-locales category-name keyword-name verbose help usage version", NULL },
	{ "logname", GRAMMAR_TOTAL, '<', NULL, "help version", NULL },
	{ "logout", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "ls", GRAMMAR_TOTAL, '<', "abcdfghiklmnopqrstuvw#xABCDFGHI:LNQRST#UXZ1", "all escape directory dired full-time group-directories-first human-readable inode "
	  "kibibytes numeric-uid-gid no-group hide-control-chars reverse size width# almost-all "
	  "ignore-backups classify? file-type si dereference-command-line "
	  "dereference-command-line-symlink-to-dir hide: ignore: indicator-style: dereference "
	  "literal quote-name quoting-style: recursive format: show-control-chars sort: tabsize# "
	  "time: time-style: zero color? hyperlink? block-size: context author help version", NULL },
	{ "lsblk", GRAMMAR_TOTAL, '<', "AabdDzE:e:fhJlnMmo:OpPiI:rstVST?w:x:y", "all bytes nodeps noempty discard dedup: zoned help json output: output-all merge perms "
	  "noheadings list ascii raw inverse fs exclude: include: topology paths pairs scsi sort: "
	  "sysroot: shell tree? version width#", NULL },
	{ "lscpu", GRAMMAR_TOTAL, '<', "aBbC?ce?hJp?s:xyV", "all online bytes caches? offline help extended? json parse? sysroot: physical hex "
	  "version output-all", NULL },
	{ "mawk", GRAMMAR_POSIX, 'a', "F:", NULL, NULL },
	{ "md5sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "mkdir", 0, '>', "pm:v", "mode: parents verbose help version", NULL },
	{ "mkfifo", 0, '>', "m:", "mode: help version", NULL },
	{ "mktemp", 0, '>', "duq", "directory dry-run quiet help version", NULL },
	{ "mountpoint", GRAMMAR_TOTAL, '<', "qdxhV", "quiet nofollow fs-devno devno help version", NULL },
	{ "mv", 0, '>', "bfint>Tuv", "force interactive no-clobber no-target-directory strip-trailing-slashes "
	  "target-directory> update verbose help version", NULL },
	{ "nc", 0, 'H', "46dnNuvw:z", NULL, NULL },
	{ "nice", GRAMMAR_POSIX | GRAMMAR_DIGITS, '$', "n#", "adjustment# help version", NULL },
	{ "nl", GRAMMAR_TOTAL, '<', "h:b:f:v#i#pl#s:w#n:d:", "header-numbering: body-numbering: footer-numbering: starting-line-number: "
	  "line-increment: no-renumber join-blank-lines: number-separator: number-width: "
	  "number-format: section-delimiter: help version", NULL },
	{ "nm", GRAMMAR_RESPONSE, '<', "aACDgnopPrSul", "demangle? dynamic extern-only numeric-sort print-size size-sort undefined-only "
	  "defined-only line-numbers no-sort help version", NULL },
	{ "nohup", GRAMMAR_POSIX, '$', NULL, "help version", NULL },
	{ "nproc", GRAMMAR_TOTAL, '<', NULL, "all ignore: help version", NULL },
	{ "numfmt", GRAMMAR_TOTAL, ':', "d:z", "from: from-unit: to: to-unit: round: padding: suffix: grouping delimiter: field: debug "
	  "-debug header? format: invalid: zero-terminated help version", NULL },
	{ "objdump", GRAMMAR_RESPONSE, '<', "dDSfhprRstTxj:M:Cwl", "disassemble? disassemble-all source headers section-headers file-headers private-headers "
	  "reloc syms dynamic-syms full-contents section: all-headers demangle? wide "
	  "no-show-raw-insn start-address: stop-address: help version", NULL },
	{ "od", GRAMMAR_TOTAL, '<', "A#aBbcDdeFfHhIij#LlN#OoS:st:vw?Xx", "skip-bytes: address-radix: read-bytes: format: output-duplicates strings? traditional "
	  "width? endian: help version", NULL },
	{ "paste", GRAMMAR_TOTAL, '<', "d:sz", "serial delimiters: zero-terminated help version", NULL },
	{ "patch", 0, '>', "p#RNsEftluF:i<", "strip: reverse forward quiet silent dry-run remove-empty-files force batch "
	  "ignore-whitespace unified fuzz: input< verbose help version", NULL },
	{ "pathchk", GRAMMAR_TOTAL, '<', "pP", "portability help version", NULL },
	{ "pgrep", 0, ':', "lad:vwcfinoxP:O:Ag:s:u:U#G:t:r:Vh", "ignore-ancestors count cgroup: delimiter: list-name list-full full pgroup: group: "
	  "ignore-case newest oldest older: parent: session: terminal: euid: uid: inverse "
	  "lightweight exact ns: nslist: queue: runstates: help version", NULL },
	{ "ping", 0, 'H', "46c#i#nqs:t:vw#W#", NULL, NULL },
	{ "popd", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "n", NULL, NULL },
	{ "pr", GRAMMAR_TOTAL, '<', "0123456789D:FJN:S?TW:abcde?fh:i?l#mn?o:rs?tvw#", "pages: columns: across show-control-chars double-space date-format: expand-tabs? "
	  "form-feed header: output-tabs? join-lines length: merge number-lines? first-line-number: "
	  "indent# no-file-warnings separator? sep-string? omit-header omit-pagination "
	  "show-nonprinting width# page-width: help version", NULL },
	{ "printenv", GRAMMAR_TOTAL, ':', "iu:0", "null help version", NULL },
	{ "printf", GRAMMAR_POSIX, 'P', NULL, NULL, NULL },
	{ "ps", GRAMMAR_TOTAL, '<', "AadeNC#G:g:p:q:s:t:U#u:cfFjlMO:o:PyHwLmTVn:Zz:xX", "deselect Group: group: pid: ppid: quick-pid: sid: tty: User: user: context format: cols: "
	  "columns: cumulative forest headers lines# no-headers rows: sort: width# help? info "
	  "version", NULL },
	{ "pushd", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "n", NULL, NULL },
	{ "pwd", GRAMMAR_TOTAL, '<', "LP", "logical physical help version", NULL },
	{ "read", GRAMMAR_POSIX, 'i', "rsd:n#N#p:t#u#", NULL, NULL },
	{ "readelf", GRAMMAR_RESPONSE, '<', "ahlSesnrdVx:p:WC", "all file-header program-headers section-headers headers symbols syms dyn-syms notes "
	  "relocs dynamic version-info hex-dump: string-dump: wide demangle? help version", NULL },
	{ "readlink", GRAMMAR_TOTAL, '<', "efmnqsvz", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose "
	  "zero help version", NULL },
	{ "readonly", GRAMMAR_POSIX, 'v', "p", NULL, NULL },
	{ "realpath", GRAMMAR_TOTAL, '<', "eLmPqsz", "canonicalize-existing canonicalize-missing relative-to: relative-base: quiet strip "
	  "no-symlinks zero logical physical help version", NULL },
	{ "return", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "rev", GRAMMAR_TOTAL, '<', "Vh", "version help", NULL },
	{ "rg", 0, '<', "A#B#bsC#cE:e:f<lFLg:h.ivnxM#m#UIN0oPpqr:Saj#t:T:uVHwd:", "after-context# auto-hybrid-regex before-context# binary block-buffered byte-offset "
	  "case-sensitive color: colors: column context# context-separator: no-context-separator "
	  "count count-matches only-matching crlf debug dfa-size-limit: max-filesize: encoding: "
	  "engine: regexp: file< field-context-separator: field-match-separator: files "
	  "files-with-matches files-without-match fixed-strings follow glob: glob-case-insensitive "
	  "help heading hidden iglob: ignore-case ignore-file: ignore-file-case-insensitive "
	  "include-zero invert-match json replace: max-columns# line-buffered line-number "
	  "line-regexp max-columns-preview max-count# max-depth# mmap multiline multiline-dotall "
	  "no-config no-filename no-heading no-ignore no-ignore-dot no-ignore-exclude "
	  "no-ignore-global no-ignore-vcs no-ignore-files no-ignore-messages no-ignore-parent "
	  "no-line-number no-messages no-mmap no-pcre2-unicode no-require-git no-unicode "
	  "pcre2-unicode unicode null null-data one-file-system passthru path-separator: pcre2 "
	  "pretty quiet regex-size-limit: smart-case sort: sortr: stats text threads# trim type: "
	  "type-list type-add: type-clear: type-not: unrestricted version vimgrep with-filename "
	  "word-regexp maxdepth# no-pre no-search-zip passthrough no-hidden ignore no-follow", NULL },
	{ "rm", GRAMMAR_TOTAL, '>', "dfirvIR", "force interactive? one-file-system no-preserve-root preserve-root? -presume-input-tty "
	  "recursive dir verbose help version", NULL },
	{ "rmdir", GRAMMAR_TOTAL, '>', "pv", "ignore-fail-on-non-empty path parents verbose help version", NULL },
	{ "rsync", 0, '>', "avrznulptogDhPcqxHiCSWRmL", "archive verbose recursive compress dry-run update links perms times owner group devices "
	  "specials progress partial stats checksum quiet exclude: include: exclude-from< "
	  "include-from: delete delete-after delete-before delete-during delete-delay "
	  "delete-excluded del human-readable itemize-changes size-only ignore-existing existing "
	  "relative prune-empty-dirs numeric-ids whole-file inplace bwlimit: timeout# max-size: "
	  "min-size: remove-source-files copy-links help version", NULL },
	{ "scp", 0, '>', "346BCi<l:pP:qrTv", NULL, NULL },
	{ "sed", 0, 's', "nErsuze&i~l:", "quiet silent regexp-extended separate unbuffered null-data zero-terminated expression& "
	  "in-place~ line-length: sandbox help version", NULL },
	{ "seq", GRAMMAR_TOTAL, ':', "f:s:w", "equal-width format: separator: help version", NULL },
	{ "set", GRAMMAR_POSIX, 'S', "euxfhCo^", NULL, NULL },
	{ "setsid", GRAMMAR_POSIX, '$', "cfw", "ctty fork wait help version", NULL },
	{ "sh", GRAMMAR_POSIX, 'h', "ceuxlfo^", NULL, NULL },
	{ "sha1sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "sha224sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "sha256sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "sha384sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "sha512sum", GRAMMAR_TOTAL, '<', "bctwz", "check ignore-missing quiet status warn strict tag zero binary text help version", NULL },
	{ "shift", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "shred", 0, '>', "fn:s:uvxz", "exact force iterations: size# random-source< remove? verbose zero help version", NULL },
	{ "shuf", 0, '<', "ei:n#rz", "echo input-range: head-count: random-source< repeat zero-terminated help version", NULL },
	{ "size", GRAMMAR_RESPONSE, '<', "ABdoxt", "format: totals help version", NULL },
	{ "sleep", GRAMMAR_TOTAL, ':', NULL, "help version", NULL },
	{ "sort", 0, '<', "bcCdfghik:mMnrRsS:t:uVz", "ignore-leading-blanks check? debug dictionary-order ignore-case files0-from< "
	  "general-numeric-sort ignore-nonprinting key: merge month-sort numeric-sort "
	  "human-numeric-sort version-sort random-sort random-source< sort: reverse stable "
	  "batch-size# buffer-size: field-separator: unique zero-terminated parallel# help version", NULL },
	{ "ss", 0, '0', "dhaletuwxno460spTbf:mMiA#vVzZHSO", "numeric options extended memory info processes threads bpf dccp tcp sctp udp raw "
	  "unix tipc vsock all listening ipv4 ipv6 packet family: socket: query: summary version "
	  "help context contexts tipcinfo tos cgroup no-header xdp mptcp oneline inet-sockopt", NULL },
	{ "ssh", 0, 'x', "46aCi<l:np:qTtvxN", NULL, NULL },
	{ "stat", GRAMMAR_TOTAL, '<', "c:fLt", "dereference file-system format: printf: terse cached: help version", NULL },
	{ "stdbuf", GRAMMAR_POSIX, '$', "i:o:e:", "input< output: error: help version", NULL },
	{ "strings", GRAMMAR_RESPONSE | GRAMMAR_DIGITS, '<', "adfn:ot:e:w", "all bytes# radix: encoding: print-file-name help version", NULL },
	{ "sudo", GRAMMAR_POSIX, '$', "nu:g:HSk", "user: group: non-interactive set-home stdin", NULL },
	{ "sum", GRAMMAR_TOTAL, '<', "rs", "sysv help version", NULL },
	{ "sysctl", 0, 'n', "aAXnNeqb", "all names values binary ignore quiet help version", NULL },
	{ "systemctl", 0, ':', "aln:o:p:t:q", "all full lines# output: property: type: state: failed no-pager no-legend plain user "
	  "system value quiet reverse version help", "status show list-units list-unit-files list-timers list-sockets list-jobs "
	  "list-dependencies is-active is-enabled is-failed is-system-running cat get-default" },
	{ "tac", GRAMMAR_TOTAL, '<', "brs:", "before regex separator: help version", NULL },
	{ "tail", GRAMMAR_TOTAL | GRAMMAR_DIGITS, '<', "c#n#fFqs:vz0123456789", "bytes# follow? lines# max-unchanged-stats: -disable-inotify pid: -presume-input-pipe "
	  "quiet retry silent sleep-interval: verbose zero-terminated help version", NULL },
	{ "tar", 0, 'B', "txcruvzjJf!C>pkmOhaX:", "list extract get create append update verbose gzip bzip2 xz zstd file! directory> "
	  "exclude: exclude-from< exclude-vcs strip-components# no-same-owner same-owner "
	  "no-same-permissions preserve-permissions keep-old-files touch to-stdout dereference "
	  "auto-compress sort: mtime: owner: group: numeric-owner wildcards no-recursion "
	  "one-file-system remove-files recursive-unlink help version", NULL },
	{ "tee", 0, '>', "aip", "append ignore-interrupts output-error? help version", NULL },
	{ "test", GRAMMAR_POSIX, 't', NULL, NULL, NULL },
	{ "time", GRAMMAR_POSIX, '$', "pf:vq", "format: portability verbose quiet help version", NULL },
	{ "timeout", GRAMMAR_POSIX, '$', "k:s:v", "kill-after: signal: verbose foreground preserve-status help version", NULL },
	{ "times", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', NULL, NULL, NULL },
	{ "touch", 0, '>', "acd:fhmr<t:", "time: no-create date: reference< no-dereference help version", NULL },
	{ "tr", GRAMMAR_TOTAL, '<', "AcCdst", "complement delete squeeze-repeats truncate-set1 help version", NULL },
	{ "trap", GRAMMAR_POSIX | GRAMMAR_TOTAL, ':', "lp", NULL, NULL },
	{ "tree", 0, '<', "acdfghilnpqrstuvxACDFJQNSUXL#P:I:", "gitignore gitfile: matchdirs metafirst ignore-case nolinks inodes device sort: dirsfirst "
	  "filesfirst filelimit: si du prune charset: timefmt: fromfile fflinks info infofile: "
	  "noreport version help", NULL },
	{ "true", GRAMMAR_TOTAL | GRAMMAR_POSIX, ':', NULL, "help version", NULL },
	{ "truncate", 0, '>', "cor<s#", "no-create io-blocks reference< size# help version", NULL },
	{ "tsort", GRAMMAR_TOTAL, '<', NULL, "help version", NULL },
	{ "tty", GRAMMAR_TOTAL, '<', "s", "silent quiet help version", NULL },
	{ "type", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "afpPt", NULL, NULL },
	{ "typeset", GRAMMAR_POSIX, 'v', "rxgp", NULL, NULL },
	{ "ulimit", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "SHab:c:d:e:f:i:k:l:m:n:p:q:r:s:t:u:v:x:P:R:T:", NULL, NULL },
	{ "umask", GRAMMAR_POSIX | GRAMMAR_TOTAL, 'b', "pS", NULL, NULL },
	{ "uname", GRAMMAR_TOTAL, '<', "asnrvmpio", "all kernel-name sysname nodename kernel-release release kernel-version machine processor "
	  "hardware-platform operating-system help version", NULL },
	{ "uniq", GRAMMAR_DIGITS, '1', "0123456789Dcdf#is#uw#z", "count repeated all-repeated? group? ignore-case unique skip-fields# skip-chars# "
	  "check-chars# zero-terminated help version", NULL },
	{ "unlink", GRAMMAR_TOTAL, '>', NULL, "help version", NULL },
	{ "unset", GRAMMAR_POSIX, 'i', "fv", NULL, NULL },
	{ "unzip", 0, '>', "pltvd>nojqaLx:", NULL, NULL },
	{ "uptime", GRAMMAR_TOTAL, '<', "phsV", "pretty help since version", NULL },
	{ "users", GRAMMAR_TOTAL, '<', NULL, "help version", NULL },
	{ "vdir", GRAMMAR_TOTAL, '<', "abcdfghiklmnopqrstuvw:xABCDFGHI:LNQRST:UXZ1", "all escape directory dired full-time group-directories-first human-readable inode "
	  "kibibytes numeric-uid-gid no-group hide-control-chars reverse size width# almost-all "
	  "ignore-backups classify? file-type si dereference-command-line "
	  "dereference-command-line-symlink-to-dir hide: ignore: indicator-style: dereference "
	  "literal quote-name quoting-style: recursive format: show-control-chars sort: tabsize# "
	  "time: time-style: zero color? hyperlink? block-size: context author help version", NULL },
	{ "vmstat", GRAMMAR_TOTAL, '<', "afmnsdDp:S:wthVy", "active forks slabs one-header stats disk disk-sum partition: unit: wide timestamp help "
	  "version no-first", NULL },
	{ "wait", GRAMMAR_POSIX, 'b', "fn", NULL, NULL },
	{ "wc", GRAMMAR_TOTAL, '<', "clLmw", "bytes chars lines words debug files0-from< max-line-length help version", NULL },
	{ "wget", 0, ':', "qvcNS46O>P>t#T#U#", "quiet? verbose? no-verbose continue? timestamping? server-response? output-document> "
	  "directory-prefix> tries# timeout# connect-timeout# read-timeout: user-agent: header: "
	  "post-data: post-file: method: body-data: body-file: no-check-certificate show-progress? "
	  "progress: max-redirect: spider? inet4-only? inet6-only? referer: user: password: "
	  "https-only? no-proxy no-cookies compression: limit-rate: help version", NULL },
	{ "whereis", 0, ':', "bmsu", NULL, NULL },
	{ "which", 0, ':', "a", NULL, NULL },
	{ "who", GRAMMAR_TOTAL, '<', "abdlmpqrstuwHT", "all boot count dead heading ips login lookup message mesg process runlevel short time "
	  "users writable help version", NULL },
	{ "whoami", GRAMMAR_TOTAL, '<', NULL, "help version", NULL },
	{ "xargs", GRAMMAR_POSIX, '$', "0a<d:E:I:L#n#P#rs#tx", "null arg-file: delimiter: max-args# max-chars# max-procs# no-run-if-empty verbose exit "
	  "help version", NULL },
	{ "xxd", GRAMMAR_WORDS | GRAMMAR_POSIX, '1', NULL, "a b c# e E g# i l# o: p s# u d h v", NULL },
	{ "xz", 0, '>', "cdzefkltqvT:0123456789", "stdout to-stdout decompress uncompress compress force keep list test quiet verbose "
	  "extreme threads# fast best help version", NULL },
	{ "yes", GRAMMAR_TOTAL, ':', NULL, "help version", NULL },
	{ "zip", 0, '>', "rj0123456789qvx:i:yXDguf", "recurse-paths junk-paths quiet verbose exclude: include: symlinks no-extra", NULL },
};
/* clang-format on */

const size_t grammar_n_rows = ARRAY_SIZE(grammar_rows);
