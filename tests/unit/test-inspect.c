/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/str.h"
#include "inspect/inspect.h"

#include "tap.h"

/*
 * A row is one text, path or change and the rule that it must find; NONE: none.  AGAINST: of a row that finds nothing, the rule that is
 * near it.  Each rule needs a row that finds it and one that does not.  Literals are cut in two, so that no scanner finds them here.
 */
#define NONE _INSPECT_RULE_MAX
#define R20 "aB3dE5fG7hJ9kL1mN2pQ"
#define R36 R20 "4rS6tU8vW0xY1zA2"
#define R48 R36 "cD4eF6gH8iJ0"
#define R64 R36 "cD4eF6gH8iJ0kL2mN4oP6qR8sT0u"
#define H32 "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define H64 H32 "1f2e3d4c5b6a79880796a5b4c3d2e1f0"
#define BODY "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
#define SECRET "correct-horse-battery-staple"

enum kind { TEXT, PARAMS, PATH, CONTENT };

/* clang-format off */
static const struct row {
	enum kind kind;
	enum inspect_rule rule, against;
	const char *text; /* of CONTENT, the name of the file is behind it: "TEXT\1NAME" */
} rows[] = {
	{ TEXT, INSPECT_SECRET_KNOWN, NONE, "the value is " SECRET "." },
	{ TEXT, NONE, INSPECT_SECRET_KNOWN, "the value is correct-horse-battery." },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "-----BEGIN PRIVATE" " KEY-----\n" BODY "\n" },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "\"key\":\"-----BEGIN RSA PRIVATE" " KEY-----\\n" BODY "\\n" },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "-----BEGIN OPENSSH PRIVATE" " KEY-----\n" BODY },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "-----BEGIN PGP PRIVATE" " KEY BLOCK-----\nVersion: 1\n\n" BODY },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "-----BEGIN RSA PRIVATE" " KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" BODY },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUZBQVNDQktjd2dnU2pBZ0VB" },
	{ TEXT, INSPECT_SECRET_PEM, NONE, "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlC\n  QURBTkJna3Foa2lHOXcwQkFRRUZBQVNDQktjd2dnU2pBZ0VB\n" },
	{ TEXT, NONE, INSPECT_SECRET_PEM, "a key begins with -----BEGIN PRIVATE" " KEY----- and ends with -----END PRIVATE" " KEY-----" },
	{ TEXT, NONE, INSPECT_SECRET_PEM, "-----BEGIN PUBLIC KEY-----\n" BODY },
	{ TEXT, INSPECT_SECRET_KEY_FILE, NONE, "PuTTY-User-Key-File" "-3: ssh-ed25519\nPrivate-Lines: 1\n" BODY "\n" },
	{ TEXT, INSPECT_SECRET_KEY_FILE, NONE, "AGE-SECRET-KEY" "-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE" },
	{ TEXT, NONE, INSPECT_SECRET_KEY_FILE, "PuTTY-User-Key-File" "-3: ssh-ed25519\nPublic-Lines: 2\n" BODY "\n" },
	{ TEXT, INSPECT_SECRET_ANTHROPIC, NONE, "sk-ant" "-api03-" R64 "-_" R20 },
	{ TEXT, NONE, INSPECT_SECRET_ANTHROPIC, "sk-ant" "-api03-..." },
	{ TEXT, INSPECT_SECRET_AWS, NONE, "AKIA" "Q3EGRX7TLNW5PZ2K" },
	{ TEXT, NONE, INSPECT_SECRET_AWS, "AKIA" "IOSFODNN7EXAMPLE" },
	{ TEXT, NONE, INSPECT_SECRET_AWS, "AKIA" "Q3EGRX7TLNW5PZ2KAAAA" },
	{ TEXT, INSPECT_SECRET_AZURE, NONE, "AccountName=x;Account" "Key=" R64 R20 "Ab==;EndpointSuffix=" },
	{ TEXT, INSPECT_SECRET_AZURE, NONE, "abc8" "Q~" "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z" },
	{ TEXT, INSPECT_SECRET_AZURE, NONE, "https://x.blob.core.windows.net/c?sv=2020&s" "ig=aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2cD4eF6g%3D" },
	{ TEXT, NONE, INSPECT_SECRET_AZURE, "AccountName=x;Account" "Key=;EndpointSuffix=" },
	{ TEXT, INSPECT_SECRET_CLOUD, NONE, "dop" "_v1_" H64 },
	{ TEXT, INSPECT_SECRET_CLOUD, NONE, "aB3dE5fG7hJ9kL.atlas" "v1." R64 },
	{ TEXT, NONE, INSPECT_SECRET_CLOUD, "dop" "_v1_" H32 },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "token ghp" "_" R36 "\n" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "github" "_pat_11" R20 "_" R36 },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "x\\nghs" "_" R36 "\\n" },
	{ TEXT, NONE, INSPECT_SECRET_GITHUB, "ghp" "_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" },
	{ TEXT, NONE, INSPECT_SECRET_GITHUB, "roughp" "_" R36 },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "YSB0ZXh0IGJlZm9yZSBp\ndCBnaHBfYUIzZEU1Zkc3\naEo5a0wxbU4ycFE0clM2\ndFU4dlcweFkxekEyIGFu\nZCBiZWhpbmQ=" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "data: YSB0ZXh0IGJlZm9yZSBpdCBn\n  aHBfYUIzZEU1Zkc3aEo5a0wx\n  bU4ycFE0clM2dFU4dlcweFkx\n  ekEyIGFuZCBiZWhpbmQ=" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, R64 R20 R20 "a\nYSB0ZXh0IGJlZm9yZSBpdCBnaHBfYUIzZEU1Zkc3aEo5a0wxbU4ycFE0clM2dFU4dlcweFkxekEyIGFuZCBiZWhpbmQ=\n" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, R20 R20 "aB3\nYSB0ZXh0IGJlZm9yZSBpdCBnaHBfYUIzZEU1Zkc3aEo5a0wxbU4ycFE0clM2dFU4dlcweFkxekEyIGFuZCBiZWhpbmQ=\n" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "6768705f614233644535664737684a396b4c316d4e327051347253367455\n387657307859317a4132\n" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "67 68 70 5f 61 42 33 64 45 35 66 47 37 68 4a 39 6b 4c 31 6d 4e 32 70 51 34 72 53 36 74 55 38 76 57 30 78 59 31 7a 41 32" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "67:68:70:5F:61:42:33:64:45:35:66:47:37:68:4A:39:6B:4C:31:6D:4E:32:70:51:34:72:53:36:74:55:38:76:57:30:78:59:31:7A:41:32" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "{ 0x67, 0x68, 0x70, 0x5f, 0x61, 0x42, 0x33, 0x64, 0x45, 0x35, 0x66, 0x47, 0x37, 0x68, 0x4a, 0x39, 0x6b, 0x4c, 0x31, 0x6d, 0x4e, 0x32, 0x70, 0x51, 0x34, 0x72, 0x53, 0x36, 0x74, 0x55, 0x38, 0x76, 0x57, 0x30, 0x78, 0x59, 0x31, 0x7a, 0x41, 0x32 }" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "YQAgAGcAaABwAF8AYQBCADMAZABFADUAZgBHADcAaABKADkAawBMADEAbQBOADIAcABRADQAcgBTADYAdABVADgAdgBXADAAeABZADEAegBBADIAIABiAA==" },
	{ TEXT, INSPECT_SECRET_GITHUB, NONE, "AGEAIABnAGgAcABfAGEAQgAzAGQARQA1AGYARwA3AGgASgA5AGsATAAxAG0ATgAyAHAAUQA0AHIAUwA2AHQAVQA4AHYAVwAwAHgAWQAxAHoAQQAyACAAYg==" },
	{ TEXT, NONE, INSPECT_SECRET_GITHUB, "the faded cafe be de ad 0x12, 0x34 00:11:22:33:44:55 " H64 "\n" H64 },
	{ TEXT, INSPECT_SECRET_GITLAB, NONE, "glpat" "-" R20 },
	{ TEXT, NONE, INSPECT_SECRET_GITLAB, "glpat" "-short" },
	{ TEXT, INSPECT_SECRET_GOOGLE, NONE, "AIza" R20 "4rS6tU8vW0xY1zA" },
	{ TEXT, INSPECT_SECRET_GOOGLE, NONE, "GOCSPX" "-" R20 "4rS6tU8v" },
	{ TEXT, NONE, INSPECT_SECRET_GOOGLE, "AIza" R64 },
	{ TEXT, INSPECT_SECRET_HUGGINGFACE, NONE, "hf" "_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH" },
	{ TEXT, NONE, INSPECT_SECRET_HUGGINGFACE, "hf" "_hub_download_from_the_repository_x" },
	{ TEXT, INSPECT_SECRET_JWT, NONE, "eyJhbGciOi" "JIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2cD4eF6g" },
	{ TEXT, NONE, INSPECT_SECRET_JWT, "eyJhbGciOi" "JIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.signature" },
	{ TEXT, INSPECT_SECRET_NPM, NONE, "//npm.example.org/:_authToken=npm" "_" R36 },
	{ TEXT, NONE, INSPECT_SECRET_NPM, "npm" "_config_registry" },
	{ TEXT, NONE, INSPECT_SECRET_NPM, "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"" },
	{ TEXT, INSPECT_SECRET_OPENAI, NONE, "sk-proj" "-" R64 "_" R36 },
	{ TEXT, INSPECT_SECRET_OPENAI, NONE, "sk-" R48 },
	{ TEXT, NONE, INSPECT_SECRET_OPENAI, "sk-" "and-a-name-of-several-words-and-a-number-3" },
	{ TEXT, INSPECT_SECRET_PYPI, NONE, "pypi" "-AgEIcHlwaS5vcmc" R64 },
	{ TEXT, NONE, INSPECT_SECRET_PYPI, "pypi" "-publish" },
	{ TEXT, INSPECT_SECRET_SERVICE, NONE, "SG" ".aB3dE5fG7hJ9kL1mN2pQ4r.S6tU8vW0xY1zA2cD4eF6gH8iJ0kL2mN4oP6qR8sT0uV" },
	{ TEXT, INSPECT_SECRET_SERVICE, NONE, "12345678:AA" "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1" },
	{ TEXT, INSPECT_SECRET_SERVICE, NONE, "dckr" "_pat_" R20 "4rS6tU8" },
	{ TEXT, NONE, INSPECT_SECRET_SERVICE, "SG" ".short" },
	{ TEXT, INSPECT_SECRET_SLACK, NONE, "xoxb" "-123456789012-" R20 },
	{ TEXT, INSPECT_SECRET_SLACK, NONE, "https://hooks.slack" ".com/services/T0AB1CD2E/B0AB1CD2E/" R20 "4rS6" },
	{ TEXT, NONE, INSPECT_SECRET_SLACK, "xoxb" "-your-token" },
	{ TEXT, INSPECT_SECRET_STRIPE, NONE, "sk_live" "_" R20 "4rS6" },
	{ TEXT, NONE, INSPECT_SECRET_STRIPE, "pk_live" "_" R20 "4rS6" },
	{ TEXT, INSPECT_SECRET_VAULT, NONE, "hvs" ".CAESI" R48 },
	{ TEXT, NONE, INSPECT_SECRET_VAULT, "hvs" ".token" },
	{ TEXT, INSPECT_SECRET_URL, NONE, "https://bob:" "hunter2-77@example.org/x" },
	{ TEXT, INSPECT_SECRET_URL, NONE, "postgres://bob:" "p%40ss7word@db:5432/x" },
	{ TEXT, INSPECT_SECRET_URL, NONE, "\"https:\\/\\/bob:" "hunter2-77@example.org\\/x\"" },
	{ TEXT, INSPECT_SECRET_URL, NONE, "https%3A%2F%2Fbob%3A" "hunter2-77%40example.org" },
	{ TEXT, NONE, INSPECT_SECRET_URL, "https://user:password@example.org/ https://$U:$PW@example.org git@example.org:x/y https://bob@example.org:80/" },
	{ TEXT, NONE, INSPECT_SECRET_URL, "http://[::1]:80/ http://h:80/@scope/name" },
	{ TEXT, INSPECT_SECRET_HEADER, NONE, "Authorization: Bearer " R36 },
	{ TEXT, INSPECT_SECRET_HEADER, NONE, "Authorization: Basic " "Ym9iOmh1bnRlcjItNzc=" },
	{ TEXT, NONE, INSPECT_SECRET_HEADER, "Authorization: Bearer your-access-token-goes-here" },
	{ TEXT, NONE, INSPECT_SECRET_HEADER, "Basic understanding of everything" },
	{ TEXT, INSPECT_SECRET_ENTROPY, NONE, "api_token = \"" R36 "\"" },
	{ TEXT, INSPECT_SECRET_ENTROPY, NONE, "{\"client_secret\":\"" R36 "\"}" },
	{ TEXT, INSPECT_SECRET_ENTROPY, NONE, "DB_PASSWORD=" H32 },
	{ PARAMS, INSPECT_SECRET_ENTROPY, NONE, "{\"api_key\":\"" R36 "\"}" },
	{ TEXT, NONE, INSPECT_SECRET_ENTROPY, "commit " H32 "01234567 sha256:" H64 },
	{ TEXT, NONE, INSPECT_SECRET_ENTROPY, "token_hash = " H64 ", \"integrity\": \"sha512-" R64 "==\"" },
	{ TEXT, NONE, INSPECT_SECRET_ENTROPY, "password = get_password_from_the_keyring_2" },
	{ TEXT, NONE, INSPECT_SECRET_ENTROPY, "secret_id: 550e8400-e29b-41d4-a716-446655440000, token_uri: " R36 },
	{ PARAMS, NONE, INSPECT_SECRET_ENTROPY, "{\"sha\":\"" H32 "01234567\",\"text\":\"" R36 "\"}" },
	{ TEXT, INSPECT_PROC_ENVIRON, NONE, "HOME=/root\nLANG=C\nLOGNAME=root\nPATH=/bin\nPWD=/\nSHELL=/bin/sh\nUSER=root\nX=1\n" },
	{ TEXT, INSPECT_PROC_ENVIRON, NONE, "SE9NRT0vcm9vdABQQVRIPS9iaW4AVVNFUj1yb290AA==" },
	{ TEXT, NONE, INSPECT_PROC_ENVIRON, "CC=gcc\nCFLAGS=-O2\nLDFLAGS=\nPREFIX=/usr\nPATH=/bin\nA=1\nB=2\nC=3\nD=4\n" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"path\":\"/proc/self/environ\"}" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"cmd\":\"cat /proc/12/task/12/environ | base64\"}" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"cmd\":\"cat /proc//1//mem\"}" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"path\":\"/proc/self/./././././environ\"}" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"path\":\"/proc/self/task/../task/../environ\"}" },
	{ PARAMS, INSPECT_PROC_PATH, NONE, "{\"path\":\"/proc/%73elf/environ\"}" },
	{ PARAMS, NONE, INSPECT_PROC_PATH, "{\"path\":\"/proc/self/status\",\"text\":\"/proc/meminfo environment\"}" },
	{ TEXT, NONE, INSPECT_PROC_PATH, "read /proc/self/environ with open()" },
	{ TEXT, NONE, INSPECT_LINE_LONG, "a line\n" },
	{ TEXT, NONE, INSPECT_TEXT_LARGE, "a text" },
	{ PATH, INSPECT_PATH_FORM, NONE, "../x" },
	{ PATH, INSPECT_PATH_FORM, NONE, "/etc/passwd" },
	{ PATH, INSPECT_PATH_FORM, NONE, "a//b" },
	{ PATH, INSPECT_PATH_FORM, NONE, "a\033[2Jb" },
	{ PATH, INSPECT_PATH_FORM, NONE, "a\xe2\x80\xae" "b" },
	{ PATH, INSPECT_PATH_FORM, NONE, "a\\b" },
	{ PATH, NONE, INSPECT_PATH_FORM, "src/a b/\xff\xfe/\xc3\xa9..x" },
	{ PATH, INSPECT_PATH_GIT, NONE, ".git/config" },
	{ PATH, INSPECT_PATH_GIT, NONE, "sub/.GiT/config" },
	{ PATH, INSPECT_PATH_GIT, NONE, ".git. /config" },
	{ PATH, INSPECT_PATH_GIT, NONE, "GIT~1/config" },
	{ PATH, NONE, INSPECT_PATH_GIT, ".gitignore" },
	{ PATH, INSPECT_PATH_GIT_HOOK, NONE, ".git/hooks/pre-commit" },
	{ PATH, INSPECT_PATH_GIT_HOOK, NONE, ".husky/pre-push" },
	{ PATH, INSPECT_PATH_GIT_HOOK, NONE, "contrib/hooks/post-checkout" },
	{ PARAMS, INSPECT_PATH_GIT_HOOK, NONE, "{\"path\":\"hooks//pre-commit\"}" },
	{ PARAMS, INSPECT_PATH_GIT_HOOK, NONE, "{\"path\":\"x/hooks/./y/../update\"}" },
	{ PARAMS, NONE, INSPECT_PATH_GIT_HOOK, "{\"path\":\"hooks/../update\",\"kind\":\"update\"}" },
	{ PATH, NONE, INSPECT_PATH_GIT_HOOK, "src/hooks/use-pre-commit.ts" },
	{ PATH, INSPECT_PATH_SSH, NONE, "home/.ssh/config" },
	{ PATH, INSPECT_PATH_SSH, NONE, "keys/ID_RSA" },
	{ PATH, NONE, INSPECT_PATH_SSH, "keys/id_rsa.pub" },
	{ PARAMS, INSPECT_PATH_SSH, NONE, "{\"file\":\"/home/bob/.ssh/id_ed25519\"}" },
	{ PARAMS, INSPECT_PATH_SSH, NONE, "{\"path\":\"file:///root/%2Essh%2fid_rsa\"}" },
	{ PARAMS, INSPECT_PATH_SSH, NONE, "{\"path\":\"/a b/.ssh/id_rsa\"}" },
	{ PARAMS, INSPECT_PATH_SSH, NONE, "{\"path\":\" x/.ssh/id_rsa\\t\"}" },
	{ PARAMS, INSPECT_PATH_SSH, NONE, "{\"path\":\"id_rsa\"}" },
	{ PARAMS, NONE, INSPECT_PATH_SSH, "{\"text\":\"how to use .ssh/config\"}" },
	{ PATH, INSPECT_PATH_ENV, NONE, "app/.env" },
	{ PATH, INSPECT_PATH_ENV, NONE, ".env.production" },
	{ PATH, NONE, INSPECT_PATH_ENV, ".env.example" },
	{ PATH, INSPECT_PATH_CREDENTIALS, NONE, ".aws/credentials" },
	{ PATH, INSPECT_PATH_CREDENTIALS, NONE, ".docker/config.json" },
	{ PARAMS, INSPECT_PATH_CREDENTIALS, NONE, "{\"path\":\"/home/bob/.docker//config.json\"}" },
	{ PARAMS, INSPECT_PATH_CREDENTIALS, NONE, "{\"path\":\"/home/bob/.docker/./config.json\"}" },
	{ PARAMS, INSPECT_PATH_CREDENTIALS, NONE, "{\"path\":\".docker/x/../config.json\"}" },
	{ PARAMS, INSPECT_PATH_CREDENTIALS, NONE, "{\"path\":\"/etc/./shadow\"}" },
	{ PATH, NONE, INSPECT_PATH_CREDENTIALS, "docker/config.json" },
	{ PATH, INSPECT_PATH_KEY, NONE, "release.keystore" },
	{ PARAMS, INSPECT_PATH_KEY, NONE, "{\"path\":\"server.p12\"}" },
	{ PATH, NONE, INSPECT_PATH_KEY, "keystore.c" },
	{ PATH, INSPECT_PATH_CUSTODY, NONE, "var/lib/custody/sandbox/digest.key" },
	{ PARAMS, INSPECT_PATH_CUSTODY, NONE, "{\"f\":\"/run/custody/token\"}" },
	{ PARAMS, INSPECT_PATH_CUSTODY, NONE, "{\"path\":\"/run//custody/token\"}" },
	{ PARAMS, INSPECT_PATH_CUSTODY, NONE, "{\"path\":\"/run/x/../custody/broker.sock\"}" },
	{ PATH, NONE, INSPECT_PATH_CUSTODY, "docs/custody.md" },
	{ PATH, INSPECT_PATH_CI, NONE, ".github/workflows/ci.yml" },
	{ PARAMS, INSPECT_PATH_CI, NONE, "{\"path\":\".github/./workflows/x.yml\"}" },
	{ PATH, NONE, INSPECT_PATH_CI, ".github/ISSUE_TEMPLATE/bug.md" },
	{ CONTENT, INSPECT_CHANGE_GITATTRIBUTES, NONE, "*.bin filter=x\1sub/.gitattributes" },
	{ CONTENT, INSPECT_CHANGE_GITATTRIBUTES, NONE, "*.c text\n*.h\tdiff=x\n\1.gitattributes" },
	{ CONTENT, NONE, INSPECT_CHANGE_GITATTRIBUTES, "*.c text eol=lf -diff\n\1.gitattributes" },
	{ CONTENT, NONE, INSPECT_CHANGE_GITATTRIBUTES, "*.bin filter=x\1README" },
};

