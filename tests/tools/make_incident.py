#!/usr/bin/env python3
# captures/made/incident.pcap: half a minute in which four things go wrong, written by hand from the protocol's description.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the capture of the guide (docs/guide.md): always the same bytes.

    make_incident.py FILE

One server (10.0.0.2, port 8090, protocol 0.12.2), stream "shop", topic "orders" with one partition 0, group "workers":

  shop-api   sends two messages every 200 ms
  billing    reads five messages every second, the next ones after it stored their offset: ten a second arrive, it falls behind
  mailer     dies of the message at offset 41 (broken JSON), comes back on a new connection and reads it again, seven times
  worker-1, worker-2, worker-3   join and leave the group over and over; each change gives a new generation
  importer   its writes are refused with transient_not_committed, and it repeats them every 50 ms
"""

import struct
import sys

import synth
from synth import ident, name, u8, u32, u64

START = 1_790_000_000_000_000
STREAM, TOPIC, STREAM_ID, TOPIC_ID = "shop", "orders", 1, 1
POISON = 41
TRANSIENT = 57  # transient_not_committed


class Server:
    """What the server knows: the log of the partition, users, the generation of the group."""

    def __init__(self):
        self.batches, self.sessions, self.generation, self.members = [], 0, 0, []

    def append(self, payloads, when):
        base = sum(len(batch[1]) for batch in self.batches)
        self.batches.append((base, payloads, when))
        return base

    @property
    def last(self):
        return sum(len(batch[1]) for batch in self.batches) - 1

    def read(self, offset, count):
        """Records from `offset` on, slices keep their base (messages.md 4.3); how many messages."""
        records, found = b"", 0
        for base, payloads, when in self.batches:
            wanted = [index for index in range(len(payloads)) if offset <= base + index][:count - found]
            if not wanted:
                continue
            messages = [synth.message(payloads[index], index, identifier=0x1000 + base + index) for index in wanted]
            records += synth.batch(messages, 0, base, when, when - 300)
            found += len(wanted)
        return records, found


class Client:
    """A user on a connection of its own; numbers its requests."""

    def __init__(self, scene, user, number):
        self.scene, self.user, self.client = scene, user, 0x80000000000040000000000000000000 + number
        self.connection, self.session, self.request = None, 0, 0

    def login(self):
        server = self.scene.server
        server.sessions += 1
        self.session, self.request = 100 + server.sessions, 0
        self.connection = self.scene.capture.connection(addresses=(bytes([10, 0, 0, 10 + self.client % 16]), b"\x0a\0\0\2"))
        body = u32(synth.VERSIONS["0.12.2"]) + name("rust-sdk") + name("0.11.1-edge.9") + bytes(range(1, 33))
        self.connection.client(synth.request(body + name(self.user) + name("secret") + synth.text32(""), operation=1,
                                             client=self.client))
        self.connection.server(self.reply(synth.login_reply(self.client % 16, self.session, build="0.12.2"), 1, 0))

    def reply(self, body=b"", operation=2, request=None, **values):
        return synth.reply(body, operation, self.client, request=self.request if request is None else request, **values)

    def ask(self, body=b"", code=0, operation=2, again=False):
        self.request += 0 if again else 1
        self.connection.client(synth.request(body, code, operation, self.client, request=self.request, session=self.session))

    def send(self, payloads):
        now = self.scene.capture.clock
        record = synth.batch([synth.message(payload, index, identifier=0) for index, payload in enumerate(payloads)], origin=now)
        self.ask(synth.send_body(STREAM, TOPIC, 0, record), operation=160)
        base = self.scene.server.append(payloads, now + 500)
        self.connection.server(self.reply(u32(1) + u32(STREAM_ID) + u32(TOPIC_ID) + u32(0) + u64(base), 160))

    def send_refused(self, payload, again):
        record = synth.batch([synth.message(payload)], origin=START)
        self.ask(synth.send_body(STREAM, TOPIC, 0, record), operation=160, again=again)
        self.connection.server(self.reply(b"", 160, status=TRANSIENT))

    def poll(self, offset, count):
        server = self.scene.server
        self.ask(u8(1) + ident(self.user) + ident(STREAM) + ident(TOPIC) + b"\x01" + u32(0) + b"\x01" + u64(offset) + u32(count) +
                 b"\x00", code=100)
        records, found = server.read(offset, count)
        self.connection.server(self.reply(synth.poll_reply(records, 0, server.last, found)))
        return found

    def store(self, offset):
        self.ask(u8(1) + ident(self.user) + ident(STREAM) + ident(TOPIC) + b"\x01" + u32(0) + u64(offset) + b"\x01",
                 operation=161)
        self.connection.server(self.reply(u32(0), 161))

    def offset(self, stored):
        self.ask(u8(1) + ident(self.user) + ident(STREAM) + ident(TOPIC) + b"\x01" + u32(0), code=120)
        self.connection.server(self.reply(u32(0) + u64(self.scene.server.last) + u64(stored)))

    def group(self, joins):
        server = self.scene.server
        self.ask(ident(STREAM) + ident(TOPIC) + ident("workers"), operation=148 if joins else 149)
        self.connection.server(self.reply(u32(0), 148 if joins else 149))
        server.generation += 1
        (server.members.append if joins else server.members.remove)(self.user)

    def sync(self):
        server = self.scene.server
        assigned = [0] if server.members[:1] == [self.user] else []
        self.ask(ident(STREAM) + ident(TOPIC) + ident("workers"), code=606)
        self.connection.server(self.reply(u64(server.generation) + u32(len(assigned)) + b"".join(map(u32, assigned))))


def order(number):
    """The message of an order; one of them is cut short."""
    text = '{"order": %d, "total": %d.%02d, "mail": "customer%d@example.com"}' % (number, 10 + number % 90, number % 100, number)
    return text[:29].encode() if number == POISON else text.encode()


class Scene:
    def __init__(self):
        self.capture, self.server, self.events = synth.Capture(step=200, start=START), Server(), []
        self.clients = {user: Client(self, user, number) for number, user in enumerate(
            ("shop-api", "billing", "mailer", "worker-1", "worker-2", "worker-3", "importer"), 1)}

    def at(self, milliseconds, action):
        self.events.append((milliseconds, len(self.events), action))

    def play(self):
        for when, _, action in sorted(self.events, key=lambda event: event[:2]):
            self.capture.clock = max(self.capture.clock, START + when * 1000)
            action()

    def producer(self):
        client = self.clients["shop-api"]
        self.at(0, client.login)
        for step in range(75):
            self.at(100 + 200 * step, lambda step=step: client.send([order(2 * step), order(2 * step + 1)]))

    def slow_consumer(self):
        client, place = self.clients["billing"], {"next": 0}

        def read():
            place["next"] += client.poll(place["next"], 5)

        self.at(20, client.login)
        for step in range(14):
            self.at(1050 + 1000 * step, read)
            self.at(1950 + 1000 * step, lambda: client.store(place["next"] - 1))
        self.at(15100, lambda: client.offset(place["next"] - 1))

    def poisoned_consumer(self):
        client = self.clients["mailer"]
        self.at(40, client.login)
        for step in range(4):
            self.at(1120 + 1000 * step, lambda step=step: (client.poll(10 * step, 10), client.store(10 * step + 9)))
        for step in range(7):
            when = 5200 + 1300 * step
            self.at(when, lambda: client.poll(40, 10))
            self.at(when + 90, lambda: client.connection.reset("client"))
            self.at(when + 1100, client.login)

    def unstable_group(self):
        workers = [self.clients["worker-%d" % number] for number in (1, 2, 3)]
        for number, worker in enumerate(workers):
            self.at(60 + 20 * number, worker.login)
            self.at(200 + 50 * number, lambda worker=worker: worker.group(True))
            self.at(400 + 50 * number, worker.sync)
        for step in range(12):
            worker, when = workers[step % 2 + 1], 6000 + 350 * step
            leaves = workers[step % 2 + 1]
            self.at(when, lambda worker=leaves: worker.group(False))
            self.at(when + 60, workers[0].sync)
            self.at(when + 150, lambda worker=leaves: worker.group(True))
            self.at(when + 210, worker.sync)

    def stubborn_producer(self):
        client = self.clients["importer"]
        self.at(80, client.login)
        for write in range(2):
            for step in range(20):
                self.at(8000 + 1500 * write + 50 * step,
                        lambda write=write, step=step: client.send_refused(b'{"import": %d}' % write, step > 0))


def make(path):
    scene = Scene()
    scene.producer()
    scene.slow_consumer()
    scene.poisoned_consumer()
    scene.unstable_group()
    scene.stubborn_producer()
    scene.play()
    return scene.capture.write(path)


if __name__ == "__main__":
    make(sys.argv[1])
