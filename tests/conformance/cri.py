#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the Kubernetes container runtime interface, as small as the scenarios need it.

  cri.py run-pod NAME HANDLER [annotation=NAME=VALUE...]   prints the pod's id
  cri.py create POD NAME [KEY=VALUE...] -- CMD...   prints the container's id; keys: memory, user, readonly, mount=HOST:PATH, tty,
                                           pod=NAME (of its pod), env=NAME=VALUE, image=REFERENCE, attempt=N, annotation=NAME=VALUE,
                                           pod-annotation=NAME=VALUE (of its pod, as the kubelet repeats them)
  cri.py start ID | stop ID SECONDS | rm ID | stop-pod ID | rm-pod ID
  cri.py status ID                         prints STATE EXIT-CODE REASON
  cri.py exec ID -- CMD...                 output and status of the command
  cri.py update ID BYTES                   memory limit of a running container
  cri.py uid NAME                          prints the uid of the pod
  cri.py version

Messages are encoded by hand: (field number, value) pairs; the numbers are those of runtime.v1."""
import os
import sys
import uuid
import grpc

SOCKET = "unix:///run/containerd/containerd.sock"
STATES = ["CREATED", "RUNNING", "EXITED", "UNKNOWN"]
# Namespace mode: the host's, so that no network plug-in is needed; CRI_NETWORK=pod: of the pod (add_network in containerd.bash).
NODE = 0 if os.environ.get("CRI_NETWORK") == "pod" else 2


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, bytes):
            out += varint(number << 3 | 2) + varint(len(value)) + value
        elif value:
            out += varint(number << 3) + varint(int(value))
    return out


def parse(data):
    """{field: [values]}; nested messages stay bytes."""
    fields, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(data):
        key = number()
        if key & 7 == 2:
            size = number()
            value = data[at : at + size]
            at += size
        else:
            value = number()
        fields.setdefault(key >> 3, []).append(value)
    return fields


def call(method, *fields):
    with grpc.insecure_channel(SOCKET) as channel:
        raw = channel.unary_unary("/runtime.v1.RuntimeService/" + method)
        return parse(raw(message(*fields), timeout=30))


def text(fields, number):
    return fields.get(number, [b""])[0].decode("utf-8", "replace")


def annotation(number, value):
    key, _, value_of = value.partition("=")
    return (number, message((1, key), (2, value_of)))


def uid_of(name):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def pod_config(name, options=()):
    namespaces = message((1, NODE))
    annotations = [annotation(7, o.partition("annotation=")[2]) for o in options]
    return message((1, message((1, name), (2, uid_of(name)), (3, "default"))), (3, "/run/suite"), *annotations,
                   (8, message((2, message((1, namespaces))))))


def create(pod, name, options, command):
    image, attempt = message((1, "box.local/box:latest")), 0
    mounts, resources, security, tty, pod_name = [], b"", [(3, message((1, NODE)))], 0, "pod"
    for key, _, value in (o.partition("=") for o in options):
        if key == "memory":
            resources = message((4, int(value)))
        elif key == "user":
            security.append((5, message((1, int(value)))))
        elif key == "readonly":
            security.append((7, 1))
        elif key == "mount":
            host, _, inside = value.partition(":")
            mounts.append((7, message((1, inside), (2, host))))
        elif key == "tty":
            tty = 1
        elif key == "pod":
            pod_name = value
        elif key == "env":
            variable, _, text_of = value.partition("=")
            mounts.append((6, message((1, variable), (2, text_of))))
        elif key == "image":
            image = message((1, value))
        elif key == "attempt":
            attempt = int(value)
        elif key == "annotation":
            mounts.append(annotation(10, value))
    config = message((1, message((1, name), (2, attempt))), (2, image), *[(3, word) for word in command], *mounts,
                     (11, name + ".log"), (14, tty), (15, message((1, resources), (2, message(*security)))))
    notes = [o for o in options if o.startswith("pod-annotation=")]
    return text(call("CreateContainer", (1, pod), (2, config), (3, pod_config(pod_name, notes))), 1)


def main(verb, *args):
    simple = {"start": "StartContainer", "rm": "RemoveContainer", "stop-pod": "StopPodSandbox",
              "rm-pod": "RemovePodSandbox"}
    if verb in simple:
        call(simple[verb], (1, args[0]))
    elif verb == "stop":
        call("StopContainer", (1, args[0]), (2, int(args[1])))
    elif verb == "version":
        print(text(call("Version"), 2))
    elif verb == "uid":
        print(uid_of(args[0]))
    elif verb == "run-pod":
        print(text(call("RunPodSandbox", (1, pod_config(args[0], args[2:])), (2, args[1])), 1))
    elif verb == "create":
        cut = args.index("--")
        print(create(args[0], args[1], args[2:cut], args[cut + 1 :]))
    elif verb == "status":
        status = parse(call("ContainerStatus", (1, args[0]))[1][0])
        print(STATES[status.get(3, [0])[0]], status.get(7, [0])[0], text(status, 10))
    elif verb == "exec":
        cut = args.index("--")
        answer = call("ExecSync", (1, args[0]), *[(2, word) for word in args[cut + 1 :]], (3, 20))
        sys.stdout.write(text(answer, 1))
        sys.stderr.write(text(answer, 2))
        return answer.get(3, [0])[0]
    elif verb == "update":
        call("UpdateContainerResources", (1, args[0]), (2, message((4, int(args[1])))))
    else:
        sys.exit(__doc__)
    return 0


try:
    sys.exit(main(*sys.argv[1:]))
except grpc.RpcError as error:
    sys.exit("cri.py: %s: %s" % (error.code().name, error.details()))