static const struct change {
	enum inspect_rule rule, against;
	struct inspect_change change;
	const char *content; /* NULL: none */
} changes[] = {
	{ NONE, INSPECT_MODE_SYMLINK, { 'A', NULL, "a", 0, 0100644, NULL }, "text" },
	{ INSPECT_MODE_SYMLINK, NONE, { 'A', NULL, "a", 0, 0120000, NULL }, "b" },
	{ INSPECT_MODE_SYMLINK, NONE, { 'T', NULL, "a", 0100644, 0120000, NULL }, "b" },
	{ INSPECT_MODE_SYMLINK_OUTSIDE, NONE, { 'A', NULL, "a/b", 0, 0120000, NULL }, "../../c" },
	{ INSPECT_MODE_SYMLINK_OUTSIDE, NONE, { 'A', NULL, "a/b", 0, 0120000, NULL }, "/etc/passwd" },
	{ INSPECT_MODE_SYMLINK, INSPECT_MODE_SYMLINK_OUTSIDE, { 'A', NULL, "a/b", 0, 0120000, NULL }, "../c/./d" },
	{ INSPECT_PATH_SSH, NONE, { 'A', NULL, "a", 0, 0120000, NULL }, "/root/.ssh/id_rsa" },
	{ INSPECT_PROC_PATH, NONE, { 'A', NULL, "a", 0, 0120000, NULL }, "/proc/1/environ" },
	{ INSPECT_MODE_EXECUTABLE, NONE, { 'A', NULL, "a", 0, 0100755, NULL }, NULL },
	{ INSPECT_MODE_EXECUTABLE, NONE, { 'M', NULL, "a", 0100644, 0100755, NULL }, NULL },
	{ INSPECT_MODE_EXECUTABLE, NONE, { 'T', NULL, "a", 0120000, 0100755, NULL }, NULL },
	{ NONE, INSPECT_MODE_EXECUTABLE, { 'M', NULL, "a", 0100755, 0100755, NULL }, NULL },
	{ NONE, INSPECT_MODE_EXECUTABLE, { 'M', NULL, "a", 0100755, 0100644, NULL }, NULL },
	{ INSPECT_MODE_SET_ID, NONE, { 'M', NULL, "a", 0100644, 0104644, NULL }, NULL },
	{ NONE, INSPECT_MODE_SET_ID, { 'M', NULL, "a", 0104755, 0100755, NULL }, NULL },
	{ INSPECT_MODE_UNKNOWN, NONE, { 'A', NULL, "a", 0, 0100777, NULL }, NULL },
	{ INSPECT_MODE_UNKNOWN, NONE, { 'A', NULL, "a", 0, 040000, NULL }, NULL },
	{ INSPECT_MODE_UNKNOWN, NONE, { 'A', NULL, "a", 0, 0, NULL }, NULL },
	{ NONE, INSPECT_MODE_UNKNOWN, { 'D', NULL, "a", 0100644, 0, NULL }, NULL },
	{ INSPECT_CHANGE_SUBMODULE, NONE, { 'A', NULL, "a", 0, 0160000, NULL }, NULL },
	{ INSPECT_CHANGE_SUBMODULE, NONE, { 'M', NULL, ".GITMODULES", 0100644, 0100644, NULL }, NULL },
	{ NONE, INSPECT_CHANGE_SUBMODULE, { 'M', NULL, "gitmodules", 0100644, 0100644, NULL }, NULL },
	{ INSPECT_CHANGE_UNKNOWN, NONE, { 'X', NULL, "a", 0, 0100644, NULL }, NULL },
	{ INSPECT_CHANGE_UNKNOWN, NONE, { 'R', NULL, "a", 0100644, 0100644, NULL }, NULL },
	{ INSPECT_CHANGE_UNKNOWN, NONE, { 'M', "b", "a", 0100644, 0100644, NULL }, NULL },
	{ NONE, INSPECT_CHANGE_UNKNOWN, { 'R', "b", "a", 0100644, 0100644, NULL }, NULL },
	{ INSPECT_PATH_ENV, NONE, { 'R', ".env", "notes", 0100644, 0100644, NULL }, NULL },
	{ INSPECT_PATH_ENV, NONE, { 'R', "notes", ".env", 0100644, 0100644, NULL }, NULL },
	{ NONE, INSPECT_PATH_ENV, { 'D', NULL, ".env", 0100644, 0, NULL }, NULL },
	{ INSPECT_PATH_FORM, NONE, { 'D', NULL, "../a", 0100644, 0, NULL }, NULL },
	{ INSPECT_SECRET_GITHUB, NONE, { 'A', NULL, "ghp" "_" R36, 0, 0100644, NULL }, NULL },
	{ INSPECT_SECRET_GITHUB, NONE, { 'M', NULL, "a", 0100644, 0100644, NULL }, "ghp" "_" R36 },
};
/* clang-format on */

