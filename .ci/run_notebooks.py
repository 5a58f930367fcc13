"""Runs notebooks from top to bottom and fails unless each of them did what it claims.

    run_notebooks.py [--write] EVCXR_JUPYTER NOTEBOOK...

A stock kernel answers "ok" to a cell that panicked, so its answer is not enough: nothing may be written to standard
error, and the last code cell must say that all checks passed. With --write the outputs are kept in the notebook.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CELL_SECONDS = 1200  # the first cell compiles the library


def main(arguments):
    write = "--write" in arguments
    kernel, *notebooks = [argument for argument in arguments if argument != "--write"]
    if not notebooks:
        sys.exit("no notebooks to run")
    with tempfile.TemporaryDirectory() as folder:
        install(Path(kernel).absolute(), folder)
        failed = [path for path in map(Path, notebooks) if not passes(path, write)]
    if failed:
        sys.exit(f"failed: {', '.join(map(str, failed))}")
    print(f"{len(notebooks)} of {len(notebooks)} notebooks passed")


def install(kernel, folder):
    """Registers the kernel in `folder` alone, with settings of its own."""
    os.environ.update(JUPYTER_PATH=folder, JUPYTER_DATA_DIR=folder, EVCXR_CONFIG_DIR=folder)
    subprocess.run([kernel, "--install"], check=True, stdout=subprocess.DEVNULL)


def passes(path, write):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(
        notebook,
        kernel_name="rust",
        timeout=CELL_SECONDS,
        startup_timeout=300,
        record_timing=False,
        allow_errors=True,  # all outputs are judged at the end
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    problems = problems_of(notebook)
    for problem in problems:
        print(f"{path}: {problem}")
    if not problems:
        print(f"{path}: {sum_of_checks(notebook).group()}")
        if write:
            notebook.metadata = nbformat.read(path, as_version=4).metadata
            tidy(notebook)
            nbformat.write(notebook, path)
    return not problems


def problems_of(notebook):
    problems = []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
                problems.append(f"cell `{cell.id}` failed: {output.evalue}\n{trace}")
            elif output.get("name") == "stderr":
                problems.append(f"cell `{cell.id}` wrote to standard error:\n{output.text}")
    checks = sum_of_checks(notebook)
    if checks is None:
        problems.append("the last code cell does not say how many checks passed")
    elif checks[1] != checks[2] or checks[1] == "0":
        problems.append(checks.group())
    return problems


def sum_of_checks(notebook):
    outputs = code_cells(notebook)[-1].outputs
    text = "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)
    return re.search(r"^(\d+) of (\d+) checks passed$", text, re.MULTILINE)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tidy(notebook):
    """Joins each cell's lines, of which the stock kernel makes one output each, and counts cells from 1, not from 2."""
    for number, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = number
        outputs = []
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
            if outputs and output.output_type == outputs[-1].output_type == "stream":
                outputs[-1].text += output.text
            else:
                outputs.append(output)
        cell.outputs = outputs


if __name__ == "__main__":
    main(sys.argv[1:])
