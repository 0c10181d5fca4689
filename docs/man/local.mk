# Manual pages and completions.  The SYNOPSIS and OPTIONS sections of the pages and the completions come from the command table
# (src/cli/command-table.c); docs/design/options.md.
man_pages = custody-approve.1 custody-bundle.1 custody-call.1 custody-check.1 custody-completion.1 custody-credential.1 custody-df.1 custody-diff.1 custody-doctor.1 \
	custody-evidence.1 custody-exec.1 custody-key.1 custody-ledger.1 custody-mcp.1 custody-migrate.1 custody-profile.1 custody-recover.1 custody-reset.1 \
	custody-run.1 custody-sessions.1 custody-setup.1 custody-profile.5 custody.json.5 custody-runtime.8
# ALIAS=PAGE: commands that share a page.
man_aliases = pending=approve deny=approve grants=approve revoke=approve help=completion version=completion apply=diff \
	discard=diff prune=df pin=key shell=run show=sessions logs=sessions why=sessions stop=sessions

if MANUAL
man_MANS = man/custody-approve.1 man/custody-bundle.1 man/custody-call.1 man/custody-check.1 man/custody-completion.1 man/custody-credential.1 man/custody-df.1 man/custody-diff.1 \
	man/custody-doctor.1 man/custody-evidence.1 man/custody-exec.1 man/custody-key.1 man/custody-ledger.1 man/custody-mcp.1 man/custody-migrate.1 \
	man/custody-profile.1 man/custody-recover.1 man/custody-reset.1 man/custody-run.1 man/custody-sessions.1 man/custody-setup.1 \
	man/custody-profile.5 man/custody.json.5 man/custody-runtime.8 \
	man/custody-pending.1 man/custody-deny.1 man/custody-grants.1 man/custody-revoke.1 man/custody-help.1 \
	man/custody-version.1 man/custody-apply.1 man/custody-discard.1 man/custody-prune.1 man/custody-pin.1 man/custody-shell.1 \
	man/custody-show.1 man/custody-logs.1 man/custody-why.1 man/custody-stop.1
$(man_MANS): man/stamp
endif
CLEANFILES += man/stamp man/*.[158]

# "# custody-run(1)" is a title for readers of Markdown; go-md2man wants "# custody-run 1".
man/stamp: docs/man/local.mk $(man_pages:%=docs/man/%.md)
	$(AM_V_GEN)$(MKDIR_P) man && for page in $(man_pages); do \
		sed -e '/^<!-- .* -->$$/d' -e 's/^# \(.*\)(\([158]\))$$/# \1 \2 "" custody/' $(srcdir)/docs/man/$$page.md >man/$$page.md && \
		$(GO_MD2MAN) -in man/$$page.md -out man/$$page && rm man/$$page.md || exit 1; \
	done && for alias in $(man_aliases); do \
		echo ".so man1/custody-$${alias#*=}.1" >man/custody-$${alias%=*}.1 || exit 1; \
	done && touch $@

# Rewrites docs/man; help.bats fails when the pages differ from the table.
man-sections: custody$(EXEEXT)
	$(srcdir)/docs/man/sections.sh ./custody$(EXEEXT)
.PHONY: man-sections

bash_completiondir = $(datadir)/bash-completion/completions
nodist_bash_completion_DATA = completions/bash/custody
zsh_completiondir = $(datadir)/zsh/site-functions
nodist_zsh_completion_DATA = completions/zsh/_custody
fish_completiondir = $(datadir)/fish/vendor_completions.d
nodist_fish_completion_DATA = completions/fish/custody.fish
completions = $(nodist_bash_completion_DATA) $(nodist_zsh_completion_DATA) $(nodist_fish_completion_DATA)
CLEANFILES += $(completions)

$(completions): custody$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(EMULATOR) ./custody$(EXEEXT) completion $$(basename $(@D)) >$@.new && mv $@.new $@
