"""Runs the tests of this folder, and tells what came of them line by line, as Rust's tests do."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent


class Told(unittest.TextTestResult):
    """Names tests by their file, class and method."""

    def say(self, test, outcome):
        print(f"test python::{test.id()} ... {outcome}", flush=True)

    def addSuccess(self, test):
        self.say(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, f"ignored, {reason}")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, "FAILED")

    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, "FAILED")

    def addSubTest(self, test, part, error):
        super().addSubTest(test, part, error)
        if error is not None:
            self.say(part, "FAILED")


def main():
    tests = unittest.defaultTestLoader.discover(HERE, pattern=sys.argv[1] if len(sys.argv) > 1 else "test_*.py")
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=Told, verbosity=0)
    found = runner.run(tests)
    failed = len(found.failures) + len(found.errors)
    passed = found.testsRun - failed - len(found.skipped)
    word = "FAILED" if failed else "ok"
    print(f"test result: {word}. {max(0, passed)} passed; {failed} failed; {len(found.skipped)} ignored")
    sys.exit(bool(failed or not found.testsRun))


if __name__ == "__main__":
    main()
