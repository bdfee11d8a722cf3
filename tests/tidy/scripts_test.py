"""start and check with stand-ins for what they call: packages, compiler, CMake, ctest, the server.

Each test gets a folder with copies of the scripts and a PATH of its own, so that a machine without
root, without sudo or without apt-get is one stand-in more or less. Every stand-in writes its call
into calls.txt.
"""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL_TOOLS = ["awk", "bash", "cat", "chmod", "dirname", "env", "find", "grep", "head", "mkdir",
              "nproc", "readlink", "rm", "sleep", "sort", "touch", "tr"]

PACKAGES = """# group package command
build ninja-build ninja
build libboost-dev
build libfmt-dev

check libgtest-dev
peers nodejs node
"""

CMAKE = r"""
case $1 in
  --version) echo "cmake version ${CMAKE_VERSION:-3.25.1}" ;;
  --preset)
    mkdir -p build/release
    touch build/release/build.ninja
    if [[ $3 == -DEVENER_TESTS=* ]]; then
      printf 'EVENER_TESTS:BOOL=%s\n' "${3#*=}" > build/release/CMakeCache.txt
    fi ;;
  --build)
    cat "$HERE/server" > build/release/evener
    chmod +x build/release/evener ;;
esac
"""

# Listens as `evener serve` does; ends with status 7 on SIGTERM, 8 on SIGINT.
SERVER = """#!{python}
import http.server, json, os, signal, sys
with open(os.environ["HERE"] + "/calls.txt", "a") as calls:
    calls.write("evener " + " ".join(sys.argv[1:]) + "\\n")
if "--busy" in sys.argv:
    print("evener: cannot listen: port taken", file=sys.stderr)
    sys.exit(4)
signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
signal.signal(signal.SIGINT, lambda *_: os._exit(8))
class Handler(http.server.BaseHTTPRequestHandler):
    health = iter([503, 503])
    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.reply(next(Handler.health, 200), b"")
    def do_POST(self):
        if "--locked" in sys.argv:
            return self.reply(401, b"{{}}")
        text = 'Once "upon"\\na\\u00e9\\x1b time.'
        self.reply(200, json.dumps({{"choices": [{{"message": {{"content": text}}}}]}}).encode())
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", 0), Handler).serve_forever()
"""

CTEST = r"""
if [[ -n ${JUNIT:-} ]]; then printf '%s\n' "$JUNIT" > build/release/tests.xml; fi
exit "${CTEST_STATUS:-0}"
"""


