"""Two threads that run all the time, with variables that are made anew and freed, and one that sleeps."""
import threading
import time


def replaced(turn):
    number = turn << 70
    text = "turn %d" % turn
    items = [turn, text, (turn, number)]
    table = {turn: items}
    return len(items) + len(table)


def spin():
    fixed = "stays"
    count = 0
    while fixed:
        count += 1
        replaced(count)


def rest():
    time.sleep(1000)


for target in (spin, spin, rest):
    threading.Thread(target=target, name=target.__name__, daemon=True).start()
print("ready", flush=True)
time.sleep(1000)
