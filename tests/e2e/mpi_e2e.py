"""Ranks that are processes under Open MPI's mpirun, on this host and in two network namespaces: the
calls between them, and `evener serve` over them.

python3 mpi_e2e.py EVENER DATA MPI_RANKS, which is built of mpi_ranks.cpp. Skipped without mpirun; the
parts with two networks also without root's rights.
"""

import http.client
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import urllib.request

from harness import DEADLINE_S, SKIPPED, Server, contains, equal, request, run_tests, wait_until

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
NETWORK = "10.203.77"
SPACES = ["evener-mpi-a", "evener-mpi-b"]
OVER_TCP = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp"]
CORES = ["--devices", "cpu:0[0],cpu:0[1]"]
STORY = {"prompt": "Once upon a time", "max_tokens": 24, "temperature": 0, "ignore_eos": True}


def mpirun(*arguments, before=()):
    done = subprocess.run([*before, *MPIRUN, *arguments], capture_output=True, text=True, errors="replace",
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def lines_of_ranks(out):
    """What each rank said, without its number and the seconds."""
    return {int(rank): text for rank, text in re.findall(r"^rank (\d+)(?: after [\d.]+ s)?: (.*)$", out, re.M)}


def seconds_of_ranks(out):
    return {int(rank): float(s) for rank, s in re.findall(r"^rank (\d+) after ([\d.]+) s:", out, re.M)}


def test_every_call_gives_what_threads_get(evener, data, ranks):
    for count in (2, 3):
        for scenario in ("equal", "stages"):
            status, out, err = mpirun("-n", str(count), ranks, scenario)
            equal((count, scenario, status, err), (count, scenario, 0, ""))
            if scenario == "equal":
                equal(sorted(lines_of_ranks(out)), list(range(count)))


def test_bytes_go_there_and_back(evener, data, ranks):
    status, _, err = mpirun("-n", "3", ranks, "commands")
    equal((status, err), (0, ""))


def test_every_rank_is_told_who_has_another_model(evener, data, ranks):
    status, out, _ = mpirun("-n", "3", ranks, "agree")
    equal(status, 0)
    said = lines_of_ranks(out)
    equal(sorted(said), [0, 1, 2])
    for text in said.values():
        contains(text, "its model is xyz\\n, that of rank 0 ")
        assert re.search(r"processes: rank 1 \(", text), text


def test_a_layout_for_another_number_of_ranks_is_refused(evener, data, ranks):
    status, out, _ = mpirun("-n", "2", ranks, "grid")
    equal(status, 0)
    contains(out, "that takes 3 processes, mpirun started 2")


def test_faults_are_named_on_all_ranks(evener, data, ranks):
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


def test_mpirun_ends_the_others_when_a_process_dies(evener, data, ranks):
    status, _, err = mpirun("-n", "3", ranks, "break", "rank=1,after=9,kind=abort")
    assert status != 0
    contains(err, "],1]")  # the rank, as mpirun writes it


def test_those_left_by_a_dead_process_get_an_error_where_mpirun_leaves_it_to_them(evener, data, ranks):
    for arguments in (["break", "rank=1,after=9,kind=abort"], ["idle"]):
        for links in ([], OVER_TCP):
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

    HERE = ["ip", "netns", "exec", SPACES[0], "unshare", "-u", "sh", "-c", 'hostname host-a; exec "$@"', "sh"]

    def over_both(self):
        """What mpirun is told."""
        return ["--hostfile", os.path.join(self.folder, "hosts"), "--mca", "plm_rsh_agent",
                os.path.join(self.folder, "agent"), *OVER_TCP, "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
                "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24"]

    def run(self, *arguments):
        return mpirun(*self.over_both(), *arguments, before=self.HERE)

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


def test_two_hosts_with_a_network_between_them(evener, data, ranks):
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


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Processes(Server):
    """`evener serve` as several processes."""

    def __init__(self, evener, count, *arguments, mpirun_says=(), before=()):
        super().__init__(evener, *arguments)
        self.command = [*before, *MPIRUN, "--bind-to", "none", *mpirun_says, "-n", str(count), *self.command]

    def __enter__(self):
        super().__enter__()
        self.pids = self._pids()
        return self

    def _pids(self):
        """By rank: mpirun is the parent of those on its host."""
        pids = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    parent = file.read().rsplit(")", 1)[1].split()[1]
                with open(f"/proc/{pid}/environ", "rb") as file:
                    rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", file.read())
            except OSError:
                continue
            if int(parent) == self.process.pid and rank:
                pids[int(rank.group(1))] = int(pid)
        return pids

    def ended(self):
        """mpirun's exit status, once it has ended; nobody is left behind."""
        status = self.process.wait(DEADLINE_S)
        self.reader.join()
        wait_until(lambda: not any(map(lives, self.pids.values())), "all processes to be gone")
        return status

    def stop(self):
        """Process 0 ends all, without mpirun's hurry."""
        if self.process.poll() is None and 0 in self.pids:
            os.kill(self.pids[0], signal.SIGTERM)
        elif self.process.poll() is None:
            self.process.terminate()
        return self.ended()


def story(server):
    status, _, text = request(server.url + "/v1/completions", STORY)
    equal((status, server.log() if status != 200 else ""), (200, ""))
    return json.loads(text)["choices"][0]["text"]


class LongAnswer:
    """An answer that streams until something ends it."""

    def __init__(self, server):
        self.pieces = []
        self.thread = threading.Thread(target=self.read, args=[server.url + "/v1/completions"])
        self.thread.start()
        wait_until(lambda: self.pieces, "the first token")

    def read(self, url):
        body = json.dumps({**STORY, "max_tokens": 1900, "stream": True}).encode()
        asked = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=DEADLINE_S) as answer:
                for line in answer:
                    self.pieces.append(line.decode())
        except (OSError, http.client.HTTPException) as error:
            self.pieces.append(f"cut off: {error}")

    def end(self):
        self.thread.join()
        return "".join(self.pieces[-6:])


