"""The examples of the documentation, run."""

import doctest
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Documents(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("pyarrow") is None, "pyarrow cannot be imported")
    def test_examples_of_the_page_come_out(self):
        found = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
        self.assertEqual(found.failed, 0)
        self.assertGreater(found.attempted, 10)

    def test_examples_of_the_package_come_out(self):
        import nodewise

        found = doctest.testmod(nodewise)
        self.assertEqual((found.failed, found.attempted), (0, 3))


if __name__ == "__main__":
    unittest.main()
