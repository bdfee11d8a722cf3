"""Ranks that are processes under Open MPI's mpirun, on this host and in two network namespaces.

python3 mpi_e2e.py MPI_RANKS, which is built of mpi_ranks.cpp. Skipped without mpirun; the part with
two networks also without root's rights.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

from harness import DEADLINE_S, SKIPPED, contains, equal, run_tests

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
NETWORK = "10.203.77"
SPACES = ["evener-mpi-a", "evener-mpi-b"]


def mpirun(*arguments, before=()):
    done = subprocess.run([*before, *MPIRUN, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def lines_of_ranks(out):
    """What each rank said, without its number and the seconds."""
    return {int(rank): text for rank, text in re.findall(r"^rank (\d+)(?: after [\d.]+ s)?: (.*)$", out, re.M)}


def seconds_of_ranks(out):
    return {int(rank): float(s) for rank, s in re.findall(r"^rank (\d+) after ([\d.]+) s:", out, re.M)}


def test_every_call_gives_what_threads_get(ranks):
    for count in (2, 3):
        for scenario in ("equal", "stages"):
            status, out, err = mpirun("-n", str(count), ranks, scenario)
            equal((count, scenario, status, err), (count, scenario, 0, ""))
            if scenario == "equal":
                equal(sorted(lines_of_ranks(out)), list(range(count)))


def test_bytes_go_there_and_back(ranks):
    status, out, err = mpirun("-n", "3", ranks, "commands")
    equal((status, err), (0, ""))
    contains(out, "no answer within 0.1 s")


def test_every_rank_is_told_who_has_another_model(ranks):
    status, out, _ = mpirun("-n", "3", ranks, "agree")
    equal(status, 0)
    said = lines_of_ranks(out)
    equal(sorted(said), [0, 1, 2])
    for text in said.values():
        contains(text, "its model is xyz\\n, that of rank 0 ")
        assert re.search(r"processes: rank 1 \(", text), text


def test_a_layout_for_another_number_of_ranks_is_refused(ranks):
    status, out, _ = mpirun("-n", "2", ranks, "grid")
    equal(status, 0)
    contains(out, "that takes 3 processes, mpirun started 2")


def test_faults_are_named_on_all_ranks(ranks):
    for kind, message in (("hang", "no sign of life for "), ("exit", "it has ended"),
                          ("corrupt", "it has computed other numbers")):
        status, out, err = mpirun("-n", "3", ranks, "break", f"rank=1,after=9,kind={kind}")
        equal((kind, status, err), (kind, 0, ""))
        said = lines_of_ranks(out)
        equal(sorted(said), [0, 1, 2])
        for rank, text in said.items():
            if kind == "exit" and rank == 1:
                continue
            assert re.search(r"ranks: rank 1 \(.*\): " + message, text), text


def test_mpirun_ends_the_others_when_a_process_dies(ranks):
    status, _, err = mpirun("-n", "3", ranks, "break", "rank=1,after=9,kind=abort")
    assert status != 0
    contains(err, "],1]")  # the rank, as mpirun writes it


def test_those_left_by_a_dead_process_get_an_error_where_mpirun_leaves_it_to_them(ranks):
    for arguments in (["break", "rank=1,after=9,kind=abort"], ["idle"]):
        for links in ([], ["--mca", "btl", "self,tcp", "--mca", "pml", "ob1"]):
            _, out, _ = mpirun("--enable-recovery", *links, "-n", "3", ranks, *arguments)
            said = lines_of_ranks(out)
            equal(sorted(said), [0, 2])
            for text in said.values():
                contains(text, "ranks: rank 1 (")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class TwoHosts:
    """Two network namespaces with a cable between them, each with a host name; mpirun reaches the
    second as it would by ssh."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.close_network()
        for space in SPACES:
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
        ip("link", "add", "evener-a", "netns", SPACES[0], "type", "veth", "peer", "name", "evener-b",
           "netns", SPACES[1])
        for number, (space, end) in enumerate(zip(SPACES, ("evener-a", "evener-b")), 1):
            ip("-n", space, "address", "add", f"{NETWORK}.{number}/24", "dev", end)
            ip("-n", space, "link", "set", end, "up")
        self.write("hosts", f"{NETWORK}.1 slots=1\n{NETWORK}.2 slots=1\n")
        os.mkdir(os.path.join(self.folder, "b"))
        agent = self.write("agent", f"""#!/bin/sh
shift
exec ip netns exec {SPACES[1]} unshare -u sh -c 'hostname host-b; TMPDIR={self.folder}/b; export TMPDIR; exec sh -c "$0"' "$*"
""")
        os.chmod(agent, stat.S_IRWXU)
        return self

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def run(self, *arguments):
        here = ["ip", "netns", "exec", SPACES[0], "unshare", "-u", "sh", "-c", 'hostname host-a; exec "$@"', "sh"]
        return mpirun("--hostfile", os.path.join(self.folder, "hosts"),
                      "--mca", "plm_rsh_agent", os.path.join(self.folder, "agent"), "--mca", "pml", "ob1",
                      "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
                      "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24", *arguments, before=here)

    def close_network(self):
        for space in SPACES:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def __exit__(self, *_):
        self.close_network()
        shutil.rmtree(self.folder)


def can_make_networks():
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
        return False
    probe = subprocess.run(["unshare", "-n", "ip", "link", "add", "evener-a", "type", "veth", "peer", "name",
                            "evener-b"], capture_output=True, check=False)
    return probe.returncode == 0


def test_two_hosts_with_a_network_between_them(ranks):
    if not can_make_networks():
        print("not checked: two hosts: this takes root's rights and network namespaces")
        return
    with TwoHosts() as hosts:
        status, out, err = hosts.run("-n", "2", ranks, "equal")
        equal((status, err), (0, ""))
        said = lines_of_ranks(out)
        contains(said[0], "rank 0 (host-a cpu:0) of 2")
        contains(said[1], "rank 1 (host-b cpu:0) of 2")
        equal(hosts.run("-n", "2", ranks, "stages")[0], 0)
        equal(hosts.run("-n", "2", ranks, "commands")[0], 0)
        _, out, _ = hosts.run("-n", "2", ranks, "break", "rank=1,after=9,kind=hang")
        contains(lines_of_ranks(out)[0], "rank 1 (host-b cpu:0): no sign of life")
        _, out, _ = hosts.run("--enable-recovery", "-n", "2", ranks, "break", "rank=1,after=9,kind=abort")
        contains(lines_of_ranks(out)[0], "rank 1 (host-b cpu:0): ")


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("not checked: mpirun is not installed (openmpi-bin)")
        sys.exit(SKIPPED)
    run_tests(globals(), *sys.argv[1:])
