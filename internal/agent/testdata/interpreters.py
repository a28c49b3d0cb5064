"""A second interpreter in this process asks for a handler of the first one's."""

try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters

second = interpreters.create()
interpreters.run_string(second, "import signal; print(type(signal.getsignal(signal.SIGINT)).__name__, flush=True)")
interpreters.destroy(second)
