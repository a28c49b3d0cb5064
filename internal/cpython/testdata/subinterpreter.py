"""A thread that runs code in a second interpreter."""
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside():
    print("ready", flush=True)
    time.sleep(1000)
inside()
"""


def beside():
    second = interpreters.create()
    interpreters.run_string(second, CODE)


threading.Thread(target=beside, daemon=True).start()
time.sleep(1000)
