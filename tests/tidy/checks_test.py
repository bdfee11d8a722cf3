"""Each check of tests/tidy on small trees: a good one passes, what is bad in a bad one is named.

Words that the checks look for are split here, since this file is checked too.
"""

import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_arrows
import check_banned_calls
import check_dead_files
import check_doc_paths
import check_lengths
import check_shell
import check_strangers
import check_weak_symbols
from tree import Skip, Tree, without_comments_and_strings

ARROWS = """# folder | caption | may include
base   | errors  |
tensor | shapes  |
model  | forward | tensor
cli    | faces   | all
"""


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def findings(self, check):
        return [str(finding) for finding in check.run(Tree(self.root, self.root / "build"))]


class Arrows(CheckTest):
    def setUp(self):
        super().setUp()
        self.write("tests/tidy/arrows.txt", ARROWS)
        self.write("src/base/CMakeLists.txt", "evener_module(base LIBRARIES fmt::fmt)")
        self.write("src/base/error.h")
        self.write("src/tensor/CMakeLists.txt", "evener_module(tensor)")
        self.write("src/tensor/shape.h", '#include "base/error.h"\n')
        self.write("src/model/CMakeLists.txt", "evener_module(model DEPENDS tensor LIBRARIES x)")
        self.write("src/model/llama.cpp", '#include <vector>\n#include "tensor/shape.h"\n')
        self.write("src/cli/CMakeLists.txt", "evener_module(cli DEPENDS model)")
        self.write("src/cli/main.cpp", '#include "model/llama.h"\n')
        self.write("src/model/llama.h")

    def test_allowed_and_declared_arrows_pass(self):
        self.assertEqual(self.findings(check_arrows), [])

    def test_an_arrow_that_the_table_does_not_allow_is_found(self):
        self.write("src/tensor/view.cpp", '\n#include "model/llama.h"\n')
        found = self.findings(check_arrows)
        self.assertIn("src/tensor/view.cpp:2: tensor may not include model: "
                      "see tests/tidy/arrows.txt", found)
        self.assertIn("src: a circle: model -> tensor -> model", found)

    def test_an_arrow_that_cmake_does_not_declare_is_found(self):
        self.write("src/cli/inspect.cpp", '#include "tensor/shape.h"\n')
        self.assertEqual(self.findings(check_arrows), [
            "src/cli/inspect.cpp:1: tensor is not in the DEPENDS of src/cli/CMakeLists.txt"])

    def test_a_declaration_that_the_table_does_not_allow_is_found(self):
        self.write("src/tensor/CMakeLists.txt", "evener_module(tensor\n  DEPENDS model)")
        self.assertIn("src/tensor/CMakeLists.txt: tensor may not depend on model: see "
                      "tests/tidy/arrows.txt", self.findings(check_arrows))

    def test_a_circle_in_the_table_itself_is_found(self):
        self.write("tests/tidy/arrows.txt", ARROWS.replace("shapes  |", "shapes  | model"))
        self.assertEqual(self.findings(check_arrows),
                         ["tests/tidy/arrows.txt: a circle: model -> tensor -> model"])

    def test_includes_that_are_relative_or_absent_are_found(self):
        self.write("src/model/qwen.cpp", '#include "llama.h"\n#include "model/none.h"\n')
        self.assertEqual(self.findings(check_arrows), [
            'src/model/qwen.cpp:1: "llama.h" does not start with a folder of src/',
            'src/model/qwen.cpp:2: "model/none.h" is not there'])

    def test_a_folder_without_a_row_is_found(self):
        self.write("src/misc/odds.h")
        self.write("src/odds.h")
        self.assertEqual(self.findings(check_arrows), [
            "src/misc/odds.h: folder misc has no row in tests/tidy/arrows.txt",
            "src/odds.h: folder odds.h has no row in tests/tidy/arrows.txt"])

    def test_main_is_part_of_cli(self):
        self.write("src/main.cpp", '#include "model/llama.h"\n')
        self.assertEqual(self.findings(check_arrows), [])