def test_processes_answer_as_threads_do(evener, data, ranks):
    with Server(evener) as alone:
        one_rank = story(alone)
    with Server(evener, *CORES, "--tp", "2") as threads:
        shared = story(threads)
    assert len(one_rank) > 40, one_rank
    # Stages leave every bit as it is.
    for count, layout, wanted in ((2, ["--tp", "2"], shared), (2, ["--stages", "2"], one_rank),
                                  (4, ["--tp", "2", "--stages", "2"], shared), (1, [], one_rank)):
        with Processes(evener, count, *layout) as server:
            equal((count, layout, story(server)), (count, layout, wanted))
            equal(sorted(server.pids), list(range(count)))
            equal(server.stop(), 0)
            contains(server.log(), " stopped\n")


def refused(count, message, *words):
    """All processes say the same, and mpirun reports the failure."""
    status, _, err = mpirun(*words)
    assert status != 0
    equal((err.count(message), err if err.count(message) != count else ""), (count, ""))


def test_what_does_not_go_together_is_refused_by_all(evener, data, ranks):
    serve = [evener, "serve", "--port", "0"]
    refused(3, "mpirun -n 3: 1 stage with 2 shards each take 2 devices, and 3 are named, one for each process",
            "-n", "3", *serve, "--tp", "2")
    refused(2, "--devices: 3 devices are named, mpirun started 2 processes",
            "-n", "2", *serve, "--devices", "cpu:0,cpu:0,cpu:0")
    host = os.uname().nodename
    refused(2, f"rank 1 ({host} cpu:0): its --ctx is 100, that of rank 0 ({host} cpu:0) is 0\n"
               "  start the same program with the same model and options on every host",
            "-n", "1", *serve, ":", "-n", "1", *serve, "--ctx", "100")
    refused(2, f"rank 1 ({host} cpu:0): its model is qwen3 ",
            "-n", "1", *serve, ":", "-n", "1", *serve, os.path.join(data, "models", "qwen3.gguf"))
    refused(2, f"cannot load model: rank 1 ({host} cpu:0), nowhere.gguf: ", "-n", "1", *serve, ":", "-n", "1", *serve, "nowhere.gguf")
    with tempfile.TemporaryDirectory() as folder:
        other = os.path.join(folder, "evener")
        shutil.copy(evener, other)
        with open(other, "ab") as file:
            file.write(b"!")
        refused(2, f"rank 1 ({host} cpu:0): its program is ", "-n", "1", *serve, ":", "-n", "1", other, *serve[1:])


