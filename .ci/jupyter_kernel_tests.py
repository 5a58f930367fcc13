"""Jupyter's own tests of a kernel, every point of them with a sample.

    jupyter_kernel_tests.py KERNEL_NAME
"""

import sys
import unittest

import jupyter_kernel_test

NAME = sys.argv.pop(1)


class Kernel(jupyter_kernel_test.KernelTests):
    kernel_name = NAME
    language_name = "rust"
    file_extension = ".rs"
    code_hello_world = 'println!("hello, world");'
    code_stderr = 'eprintln!("oops");'
    completion_samples = [{"text": "tf::iris::TRAIN_U", "matches": {"TRAIN_URL"}}]
    complete_code_samples = ["let x = 1;", "fn f() {}", ":vars"]
    incomplete_code_samples = ["fn f() {", "let x =", "for i in 0..3 {"]
    invalid_code_samples = ["}", "import numpy as np", "let x = = 1;"]
    code_page_something = "?Estimator"
    code_generate_error = 'panic!("no");'
    code_execute_result = [{"code": "1 + 2", "result": "3"}, {"code": "vec![1, 2]", "result": "[1, 2]"}]
    code_display_data = [
        {"code": 'tf::notebook::display(&[("text/html", "<b>x</b>")]);', "mime": "text/html"},
        {"code": 'tf::plot::LineChart::new("loss").evcxr_display();', "mime": "text/html"},
    ]
    code_history_pattern = "1*2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "Estimator"
    code_clear_output = "tf::notebook::clear_output(true);"


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = NAME
    support_iopub_welcome = True


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(0 if result.wasSuccessful() and not result.skipped else f"skipped: {result.skipped}")