static const struct redact_secret known = { SECRET, sizeof(SECRET) - 1 };
static const struct inspect_options options = { .secrets = &known, .n_secrets = 1 };

static bool has(const struct inspect_found *found, enum inspect_rule rule)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->items[i].rule == rule)
			return true;
	return false;
}

static void inspect_row(const struct row *r, struct inspect_found *found)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	const char *name = strchr(r->text, '\1');
	const struct inspect_change change = { .status = 'A', .path = name ? name + 1 : "", .mode = 0100644 };

	if (r->kind == TEXT)
		inspect_text("text", r->text, strlen(r->text), found);
	else if (r->kind == PATH)
		inspect_path(r->text, strlen(r->text), found);
	else if (r->kind == CONTENT)
		inspect_content(&change, r->text, (size_t)(name - r->text), found);
	else if (jdoc_parse(r->text, strlen(r->text), "params", NULL, &d, NULL) == 0)
		inspect_params(d, found);
}

static bool judge(const char *text, enum inspect_rule rule, enum inspect_rule against,
		  const struct inspect_found *found)
{
	bool ok = rule == NONE ? found->total == 0 : has(found, rule) && !has(found, against);

	if (!ok)
		printf("# '%s' finds %s, not %s\n", text,
		       found->n > 0 ? inspect_rule_name(found->items[0].rule) : "nothing",
		       rule == NONE ? "nothing" : inspect_rule_name(rule));
	return ok;
}

