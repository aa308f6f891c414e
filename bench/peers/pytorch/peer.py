"""PyTorch, measured: a process that takes a case per line and answers with a measurement per line.

	python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
	PYTHON=/tmp/torch/bin/python make bench-peers

(a build of PyTorch for CPUs alone is smaller and as fast). A case is a line of words, the answer is the tail of a line
in the format of Go's benchmarks:

	conv in=256 out=256 side=14 k=7 batch=64 seconds=0.5
	1 512345678.0 ns/op

A case is prepared and warmed up when it differs from the one before. Among the settings that a user may choose
without changing the result (the layout of maps in a convolution) the faster one is found first and then kept.
"""

import argparse
import os
import sys
import time

# What the allocator and the thread pool read when they start, so it is set before they do: freed memory is kept
# instead of being returned to the system, which would fault it in anew in every step; it lies in huge pages; and idle
# threads wait actively. Together they save a tenth to a third of a training step.
TUNED = {
    "OMP_WAIT_POLICY": "ACTIVE",
    "OMP_PROC_BIND": "TRUE",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 40),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_ARENA_MAX": "2",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

# Layouts of an operation of more than LONG seconds are compared once, of others TRIES times. One of more than ENDLESS is
# measured by what that took.
LONG, ENDLESS, TRIES = 1.2, 20, 3

SPATIAL = ("in", "out", "side", "k", "batch")


def resident(field):
    """VmRSS or VmHWM in MiB."""
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    raise RuntimeError(field + " is not in /proc/self/status")


class Case:
    """What a line asks for: setup builds a function, which is one operation."""

    def __init__(self, words):
        self.suite, self.args = words[0], {}
        for word in words[1:]:
            key, _, value = word.partition("=")
            self.args[key] = value
        self.seconds = float(self.args.pop("seconds", "0.2"))
        self.key = (self.suite, tuple(sorted(self.args.items())))

    def int(self, key, default=None):
        return int(self.args[key] if default is None else self.args.get(key, default))

    def float(self, key):
        return float(self.args[key])

    def ints(self, key):
        return [int(v) for v in self.args.get(key, "").split(",") if v]


