"""Packs the binary for people: Python wheels that put it on PATH, and archives with man pages and shell completions.

Usage: python3 scripts/package.py wheel|archive GOOS/GOARCH...      writes into dist/

Only the standard library and the go command are used. Equal sources give equal bytes: every time stamp is SOURCE_DATE_EPOCH
(default: 1980, the oldest that a zip file can hold).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
NAME = "bottleneck-profiler"
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)

# Platform tags of wheels. The binary is static: any glibc or musl does. Go's own minimum decides the macOS version.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Why is this PyTorch program slow, where, and how much would fixing it save?
License: Apache-2.0
Keywords: pytorch,profiler,performance
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Topic :: Software Development :: Debuggers
Description-Content-Type: text/markdown

"""


def version() -> str:
    return (ROOT / "VERSION").read_text().strip()


def build(platform: str, folder: Path) -> Path:
    """Compiles the static binary for GOOS/GOARCH and returns its path."""
    system, machine = platform.split("/")
    binary = folder / ("bottleneck.exe" if system == "windows" else "bottleneck")
    flags = f"-s -w -X bottleneck/internal/cli.version={version()}"
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(binary), "./cmd/bottleneck"]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "GOOS": system, "GOARCH": machine, "CGO_ENABLED": "0"})
    return binary


def add(archive: zipfile.ZipFile, name: str, data: bytes, executable: bool = False) -> None:
    """Adds a file to a zip with its permission bits, which installers and unzip keep."""
    entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix: the permission bits count
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    archive.writestr(entry, data)


def record_line(name: str, data: bytes) -> str:
    """One row of a wheel's RECORD: name, urlsafe base64 of SHA-256 without padding, size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def wheel(platform: str, folder: Path) -> Path:
    """A wheel whose only content is the binary, as a script (the binary distribution format of Python packages)."""
    binary = build(platform, folder)
    stem = f"{NAME.replace('-', '_')}-{version()}"
    tags = TAGS[platform]
    info = f"{stem}.dist-info"
    lines = ["Wheel-Version: 1.0", f"Generator: {NAME}", "Root-Is-Purelib: false"]
    lines += [f"Tag: py3-none-{tag}" for tag in tags.split(".")]
    metadata = METADATA.format(name=NAME, version=version()) + (ROOT / "README.md").read_text()
    files = [
        (f"{stem}.data/scripts/{binary.name}", binary.read_bytes(), True),
        (f"{info}/METADATA", metadata.encode(), False),
        (f"{info}/WHEEL", ("\n".join(lines) + "\n").encode(), False),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False),
    ]
    record = "\n".join([record_line(name, data) for name, data, _ in files] + [f"{info}/RECORD,,", ""])
    path = DIST / f"{stem}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, executable in [*files, (f"{info}/RECORD", record.encode(), False)]:
            add(archive, name, data, executable)
    return path


def documents(folder: Path) -> list[tuple[str, bytes]]:
    """Man pages, completions, licence and README, as (path in the archive, content); made by a binary for this machine."""
    native = folder / "native"
    subprocess.run(["go", "build", "-o", str(native), "./cmd/bottleneck"], cwd=ROOT, check=True, env={**os.environ, "CGO_ENABLED": "0"})
    pages = folder / "man"
    pages.mkdir()
    subprocess.run([native, "man", pages], check=True)
    files = [(name, (ROOT / name).read_bytes()) for name in ("LICENSE", "README.md")]
    files += [(f"man/{page.name}", page.read_bytes()) for page in sorted(pages.iterdir())]
    for shell in ("bash", "zsh", "fish", "powershell"):
        text = subprocess.run([native, "completion", shell], check=True, stdout=subprocess.PIPE).stdout
        files.append((f"completions/bottleneck.{'ps1' if shell == 'powershell' else shell}", text))
    return files


def archive(platform: str, folder: Path, files: list[tuple[str, bytes]]) -> Path:
    """A .tar.gz, or a .zip for Windows, with everything in one folder."""
    binary = build(platform, folder)
    stem = f"bottleneck-{version()}-{platform.replace('/', '-')}"
    entries = [(binary.name, binary.read_bytes()), *files]
    if platform.startswith("windows/"):
        path = DIST / f"{stem}.zip"
        with zipfile.ZipFile(path, "w") as packed:
            for name, data in entries:
                add(packed, f"{stem}/{name}", data, executable=name == binary.name)
        return path
    path = DIST / f"{stem}.tar.gz"
    tape = io.BytesIO()
    with tarfile.open(fileobj=tape, mode="w") as packed:
        for name, data in entries:
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o755 if name == binary.name else 0o644
            packed.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(tape.getvalue(), mtime=EPOCH))
    return path


def main() -> None:
    kind, platforms = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 2 else ("", [])
    unknown = [platform for platform in platforms if platform not in TAGS]
    if kind not in ("wheel", "archive") or unknown:
        sys.exit(f"usage: package.py wheel|archive PLATFORM...    platforms: {' '.join(TAGS)}")
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        files = documents(Path(name)) if kind == "archive" else []
        for platform in platforms:
            folder = Path(name) / platform.replace("/", "-")
            folder.mkdir()
            print(wheel(platform, folder) if kind == "wheel" else archive(platform, folder, files))


if __name__ == "__main__":
    main()