static void ISO_10_each_rule_finds_its_rows_and_no_other(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_inspect_found_ struct inspect_found found = { .options = &options };

		inspect_row(&rows[i], &found);
		ok = judge(rows[i].text, rows[i].rule, rows[i].against, &found) && ok;
	}
	CHECK(ok);
}

static void ISO_11_each_kind_of_change_is_seen(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const struct change *c = &changes[i];
		_cleanup_inspect_found_ struct inspect_found found = { .options = &options };

		inspect_change(&c->change, &found);
		if (c->content)
			inspect_content(&c->change, c->content, strlen(c->content), &found);
		ok = judge(c->change.path, c->rule, c->against, &found) && ok;
	}
	CHECK(ok);
}

/* These two need texts that are no literals; the other tests of this file have them. */
static bool is_made(enum inspect_rule r)
{
	return r == INSPECT_LINE_LONG || r == INSPECT_TEXT_LARGE;
}

static void every_rule_has_a_row_for_and_one_against_it(void)
{
	bool found[_INSPECT_RULE_MAX + 1] = { false }, spared[_INSPECT_RULE_MAX + 1] = { false };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		found[rows[i].rule] = true;
		spared[rows[i].against] = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		found[changes[i].rule] = true;
		spared[changes[i].against] = true;
	}
	for (enum inspect_rule r = 0; r < _INSPECT_RULE_MAX; r++) {
		if ((!found[r] && !is_made(r)) || !spared[r])
			printf("# %s\n", inspect_rule_name(r));
		CHECK((found[r] || is_made(r)) && spared[r]);
	}
}

