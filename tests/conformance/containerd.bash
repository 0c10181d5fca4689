# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A containerd of the suite's own, with the shipped handler pointing at the runtime under test.  containerd 2 gets it as a file of
# version 3; CONTAINERD_CONFIG=2: of version 2, as it is shipped.  Governed, the handler has a profile of its own, by the runtime's
# name: without a network plug-in, pods have the network of this sandbox.
SOCKET=/run/containerd/containerd.sock
export CONTAINERD_ADDRESS=$SOCKET

start_containerd() {
	mkdir -p "$SUITE"
	make_image
	mkdir "$SUITE/bin"
	ln -s "$RUNTIME" "$SUITE/bin/runc"
	HANDLER=$RUNTIME
	if governed; then
		HANDLER=$SUITE/bin/$NAME@pods
		ln -s "$RUNTIME" "$HANDLER"
		mkdir -p /etc/custody/profiles
		cp "$HERE/governed-pods.json" /etc/custody/profiles/pods.json
	fi
	configure_containerd >"$SUITE/config.toml"
	launch_containerd
	make_oci_image
	ctr -n default images import "$SUITE/box-oci.tar" >/dev/null
	ctr -n k8s.io images import "$SUITE/box-oci.tar" >/dev/null
}
containerd_major() {
	containerd --version | sed 's/.* v\{0,1\}\([0-9]*\)\.[0-9].*/\1/'
}
configure_containerd() {
	local shipped=$HERE/../../contrib/containerd/custody.toml cri=io.containerd.grpc.v1.cri cni="bin_dir = \"$SUITE/cni\""
	if [ "$(containerd_major)" = 1 ] || [ "${CONTAINERD_CONFIG:-3}" = 2 ]; then
		sed "s|/usr/bin/custody-runtime|$HANDLER|" "$shipped"
		printf '[plugins."%s"]\nsandbox_image = "box.local/box:latest"\n' "$cri"
	else
		cri=io.containerd.cri.v1.runtime
		sed "s|/usr/bin/custody-runtime|$HANDLER|; s/^version = 2$/version = 3/; s/io\.containerd\.grpc\.v1\.cri/$cri/" "$shipped"
		# containerd 2.1 warns of the other name in each output of ctr.
		cni="bin_dirs = [\"$SUITE/cni\"]"
		printf '[plugins."%s".pinned_images]\nsandbox = "box.local/box:latest"\n[plugins."%s"]\n' io.containerd.cri.v1.images "$cri"
	fi
	# Not every root may lower the score of a process.
	printf '%s\n' 'restrict_oom_score_adj = true' 'disable_apparmor = true'
	printf '[plugins."%s".cni]\n%s\n' "$cri" "$cni"
}
# add_network: a plug-in that answers as if it had configured a network, for pods with a network namespace of their own.
add_network() {
	mkdir -p /etc/cni/net.d "$SUITE/cni"
	echo '{"cniVersion": "0.4.0", "name": "suite", "type": "answer"}' >/etc/cni/net.d/10-suite.conf
	cat >"$SUITE/cni/answer" <<-'PLUGIN'
		#!/bin/sh
		[ "$CNI_COMMAND" != ADD ] || printf '{"cniVersion": "0.4.0", "interfaces": [{"name": "%s", "sandbox": "%s"}],
			"ips": [{"version": "4", "address": "10.9.0.2/24", "interface": 0}]}\n' "$CNI_IFNAME" "$CNI_NETNS"
	PLUGIN
	cp "$SUITE/cni/answer" "$SUITE/cni/loopback"
	chmod 755 "$SUITE/cni"/*
}
launch_containerd() {
	PATH=$SUITE/bin:$PATH containerd --config "$SUITE/config.toml" --root /var/lib/containerd --state /run/containerd \
		--address "$SOCKET" >>"$SUITE/containerd.log" 2>&1 3>&- &
	echo $! >"$SUITE/containerd.pid"
	until_ok ctr version || { tail -n 20 "$SUITE/containerd.log" >&2; return 1; }
}
stop_containerd() {
	kill "$(cat "$SUITE/containerd.pid")"
	until_ok test ! -d "/proc/$(cat "$SUITE/containerd.pid")"
}
# make_oci_image: box.tar as an archive in the layout of `docker save`, which ctr imports.
make_oci_image() {
	local dir=$SUITE/oci diff
	mkdir -p "$dir/layer"
	cp "$SUITE/box.tar" "$dir/layer/layer.tar"
	diff=$(sha256sum "$SUITE/box.tar" | cut -d ' ' -f 1)
	jq -n --arg diff "sha256:$diff" --arg arch "$(dpkg --print-architecture)" '{architecture: $arch, os: "linux",
		config: {Env: ["PATH=/bin"], Cmd: ["ready"]}, rootfs: {type: "layers", diff_ids: [$diff]}}' >"$dir/config.json"
	echo '[{"Config":"config.json","RepoTags":["box.local/box:latest"],"Layers":["layer/layer.tar"]}]' \
		>"$dir/manifest.json"
	tar -C "$dir" -cf "$SUITE/box-oci.tar" manifest.json config.json layer
}