class WeakSymbols(CheckTest):
    SOURCE = "src/device/cpu/kernels/kernels_avx2.cpp"

    def judge(self, symbols):
        return [str(finding) for finding in check_weak_symbols.judge(self.SOURCE, symbols)]

    def test_strong_and_local_symbols_pass(self):
        self.assertEqual(self.judge("0000 D evener::cpu::kernels_avx2\n001f t row(float*)\n"), [])

    def test_weak_and_unique_symbols_are_found(self):
        self.assertEqual(
            self.judge("000a W float max<float>(float)\n0000 V table\n0000 u count\n"),
            [f"{self.SOURCE}: weak function float max<float>(float)",
             f"{self.SOURCE}: weak object table", f"{self.SOURCE}: unique object count"])

    @unittest.skipUnless(shutil.which("g++") and shutil.which("nm"), "needs g++ and nm")
    def test_an_inline_function_of_a_header_is_found_in_a_real_object(self):
        self.write(self.SOURCE, "inline int twice(int x) { return 2 * x; }\n"
                                "int (*const exported)(int) = twice;\nint (*used)(int) = twice;\n")
        built = self.root / "build/evener_device.dir/cpu/kernels/kernels_avx2.cpp.o"
        built.parent.mkdir(parents=True)
        compile_it = ["g++", "-c", self.root / self.SOURCE, "-o", built]
        check_weak_symbols.subprocess.run(compile_it, check=True)
        self.assertEqual(self.findings(check_weak_symbols),
                         [f"{self.SOURCE}: weak function twice(int)"])

    def test_without_objects_the_check_says_that_it_did_not_run(self):
        self.write(self.SOURCE)
        with self.assertRaisesRegex(Skip, "is not built"):
            self.findings(check_weak_symbols)

    def test_a_sanitizer_build_is_not_judged(self):
        self.write(self.SOURCE)
        self.write("build/CMakeCache.txt", "EVENER_SANITIZE:STRING=thread\n")
        with self.assertRaisesRegex(Skip, "sanitizer"):
            self.findings(check_weak_symbols)


class BannedCalls(CheckTest):
    def setUp(self):
        super().setUp()
        self.write(check_banned_calls.ALLOWED)

    def rules_found_in(self, code, path="src/base/x.cpp"):
        self.write(path, code + "\n")
        return [finding.split(": ")[1] for finding in self.findings(check_banned_calls)]

    def test_each_rule_finds_its_sample(self):
        samples = {
            "unbounded-copy": 'sprintf(buffer, "%d", 1);',
            "unchecked-number": "int n = std::stoi(text);",
            "hidden-state": "int n = rand();", "shell": 'system("ls");',
            "environment": 'std::getenv("HOME");', "stdout": "std::cout << 1;",
            "flush": "out << std::endl;", "naked-new": "auto* p = new Engine(1);",
            "naked-delete": "delete [] p;", "throw": 'throw Problem("x");',
            "namespace": "using namespace std;", "c-assert": "assert(x > 0);",
            "regex": "std::regex r;", "unfinished": "// TO" + "DO later",
        }
        for rule, code in samples.items():
            with self.subTest(rule):
                self.assertEqual(self.rules_found_in(code), [rule])
        covered = set(samples) | {"sleep"}
        self.assertEqual(covered, {rule.name for rule in check_banned_calls.RULES} | {"unfinished"})

    def test_a_sleep_is_found_in_tests_alone(self):
        code = "std::this_thread::sleep_for(1ms);"
        self.assertEqual(self.rules_found_in(code), [])
        self.assertEqual(self.rules_found_in(code, "tests/base/x_test.cpp"), ["sleep"])

    def test_what_only_looks_like_a_banned_word_passes(self):
        for code in ["snprintf(b, n, x);", "Pool(const Pool&) = delete;", "operand(1);",
                     "// a new block; delete it, throw it away",
                     'say("new Engine, throw, rand()");', "R\"(system(\"ls\"))\";",
                     "static_assert(sizeof(x) == 2);", "fmt::sprintf_like(x);",
                     "int renew = new_size;", "using namespace std::chrono;",
                     "auto e = std::unique_ptr<Engine>(new Engine(1));",
                     "int64_t big = 1'000'000; char c = '\\'';", 'mkdtemp("XX' + 'XXXX");']:
            with self.subTest(code):
                self.assertEqual(self.rules_found_in(code), [])

    def test_cli_may_print(self):
        self.assertEqual(self.rules_found_in("std::cout << 1;", "src/cli/main.cpp"), [])

    def test_an_exception_with_a_reason_passes_and_one_too_many_is_found(self):
        self.write(check_banned_calls.ALLOWED, "environment | src/base/x.cpp | EVENER_ISA\n")
        self.assertEqual(self.rules_found_in('getenv("EVENER_ISA");'), [])
        self.write("src/base/x.cpp", "int x;\n")
        self.assertEqual(self.findings(check_banned_calls), [
            f"{check_banned_calls.ALLOWED}:1: "
            "src/base/x.cpp does not need the exception environment"])

    def test_blanking_keeps_the_lines(self):
        text = 'a /* 1\n2 */ b\nR"x(\n)" )x" c // d\n"e\\"" f'
        self.assertEqual(without_comments_and_strings(text), 'a \n b\n""\n c  \n"" f')


