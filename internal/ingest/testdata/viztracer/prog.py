import time, threading, json
def leaf(n):
    s = 0
    for i in range(n): s += i*i
    return s
def branch(n):
    return leaf(n) + leaf(2*n)
def slow():
    return sum(branch(200) for _ in range(30))
def worker():
    slow()
t = threading.Thread(target=worker, name="worker")
t.start()
slow()
t.join()
