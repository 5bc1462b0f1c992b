"""Models of queue disciplines and of Mahimahi's links, written from their specifications alone.

Times are whole nanoseconds. Where a comment says "wrong if not", a setting is there to show that
the comparison sees a model that is wrong.
"""

import collections
import dataclasses
import math

MS = 1_000_000
SECOND = 1000 * MS


@dataclasses.dataclass
class Packet:
    """A packet at the queue: what the record says of it, and what a model does."""
    came: int
    size: int
    seen: tuple  # When its transmission began, or it was dropped, and why it was dropped, or "".
    waits: bool  # It still waits as the run ends, at the time of `seen`.
    found: tuple = None

    def agrees(self):
        """Whether model and record are equal."""
        return self.found[0] >= self.seen[0] if self.waits else self.found == self.seen


class Line:
    """Packets that wait, and their bytes."""

    def __init__(self):
        self.packets, self.bytes = collections.deque(), 0

    def push(self, packet):
        self.packets.append(packet)
        self.bytes += packet.size

    def pop(self):
        if not self.packets:
            return None
        self.bytes -= self.packets[0].size
        return self.packets.popleft()


class CoDel:
    """RFC 8289 sections 5.3 to 5.8, line by line. `bytes` returns how many bytes are queued."""

    def __init__(self, limit=1000, target=5 * MS, interval=100 * MS, mtu=1500, carried=16):
        self.limit, self.target, self.interval, self.mtu = limit, target, interval, mtu
        self.carried = carried  # For so many intervals count_ is carried over; wrong if not 16.
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False
        self.line = Line()
        self.bytes = lambda: self.line.bytes

    def enqueue(self, packet, now):
        if len(self.line.packets) >= self.limit:
            packet.found = (now, "queue")
        else:
            self.line.push(packet)

    def control_law(self, time):
        return time + math.isqrt(self.interval ** 2 // self.count)

    def dodequeue(self, now):
        packet = self.line.pop()
        if packet is None:
            self.first_above_time = 0
            return None, False
        ok_to_drop = False
        if now - packet.came < self.target or self.bytes() <= self.mtu:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            ok_to_drop = True
        return packet, ok_to_drop

    def dequeue(self, now):
        packet, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                packet.found = (now, "early")
                self.count += 1
                packet, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok_to_drop:
            packet.found = (now, "early")
            packet, ok_to_drop = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < self.carried * self.interval:
                self.count = delta
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return packet


class FqCoDel:
    """RFC 8290 section 4, with Linux's fq_codel_drop. A flow is known by its packets' size."""

    def __init__(self, limit=10240, memory=32 << 20, quantum=1514, batch=64, share=2, counts=True,
                 last_of_all=True, turn=True, **codel):
        self.limit, self.memory, self.quantum = limit, memory, quantum
        # Wrong if not 64, 2, true, true and true.
        self.batch, self.share, self.counts, self.turn = batch, share, counts, turn
        def flow():
            made = CoDel(**codel)
            made.credits, made.listed = 0, False
            if last_of_all:
                made.bytes = self.bytes
            return made

        self.flows = collections.defaultdict(flow)
        self.new, self.old = collections.deque(), collections.deque()

    def bytes(self):
        return sum(flow.line.bytes for flow in self.flows.values())

    def enqueue(self, packet, now):
        flow = self.flows[packet.size]
        flow.line.push(packet)
        if not flow.listed:
            flow.listed, flow.credits = True, self.quantum
            self.new.append(flow)
        packets = sum(len(flow.line.packets) for flow in self.flows.values())
        if packets > self.limit or self.bytes() > self.memory:
            self.overload(now)

    def overload(self, now):
        fattest = max(self.flows.values(), key=lambda flow: flow.line.bytes)
        enough, dropped, count = fattest.line.bytes // self.share, 0, 0
        while count < self.batch and (count == 0 or dropped < enough):
            packet = fattest.line.pop()
            packet.found = (now, "queue")
            dropped += packet.size
            count += 1
        if self.counts:
            fattest.count += count

    def dequeue(self, now):
        while self.new or self.old:
            queues = self.new or self.old
            flow = queues[0]
            if flow.credits <= 0:
                flow.credits += self.quantum
                self.old.append(queues.popleft())
                continue
            packet = flow.dequeue(now)
            if packet:
                flow.credits -= packet.size
                return packet
            queues.popleft()
            if queues is self.new and self.turn:
                self.old.append(flow)
            else:
                flow.listed = False
        return None


class Pie:
    """RFC 8033 section 4 and appendix A, with section 5.4 if `derandomize`.

    A packet is dropped as the record has it. `wrong` counts drops where none may be, and packets
    let in where a drop is certain. `drops` has to lie near `expected`, the sum of probabilities.
    The delay is the time the last packet waited, 0 once the queue is empty, as in Linux. Wrong if
    `decay` is not 0.98.
    """

    def __init__(self, limit=1000, target=15 * MS, update=15 * MS, alpha=0.125, beta=1.25,
                 max_burst=150 * MS, mean=1024, derandomize=False, decay=0.98):
        self.limit, self.target, self.update, self.mean = limit, target / SECOND, update, mean
        self.alpha, self.beta, self.max_burst, self.decay = alpha, beta, max_burst, decay
        self.derandomize, self.line = derandomize, Line()
        self.prob = self.accumulated = self.delay = self.old = 0.0
        self.allowance, self.next = 0, update
        self.drops = self.expected = self.variance = self.wrong = 0

    def calculate(self, now):
        while self.next <= now:
            change = self.alpha * (self.delay - self.target) + self.beta * (self.delay - self.old)
            steps = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
            self.prob += change / next((by for below, by in steps if self.prob < below), 1)
            if self.delay == self.old == 0:
                self.prob *= self.decay
            self.prob = min(max(self.prob, 0.0), 1.0)
            self.old = self.delay
            self.allowance = max(self.allowance - self.update, 0)
            self.next += self.update

    def chance(self):
        """The probability with which a packet that comes now is dropped."""
        if self.allowance > 0 or self.old < self.target / 2 and self.prob < 0.2:
            return 0.0
        if self.line.bytes <= 2 * self.mean:
            return 0.0
        if self.derandomize:
            self.accumulated = (self.accumulated if self.prob else 0.0) + self.prob
            if self.accumulated < 0.85:
                return 0.0
            if self.accumulated >= 8.5:
                return 1.0
        return self.prob

    def enqueue(self, packet, now):
        self.calculate(now)
        if self.prob == 0 and max(self.delay, self.old) < self.target / 2:
            self.allowance = self.max_burst
        if len(self.line.packets) >= self.limit:
            packet.found, self.accumulated = (now, "queue"), 0.0
            return
        chance, dropped = self.chance(), packet.seen[1] == "early"
        self.expected += chance
        self.variance += chance * (1 - chance)
        self.drops += dropped
        self.wrong += chance == (0.0 if dropped else 1.0)
        if dropped:
            packet.found, self.accumulated = (now, "early"), 0.0
        else:
            self.line.push(packet)

    def dequeue(self, now):
        self.calculate(now)
        packet = self.line.pop()
        if packet:
            self.delay = (now - packet.came) / SECOND if self.line.packets else 0.0
        return packet

    def off(self):
        """By how many standard deviations the drops are off."""
        return (self.drops - self.expected) / math.sqrt(self.variance or 1)


def serve(packets, queue, rate):
    """What becomes of packets at a link of `rate` b/s. A departure precedes an arrival."""
    free = None

    def begin(now):
        packet = queue.dequeue(now)
        if packet is None:
            return None
        packet.found = (now, "")
        return now + packet.size * 8 * SECOND // rate

    for packet in packets:
        while free is not None and free <= packet.came:
            free = begin(free)
        queue.enqueue(packet, packet.came)
        if free is None:
            free = begin(packet.came)
    while free is not None:
        free = begin(free)


def mahimahi(packets, trace, limit=10 ** 9, header=4, keeps=True):
    """What becomes of packets at mm-link (Mahimahi's link_queue.cc, its droptail queue).

    Returns when each packet has left, in order. Wrong if `header` is not 4, or `keeps` not true.
    """
    delivered, waiting, present, left = [], collections.deque(), None, 0
    coming, base, index = collections.deque(packets), 0, 0
    while coming or waiting or present:
        now = base + trace[index] * MS
        while coming and coming[0].came < now:
            packet = coming.popleft()
            if len(waiting) < limit:
                waiting.append(packet)
            else:
                packet.found = (packet.came, "queue")
        room = 1504
        while room > 0 and (present or waiting):
            if present is None:
                present = waiting.popleft()
                present.found, left = (now, ""), present.size + header
            takes = min(room, left)
            room, left = room - takes, left - takes
            if left == 0:
                delivered.append((now, present.size))
                present = None
                room = room if keeps else 0
        index += 1
        if index == len(trace):
            index, base = 0, base + trace[-1] * MS
    return delivered
