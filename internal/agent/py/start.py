"""Loads the agent from its folder, HERE, which nothing but this loader reads.

Its modules have the names "<bottleneck>/_bneck_agent/…" instead of paths: tools that watch the lines of a program (coverage, debuggers)
pass over names that are no files.
"""

import sys

NAME = "_bneck_agent"
SHOWN = "<bottleneck>/" + NAME + "/"


def leave_path():
    """Takes the folder off sys.path: the program sees the path it would have had. Children still inherit PYTHONPATH."""
    import os

    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != HERE]  # noqa: F821


def start_agent():
    """Imports the agent where it can run."""
    if sys.version_info < (3, 8):
        return
    import _frozen_importlib_external as machinery
    import _imp
    import marshal

    class Loader(machinery.SourceFileLoader):
        """Keeps compiled code in a folder of the agent's own, whatever the program has Python do with that of its modules.

        Compiling all of the agent takes a seventh of a second. A launcher lets that folder be the same in every run.
        """

        def get_code(self, fullname):
            kept = self.kept()
            code = kept and self.load(kept)
            if not code:
                code = compile(self.get_data(self.path), self.shown(), "exec", dont_inherit=True)
                if kept:
                    body = marshal.dumps(code)
                    self.set_data(kept, self.head(body) + body, _mode=0o600)  # at once, or not at all
            return code

        def kept(self):
            """The file for this module's code, of this Python."""
            tag = sys.implementation.cache_tag
            at, _, name = self.path.rpartition("/")
            return tag and "%s/__pycache__/%s.%s-%d.code" % (at, name[:-3], tag, sys.flags.optimize)

        def head(self, body):
            return machinery.MAGIC_NUMBER + _imp.source_hash(0, body)

        def load(self, kept):
            try:
                data = memoryview(self.get_data(kept))
            except OSError:
                return None
            head = self.head(data[12:])
            return marshal.loads(data[12:]) if data[:12] == head else None

        def exec_module(self, module):
            module.__file__ = self.shown()
            machinery.SourceFileLoader.exec_module(self, module)

        def shown(self):
            return SHOWN + self.path.rpartition("/")[2]

    folder = HERE + "/" + NAME  # noqa: F821
    # The finder of a folder is asked for here, before anything on sys.path_hooks: the list of finders stays as it was.
    sys.path_importer_cache[folder] = machinery.FileFinder(folder, (Loader, [".py"]))
    loader = Loader(NAME, folder + "/__init__.py")
    spec = machinery.spec_from_file_location(NAME, loader.path, loader=loader, submodule_search_locations=[folder])
    import _frozen_importlib as bootstrap

    bootstrap._load(spec).start()


def chain():
    """Imports the next sitecustomize, if there is one; its errors are the program's own business."""
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        missing = sys.exc_info()[1]
        if getattr(missing, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault("sitecustomize", mine)


leave_path()
try:
    start_agent()
except Exception:  # the program comes first: without the agent it runs as ever
    pass
chain()
