"""Records comp.log.gz: PyTorch's log of compiling the program below (python generate.py; PyTorch 2.15).

Paths become those of nobody's machine, and the compiler's settings, which are most of the text, are left out.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = '''import torch
@torch.compile(backend="eager")
def f(x):
    y = x.sin()
    print("break")
    return y.cos() + x.shape[0]
for n in (3, 4, 5):
    f(torch.ones(n))
@torch.compile(backend="eager")
def g(x, k):
    return x * k
for k in (1, 2, 3):
    g(torch.ones(2), k)
'''

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "comp.py")
        pathlib.Path(program).write_text(PROGRAM)
        subprocess.run([sys.executable, program], env={**os.environ, "TORCH_TRACE": folder + "/log"}, check=True)
        text = next(pathlib.Path(folder, "log").iterdir()).read_text()
        text = re.sub(r'"\w+_config": "(\\.|[^"\\])*"', '"config": ""', text)
        text = text.replace(folder, "/home/user").replace(os.path.dirname(os.__file__), "/usr/lib/python3")
    with gzip.GzipFile("comp.log.gz", "wb", mtime=0) as out:
        out.write(text.encode())
