"""evener snapshot: what it writes, what it refuses to write, and the script that it prints."""

import io
import os
import stat
import subprocess
import sys
import tarfile
import tempfile

from harness import contains, equal, run, run_tests

LSPCI = """0000:07:00.0 VGA compatible controller [0300]: Navi 31 [1002:744c] (rev c8)
\tCapabilities: [148 v1] Device Serial Number 00-11-22-33-44-55-66-77
"""
LOG = "[    2.000000] pci 0000:07:00.0: seen by 10.0.0.7 at 00:1b:21:aa:bb:cc\r\n"


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as file:
        file.write(text)
    return path


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive if member.isfile()}


def test_a_folder_is_masked_and_packed(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "in/lspci.txt", LSPCI)
        write(folder, "in/dmesg.txt", LOG)
        out = os.path.join(folder, "s.tar.gz")
        status, text, err = run(evener, "snapshot", "--from", os.path.join(folder, "in"), out)
        equal((status, err), (0, ""))
        contains(text, f"{out}: 2 files, 1 KiB; look at them before you share it\n")
        contains(text, "masked: 1 x IPv4 address, 1 x MAC address, 1 x device serial number\n")
        equal(members(out), {
            "p2p-snapshot/lspci.txt": LSPCI.replace("00-11-22-33-44-55-66-77", "xx-MASKED8"),
            "p2p-snapshot/dmesg.txt": "[    2.000000] pci 0000:07:00.0: seen by IP-MASKED at xx:MASKED6\n"})
        equal(stat.S_IMODE(os.stat(out).st_mode), 0o600)
        equal(os.listdir(folder).count("s.tar.gz"), len(os.listdir(folder)) - 1)


def test_a_file_that_is_there_is_not_replaced_unasked(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "in/lspci.txt", LSPCI)
        out = write(folder, "s.tar.gz", "precious")
        command = [evener, "snapshot", "--from", os.path.join(folder, "in"), out]
        equal(run(*command)[::2], (2, f"evener: cannot write snapshot: {out}: is there already\n"
                                      "  name another file, or say --force\n"))
        equal(run(*command, "--force")[0], 0)
        assert "p2p-snapshot/lspci.txt" in members(out)


def test_what_looks_like_a_serial_number_is_not_shared(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "in/lspci.txt", LSPCI)
        write(folder, "in/tools/my.txt", "fine\nthe serial is 0422618012345\n")
        out = os.path.join(folder, "s.tar.gz")
        status, text, err = run(evener, "snapshot", "--from", os.path.join(folder, "in"), out)
        equal((status, text), (1, ""))
        contains(err, "evener: cannot share snapshot: tools/my.txt, line 2: '0422618012345' looks like a serial number")
        assert not os.path.exists(out)


def test_a_tar_that_leads_out_is_refused_by_name(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "evil.tar")
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo("../../evil.txt")
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        status, _, err = run(evener, "snapshot", "--from", path, os.path.join(folder, "out.tar.gz"))
        equal(status, 1)
        contains(err, "leads out of its folder")


def test_this_machine_is_captured_or_the_reason_is_said(evener, data):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "s.tar.gz")
        status, _, err = run(evener, "snapshot", out)
        if status == 0:
            files = members(out)
            contains(files["p2p-snapshot/MANIFEST"], "format=p2p-snapshot 1\n")
            contains(files["p2p-snapshot/sysfs.tsv"], "/vendor\t0x")
        else:
            equal(status, 1)
            contains(err, "evener: cannot ")


def test_the_script_runs_wherever_there_is_a_shell(evener, data):
    status, script, err = run(evener, "snapshot", "--script")
    equal((status, err), (0, ""))
    assert script.startswith("#!/bin/sh\n"), script[:100]
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "r/sys/bus/pci/devices/0000:07:00.0/vendor", "0x1002\n")
        write(folder, "r/sys/bus/pci/devices/0000:07:00.0/class", "0x030000\n")
        out = os.path.join(folder, "capture")
        done = subprocess.run(["sh", "-s", "--", "-r", os.path.join(folder, "r"), out], input=script,
                              capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""))
        contains(members(out + ".tar.gz")["capture/sysfs.tsv"], "0000:07:00.0/vendor\t0x1002\n")
        again = os.path.join(folder, "again.tar.gz")
        equal(run(evener, "snapshot", "--from", out + ".tar.gz", again)[0], 0)
        contains(members(again)["p2p-snapshot/sysfs.tsv"], "0000:07:00.0/vendor\t0x1002\n")


if __name__ == "__main__":
    run_tests(globals(), *sys.argv[1:])