class DeadFiles(CheckTest):
    def setUp(self):
        super().setUp()
        self.write(check_dead_files.READERS, "golden/*.npy | tests/model/golden_test.cpp\n")
        self.write("src/model/CMakeLists.txt", "evener_module(model)")
        self.write("src/model/families/llama.cpp",
                   '#include "model/llama.h"\n#include "near.inl"\n')
        self.write("src/model/llama.h")
        self.write("src/model/families/near.inl")
        self.write("tests/model/CMakeLists.txt",
                   "evener_tests(model LINK model)\nevener_fuzz(json LINK m)")
        self.write("tests/model/golden_test.cpp", 'open("prompts.json"); compare("qwen3");\n')
        self.write("src/cli/CMakeLists.txt",
                   "add_executable(evener ${CMAKE_SOURCE_DIR}/src/main.cpp)")
        self.write("src/main.cpp")
        self.write("bench/CMakeLists.txt", "file(GLOB programs ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)")
        self.write("bench/engine_bench.cpp")
        self.write("tests/CMakeLists.txt", "file(GLOB folders ${CMAKE_SOURCE_DIR}/*/CMakeLists.txt)")
        self.write("tests/fuzz/json_fuzz.cpp")
        self.write("tests/data/prompts.json")
        self.write("tests/data/models/qwen3.gguf")
        self.write("tests/data/golden/llama.npy")
        self.write("tests/data/fuzz/json/seed1")

    def test_a_tree_in_use_passes(self):
        self.assertEqual(self.findings(check_dead_files), [])

    def test_a_header_that_the_compiler_is_told_to_include_is_in_use(self):
        self.write("tests/model/before.h")
        self.write("tests/model/CMakeLists.txt",
                   "evener_tests(model LINK m)\nevener_fuzz(json LINK m)\n"
                   'set(o "-include;${CMAKE_CURRENT_SOURCE_DIR}/before.h;-w")')
        self.assertEqual(self.findings(check_dead_files), [])

    def test_a_header_that_nobody_includes_is_found(self):
        self.write("src/model/old.h")
        self.assertEqual(self.findings(check_dead_files), ["src/model/old.h: nothing includes it"])

    def test_a_source_file_outside_every_target_is_found(self):
        self.write("src/lost/a.cpp")
        self.write("tests/fuzz/lost_fuzz.cpp")
        self.write("tests/lost/b_test.cpp")
        self.assertEqual(self.findings(check_dead_files), [
            "src/lost/a.cpp: no CMakeLists.txt builds it",
            "tests/fuzz/lost_fuzz.cpp: no CMakeLists.txt builds it",
            "tests/lost/b_test.cpp: no CMakeLists.txt builds it"])

    def test_a_fixture_that_nobody_reads_is_found(self):
        self.write("tests/data/left_over.bin")
        self.write("tests/data/fuzz/gone/seed1")
        self.assertEqual([finding.split(":")[0] for finding in self.findings(check_dead_files)],
                         ["tests/data/fuzz/gone/seed1", "tests/data/left_over.bin"])

    def test_a_pattern_that_matches_nothing_or_has_no_reader_is_found(self):
        self.write(check_dead_files.READERS,
                   "golden/* | tests/none.cpp\nnone/* | tests/model/golden_test.cpp\n")
        self.assertEqual(self.findings(check_dead_files), [
            f"{check_dead_files.READERS}:1: the reader tests/none.cpp is not there",
            f"{check_dead_files.READERS}:2: nothing in tests/data matches none/*"])


