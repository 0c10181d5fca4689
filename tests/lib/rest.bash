# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A certification authority and TLS servers of one test, on loopback.

# rest_ca DIR NAME: DIR/NAME.crt and .key.
rest_ca() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1/$2.key" -out "$1/$2.crt" -days 2 \
		-subj "/CN=$2" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null
}

# rest_cert DIR NAME CA SAN [END]: a certificate for SAN, such as DNS:localhost, valid until END (YYYYMMDDHHMMSSZ).
rest_cert() {
	local d=$1 name=$2 ca=$3 san=$4 end=${5:-20991231235959Z}
	mkdir -p "$d/$name.issue" && : >"$d/$name.issue/index" || return
	printf '%s\n' '[ca]' 'default_ca = d' '[d]' "database = $d/$name.issue/index" "new_certs_dir = $d/$name.issue" \
		'default_md = sha256' 'policy = p' 'rand_serial = yes' 'x509_extensions = x' '[p]' 'commonName = supplied' \
		'[x]' "subjectAltName = $san" >"$d/$name.conf"
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$d/$name.key" -subj "/CN=$name" \
		-out "$d/$name.csr" 2>/dev/null &&
		openssl ca -batch -notext -config "$d/$name.conf" -cert "$d/$ca.crt" -keyfile "$d/$ca.key" -in "$d/$name.csr" \
			-out "$d/$name.crt" -startdate 20200101000000Z -enddate "$end" 2>/dev/null
}

# rest_servers DIR NAME...: starts them; PORT[NAME], REST_PID.
# shellcheck disable=SC2034 # PORT is for the tests
rest_servers() {
	local ports name i=0
	exec {REST_FD}< <(exec python3 -B "${BASH_SOURCE[0]%/*}/rest_server.py" "$@" 2>/dev/null 3>&-)
	REST_PID=$!
	read -r -a ports <&"$REST_FD" || return
	shift
	declare -gA PORT=()
	for name in "$@"; do
		PORT[$name]=${ports[$i]}
		i=$((i + 1))
	done
}

rest_stop() {
	[ -z "${REST_PID:-}" ] || kill "$REST_PID" 2>/dev/null || true
}
