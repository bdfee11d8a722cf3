"""Words that our code does without. Exceptions and reasons: banned_calls_allowed.txt."""

import re
from dataclasses import dataclass

from tree import Finding, without_comments_and_strings

ALLOWED = "tests/tidy/banned_calls_allowed.txt"


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: str
    instead: str
    folders: tuple = ("src", "tests", "bench")
    except_folders: tuple = ()


RULES = [
    Rule("unbounded-copy", r"\b(?:v?sprintf|strcpy|strcat|gets)\s*\(", "fmt::format, std::string"),
    Rule("unchecked-number", r"\b(?:ato[ifl]l?|sto(?:i|l|ll|ul|ull|f|d|ld))\s*\(",
         "std::from_chars"),
    Rule("hidden-state", r"\b(?:strtok|s?rand|setlocale)\s*\(", "a value that the caller owns"),
    Rule("shell", r"\b(?:system|popen)\s*\(", "a library call"),
    Rule("environment", r"\b(?:secure_)?getenv\s*\(", "an option or a parameter"),
    Rule("stdout", r"\bstd::(?:cout|cerr)\b|(?<!\w)(?:std::)?(?:printf|puts|putchar)\s*\(",
         "base/log.h, or a Result that cli prints", ("src",), ("src/cli",)),
    Rule("flush", r"\bstd::endl\b", r"'\n'"),
    Rule("naked-new", r"\bnew\b\s*(?:\([^)]*\)\s*)?[A-Za-z_:]", "std::make_unique, a container"),
    Rule("naked-delete", r"\bdelete\b\s*(?:\[\s*\])?\s*[A-Za-z_:(*]", "an owner"),
    Rule("throw", r"\bthrow\b", "a Result with an Error", ("src",)),
    Rule("namespace", r"\busing\s+namespace\s+std\s*;", "std::"),
    Rule("c-assert", r"\bassert\s*\(|<cassert>|<assert\.h>", "EVENER_ASSERT", ("src",)),
    Rule("regex", r"\bstd::regex\b", "PCRE2 with limits, or plain code", ("src",)),
    Rule("sleep", r"\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
         "a condition to wait for", ("tests",)),
]

# Split, so that this file may be searched for them too.
WORDS = ["TO" + "DO", "FIX" + "ME", "XX" + r"X(?=[:(])", "unimplem" + "ented",
         "not implem" + "ented"]
UNFINISHED = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b")


def code_findings(tree):
    for rule in RULES:
        pattern = re.compile(rule.pattern)
        for path in tree.cxx(*rule.folders):
            if rule.except_folders and path in tree.under(*rule.except_folders):
                continue
            lines = without_comments_and_strings(tree.text(path) or "").splitlines()
            for number, line in enumerate(lines, 1):
                match = pattern.search(line)
                if match and not is_owned(rule, lines, number):
                    yield rule.name, path, number, f"{match.group().strip()} ({rule.instead})"


def is_owned(rule, lines, number):
    """`new` whose result a smart pointer takes at once: the way to a private constructor."""
    statement = " ".join(lines[max(0, number - 2):number])
    return rule.name == "naked-new" and re.search(
        r"(?:_ptr<[^;]*>|Ptr)\s*(?:\w+\s*)?[({]\s*new\b", statement)


def text_findings(tree):
    for path in tree.paths:
        if path.startswith("tests/data/"):
            continue
        for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
            match = UNFINISHED.search(line)
            if match:
                yield "unfinished", path, number, f"{match.group()} (finish it, or file an issue)"


def run(tree):
    allowed = {(rule, path): line for line, (rule, path, _) in tree.table(ALLOWED, 3)}
    used = set()
    for rule, path, number, what in [*code_findings(tree), *text_findings(tree)]:
        if (rule, path) in allowed:
            used.add((rule, path))
        else:
            yield Finding(f"{path}:{number}", f"{rule}: {what}")
    for key in sorted(set(allowed) - used):
        yield Finding(f"{ALLOWED}:{allowed[key]}", f"{key[1]} does not need the exception {key[0]}")