class DocPaths(CheckTest):
    def test_paths_and_links_that_are_there_pass(self):
        self.write("src/model/llama.cpp")
        self.write("docs/architecture.md",
                   "`src/model/llama.cpp:12` `src/model/*.cpp` `src/model/` `src/model/NAME.cpp` "
                   "[home](../README.md#top) [w](https://x.org)")
        self.write("README.md", "[page](docs/architecture.md)")
        self.assertEqual(self.findings(check_doc_paths), [])

    def test_paths_and_links_that_are_not_there_are_found(self):
        self.write("docs/architecture.md", "a\n| 1 | `src/none.cpp` | [x](none.md) |\n")
        self.assertEqual(self.findings(check_doc_paths), [
            "docs/architecture.md:2: src/none.cpp is not there",
            "docs/architecture.md:2: the link none.md leads nowhere"])


class Lengths(CheckTest):
    def setUp(self):
        super().setUp()
        self.write(check_lengths.RATCHET, "# how many\n0\n")

    def found(self):
        with mock.patch("builtins.print"):
            return self.findings(check_lengths)

    @unittest.skipUnless(shutil.which("ctags"), "needs ctags")
    def test_a_long_function_above_the_ratchet_is_found(self):
        body = "  use(1);\n" * 70
        self.write("src/base/short.cpp", "void f() {\n" + body[len("  use(1);\n") * 2:] + "}\n")
        self.assertEqual(self.found(), [])
        self.write("src/base/kernel.inl", "void g() {\n" + body + "}\n")
        self.assertEqual(self.found(), [
            "tests/tidy/long_functions.txt: 1 functions are over 70 lines, 0 may be",
            "src/base/kernel.inl: g has 72 lines"])
        self.write(check_lengths.RATCHET, "1\n")
        self.assertEqual(self.found(), [])

    def test_a_long_file_must_say_why(self):
        lines = "int x;\n" * 801
        self.write("src/base/long.cpp", lines)
        with mock.patch.object(check_lengths, "long_functions", return_value=[]):
            self.assertEqual(self.found(), [
                "src/base/long.cpp: 801 lines, and the first is no comment that says why"])
            self.write("src/base/long.cpp", "// One table that is looked up as a whole.\n" + lines)
            self.assertEqual(self.found(), [])

    def test_without_ctags_the_check_says_that_it_did_not_measure(self):
        with mock.patch.object(check_lengths.shutil, "which", return_value=None):
            with self.assertRaises(Skip):
                self.found()


class Strangers(CheckTest):
    def test_a_folder_of_one_machine_and_a_registry_are_found(self):
        for text in ["see /wo" + "rk/main", "cd /ro" + "ot/x", "curl registry.npm" + "js.org"]:
            with self.subTest(text):
                self.write("docs/page.md", text)
                self.assertEqual(len(self.findings(check_strangers)), 1)

    def test_other_paths_pass(self):
        self.write("scripts/x.sh", 'cd "$root/wo' + 'rk/x"; ls src/wo' + "rk/ /usr/bin\n")
        self.assertEqual(self.findings(check_strangers), [])


@unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
class Shell(CheckTest):
    def test_an_unquoted_variable_is_found(self):
        self.write("start", "#!/usr/bin/env bash\nrm -r $1\n")
        self.assertRegex(self.findings(check_shell)[0], "^start:2:7: note: Double quote")

    def test_a_clean_script_passes(self):
        self.write("start", '#!/usr/bin/env bash\nrm -r "$1"\n')
        self.assertEqual(self.findings(check_shell), [])


if __name__ == "__main__":
    unittest.main()
