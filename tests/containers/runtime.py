#!/usr/bin/env python3
"""Weir in containers that a runtime makes: namespaces, capabilities, masked files, a read-only root
and the filter of system calls as Docker and podman give them to a runtime.

usage: runtime.py BUILD RUNTIME PROFILE USER      RUNTIME: crun, runc; PROFILE: docker, podman;
                                                  USER: a number
       runtime.py BUILD --table                   rows of docs/COMPATIBILITY.md, for all of them

tests/containers/setup brings runtimes and profiles. The container's root holds this system's
libraries and commands; what is asked is what run.py asks of imitated containers."""
import functools
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import verdicts

PROFILES = pathlib.Path(__file__).resolve().parents[2] / ".deps" / "containers"
NAMES = {"docker": "Docker", "podman": "podman"}
# What Docker and podman leave to a container.
CAPABILITIES = ["CAP_" + one for one in (
    "CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE "
    "SYS_CHROOT KILL AUDIT_WRITE").split()]
CAPABILITIES_OF = {"docker": CAPABILITIES,
                   "podman": [one for one in CAPABILITIES if one not in
                              ("CAP_MKNOD", "CAP_NET_RAW", "CAP_AUDIT_WRITE")]}


def applies(rule):
    """Whether a rule is for this processor and these capabilities; `minKernel` always holds here."""
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    arches = includes.get("arches")
    return ((not arches or "amd64" in arches) and
            all(one in CAPABILITIES for one in includes.get("caps") or []) and
            not any(one in CAPABILITIES for one in excludes.get("caps") or []) and
            "amd64" not in (excludes.get("arches") or []))


def filter_of(profile):
    """A profile of Docker or podman, as the runtimes' specification writes it."""
    file = PROFILES / f"{profile}.json"
    if not file.exists():
        sys.exit(f"{file} is missing: run tests/containers/setup")
    given = json.loads(file.read_text())
    rules = []
    for rule in filter(applies, given["syscalls"]):
        made = {"names": rule["names"], "action": rule["action"]}
        if rule.get("args"):
            made["args"] = rule["args"]
        if rule.get("errnoRet") is not None:
            made["errnoRet"] = rule["errnoRet"]
        rules.append(made)
    made = {"defaultAction": given["defaultAction"],
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
            "syscalls": rules}
    if given.get("defaultErrnoRet") is not None:
        made["defaultErrnoRet"] = given["defaultErrnoRet"]
    return made


class Container(verdicts.Box):
    def __init__(self, build, runtime, profile, user, work):
        super().__init__(build, work)
        if not shutil.which(runtime):
            sys.exit(f"{runtime} is missing: run tests/containers/setup")
        self.text = f"{runtime} with {NAMES[profile]}'s default profile"
        self.user = "root" if user == 0 else f"uid {user}"
        self.runtime, self.number, self.state = runtime, 0, work / "state"
        self.bundle = work / "bundle"
        root = self.bundle / "rootfs"
        for one in ("proc", "dev", "sys", "etc", "usr", "tmp", "weir"):
            (root / one).mkdir(parents=True)
        for one in ("bin", "sbin", "lib", "lib64"):
            (root / one).symlink_to(f"usr/{one}")
        (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n")
        shutil.copy("/etc/ld.so.cache", root / "etc")
        subprocess.run([runtime, "spec"], cwd=self.bundle, check=True)
        self.spec = json.loads((self.bundle / "config.json").read_text())
        allowed = CAPABILITIES_OF[profile]
        held = allowed if user == 0 else []
        self.spec["process"].update(
            terminal=False, user={"uid": user, "gid": user}, cwd="/weir/home", noNewPrivileges=True,
            env=["PATH=/usr/local/bin:/usr/bin:/bin"],  # no HOME
            capabilities={"bounding": allowed, "effective": held, "permitted": held})
        self.spec["root"] = {"path": "rootfs", "readonly": True}
        self.spec["mounts"] += [
            {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
            {"destination": "/weir", "type": "bind", "source": str(work), "options": ["rbind", "rw"]}]
        self.spec["linux"]["seccomp"] = filter_of(profile)

    def command(self, words):
        self.number += 1
        inside = [str(word).replace(str(self.work), "/weir") for word in words]
        self.spec["process"]["args"] = ["/weir/bin/weir", *inside]
        (self.bundle / "config.json").write_text(json.dumps(self.spec))
        start = [self.runtime, "--root", str(self.state)]
        if self.runtime == "crun":  # it knows no host that has control groups of both kinds
            start = ["unshare", "-m", "sh", "-c", 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"',
                     "sh", *start, "--cgroup-manager=disabled"]
        return [*start, "run", "-b", str(self.bundle), f"weir-{os.getpid()}-{self.number}"]


def main():
    build, words = sys.argv[1], sys.argv[2:]
    is_table = words == ["--table"]
    all_of_them = itertools.product(("crun", "runc"), NAMES, ("0", "1000"))
    makers = [functools.partial(Container, build, runtime, profile, int(user))
              for runtime, profile, user in (all_of_them if is_table else [words])]
    return verdicts.all_right(makers, is_table)


sys.exit(main())