def junit(tests, failures=0, disabled=0, skipped=0):
    return (f'<testsuite name="x"\n\ttests="{tests}"\n\tfailures="{failures}"\n'
            f'\tdisabled="{disabled}"\n\tskipped="{skipped}"\n>')


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.here = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.here)
        self.project = self.here / "project"
        self.project.mkdir()
        for name in ["start", "check", "CMakePresets.json"]:
            shutil.copy2(ROOT / name, self.project)
        shutil.copytree(ROOT / "scripts", self.project / "scripts")
        (self.project / "scripts/packages.txt").write_text(PACKAGES)
        self.bin = self.here / "bin"
        self.bin.mkdir()
        for tool in REAL_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))

        self.as_user(0)
        self.stand_in("g++", "echo 12")
        self.stand_in("cmake", CMAKE)
        self.stand_in("ctest", CTEST)
        for command in ["ninja", "pkg-config", "curl", "nm", "ctags", "node", "npm", "apt-get"]:
            self.stand_in(command)
        (self.bin / "python3").symlink_to(sys.executable)
        self.installed("every")
        (self.here / "server").write_text(SERVER.format(python=sys.executable))

    def stand_in(self, name, body=""):
        path = self.bin / name
        note = "" if name in ("dpkg-query", "id") else f'echo "{name} $*" >> "$HERE/calls.txt"\n'
        path.write_text(f'#!{shutil.which("bash")}\n' + note + textwrap.dedent(body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def as_user(self, number):
        self.stand_in("id", f"echo {number}")

    def installed(self, packages):
        """What dpkg knows: "every", or names."""
        self.stand_in("dpkg-query", f"""
            for package in "${{@:4}}"; do
              if [[ "{packages}" == every || " {packages} " == *" $package "* ]]; then
                echo "installed $package"
              fi
            done""")

    def environment(self, **more):
        return {"PATH": str(self.bin), "HERE": str(self.here), "LC_ALL": "C.UTF-8", **more}

    def run_script(self, *command, cwd=None, **more):
        return subprocess.run([self.project / command[0], *command[1:]], cwd=cwd or self.here,
                              text=True, env=self.environment(**more), capture_output=True,
                              timeout=60)

    def calls(self, program=""):
        path = self.here / "calls.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(program) and line != "cmake --version"]


class Packages(ScriptTest):
    def test_nothing_is_installed_when_nothing_is_missing(self):
        self.assertEqual(self.run_script("check", JUNIT=junit(tests=1)).returncode, 0)
        self.assertEqual(self.calls("apt-get"), [])

    def test_root_installs_just_what_is_missing(self):
        self.installed("libfmt-dev libgtest-dev")
        (self.bin / "ninja").unlink()
        self.run_script("check")
        self.assertEqual(len(self.calls("apt-get")), 2)
        self.assertRegex(self.calls("apt-get")[0], " update$")
        self.assertRegex(self.calls("apt-get")[1],
                         "--no-install-recommends ninja-build libboost-dev$")

    def test_somebody_else_installs_through_sudo(self):
        self.as_user(1000)
        self.installed("")
        self.stand_in("sudo", 'exec "$@"')
        self.run_script("start", "--busy")
        self.assertRegex(self.calls("sudo")[1],
                         "^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* install ")
        self.assertNotIn("libgtest-dev", self.calls("sudo")[1])

    def expect_refusal(self, why):
        result = self.run_script("start")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"evener: cannot install packages: {why}", result.stderr)
        self.assertIn("missing: libboost-dev libfmt-dev\n", result.stderr)
        self.assertEqual(self.calls("cmake"), [])

    def test_each_way_of_not_being_able_to_install_is_said_before_anything_is_built(self):
        self.installed("libgtest-dev")
        self.stand_in("apt-get", "[[ $* != *install* ]]")
        self.expect_refusal("apt-get failed, see above")
        self.as_user(1000)
        self.expect_refusal("this is not root and there is no sudo")
        (self.bin / "apt-get").unlink()
        self.expect_refusal("there is no apt-get: this is not Debian, Ubuntu or a relative")

    def test_no_install_leaves_the_packages_alone(self):
        self.installed("")
        self.assertEqual(self.run_script("start", "--no-install", "--busy").returncode, 4)
        self.assertEqual(self.calls("apt-get"), [])
        self.assertEqual(self.calls("evener"), ["evener serve --busy"])


class Start(ScriptTest):
    def test_a_second_run_does_not_configure(self):
        self.run_script("start", "--busy")
        self.run_script("start", "--busy")
        self.assertEqual(self.calls("cmake"), ["cmake --preset release -DEVENER_TESTS=OFF",
                                               "cmake --build build/release --target evener",
                                               "cmake --build build/release --target evener"])

    def test_a_change_of_the_presets_configures_again(self):
        self.run_script("start", "--busy")
        late = (self.project / "build/release/CMakeCache.txt").stat().st_mtime + 1
        os.utime(self.project / "CMakePresets.json", (late, late))
        self.run_script("start", "--busy")
        self.assertEqual(len(self.calls("cmake --preset")), 2)

    def test_a_folder_that_check_built_is_left_with_its_tests(self):
        self.run_script("check")
        self.run_script("start", "--busy")
        self.assertEqual(self.calls("cmake --preset"), ["cmake --preset release -DEVENER_TESTS=ON"])

    def test_the_servers_words_and_status_are_passed_on(self):
        result = self.run_script("start", "a model.gguf", "--busy", cwd=self.bin)
        self.assertEqual(result.returncode, 4)
        self.assertEqual(self.calls("evener"), ["evener serve a model.gguf --busy"])
        self.assertIn("evener: cannot listen: port taken", result.stderr)
        self.assertNotIn("ready", result.stdout)

    def test_a_compiler_that_is_too_old_is_named(self):
        self.stand_in("g++", "echo 11.4.0")
        result = self.run_script("start")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, textwrap.dedent("""\
            evener: cannot choose a compiler: Evener needs g++ 12 or newer, g++ is version 11.4.0
              install g++-12 or newer, or name another compiler in CXX
            """))
        self.stand_in("g++-13", "echo 13")
        self.assertEqual(self.run_script("start", "--busy").returncode, 4)

    def test_a_cmake_that_is_too_old_is_named(self):
        result = self.run_script("start", CMAKE_VERSION="3.22.1")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "evener: cannot configure: CMake is version 3.22.1, "
                                        "and 3.25 or newer is needed\n")
        self.assertEqual(self.calls("cmake --preset"), [])

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def serve(self, *arguments):
        """Starts a server and returns it, its stdout read up to the end of the first answer."""
        (self.bin / "curl").unlink()
        (self.bin / "curl").symlink_to(shutil.which("curl"))
        server = subprocess.Popen([self.project / "start", *arguments], text=True, cwd=self.here,
                                  stdout=subprocess.PIPE, env=self.environment(),
                                  start_new_session=True)
        self.addCleanup(server.stdout.close)
        deadline = threading.Timer(300, server.kill)  # one that says nothing would hang the test
        deadline.start()
        self.addCleanup(deadline.cancel)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        said = ""
        while not said.endswith("\n\n") or "question" not in said:
            line = server.stdout.readline()
            self.assertTrue(line, said)
            said += line
        return server, said

    def test_the_address_and_a_first_answer_are_printed_and_ctrl_c_reaches_the_server(self):
        server, said = self.serve("--threads", "2")
        self.assertRegex(said, r"Evener is ready: open http://127\.0\.0\.1:\d+ in a browser")
        self.assertIn('A first question: Tell me a story about a dog.\nOnce "upon"\naé time.\n',
                      said)
        self.assertEqual(self.calls("evener"), ["evener serve --threads 2"])
        os.killpg(server.pid, signal.SIGINT)
        self.assertEqual(server.wait(timeout=30), 8)

    def test_a_signal_to_the_script_ends_the_server(self):
        server, said = self.serve("--locked")
        self.assertIn("No first question was asked: the server wants its API key.", said)
        server.terminate()
        self.assertEqual(server.wait(timeout=30), 7)