static void long_lines_and_large_texts_are_found(void)
{
	const size_t len = INSPECT_TEXT_MAX + 1;
	_cleanup_free_ char *text = malloc(len);
	_cleanup_inspect_found_ struct inspect_found line = { 0 }, lines = { 0 }, large = { 0 };

	CHECK(text);
	memset(text, 'a', len);
	inspect_text("x", text, 20001, &line);
	CHECK(line.total == 1 && has(&line, INSPECT_LINE_LONG));
	for (size_t i = 20000; i < len; i += 20001)
		text[i] = '\n';
	inspect_text("x", text, 100000, &lines);
	CHECK(lines.total == 0);
	for (size_t i = 99; i < len; i += 100)
		text[i] = '\n';
	inspect_text("x", text, len, &large);
	CHECK(large.total == 1 && has(&large, INSPECT_TEXT_LARGE));
}

static void an_environment_of_proc_is_found(void)
{
	static const char env[] = "X=1\0HOME=/root\0NAME=value with blanks\0";
	static const char data[] = "a=b\0c\0PATH=\0\0d=e\0f=g";
	_cleanup_inspect_found_ struct inspect_found found = { 0 }, none = { 0 };

	inspect_text("x", env, sizeof(env) - 1, &found);
	CHECK(found.total == 1 && has(&found, INSPECT_PROC_ENVIRON));
	inspect_text("x", data, sizeof(data) - 1, &none);
	CHECK(none.total == 0);
}

