"""Two functions whose frames take the same place in turn, one with numbers for variables, one with texts."""


NUMBERS = list(range(1000, 1030))
TEXTS = [str(number) for number in NUMBERS]


def numbers(a):
    for b in NUMBERS:
        c = b
    return a, c


def texts(a):
    for b in TEXTS:
        c = b
    return a, c


print("ready", flush=True)
while True:
    numbers(1001)
    texts("one")