class Check(ScriptTest):
    def last_line(self, *arguments, **more):
        result = self.run_script("check", *arguments, **more)
        return result.returncode, result.stdout.splitlines()[-1]

    def test_the_last_line_counts_and_the_status_follows_it(self):
        self.assertEqual(self.last_line(JUNIT=junit(tests=9, disabled=1, skipped=2)),
                         (0, "check: 6 passed, 0 failed, 3 skipped"))
        self.assertEqual(self.last_line(JUNIT=junit(tests=9, failures=2), CTEST_STATUS="8"),
                         (1, "check: 7 passed, 2 failed, 0 skipped"))

    def test_a_run_that_breaks_down_is_a_failure(self):
        self.assertEqual(self.last_line(CTEST_STATUS="8"),
                         (1, "check: 0 passed, 1 failed, 0 skipped"))

    def test_a_folder_that_start_made_gets_its_tests(self):
        self.run_script("start", "--busy")
        self.run_script("check")
        self.assertEqual(self.calls("cmake --preset"), ["cmake --preset release -DEVENER_TESTS=OFF",
                                                        "cmake --preset release -DEVENER_TESTS=ON"])

    def test_peers_run_when_asked_for_and_count(self):
        (self.project / "tests/peer").mkdir(parents=True)
        (self.project / "tests/peer/good.sh").write_text("exit 0\n")
        (self.project / "tests/peer/none.sh").write_text("exit 3\n")
        self.assertEqual(self.last_line(JUNIT=junit(tests=1)),
                         (0, "check: 1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.last_line("--peers", JUNIT=junit(tests=1)),
                         (1, "check: 2 passed, 1 failed, 0 skipped"))

    def test_an_unknown_option_is_refused(self):
        self.assertEqual(self.run_script("check", "--peer").returncode, 2)
        self.assertEqual(self.calls(), [])


if __name__ == "__main__":
    unittest.main()
