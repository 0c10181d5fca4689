# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster of the suite's own: munged, slurmctld and two slurmd on this machine, with the shipped registration.
SLURM=$SUITE/slurm
export SLURM_CONF=$SLURM/slurm.conf
NODES=(n1 n2)

start_slurm() {
	mkdir -p "$SLURM/state" "$SUITE/jobs"
	# Not into the source tree, should a daemon leave a core file.
	cd "$SLURM" || return
	make_image
	name_host
	add_user
	configure_slurm
	make_bundle "$SUITE/bundle"
	launch_munge
	launch_slurmctld
	local node
	for node in "${NODES[@]}"; do launch_slurmd "$node"; done
	until_ok nodes_are_idle || { tail -n 20 "$SLURM"/*.log >&2; return 1; }
}
# A name and an address other than the loopback's: getaddrinfo, which the daemons ask what to listen on, ignores that.
name_host() {
	hostname suite
	ip address add 192.0.2.1/32 dev lo
	printf '%s\n' '127.0.0.1 localhost' '192.0.2.1 suite' >"$SLURM/hosts"
	mount --bind "$SLURM/hosts" /etc/hosts
}
# A user of this sandbox only, whom Slurm finds by name.
USER_ID=12345
add_user() {
	local f
	for f in passwd group; do
		cp "/etc/$f" "$SLURM/$f"
		mount --bind "$SLURM/$f" "/etc/$f"
	done
	echo "tester:x:$USER_ID:$USER_ID::/run/tester:/bin/sh" >>/etc/passwd
	echo "tester:x:$USER_ID:" >>/etc/group
	install -d -m 700 /run/tester
	chown "$USER_ID:$USER_ID" /run/tester
}
configure_slurm() {
	local users=''
	# The line for steps of users, which are governed.
	! governed || users='/^RunTimeRun/d; s/^#\(RunTimeRun=\)/\1/'
	sed "s|/usr/bin/custody-runtime|$RUNTIME|g; $users" "$HERE/../../contrib/slurm/oci.conf" >"$SLURM/oci.conf"
	touch "$SLURM/cgroup.conf"
	cat >"$SLURM_CONF" <<-CONF
		ClusterName=suite
		SlurmctldHost=suite(192.0.2.1)
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$SLURM/munge.socket
		CredType=cred/munge
		StateSaveLocation=$SLURM/state
		SlurmdSpoolDir=$SLURM/spool-%n
		SlurmctldPidFile=$SLURM/slurmctld.pid
		SlurmdPidFile=$SLURM/slurmd-%n.pid
		SlurmctldLogFile=$SLURM/slurmctld.log
		SlurmdLogFile=$SLURM/slurmd-%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		MpiDefault=none
		ReturnToService=2
		KillWait=3
		SchedulerType=sched/builtin
		SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=1000
		SlurmdParameters=config_overrides
		PropagateResourceLimits=NONE
		NodeName=n1 NodeHostname=suite NodeAddr=192.0.2.1 Port=17001 CPUs=8 RealMemory=1000
		NodeName=n2 NodeHostname=suite NodeAddr=192.0.2.1 Port=17002 CPUs=8 RealMemory=1000
		PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
	CONF
}
# make_bundle DIR [VOLUME [UID]]: a bundle of box; Slurm writes the command and the environment of each step into a copy of its
# config.json.  VOLUME is mounted on /data; UID becomes root of a user namespace.
make_bundle() {
	mkdir -p "$1"/{rootfs,upper,work}
	# Layers, as sites mount their images: a governed container of a plain directory is asked each time.
	mount -t overlay -o "lowerdir=$SUITE/box,upperdir=$1/upper,workdir=$1/work" overlay "$1/rootfs"
	jq -n --arg volume "${2:-}" --argjson uid "${3:-null}" '{ociVersion: "1.0.2", root: {path: "rootfs"},
		process: {cwd: "/", args: ["true"], user: {uid: 0, gid: 0}, noNewPrivileges: true},
		mounts: [{destination: "/proc", type: "proc", source: "proc"},
			{destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"]},
			{destination: "/dev/pts", type: "devpts", source: "devpts", options: ["newinstance", "ptmxmode=0666"]},
			{destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev"]},
			({destination: "/data", type: "bind", source: $volume, options: ["rbind"]} | select($volume != ""))],
		linux: ({namespaces: [{type: (["pid", "ipc", "uts", "network", "mount"][], (["user"][] | select($uid)))}]} +
			if $uid then {uidMappings: [{containerID: 0, hostID: $uid, size: 1}], gidMappings: [{containerID: 0, hostID: $uid, size: 1}]}
			else {} end)}' >"$1/config.json"
}
launch_munge() {
	head -c 1024 /dev/urandom >"$SLURM/munge.key"
	chmod 600 "$SLURM/munge.key"
	munged --foreground --key-file "$SLURM/munge.key" --socket "$SLURM/munge.socket" --pid-file "$SLURM/munge.pid" \
		--log-file "$SLURM/munge.log" --seed-file "$SLURM/munge.seed" --num-threads 2 >>"$SLURM/munge.out" 2>&1 3>&- &
	echo $! >"$SLURM/munged.daemon"
	until_ok test -S "$SLURM/munge.socket"
}
launch_slurmctld() {
	slurmctld -D -c >>"$SLURM/slurmctld.out" 2>&1 3>&- &
	echo $! >"$SLURM/slurmctld.daemon"
	until_ok scontrol ping
}
launch_slurmd() { # NODE
	mkdir -p "$SLURM/spool-$1"
	# As systemd starts it: without a home of root's, which is not the user's of a job.
	env -u HOME slurmd -D -N "$1" >>"$SLURM/slurmd-$1.out" 2>&1 3>&- &
	echo $! >"$SLURM/slurmd-$1.daemon"
}
stop_slurmd() { # NODE
	kill "$(cat "$SLURM/slurmd-$1.daemon")"
	until_ok test ! -d "/proc/$(cat "$SLURM/slurmd-$1.daemon")"
}
stop_slurm() {
	local node
	for node in "${NODES[@]}"; do stop_slurmd "$node"; done
	kill "$(cat "$SLURM/slurmctld.daemon")" "$(cat "$SLURM/munged.daemon")"
}
nodes_are_idle() {
	[ "$(sinfo -h -N -t idle -o %N | sort -u | paste -sd ' ')" = "${NODES[*]}" ]
}