def conv(torch, case):
    """The forward and backward pass of a dense convolution."""
    cin, cout, side, k, batch = (case.int(key) for key in SPATIAL)
    ops = []
    for layout in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(batch, cin, side, side).contiguous(memory_format=layout).requires_grad_()
        w = torch.randn(cout, cin, k, k).mul_(0.01).contiguous(memory_format=layout).requires_grad_()
        dy = torch.randn(batch, cout, side, side).contiguous(memory_format=layout)

        def op(x=x, w=w, dy=dy):
            y = torch.nn.functional.conv2d(x, w, padding=k // 2)
            torch.autograd.grad(y, (x, w), dy)

        ops.append(op)
    return ops


def siren(torch, case):
    """A kernel network from 3 coordinates through two hidden layers; backward also to the coordinates."""
    from networks import Siren

    positions = case.int("positions")
    net = Siren(case.int("in"), case.int("out"), case.int("hidden"), case.int("layers"), case.float("omega0"))
    x = torch.rand(case.int("in"), positions).mul_(2).sub_(1)
    if case.args["pass"] == "forward":

        def op():
            with torch.no_grad():
                net(x)

        return [op]
    x.requires_grad_()
    dy = torch.randn(case.int("out"), positions)
    return [lambda: torch.autograd.grad(net(x), [x, *net.parameters()], dy)]


def network(torch, case):
    import networks

    kind = {"ckresnet": networks.CKResNet, "cnn13": networks.CNN13}[case.args["net"]]
    options = dict(
        channels=case.int("channels"), classes=case.int("classes"), width=case.int("width"), factors=case.ints("factors"),
        pools=case.ints("pools"), side=case.int("k"), hidden=case.int("hidden"), layers=case.int("layers"),
        omega0=case.float("omega0"), elements=case.int("elements"), partial=bool(case.int("partial")),
        per_element=bool(case.int("perelement")), group=case.args["group"])
    if kind is networks.CNN13:
        options.update(dropouts=case.ints("dropouts"), dropout=case.float("dropout"))
    net = kind(**options)
    for theta in net.thetas:
        theta.data.fill_(float(case.args.get("theta", "1")))
    images = torch.randn(case.int("batch"), case.int("channels"), case.int("side"), case.int("side"))
    return net, images


def step(torch, case):
    """A training step: forward, cross-entropy, backward, Adam."""
    net, images = network(torch, case)
    labels = torch.randint(case.int("classes"), (len(images),))
    # The subset sizes stay where they are: what is measured must not drift.
    groups = [{"params": [p for n, p in net.named_parameters() if not n.startswith("thetas")]}]
    if len(net.thetas):
        groups.append({"params": list(net.thetas), "lr": 0.0})
    optimizer = torch.optim.Adam(groups, lr=1e-3, fused=True)

    def op(layout):
        net.layout = layout
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        loss.item()

    return layouts(torch, op)


def infer(torch, case, keep=False):
    """The logits of one batch, with elements and kernels made anew or, with keep, once."""
    net, images = network(torch, case)
    net.eval()
    if keep:
        net.keep()

    def op(layout):
        net.layout = layout
        with torch.inference_mode():
            net(images)

    return layouts(torch, op)


def layouts(torch, op):
    return [lambda: op(None), lambda: op(torch.channels_last)]


def elementwise(torch, case):
    """sin, exp, log, relu or a step of Adam, from one array into another."""
    n = case.int("n")
    x, y = torch.rand(n).add_(0.1), torch.empty(n)
    if case.args["op"] == "adam":
        state = [[torch.zeros(n)], [torch.zeros(n)], [], [torch.tensor(1.0)]]
        options = dict(lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)
        return [lambda: torch._fused_adam_([y], [x], *state, **options)]
    f = {"sin": torch.sin, "exp": torch.exp, "log": torch.log, "relu": torch.clamp_min}[case.args["op"]]
    if f is torch.clamp_min:
        return [lambda: torch.clamp_min(x, 0, out=y)]
    return [lambda: f(x, out=y)]


def once(op):
    start = time.perf_counter()
    op()
    return time.perf_counter() - start


def prepare(torch, suite, case):
    """The fastest of the case's settings, warmed up, and the seconds that it took."""
    ops = suite(torch, case)
    first = [once(op) for op in ops]
    rounds = [[once(op) for op in ops] for _ in range(1 if first[0] > LONG else TRIES)]
    took = [min(times) for times in zip(*rounds)]
    best = took.index(min(took))
    return ops[best], took[best]


def measure(op, took, seconds):
    n = max(1, round(seconds / max(took, 1e-7)))
    if took < 0.5:  # what was measured in between took the caches
        op()
    start = time.perf_counter()
    for _ in range(n):
        op()
    return n, (time.perf_counter() - start) / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--peak", action="store_true", help="answer with the peak of resident memory instead of times")
    parser.add_argument("--keep", action="store_true", help="networks that predict keep their elements and kernels")
    options = parser.parse_args()
    env = {} if options.peak else dict(TUNED)  # the allocator's defaults take the least memory
    env["OMP_NUM_THREADS"] = env["MKL_NUM_THREADS"] = str(options.threads)
    if any(os.environ.get(k) != v for k, v in env.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **env})
    try:
        import torch
    except ImportError as problem:
        print("missing: PyTorch cannot be imported (%s); pip install torch" % problem, flush=True)
        return 1
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    imported = resident("VmRSS")
    print("ready: PyTorch %s, %s" % (torch.__version__, onednn(torch)), flush=True)
    suites = {f.__name__: f for f in (conv, siren, step, infer, elementwise)}
    if options.keep:
        suites["infer"] = lambda torch, case: infer(torch, case, keep=True)
    op = key = took = None
    for line in sys.stdin:
        case = Case(line.split())
        try:
            if options.peak:
                op = suites[case.suite](torch, case)[0]
                if once(op) < ENDLESS:
                    op()  # with the optimiser's state, which the first one made
                print("1 0 ns/op %.1f peak-MiB %.1f imported-MiB" % (resident("VmHWM"), imported), flush=True)
                continue
            if key != case.key:
                op = None  # before the next one takes memory
                op, took = prepare(torch, suites[case.suite], case)
                key = case.key
                if took > ENDLESS:
                    print("1 %.1f ns/op" % (took * 1e9), flush=True)
                    continue
            n, took = measure(op, took, case.seconds)
            print("%d %.1f ns/op" % (n, took * 1e9), flush=True)
        except Exception as problem:  # the driver reports it and goes on with other cases
            key = op = None
            print("error: %s: %s" % (type(problem).__name__, str(problem).replace("\n", " ")), flush=True)
    return 0


def onednn(torch):
    for line in torch.__config__.show().splitlines():
        if "MKL-DNN" in line:
            return "oneDNN " + line.split("MKL-DNN v")[1].split(" ")[0]
    return "without oneDNN"


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    sys.exit(main())
