# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A containerd of the suite's own, with the shipped handler pointing at the runtime under test.
SOCKET=/run/containerd/containerd.sock
export CONTAINERD_ADDRESS=$SOCKET

start_containerd() {
	mkdir -p "$SUITE"
	make_image
	sed "s|/usr/bin/custody-runtime|$RUNTIME|" "$HERE/../../contrib/containerd/custody.toml" >"$SUITE/config.toml"
	cat >>"$SUITE/config.toml" <<-CONF
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "box.local/box:latest"
		  # Not every root may lower the score of a process.
		  restrict_oom_score_adj = true
		  disable_apparmor = true
	CONF
	mkdir "$SUITE/bin"
	ln -s "$RUNTIME" "$SUITE/bin/runc"
	launch_containerd
	make_oci_image
	ctr -n default images import "$SUITE/box-oci.tar" >/dev/null
	ctr -n k8s.io images import "$SUITE/box-oci.tar" >/dev/null
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
