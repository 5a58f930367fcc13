"""How long a learner waits: this project's kernel beside evcxr's own, cell by cell, in one run.

    python3 benches/kernel_latency.py target/release/tpulab target/release/examples/evcxr_jupyter

Needs jupyter_client. Both kernels start on a folder that is prepared: for evcxr's own, a first run that is not counted
compiles the library into its EVCXR_TMPDIR. Prints seconds, medians by kind of cell, and ratios.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1200

# Kind and code. "first" is the first cell that uses the library.
CELLS = [
    ("first", "tf::iris::SPECIES.len()"),
    ("let", "let a = 3;"),
    *[
        cell
        for n in range(8)
        for cell in [
            ("print", f'println!("{{}}", a + {n});'),
            ("expression", f"a * {n}"),
            ("let", f"let b{n} = a + {n};"),
        ]
    ],
    ("let", 'let frame = Frame::new([("x", Column::from(vec![0.0f32, 1.0]))])?;'),
    ("expression", "frame"),
    ("let", 'let column = Column::from(vec![0i32, 1]);'),
    ("print", 'println!("{:?}", frame.names());'),
]


def main(ours, stock):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JUPYTER_PATH"] = folder
        os.environ["JUPYTER_DATA_DIR"] = folder
        subprocess.run([ours, "kernel", "install"], check=True, stdout=subprocess.DEVNULL)
        prepared = Path(folder, "prepared")
        prepared.mkdir()
        spec = Path(folder, "kernels", "stock")
        spec.mkdir(parents=True)
        argv = [str(Path(stock).resolve()), "--control_file", "{connection_file}"]
        environment = {"EVCXR_TMPDIR": str(prepared), "EVCXR_CONFIG_DIR": folder}
        content = {"argv": argv, "display_name": "stock", "language": "rust", "env": environment}
        Path(spec, "kernel.json").write_text(json.dumps(content))
        load = f":dep tpulab = {{ path = {json.dumps(str(ROOT))}, features = [\"linfa\"] }}\n"
        load += "use tpulab as tf; use tpulab::prelude::*;\n"
        run("stock", load)  # prepares the folder
        theirs = run("stock", load)
        mine = run("tpulab", "")
    report(mine, theirs)


def run(kernel, load):
    """Seconds from the start of the process to the first answer, to the end of the first cell, and of each cell."""
    began = time.monotonic()
    manager = KernelManager(kernel_name=kernel)
    manager.start_kernel(cwd=tempfile.gettempdir())
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=LIMIT)
    seconds = [("kernel_info", time.monotonic() - began)]
    for number, (kind, code) in enumerate(CELLS):
        asked = time.monotonic()
        reply = client.execute_interactive((load if number == 0 else "") + code, timeout=LIMIT, output_hook=lambda _: None)
        if reply["content"]["status"] != "ok":
            sys.exit(f"{kernel}: {code}: {reply['content']}")
        seconds.append((kind, time.monotonic() - (began if kind == "first" else asked)))
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return seconds


def report(mine, theirs):
    print(f"{'':28}{'tpulab':>10}{'evcxr':>10}{'ratio':>8}")
    for name, kind in [
        ("answer to kernel_info", "kernel_info"),
        ("start to end of first cell", "first"),
        ("print, median", "print"),
        ("expression, median", "expression"),
        ("let, median", "let"),
    ]:
        ours, stock = (statistics.median(s for k, s in all if k == kind) for all in (mine, theirs))
        print(f"{name:28}{ours:10.3f}{stock:10.3f}{ours / stock:8.2f}")
    first_let = [next(s for k, s in all if k == "let") for all in (mine, theirs)]
    print(f"{'first let':28}{first_let[0]:10.3f}{first_let[1]:10.3f}{first_let[0] / first_let[1]:8.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