/* Every text that is found is found in UTF-16 of both byte orders, but for an environment, and none that is spared. */
static void ISO_11_a_text_of_utf_16_is_inspected(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t len = strlen(rows[i].text);

		if (rows[i].kind != TEXT || rows[i].rule == INSPECT_PROC_ENVIRON)
			continue;
		for (size_t order = 0; order < 2; order++) {
			_cleanup_inspect_found_ struct inspect_found found = { .options = &options };
			_cleanup_free_ char *wide = calloc(2, len + 2);

			CHECK(wide);
			memcpy(wide, order ? "\xfe\xff" : "\xff\xfe", 2);
			for (size_t k = 0; k < len; k++)
				wide[2 + 2 * k + order] = rows[i].text[k];
			inspect_text("x", wide, 2 * len + 2, &found);
			if (rows[i].rule == NONE ? found.total > 0 : !has(&found, rows[i].rule))
				printf("# %s\n", rows[i].text);
			CHECK(rows[i].rule == NONE ? found.total == 0 : has(&found, rows[i].rule));
		}
	}
}

TAP_MAIN(T(ISO_10_each_rule_finds_its_rows_and_no_other), T(ISO_11_each_kind_of_change_is_seen),
	 T(every_rule_has_a_row_for_and_one_against_it), T(long_lines_and_large_texts_are_found),
	 T(an_environment_of_proc_is_found), T(ISO_11_a_text_of_utf_16_is_inspected))