def test_a_rank_that_fails_ends_the_answer_and_the_server(evener, data, ranks):
    for kind, says in (("hang", "no sign of life for "), ("corrupt", "computed other numbers")):
        with Processes(evener, 2, "--tp", "2", "--rank-deadline", "2", "--fault", f"rank=1,after=600,kind={kind}") as server:
            end = LongAnswer(server).end()
            contains(end, '"error"')
            contains(end, says)
            assert server.ended() != 0
            contains(server.log(), "rank 1 (")
            contains(server.log(), "processes cannot be made anew: start mpirun again")


def test_mpirun_ends_all_when_a_process_is_killed(evener, data, ranks):
    with Processes(evener, 2, "--stages", "2", "--rank-deadline", "2") as server:
        answer = LongAnswer(server)
        os.kill(server.pids[1], signal.SIGKILL)
        answer.end()
        assert server.ended() != 0


def test_process_0_goes_on_alone_where_it_may(evener, data, ranks):
    with Processes(evener, 2, "--tp", "2", "--rank-deadline", "2", "--fallback",
                   mpirun_says=["--enable-recovery", *OVER_TCP]) as server:
        answer = LongAnswer(server)
        os.kill(server.pids[1], signal.SIGKILL)
        contains(answer.end(), "rank 1 (")
        health = lambda: json.loads(request(server.url + "/health")[2])
        wait_until(lambda: health()["status"] == "degraded", "the server to go on")
        equal((health()["layout"], health()["failure"]["rank"]), ("cpu:0", "1"))
        contains(request(server.url + "/metrics")[2], 'evener_rank_failures_total{rank="1"')
        equal(len(story(server)) > 40, True)


def test_an_interrupt_of_mpirun_ends_all(evener, data, ranks):
    with Processes(evener, 2, "--tp", "2") as server:
        server.process.send_signal(signal.SIGINT)
        server.ended()
        contains(server.log(), " stopped\n")


def test_serve_over_two_hosts(evener, data, ranks):
    if not can_make_networks():
        print("not checked: serve over two hosts: this takes root's rights and network namespaces")
        return
    with Server(evener) as alone:
        wanted = story(alone)
    with TwoHosts() as hosts:
        with Processes(evener, 2, "--stages", "2", mpirun_says=hosts.over_both(), before=hosts.HERE) as server:
            contains(server.log(), "host-a cpu:0 + host-b cpu:0, 2 stages")
            ask = ("import json, sys; sys.path.insert(0, sys.argv[1]); import mpi_e2e; from types import SimpleNamespace; "
                   "print(json.dumps(mpi_e2e.story(SimpleNamespace(url=sys.argv[2], log=lambda: ''))))")
            done = subprocess.run(["ip", "netns", "exec", SPACES[0], sys.executable, "-c", ask,
                                   os.path.dirname(os.path.abspath(__file__)), server.url],
                                  capture_output=True, text=True, timeout=DEADLINE_S, check=True)
            equal(json.loads(done.stdout), wanted)


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("not checked: mpirun is not installed (openmpi-bin)")
        sys.exit(SKIPPED)
    run_tests(globals(), *sys.argv[1:])
