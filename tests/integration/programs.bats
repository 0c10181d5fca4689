#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that people use run under the default profile: the confinement must not break them.

load ../lib/suite.bash

setup() { suite_setup; }
teardown() { custody_teardown; }

@test "ISO-2: a program linked with glibc, built by gcc inside, runs" {
	cat >hello.c <<-'C'
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static void *child(void *p) { return p; }
		int main(void) {
			pthread_t t;
			if (pthread_create(&t, NULL, child, NULL) || pthread_join(t, NULL)) return 1;
			if (fork() == 0) _exit(0);
			puts("hello from glibc");
			return 0;
		}
	C
	custody_run -- sh -c 'gcc -O2 -o hello hello.c -pthread && ./hello'
	assert_status 0
	assert_output_has "hello from glibc"
	[ ! -e hello ]
}

@test "ISO-2: programs linked with musl run, static and dynamic" {
	printf '#include <stdio.h>\nint main(void){puts("hello from musl");return 0;}\n' >hello.c
	musl-gcc -static -o hello-static hello.c
	custody_run -- ./hello-static
	assert_status 0
	assert_output_has "hello from musl"
	musl-gcc -o hello-dynamic hello.c
	custody_run -- ./hello-dynamic
	assert_status 0
	assert_output_has "hello from musl"
}

@test "ISO-2: a Go program runs: goroutines, timers, child processes" {
	cat >hello.go <<-'GO'
		package main
		import ("fmt"; "os/exec"; "sync"; "time")
		func main() {
			var wg sync.WaitGroup
			for i := 0; i < 50; i++ { wg.Add(1); go func() { defer wg.Done(); time.Sleep(time.Millisecond) }() }
			wg.Wait()
			out, err := exec.Command("/bin/echo", "hello from go").Output()
			if err != nil { panic(err) }
			fmt.Print(string(out))
		}
	GO
	GOCACHE=$CUSTODY_HOME/gocache GO111MODULE=off go build -o hello hello.go
	custody_run -- ./hello
	assert_status 0
	assert_output_has "hello from go"
}

@test "ISO-2: Python runs: threads, child processes, temporary files, sockets on loopback" {
	cat >hello.py <<-'PY'
		import socket, subprocess, tempfile, threading
		t = threading.Thread(target=lambda: None); t.start(); t.join()
		with tempfile.NamedTemporaryFile() as f: f.write(b"x")
		s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
		c = socket.create_connection(s.getsockname()); c.close()
		print("hello from", subprocess.check_output(["echo", "python"], text=True).strip())
	PY
	custody_run -- /usr/bin/python3 hello.py
	assert_status 0
	assert_output_has "hello from python"
}

@test "ISO-2: Node runs: event loop, worker threads, files, child processes" {
	cat >hello.js <<-'JS'
		const { Worker, isMainThread } = require('worker_threads');
		const { execFileSync } = require('child_process');
		if (isMainThread) {
			require('fs').writeFileSync('out.txt', 'x');
			new Worker(__filename).on('exit', () =>
				console.log('hello from', execFileSync('echo', ['node']).toString().trim()));
		}
	JS
	custody_run -- node hello.js
	assert_status 0
	assert_output_has "hello from node"
	[ ! -e out.txt ]
}

@test "ISO-2: Perl runs" {
	custody_run -- perl -MPOSIX -e 'my $p = fork; if (!$p) { exit 3 } waitpid($p, 0); print "hello from perl ", WEXITSTATUS($?), "\n"'
	assert_status 0
	assert_output_has "hello from perl 3"
}

@test "ISO-3: git commits inside and the original stays as it was" {
	git init -q .
	echo one >a
	git add a
	git -c user.name=t -c user.email=t@t commit -qm first
	custody_run -- sh -c 'echo two >>a && git -c user.name=t -c user.email=t@t commit -qam second && git log --oneline | wc -l'
	assert_status 0
	assert_output_has 2
	[ "$(git log --oneline | wc -l)" -eq 1 ]
	[ "$(cat a)" = one ]
}

@test "ISO-3: tar unpacks although the payload is a root without capabilities" {
	mkdir src && echo x >src/f
	tar --owner=4242 --group=4242 -cf src.tar src
	custody_run -- sh -c 'mkdir out && tar -xf src.tar -C out && cat out/src/f'
	assert_status 0
	assert_output_has x
}
