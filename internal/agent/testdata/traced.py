"""What a tracer of the program's own sees of threads that come and go."""

import sys
import threading
import weakref

seen = []
OTHERS = threading.__file__, weakref.WeakSet.__init__.__code__.co_filename


def tracer(frame, event, argument):
    code = frame.f_code
    if code.co_filename in OTHERS:  # which of its functions wait depends on which thread is faster
        return None
    seen.append("%s %s %s %d" % (event, code.co_filename.rpartition("/")[2], code.co_name, frame.f_lineno))
    return tracer


def work(number):
    return number + 1


def threads():
    for number in range(2):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()


def traced():
    sys.settrace(tracer)
    threads()
    sys.settrace(None)


traced()
here = len(seen)
threading.settrace(tracer)
threads()
print(here, "events of the main thread,", len(seen) - here, "of others")
print("\n".join(seen))
