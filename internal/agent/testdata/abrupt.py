"""Ends in the way its argument names, in the middle of its work."""

import os
import signal
import sys

import torch

how = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test that runs in the background has it ignored
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def steps(count):
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


steps(7)  # a window opens at step 6
print("working", flush=True)
if how == "fds":
    os.closerange(3, 4096)
    steps(40)
elif how == "user":
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    steps(40)
elif how == "environ":
    os.environ.clear()
    os.chdir("/")
    steps(40)
elif how == "vanish":
    import shutil

    shutil.rmtree(sys.argv[2])
    steps(40)
elif how == "full":
    for name in os.listdir(sys.argv[2]):
        path = os.path.join(sys.argv[2], name, "events.jsonl.gz")
        if os.path.isdir(os.path.dirname(path)) and name != "agent":
            if os.path.exists(path):
                os.unlink(path)
            os.symlink("/dev/full", path)
    steps(40)
elif how == "raise":
    raise ValueError("the program's own")
elif how == "exit":
    sys.exit(7)
elif how == "os-exit":
    os._exit(9)
elif how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "term":
    os.kill(os.getpid(), signal.SIGTERM)
elif how == "interrupt":
    os.kill(os.getpid(), signal.SIGINT)
    steps(10)
elif how == "exec":
    os.execv(sys.executable, [sys.executable, "-c", "import torch; print('another', torch.ones(2).sum().item())"])
elif how == "thread":
    import threading

    def await_main():
        """Until the main thread waits for this one: a signal just before that would be missed."""
        switches, same = None, 0
        while same < 20:
            with open("/proc/self/task/%d/status" % os.getpid()) as file:
                now = [line for line in file if "ctxt_switches" in line]
            switches, same = now, same + 1 if now == switches else 0
            threading.Event().wait(0.01)

    def endless():
        threading.main_thread().join()
        await_main()
        print("hanging", flush=True)
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
        threading.Event().wait()

    threading.Thread(target=endless).start()
elif how == "atexit":
    import atexit
    import threading

    def block():
        print("hanging", flush=True)
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
        while True:
            threading.Event().wait(0.5)

    atexit.register(block)
elif how == "memory":
    import resource

    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), resource.RLIM_INFINITY))
    kept = []
    try:
        while True:
            kept.append(bytearray(1 << 20))
    except MemoryError:
        del kept[-20:]  # what a step needs
    steps(10)
    kept.clear()
    steps(40)
print("end")
