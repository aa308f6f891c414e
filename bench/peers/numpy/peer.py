"""NumPy, measured: a process that takes a case per line and answers with a measurement per line.

	python3 -m venv /tmp/peers && /tmp/peers/bin/pip install numpy
	PYTHON=/tmp/peers/bin/python make bench-peers

A case is "elementwise op=sin n=65536 seconds=0.1", the answer the tail of a line in the format of Go's benchmarks. NumPy
uses one thread.
"""

import sys
import time

try:
    import numpy
except ImportError as problem:
    print("missing: NumPy cannot be imported (%s); pip install numpy" % problem, flush=True)
    sys.exit(1)


def operation(op, n):
    x = numpy.random.default_rng(1).random(n, numpy.float32) + numpy.float32(0.1)
    y = numpy.zeros_like(x)
    if op == "relu":
        zero = numpy.float32(0)
        return lambda: numpy.maximum(x, zero, out=y)
    f = {"sin": numpy.sin, "exp": numpy.exp, "log": numpy.log}[op]
    return lambda: f(x, out=y)


def seconds_of(f, times):
    start = time.perf_counter()
    for _ in range(times):
        f()
    return (time.perf_counter() - start) / times


print("ready: NumPy " + numpy.__version__, flush=True)
last, run, took = None, None, 0.0
for line in sys.stdin:
    words = line.split()
    args = dict(word.split("=") for word in words[1:])
    seconds = float(args.pop("seconds"))
    if args != last:
        run, last = operation(args["op"], int(args["n"])), args
        run()
        took = seconds_of(run, 1)
    run()  # what was measured in between took the caches
    times = max(1, round(seconds / took))
    took = seconds_of(run, times)
    print("%d %.1f ns/op" % (times, took * 1e9), flush=True)
