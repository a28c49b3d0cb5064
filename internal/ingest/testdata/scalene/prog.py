import time, random
def slow(n):
    total = 0
    for i in range(n):
        total += random.random() * i
    return total
def outer():
    data = [bytearray(1000) for _ in range(2000)]
    for _ in range(20):
        slow(20000)
    return len(data)
if __name__ == "__main__":
    end = time.time() + 1.0
    while time.time() < end:
        outer()
