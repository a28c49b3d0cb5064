"""Threads with names: given ones, Python's own, one that was changed, a subclass with attributes before its own."""
import threading
import time


class Worker(threading.Thread):
    def __init__(self):
        self.first, self.second = 1, 2
        super().__init__(name="subclass")
        self.rest = {}

    def run(self):
        time.sleep(1000)


def sleep():
    time.sleep(1000)


threads = [threading.Thread(target=sleep, name="loader é✓"), Worker(), threading.Thread(target=sleep), threading.Thread(target=sleep)]
for t in threads:
    t.daemon = True
    t.start()
threads[3].name = "changed"
threads[3].__dict__["more"] = 1  # makes the dictionary one of its own
threading.current_thread().name = "chief"
print("ready", flush=True)
time.sleep(1000)
